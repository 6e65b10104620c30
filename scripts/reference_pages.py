"""Write the catalogue, the seed documents and the open questions as pages of ``docs/reference``.

``python -m scripts.reference_pages`` makes them again: every fact with what exercises it or why nothing does, and every
flow; the sentences of ``manifests/seeds``, whose rows lead to the catalogue; the entries of limitation manifests that
leave an outcome open. All render what ``expect`` and ``plan`` know; no run is needed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nettests.cli.catalogue_commands import notes, totals
from nettests.expect import Catalogue, Coverage, Limitation
from nettests.expect.manifest import Condition, Deviation, NodeCondition
from nettests.model.expectation import Source
from nettests.model.visible import literal as escape
from nettests.model.visible import plural
from nettests.model.words import Category
from nettests.plan import Flow
from nettests.plan.pattern import patterns
from nettests.session.survey import survey
from scripts.seeds import SeedDocument, Shown, Statement, lacking, read_seeds, reasons_of, shown

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEADS = Path(__file__).resolve().parent / "page_heads"

FLOWS = """Words in angle brackets stand for what a cluster gives: node pools, backends, and the cases of a flow.
[What is tested](plan.md) says what the classes mean.
"""


def render_catalogue(
    catalogue: Catalogue, coverages: Sequence[Coverage], flows: Sequence[Flow]
) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    by_fact = {coverage.fact.id: coverage for coverage in coverages}
    blocks = [_head("catalogue"), f"{totals(coverages)}.\n", "## Facts\n"]
    for section in catalogue.sections:
        rows = [_fact(by_fact[fact.id]) for fact in section.facts]
        blocks.append(f"### {section.letter}. {escape(section.title)}\n")
        blocks.append(_table(("fact", "what is documented", "exercised by, or why not"), rows))
    entries = [entry for coverage in coverages for entry in coverage.limitations]
    blocks += ["## Flows\n", FLOWS, _flows(flows, entries)]
    return "\n".join(blocks)


def _fact(coverage: Coverage) -> list[str]:
    fact = coverage.fact
    parts = [", ".join(f"[`{name}`](#{name})" for name in coverage.exercised_by)]
    parts.append(_names("decided by ", coverage.entries))
    parts += map(escape, notes(fact))
    if not coverage.covered and fact.reason:
        of = f" of `{fact.reason.of}`" if fact.reason.of else ""
        parts.append(f"*{fact.reason.kind.value}*{of}: {escape(fact.reason.text)}")
    return [f"`{fact.id}`", escape(fact.statement), "<br>".join(part for part in parts if part)]


def _flows(flows: Sequence[Flow], entries: Sequence[Limitation]) -> str:
    rows = []
    for flow in sorted(flows, key=lambda flow: flow.name):
        decided = sorted({entry.id for entry in entries if flow.name in entry.flows})
        rows.append(
            [
                f'<a id="{flow.name}"></a>'
                + "<br>".join(f"`{pattern}`" for pattern in patterns(flow)),
                _claim(flow),
                ", ".join(check_class.value for check_class in flow.classes),
                "<br>".join(_source(source) for source in flow.sources),
                _names("", decided),
            ]
        )
    return _table(("ids", "claim", "class", "sources", "limitations"), rows)


def _claim(flow: Flow) -> str:
    cases = _names("Cases: ", dict.fromkeys(case.label for case in flow.cases))
    return "<br>".join(part for part in (escape(flow.claim), cases) if part)


def _source(source: Source) -> str:
    return f"[{escape(str(source))}]({source.address})" if source.address else escape(str(source))


def _names(before: str, names: Iterable[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"{before}{listed}" if listed else ""


def _head(page: str) -> str:
    """Return the fixed text that a page begins with."""
    return (HEADS / f"{page}.txt").read_text("utf-8")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("||", "\\|\\|")


FLOW_PAGE = "catalogue.md"


def render_seeds(seeds: Sequence[SeedDocument], coverages: Mapping[str, Coverage]) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    blocks = [_head("seeds"), _counts(seeds, coverages), _elsewhere(seeds, coverages)]
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
    parts = [", ".join(f"fact `{coverages[name].fact.id}`" for name in statement.facts)]
    parts.append(", ".join(map(_check, statement.checks)))
    lacks = lacking(statement, coverages)
    parts.append(f"lacking: {escape(lacks)}" if lacks else "")
    parts += [
        f"*{reason.kind.value}*: {escape(reason.text)}"
        for reason in reasons_of(statement, coverages)
    ]
    return [
        escape(statement.says),
        shown(statement, coverages).value,
        "<br>".join(part for part in parts if part),
    ]


def _check(check: str) -> str:
    # samples: pod-to-pod-ip, windows-node-configuration#dsr-update
    flow, _, case = check.partition("#")
    return f"[`{flow}`]({FLOW_PAGE}#{flow})" + (f": `{case}`" if case else "")


BUGS = """Whether the bug is there shows only when it is met: an outcome of the third column is the bug's.
"""
OTHERS = {
    Category.PLATFORM: "Windows, of which documents differ",
    Category.BY_DESIGN: "Settings, versions and silence",
    Category.ENVIRONMENT: "The cluster's surroundings",
}

Question = Sequence[Limitation]
"""An entry with the further places of which it says the same."""


def render_open_questions(entries: Iterable[Limitation]) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    parts: defaultdict[str, list[Limitation]] = defaultdict(list)
    for entry in entries:
        if entry.is_open:
            parts[entry.id].append(entry)
    listed = [parts[name] for name in sorted(parts)]
    bugs = [question for question in listed if question[0].category is Category.BUG]
    blocks = [
        _head("open_questions"),
        _counted(listed, bugs),
        f"## Known bugs\n\n{BUGS}\n{_bugs(bugs)}",
    ]
    for category, title in OTHERS.items():
        others = [question for question in listed if question[0].category is category]
        blocks.append(f"## {title}\n\n{_others(others)}")
    return "\n".join(blocks)


def _counted(listed: Sequence[Question], bugs: Sequence[Question]) -> str:
    counts = f"{plural(len(listed), 'open question')}: {len(bugs)} for a known bug"
    for category in OTHERS:
        counts += (
            f", {sum(question[0].category is category for question in listed)} {category.value}"
        )
    return f"{counts}.\n"


def _bugs(entries: Sequence[Question]) -> str:
    head = (
        *("entry", "what is open", "where the bug is there", "holds where"),
        *("settled by", "sources"),
    )
    return _table(
        head,
        (
            (
                f"`{entry.id}`",
                escape(entry.summary),
                "<br>".join(dict.fromkeys(_shown(part.when_present) for part in (entry, *further))),
                _places(entry, *further),
                escape(entry.settled_by),
                _sources(entry),
            )
            for entry, *further in entries
        ),
    )


def _others(entries: Sequence[Question]) -> str:
    return _table(
        ("entry", "what is open", "holds where", "settled by", "sources"),
        (
            (
                f"`{entry.id}`",
                escape(entry.summary),
                _places(entry, *further),
                escape(entry.settled_by),
                _sources(entry),
            )
            for entry, *further in entries
        ),
    )


def _shown(deviation: Deviation | None) -> str:
    if deviation is None:
        return ""
    outcomes = [deviation.outcome, *deviation.alternatives] if deviation.outcome else []
    parts = [" or ".join(f"`{outcome}`" for outcome in outcomes)] if outcomes else []
    parts += [f"source `{deviation.source_seen}`"] if deviation.source_seen else []
    parts += [f"`{deviation.distribution}`"] if deviation.distribution else []
    return ", ".join(parts)


def _places(*parts: Limitation) -> str:
    return "<br>or ".join(dict.fromkeys(_where(part.condition) for part in parts))


def _where(condition: Condition) -> str:
    """Return the parts of a condition in its own words, without the operating systems."""
    cluster = [
        ("Kubernetes", condition.kubernetes),
        ("platform", condition.platform),
        ("plugin", condition.cni),
        ("backend", condition.backend),
        ("loopbackDSR", condition.loopback_dsr),
        ("placement", condition.placement),
        ("backend placement", condition.backend_placement),
        ("OutBoundNAT's exceptions", condition.nat_exception),
        ("resolver", condition.resolver),
    ]
    parts = [f"{name} `{_spelled(value)}`" for name, value in cluster if value]
    for side, node in (("source", condition.source), ("target", condition.target)):
        parts += [f"{side}: {part}" for part in [_node(node)] if part]
    return "; ".join(parts) or "everywhere"


def _node(node: NodeCondition) -> str:
    parts = [
        ("build", node.build),
        ("kubelet", node.kubelet),
        ("kube-proxy", node.kube_proxy),
        ("mode", node.mode),
        ("DSR", None if node.dsr is None else ("on" if node.dsr else "off")),
        ("driver", node.driver),
        ("runtime", node.runtime),
        ("runtime's version", node.runtime_version),
        ("firewall", node.firewall),
        ("NodePorts at loopback", node.localhost_node_ports),
        ("DNS suffixes", node.dns_suffixes),
        ("NetworkPolicies enforced", node.policies),
        ("terminating endpoints", node.terminating_endpoints),
    ]
    settings = [f"{name} `{_spelled(value)}`" for name, value in parts if value]
    system = [node.os.value.capitalize()] if node.os else []
    return ", ".join([*system, *settings])


def _spelled(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _sources(entry: Limitation) -> str:
    return "<br>".join(_source(source) for source in entry.sources)


def rendered() -> dict[str, str]:
    """Return each page by the name of its file."""
    surveyed = survey()
    return {
        "catalogue.md": render_catalogue(surveyed.catalogue, surveyed.coverages, surveyed.flows),
        "seeds.md": render_seeds(read_seeds(), surveyed.by_fact),
        "open-questions.md": render_open_questions(surveyed.entries),
    }


if __name__ == "__main__":
    for name, text in rendered().items():
        (PAGES / name).write_text(text, "utf-8")
