"""The seed documents as values: each sentence's statement, and the checks that exercise it.

The catalogue is ordered by facts from any source; this goes through four documents sentence by sentence, so that
untested sentences show. ``scripts.reference_pages`` renders them, and tests compare them with what exercises them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from nettests.expect.catalogue import Reason, ReasonKind
from nettests.expect.lint import Coverage
from nettests.model.document import Document, read_document
from nettests.model.nearest import nearest
from nettests.plan import Flow
from nettests.resources import manifests_path, schema_of

FlowCases = Mapping[str, Sequence[str]]
"""The labels of each flow's cases, by the flow's name; none if a flow has a path."""


class Shown(StrEnum):
    """How much of a statement checks show."""

    WHOLE = "whole"
    PART = "in part"
    OPEN = "open"
    """It could be shown, and no check does yet."""
    BESIDE = "not about networks"
    """It affects no network result, and is left to others on purpose."""
    NEVER = "cannot be shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The statement of one sentence, or of several that say the same.

    ``checks`` are flows, or single cases of them (``flow#case``). ``lacks`` says what no check covers yet.
    """

    says: str
    facts: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    lacks: str = ""
    reason: Reason | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSection:
    """A section of a document, with its statements."""

    title: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedDocument:
    """One document; ``read`` says in which form it was read and which parts have no rows."""

    document: str
    address: str
    read: str
    sections: tuple[SeedSection, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements, in the order of the document."""
        return tuple(statement for section in self.sections for statement in section.statements)


def read_seed(text: str, file: str) -> SeedDocument:
    """Return the document in ``text``; ``ManifestError`` names file, line, key and near miss."""
    document = read_document(text, file, schema_of("seeds"))
    data = document.data
    return SeedDocument(
        document=data["document"],
        address=data.get("address", ""),
        read=_line(data["read"]),
        sections=tuple(
            SeedSection(
                title=section["title"],
                statements=tuple(
                    _statement(document, ("sections", number, "rows", index), row)
                    for index, row in enumerate(section["rows"])
                ),
            )
            for number, section in enumerate(data["sections"])
        ),
    )


def read_seeds() -> tuple[SeedDocument, ...]:
    """Read ``manifests/seeds``; ``ManifestError`` says what is wrong."""
    files = sorted((manifests_path() / "seeds").glob("*.yaml"))
    return tuple(
        read_seed(file.read_text("utf-8"), f"manifests/seeds/{file.name}") for file in files
    )


def shown(statement: Statement, coverages: Mapping[str, Coverage]) -> Shown:
    """Return how much of the statement is shown; ``coverages`` are those of all facts, by id."""
    reasons = reasons_of(statement, coverages)
    if statement.checks or any(coverages[name].covered for name in statement.facts):
        return Shown.PART if lacking(statement, coverages) or reasons else Shown.WHOLE
    if statement.lacks or not reasons:
        return Shown.OPEN
    return max((_shown_by(reason.kind) for reason in reasons), key=tuple(Shown).index)


def lacking(statement: Statement, coverages: Mapping[str, Coverage]) -> str:
    """Return what no check covers: as the row says, or as its facts do."""
    if statement.lacks:
        return statement.lacks
    return " ".join(
        coverages[name].fact.untested for name in statement.facts if coverages[name].fact.untested
    )


def reasons_of(statement: Statement, coverages: Mapping[str, Coverage]) -> tuple[Reason, ...]:
    """Return why no check exercises it: its own reason, or those of its uncovered facts, each once."""
    if statement.reason:
        return (statement.reason,)
    bare = (coverages[name] for name in statement.facts if not coverages[name].covered)
    return tuple(dict.fromkeys(coverage.fact.reason for coverage in bare if coverage.fact.reason))


def cases_by_flow(flows: Sequence[Flow]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each flow's cases, by the flow's name."""
    return {flow.name: tuple(case.label for case in flow.cases) for flow in flows}


def mistakes_in_seeds(
    seeds: Iterable[SeedDocument], coverages: Mapping[str, Coverage], flows: FlowCases
) -> Iterator[str]:
    """Yield one sentence for each unknown id, and each missing or superfluous reason."""
    for statement in (statement for seed in seeds for statement in seed.statements):
        unknown = [
            *_unknown_facts(statement, coverages),
            *_unknown_checks(statement, flows),
        ]
        yield from unknown
        if not unknown:
            yield from _reasoned(statement, coverages)


def _unknown_facts(statement: Statement, coverages: Mapping[str, Coverage]) -> Iterator[str]:
    for name in statement.facts:
        if name not in coverages:
            yield f"{statement.place}: the unknown fact {name}; {nearest(name, tuple(coverages))}"
        elif (reason := coverages[name].fact.reason) and reason.of:
            yield f"{statement.place}: {name} repeats {reason.of}: name that"


def _unknown_checks(statement: Statement, flows: FlowCases) -> Iterator[str]:
    for check in statement.checks:
        flow, _, case = check.partition("#")
        if flow not in flows:
            yield f"{statement.place}: the unknown flow {flow}; {nearest(flow, tuple(flows))}"
        elif case and case not in flows[flow]:
            yield f"{statement.place}: {flow} has no case {case}; {nearest(case, flows[flow])}"


def _reasoned(statement: Statement, coverages: Mapping[str, Coverage]) -> Iterator[str]:
    if statement.reason and (statement.facts or statement.checks or statement.lacks):
        yield (
            f"{statement.place}: has a reason beside facts, checks or what is lacking: "
            "remove the reason, or all of them"
        )
    exercised = statement.checks or any(coverages[name].covered for name in statement.facts)
    if not exercised and not statement.lacks and not reasons_of(statement, coverages):
        yield f"{statement.place}: is exercised by nothing, and gives no reason"


def _shown_by(kind: ReasonKind) -> Shown:
    match kind:
        case ReasonKind.PENDING:
            return Shown.OPEN
        case ReasonKind.NOT_NETWORK | ReasonKind.OUT_OF_SCOPE:
            return Shown.BESIDE
        case (
            ReasonKind.DOCUMENTS
            | ReasonKind.DUPLICATE
            | ReasonKind.HARMFUL
            | ReasonKind.HISTORIC
            | ReasonKind.NEEDS_RESTART
            | ReasonKind.NOT_OBSERVABLE
            | ReasonKind.PRECONDITION
            | ReasonKind.TRANSIENT
            | ReasonKind.VENDOR
        ):
            return Shown.NEVER
        case _:
            assert_never(kind)


def _statement(document: Document, path: tuple[str | int, ...], row: Any) -> Statement:
    reason = row.get("reason")
    return Statement(
        says=_line(row["says"]),
        facts=tuple(row.get("facts", ())),
        checks=tuple(row.get("checks", ())),
        lacks=_line(row.get("lacks", "")),
        reason=Reason(kind=ReasonKind(reason["kind"]), text=_line(reason["text"]))
        if reason
        else None,
        place=f"{document.file}:{document.line(path)}",
    )


def _line(text: str) -> str:
    return " ".join(text.split())
