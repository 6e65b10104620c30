"""The catalogue as a document: every fact with what exercises it or why nothing does, every flow.

The reference page that ``nettests catalogue --write`` makes, and the totals that the command prints.
It renders what ``expect`` and ``plan`` know; no run is needed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from nettests.expect import Catalogue, Coverage, Limitation
from nettests.model.expectation import Source
from nettests.model.markdown import literal as escape
from nettests.plan import Flow
from nettests.plan.pattern import patterns
from nettests.report.text import plural

HEAD = """# Catalogue

Made by `nettests catalogue --write`; a test compares it with suites and manifests.

Every documented fact about Windows networking that this project knows of is listed here, with the flows that exercise it, the [limitations](../guides/limitations.md) that decide on it, or the reason why nothing does.
Facts are data in [manifests/catalogue](../../manifests/catalogue), each with its sources.

A reason begins with its kind:

| kind | meaning |
| --- | --- |
| `documents` | speaks of documents, samples or others' tests, not of a cluster |
| `duplicate` | the same question as another fact |
| `harmful` | probing would take something away from others on the same cluster |
| `historic` | speaks of releases that are gone, and left no rule for those that a cluster may run |
| `needs-restart` | shows only after something was restarted or edited that a run did not make |
| `not-network` | affects no network result |
| `not-observable` | nothing that a run can see tells it, or the sources name no condition |
| `out-of-scope` | left to others on purpose: performance, what network policies mean |
| `pending` | could be tested, and no check does yet |
| `precondition` | where it is not met no probe starts, and the run says so |
| `transient` | shows for moments that no run can choose |
| `vendor` | belongs to the product or the API of one vendor |
"""

FLOWS = """Words in angle brackets stand for what a cluster gives: node pools, backends, and the cases of a flow.
[What is tested](plan.md) says what the classes mean.
"""


def render_catalogue(
    catalogue: Catalogue, coverages: Sequence[Coverage], flows: Sequence[Flow]
) -> str:
    """Return the page in Markdown; it ends with a line feed."""
    by_fact = {coverage.fact.id: coverage for coverage in coverages}
    blocks = [HEAD, f"{totals(coverages)}.\n", "## Facts\n"]
    for section in catalogue.sections:
        rows = [_fact(by_fact[fact.id]) for fact in section.facts]
        blocks.append(f"### {section.letter}. {escape(section.title)}\n")
        blocks.append(_table(("fact", "what is documented", "exercised by, or why not"), rows))
    entries = [entry for coverage in coverages for entry in coverage.limitations]
    blocks += ["## Flows\n", FLOWS, _flows(flows, entries)]
    return "\n".join(blocks)


def totals(coverages: Iterable[Coverage]) -> str:
    """Return one sentence, without its full stop: how many facts there are, and how many are exercised."""
    listed = list(coverages)
    covered = sum(coverage.covered for coverage in listed)
    kinds = Counter(
        coverage.fact.reason.kind.value
        for coverage in listed
        if coverage.fact.reason and not coverage.covered
    )
    words = [f"{covered} exercised by checks"]
    words += [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    without = len(listed) - covered - kinds.total()
    words += [f"{without} without check or reason"] if without else []
    return f"{plural(len(listed), 'fact')}: {', '.join(words)}"


def why(coverage: Coverage) -> str:
    """Return in plain words what exercises a fact, or why nothing does."""
    fact = coverage.fact
    parts = []
    if coverage.exercised_by:
        parts.append(f"flows {', '.join(coverage.exercised_by)}")
    if coverage.limitations:
        parts.append(f"limitations {', '.join(coverage.entries)}")
    if fact.note:
        parts.append(fact.note)
    if not coverage.covered and fact.reason:
        of = f" of {fact.reason.of}" if fact.reason.of else ""
        parts.append(f"{fact.reason.kind.value}{of}: {fact.reason.text}")
    return "; ".join(parts) or "nothing, and no reason is given"


def _fact(coverage: Coverage) -> list[str]:
    fact = coverage.fact
    parts = [", ".join(f"[`{name}`](#{name})" for name in coverage.exercised_by)]
    parts.append(_names("decided by ", coverage.entries))
    parts.append(escape(fact.note))
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


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
