"""The seed documents as a document: every sentence with what exercises it, what is lacking, or why nothing does.

The reference page that ``nettests catalogue --write-seeds`` makes of ``manifests/seeds``. What a fact, a flow or an
entry is in itself stands in the catalogue, to which the rows lead.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nettests.expect import Coverage, SeedDocument, Shown, Statement, shown
from nettests.expect.seeds import reasons_of
from nettests.model.markdown import literal as escape
from nettests.report.text import plural

HEAD = """# Seed documents

Made by `nettests catalogue --write-seeds`; a test compares it with [manifests/seeds](../../manifests/seeds) and with the catalogue.

This project began with four documents.
Here is every sentence of theirs that states something about behaviour, configuration, versions, limits or troubleshooting, in other words, with the checks that exercise it.
Sentences that introduce, repeat each other or link elsewhere are joined or left out.
What the documents say is not always so any more: the [catalogue](catalogue.md) says what holds for which version, with newer sources, and the [open questions](open-questions.md) where sources contradict each other.

A row names facts of the catalogue, flows, or single cases of flows (`flow`: `case`); a fact stands for all flows and limitations that exercise it there.

| shown | meaning |
| --- | --- |
| whole | checks exercise all that the sentence states, for clusters of today |
| in part | checks exercise a part; the row says what is lacking |
| open | it could be shown, and no check does yet; the row says what is lacking |
| not about networks | affects no network result, and is left to others on purpose |
| cannot be shown | no run can show it; the row says why |
"""
FLOW_PAGE = "catalogue.md"


def render_seeds(seeds: Sequence[SeedDocument], coverages: Mapping[str, Coverage]) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    blocks = [HEAD, _counts(seeds, coverages), _elsewhere(seeds, coverages)]
    for seed in seeds:
        title = f"[{escape(seed.document)}]({seed.address})" if seed.address else seed.document
        # A sentence a line, as in every document.
        read = re.sub(r"\. (?=[A-Z])", ".\n", escape(seed.read))
        blocks.append(f"## {title}\n\n{read}\n")
        for section in seed.sections:
            rows = [_row(statement, coverages) for statement in section.statements]
            blocks.append(f"### {escape(section.title)}\n")
            blocks.append(
                _table(("what is stated", "shown", "exercised by; what is lacking, or why"), rows)
            )
    return "\n".join(blocks)


def _counts(seeds: Sequence[SeedDocument], coverages: Mapping[str, Coverage]) -> str:
    rows = [[escape(seed.document), *_tally(seed.statements, coverages)] for seed in seeds]
    every = [statement for seed in seeds for statement in seed.statements]
    rows.append(["all", *_tally(every, coverages)])
    return _table(("document", "sentences", *Shown), rows)


def _tally(statements: Sequence[Statement], coverages: Mapping[str, Coverage]) -> list[str]:
    counted = Counter(shown(statement, coverages) for statement in statements)
    return [str(len(statements)), *(str(counted[word]) for word in Shown)]


def _elsewhere(seeds: Sequence[SeedDocument], coverages: Mapping[str, Coverage]) -> str:
    named = {fact for seed in seeds for statement in seed.statements for fact in statement.facts}
    others = sum(name not in named for name in coverages)
    return (
        f"{plural(len(coverages), 'fact')} are in the catalogue: {len(named)} are named here, and {others} are stated by "
        "other documents, release notes, issues and source, which it cites.\n"
    )


def _row(statement: Statement, coverages: Mapping[str, Coverage]) -> list[str]:
    parts = [", ".join(_fact(coverages[name]) for name in statement.facts)]
    parts.append(", ".join(map(_check, statement.checks)))
    parts.append(f"lacking: {escape(statement.lacks)}" if statement.lacks else "")
    parts += [
        f"*{reason.kind.value}*: {escape(reason.text)}"
        for reason in reasons_of(statement, coverages)
    ]
    return [
        escape(statement.says),
        shown(statement, coverages).value,
        "<br>".join(part for part in parts if part),
    ]


def _fact(coverage: Coverage) -> str:
    return f"fact `{coverage.fact.id}`"


def _check(check: str) -> str:
    # samples: pod-to-pod-ip, windows-node-configuration#dsr-update
    flow, _, case = check.partition("#")
    return f"[`{flow}`]({FLOW_PAGE}#{flow})" + (f": `{case}`" if case else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
