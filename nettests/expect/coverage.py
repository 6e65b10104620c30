"""Compare documented facts with flows and limitations: what exercises each fact, and which links are wrong.

For ``nettests catalogue`` and ``nettests lint``. A flow exercises the facts that it names; a limitation entry
exercises the fact of its own id and those that it names, through the flows that it covers. Nothing is decided on a
cluster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nettests.errors import ManifestError
from nettests.expect.catalogue import Catalogue, Fact
from nettests.expect.manifest import Limitation
from nettests.model.nearest import nearest


def mistakes(entries: Sequence[Limitation]) -> Iterator[ManifestError]:
    """Yield an error for each duplicate id and each invalid reference."""
    limitations: dict[str, Limitation] = {}
    for entry in (entry for entry in entries if not entry.part):
        if entry.id in limitations:
            yield ManifestError(
                f"limitation {entry.id} is defined twice: {limitations[entry.id].place} and {entry.place}",
                hint="a higher layer overrides with another id and overrides: [id]",
            )
        limitations.setdefault(entry.id, entry)
    for entry in entries:
        yield from _bad_references(entry, limitations)


def _bad_references(
    entry: Limitation, limitations: Mapping[str, Limitation]
) -> Iterator[ManifestError]:
    for name in (*entry.overrides, *entry.cancels):
        other = limitations.get(name)
        if other is None:
            yield ManifestError(f"{entry.place}: {entry.id} names {name}, unknown here")
        elif other.layer >= entry.layer:
            yield ManifestError(
                f"{entry.place}: {entry.id} cannot override {name} ({other.place}): "
                "only a higher layer overrides a lower one"
            )


FlowFacts = Mapping[str, Sequence[str]]
"""The facts that each flow names, by the flow's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """One fact with the flows that name it, and the limitations that cover flows."""

    fact: Fact
    flows: tuple[str, ...]
    limitations: tuple[Limitation, ...]

    @property
    def exercised_by(self) -> tuple[str, ...]:
        """The flows whose checks exercise the fact: those that name it, or else its limitations'."""
        covered = {flow for entry in self.limitations for flow in entry.flows}
        return self.flows or tuple(sorted(covered))

    @property
    def covered(self) -> bool:
        """Whether any check exercises the fact."""
        return bool(self.flows or self.limitations)

    @property
    def entries(self) -> tuple[str, ...]:
        """The ids of the limitations, each once."""
        return tuple(dict.fromkeys(entry.id for entry in self.limitations))


def cover(
    catalogue: Catalogue, flows: FlowFacts, entries: Iterable[Limitation]
) -> tuple[Coverage, ...]:
    """Return every fact, in the catalogue's order, with what exercises it."""
    used = [entry for entry in entries if set(entry.flows) & flows.keys()]
    return tuple(
        Coverage(
            fact=fact,
            flows=tuple(sorted(name for name, facts in flows.items() if fact.id in facts)),
            limitations=tuple(entry for entry in used if fact.id in (entry.id, *entry.facts)),
        )
        for fact in catalogue.facts.values()
    )


def unknown_facts(
    catalogue: Catalogue, flows: FlowFacts, entries: Iterable[Limitation]
) -> Iterator[str]:
    """Yield one sentence for each fact that a flow or an entry names but the catalogue lacks."""
    known_facts = tuple(catalogue.facts)
    for name, facts in sorted(flows.items()):
        for fact in facts:
            if fact not in known_facts:
                yield f"the flow {name} names the unknown fact {fact}; {nearest(fact, known_facts)}"
    for entry in entries:
        for fact in entry.facts:
            if fact not in known_facts:
                yield (
                    f"{entry.place}: {entry.id} names the unknown fact {fact}; "
                    f"{nearest(fact, known_facts)}"
                )


def gaps(coverages: Iterable[Coverage]) -> Iterator[str]:
    """Yield one sentence for each fact that has neither checks nor a reason, or has both."""
    for coverage in coverages:
        fact = coverage.fact
        if coverage.covered and fact.reason:
            by = ", ".join((*coverage.flows, *coverage.entries))
            yield f"{fact.place}: {fact.id} has a reason but is exercised by {by}: remove the reason"
        if not coverage.covered and not fact.reason:
            yield (
                f"{fact.place}: {fact.id} is exercised by no flow and no limitation: "
                "name it in a flow's facts, or give a reason"
            )
        if not coverage.covered and fact.note:
            yield f"{fact.place}: {fact.id} has a note on checks that there are none of"
