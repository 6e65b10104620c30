"""Find mistakes in manifests that can be proven without a cluster.

They are overlaps of entries that expect different outcomes, references that lead nowhere, undeclared
flows, and entries that are more exact than their sources or open without an explanation. For authors
of manifests. ``resolve`` finds every contradiction on a cluster's facts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations

from nettests.errors import ManifestError
from nettests.expect.catalogue import Catalogue, Fact
from nettests.expect.manifest import Citation, Condition, Limitation, Manifest, NodeCondition
from nettests.model.grouping import grouped
from nettests.model.nearest import nearest
from nettests.model.versions import Bound, KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import Category, Outcome, Placement


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
"""The facts that each flow references, by flow name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """One fact with the flows that reference it, and the limitations that cover flows."""

    fact: Fact
    flows: tuple[str, ...]
    limitations: tuple[Limitation, ...]

    @property
    def exercised_by(self) -> tuple[str, ...]:
        """The flows whose checks exercise it: those that reference it, else its limitations'."""
        covered = {flow for entry in self.limitations for flow in entry.flows}
        return self.flows or tuple(sorted(covered))

    @property
    def covered(self) -> bool:
        """Whether any check exercises the fact."""
        return bool(self.flows or self.limitations)

    @property
    def entries(self) -> tuple[str, ...]:
        """The ids of the limitations, without duplicates."""
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
    """Yield one sentence for each fact that a flow or entry references but the catalogue lacks."""
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
    """Yield one sentence for each fact with neither checks nor a reason for none, or both."""
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
        if not coverage.covered and (fact.note or fact.untested):
            yield f"{fact.place}: {fact.id} has a note on checks, and no check exercises it"


WAYS_TO_FAIL = (Outcome.TIMED_OUT, Outcome.REFUSED, Outcome.UNREACHABLE, Outcome.LOST)
"""Outcomes that a document may mean by "fails", "unsupported" or "unreachable"."""

# sample: "kubernetes/kubernetes pull request 113776", "Bug or Regression (#132647)"
_CHANGE = re.compile(r"pull request \d+|#\d{4,}")


def overstatements(entries: Iterable[Limitation]) -> Iterator[str]:
    """Yield one sentence for each entry that is more exact than its sources."""
    parts = grouped(((entry.file, entry.id), entry) for entry in entries)
    for each in parts.values():
        for entry in each:
            yield from _too_exact(entry)
        yield from _unpicked(each)


def _too_exact(entry: Limitation) -> Iterator[str]:
    deviation = entry.deviation or entry.when_present
    if deviation is None or deviation.outcome is None:
        return
    outcomes = (deviation.outcome, *deviation.alternatives)
    named = {citation.names for citation in entry.citations} - {None}
    if len(outcomes) == 1 and outcomes[0] in WAYS_TO_FAIL and outcomes[0] not in named:
        yield (
            f"{entry.place}: {entry.id} expects {outcomes[0]} alone, and none of its sources is marked as naming it; "
            f"list what else may be seen, or write names: {outcomes[0]} at the source that does so"
        )
    for stray in sorted(name for name in named if name is not None and name not in outcomes):
        yield f"{entry.place}: {entry.id} has a source that names {stray}, which it does not expect"


def _unpicked(parts: Sequence[Limitation]) -> Iterator[str]:
    entry = parts[0]
    bounds = {bound for part in parts for version in _versions(part) for _, bound in version.bounds}
    minors = sorted(
        bound for bound in bounds if isinstance(bound, KubernetesVersion) and not bound.patch
    )
    for citation in entry.citations:
        if citation.picked is None and minors and is_change(citation):
            yield (
                f"{entry.place}: {entry.id} is bounded by the minor version {minors[-1].major}.{minors[-1].minor}, "
                f"and its source, {citation.source}, is a merged change; name the patch releases that it was picked "
                "to as picked: [...], empty if there are none"
            )
        for release in citation.picked or ():
            if not any(_ends_at(bound, release) for bound in bounds):
                yield (
                    f"{entry.place}: {entry.id} has a source that was picked to {release}, and no bound of its versions "
                    "is in that minor version from there on"
                )


def _ends_at(bound: Bound, release: KubernetesVersion) -> bool:
    if not isinstance(bound, KubernetesVersion):
        return False
    minor = (bound.major, bound.minor) == (release.major, release.minor)
    return minor and bound.patch >= release.patch


def is_change(citation: Citation) -> bool:
    """Whether a source is a merged change, which may have been cherry-picked to older versions."""
    source = citation.source
    here = source.document.startswith(("kubernetes/kubernetes", "Kubernetes CHANGELOG"))
    return here and bool(_CHANGE.search(f"{source.document} {source.section}"))


def _versions(entry: Limitation) -> Iterator[VersionRange]:
    condition = entry.condition
    for node in (condition.source, condition.target):
        yield from (
            version_range for version_range in (node.kubelet, node.kube_proxy) if version_range
        )
    if condition.kubernetes:
        yield condition.kubernetes


def unexplained(entries: Iterable[Limitation]) -> Iterator[str]:
    """Yield one sentence for each open entry without an explanation, and each other entry with one."""
    for entry in entries:
        if entry.is_open and not entry.settled_by and not entry.part:
            yield (
                f"{entry.place}: {entry.id} is unspecified and does not say what would settle it; "
                "write settled_by: a reading, a document or a test that would decide"
            )
        if entry.settled_by and not entry.is_open and not entry.part:
            yield f"{entry.place}: {entry.id} has settled_by, and what it expects is settled; take it out"
        open_bug = entry.is_open and entry.category is Category.BUG
        if open_bug and entry.when_present is None:
            yield (
                f"{entry.place}: {entry.id} is unspecified because of a bug and does not say how the bug shows; "
                "write when_present: {outcome: ...}, or another category if no bug leaves it open"
            )
        if entry.when_present and not open_bug:
            yield (
                f"{entry.place}: {entry.id} has when_present, which belongs to entries that are unspecified and of "
                f"category bug; this one is of category {entry.category}"
            )


def lint(manifests: Sequence[Manifest], *, flows: Iterable[str] = ()) -> tuple[str, ...]:
    """Return one sentence for each mistake in the manifests.

    ``flows`` are those that the suites declare; without any, flows are not checked.
    """
    entries = [entry for manifest in manifests for entry in manifest.limitations]
    mistaken = (error.message for error in mistakes(entries))
    return (
        *mistaken,
        *_unknown_flows(entries, tuple(flows)),
        *overstatements(entries),
        *unexplained(entries),
        *_overlaps(entries),
    )


def _unknown_flows(entries: Iterable[Limitation], flows: Sequence[str]) -> Iterator[str]:
    for entry in entries:
        for name in entry.flows:
            if flows and name not in flows:
                yield (
                    f"{entry.place}: {entry.id} covers the flow {name}, which no suite declares; "
                    f"{nearest(name, flows)}"
                )


def _overlaps(entries: Sequence[Limitation]) -> Iterator[str]:
    for entry, other in combinations(entries, 2):
        if _decided(entry, other) or entry.deviation == other.deviation:
            continue
        flows = sorted(set(entry.flows) & set(other.flows))
        if flows and _share(entry, other) and compatible(entry.condition, other.condition):
            yield (
                f"{entry.id} ({entry.place}) and {other.id} ({other.place}) can apply to the same check "
                f"of {', '.join(flows)} and expect different outcomes"
            )


def _decided(entry: Limitation, other: Limitation) -> bool:
    removed = {*entry.overrides, *entry.cancels, *other.overrides, *other.cancels}
    return entry.only_cancels or other.only_cancels or bool(removed & {entry.id, other.id})


def _share(entry: Limitation, other: Limitation) -> bool:
    pairs = (
        (entry.protocols, other.protocols),
        (entry.families, other.families),
        (entry.cases, other.cases),
    )
    return all(_meet(mine, others) for mine, others in pairs)


def compatible(condition: Condition | NodeCondition, other: Condition | NodeCondition) -> bool:
    """Whether one cluster and one check can meet both conditions, compared field by field."""
    if (
        isinstance(condition, Condition)
        and isinstance(other, Condition)
        and not _on_one_node(condition, other)
    ):
        return False
    names = [field.name for field in fields(condition)]
    return all(_meet(getattr(condition, name), getattr(other, name)) for name in names)


def _on_one_node(condition: Condition, other: Condition) -> bool:
    """Whether one node can be both ends in both conditions, if placement demands one node."""
    demands = (set(condition.placement or Placement), set(other.placement or Placement))
    if set.intersection(*demands) != {Placement.SAME_NODE}:
        return True
    nodes = (condition.source, condition.target, other.source, other.target)
    return all(compatible(first, second) for first, second in combinations(nodes, 2))


def _meet(demand: object, other: object) -> bool:
    """Whether one value can meet two demands; ``None`` and an empty tuple demand nothing."""
    if demand in (None, ()) or other in (None, ()):
        return True
    if isinstance(demand, NodeCondition) and isinstance(other, NodeCondition):
        return compatible(demand, other)
    if isinstance(demand, VersionRange) and isinstance(other, VersionRange):
        return _ranges_meet(demand, other)
    if isinstance(demand, tuple) and isinstance(other, tuple):
        return bool(set(demand) & set(other))
    return demand == other


def _ranges_meet(accepted: VersionRange, other: VersionRange) -> bool:
    """Whether two ranges overlap: if they do, then at a bound or next to one."""
    near = [version for _, bound in (*accepted.bounds, *other.bounds) for version in _around(bound)]
    return any(accepted.holds(version) and other.holds(version) for version in near)


def _around(bound: Bound) -> tuple[Bound, Bound, Bound]:
    many = 10**6
    if isinstance(bound, WindowsBuild):
        patch = bound.patch or 0
        below = (
            WindowsBuild(bound.build, patch - 1) if patch else WindowsBuild(bound.build - 1, many)
        )
        return (below, WindowsBuild(bound.build, patch), WindowsBuild(bound.build, patch + 1))
    older = (
        replace(bound, patch=bound.patch - 1)
        if bound.patch
        else replace(bound, minor=bound.minor - 1, patch=many)
    )
    return (older, bound, replace(bound, patch=bound.patch + 1))
