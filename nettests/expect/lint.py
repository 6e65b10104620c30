"""Overlaps that can be proven without a cluster, references that lead nowhere, flows that no suite declares, and
entries that say more than their sources or leave open without a word what would settle them.

For people who write manifests. ``resolve`` finds every contradiction on a cluster's facts; this finds
those for which one cluster and one check could meet the conditions of both entries.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import combinations

from nettests.expect.citations import overstatements
from nettests.expect.manifest import Condition, Limitation, Manifest, NodeCondition
from nettests.expect.openness import unexplained
from nettests.expect.references import mistakes
from nettests.model.nearest import nearest
from nettests.model.versions import Bound, VersionRange, WindowsBuild
from nettests.model.words import Placement


def lint(manifests: Sequence[Manifest], *, flows: Iterable[str] = ()) -> tuple[str, ...]:
    """Return one sentence for each provable overlap with different outcomes, each wrong reference or id, each
    unknown flow, each entry that says more than its sources, and each open entry without an explanation.

    ``flows`` are those that the suites declare; without any, flows are not looked at.
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
    """Whether one of two entries overrides or cancels the other, or expects nothing itself."""
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
    """Whether one cluster and one check can meet both conditions, compared part by part."""
    if (
        isinstance(condition, Condition)
        and isinstance(other, Condition)
        and not _on_one_node(condition, other)
    ):
        return False
    names = [field.name for field in fields(condition)]
    return all(_meet(getattr(condition, name), getattr(other, name)) for name in names)


def _on_one_node(condition: Condition, other: Condition) -> bool:
    """Whether one node can be source and target for both conditions, if both demand a single node."""
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
    """Return whether two ranges overlap: if they do, then at a bound or next to one."""
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
