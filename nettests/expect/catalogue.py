"""The catalogue of documented facts as values: validated, every fact with its file and line.

Limitation manifests decide what a cluster should do; the catalogue lists everything that is
documented. ``lint`` compares it with flows and limitations. No check is judged by it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nettests.errors import ManifestError
from nettests.model.document import Document, read_document
from nettests.model.expectation import Source
from nettests.model.nearest import nearest
from nettests.resources import schema_of


class ReasonKind(StrEnum):
    """Why no check exercises a fact."""

    DOCUMENTS = "documents"
    """It is about documents, samples or foreign tests; a cluster does not show it."""
    DUPLICATE = "duplicate"
    """It repeats another fact."""
    HARMFUL = "harmful"
    """Testing it would take resources from others on the cluster."""
    HISTORIC = "historic"
    """It is about retired releases and left no rule for releases that a cluster may run."""
    NEEDS_RESTART = "needs-restart"
    """It shows only after a restart or edit of something that the run did not create."""
    NOT_NETWORK = "not-network"
    """It affects no network result."""
    NOT_OBSERVABLE = "not-observable"
    """No run can observe it, or the sources state no condition."""
    OUT_OF_SCOPE = "out-of-scope"
    """Deliberately out of scope: performance, the semantics of NetworkPolicies."""
    PENDING = "pending"
    """It could be tested, but no check does yet."""
    PRECONDITION = "precondition"
    """Without it no probe starts, which the run reports instead of judging."""
    TRANSIENT = "transient"
    """It shows only at moments that no run can choose."""
    VENDOR = "vendor"
    """It belongs to the product or the API of one vendor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why no check exercises a fact; ``of`` is the fact that a duplicate repeats."""

    kind: ReasonKind
    text: str
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One documented fact. ``inferred`` says what it follows from if no document states it.

    ``untested`` says which part no check exercises, ``note`` how to read the checks of the rest.
    """

    id: str
    statement: str
    sources: tuple[Source, ...]
    inferred: str = ""
    note: str = ""
    untested: str = ""
    reason: Reason | None = None
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One file of facts; sections are ordered by ``letter``."""

    letter: str
    title: str
    facts: tuple[Fact, ...]
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All sections in the order of their letters."""

    sections: tuple[Section, ...]

    @property
    def facts(self) -> Mapping[str, Fact]:
        """All facts by id, in their order."""
        return {fact.id: fact for section in self.sections for fact in section.facts}


def read_section(text: str, file: str) -> Section:
    """Parse a section; ``ManifestError`` with file, line, key and nearest valid word."""
    document = read_document(text, file, schema_of("catalogue"))
    return Section(
        letter=document.data["section"],
        title=document.data["title"],
        facts=tuple(
            _fact(document, index, fact) for index, fact in enumerate(document.data["facts"])
        ),
        file=file,
    )


def catalogue(sections: Sequence[Section]) -> Catalogue:
    """Combine sections; ``ManifestError`` for duplicate facts and unknown references."""
    mistakes = [*_duplicates(sections)]
    combined = Catalogue(sections=tuple(sorted(sections, key=lambda section: section.letter)))
    mistakes += _unknown_originals(combined)
    if mistakes:
        raise ManifestError("\n".join(mistakes))
    return combined


def _duplicates(sections: Sequence[Section]) -> Iterator[str]:
    seen: dict[str, Fact] = {}
    for fact in (fact for section in sections for fact in section.facts):
        if fact.id in seen:
            yield f"{fact.place}: {fact.id} is stated twice, first in {seen[fact.id].place}"
        seen.setdefault(fact.id, fact)


def _unknown_originals(combined: Catalogue) -> Iterator[str]:
    facts = combined.facts
    for fact in facts.values():
        original = fact.reason.of if fact.reason else ""
        if original and (original not in facts or original == fact.id):
            others = [name for name in facts if name != fact.id]
            yield f"{fact.place}: {fact.id} repeats {original!r}; {nearest(original, others)}"


def _fact(document: Document, index: int, fact: Any) -> Fact:
    return Fact(
        id=fact["id"],
        statement=_line(fact["statement"]),
        sources=tuple(
            Source(
                document=source["document"],
                section=source.get("section", ""),
                address=source.get("address", ""),
            )
            for source in fact.get("sources", ())
        ),
        inferred=_line(fact.get("inferred", "")),
        note=_line(fact.get("note", "")),
        untested=_line(fact.get("untested", "")),
        reason=_reason(fact.get("reason")),
        file=document.file,
        line=document.line(("facts", index)),
    )


def _reason(reason: Any) -> Reason | None:
    if reason is None:
        return None
    return Reason(
        kind=ReasonKind(reason["kind"]), text=_line(reason["text"]), of=reason.get("of", "")
    )


def _line(text: str) -> str:
    return " ".join(text.split())
