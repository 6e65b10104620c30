"""Forecasts for a minor version of Kubernetes without a patch level: fixes are cherry-picked to patch releases. Pure.

Expectations are resolved for the first patch release, for each that a condition names, and for the newest. If they
differ, the check is undecided until the patch release is named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nettests.compare.dependencies import AND
from nettests.expect import Manifest
from nettests.expect.manifest import Condition
from nettests.expect.resolve import undecided
from nettests.forecast.as_documented import Planned
from nettests.forecast.keys import LAST_PATCH, Change
from nettests.model.expectation import Expectation
from nettests.model.versions import Bound, KubernetesVersion

Expectations = Mapping[str, Expectation]
_TURNS = {">=": (0,), "<": (0,), ">": (1,), "<=": (1,), "==": (0, 1)}
"""How many releases after its bound a comparison turns, by its sign."""


def deciding_patches(manifests: Iterable[Manifest], changes: Iterable[Change]) -> tuple[int, ...]:
    """Return the patch releases above the first with which a condition begins or ends to hold, and the newest.

    Between two of them nothing changes: each stands for those that follow it. Empty where every release is named.
    """
    minors = {
        (change.value.major, change.value.minor) for change in changes if change.names_no_patch
    }
    if not minors:
        return ()
    patches = {
        bound.patch + later
        for manifest in manifests
        for entry in manifest.limitations
        for sign, bound in bounds(entry.condition)
        if isinstance(bound, KubernetesVersion) and (bound.major, bound.minor) in minors
        for later in _TURNS[sign]
    }
    return tuple(sorted({LAST_PATCH, *patches} - {0}))


def bounds(condition: Condition) -> Iterator[tuple[str, Bound]]:
    """Yield the bounds of all version ranges in a condition, each with its sign."""
    ends = (condition.source, condition.target)
    ranges = [condition.kubernetes]
    ranges += [versions for end in ends for versions in (end.build, end.kubelet, end.kube_proxy)]
    for versions in ranges:
        yield from versions.bounds if versions else ()


def at_any_patch(
    first: Planned, others: Sequence[Expectations], changes: Iterable[Change]
) -> Planned:
    """Return the plan with what is expected at each patch release of the minors that were named without one."""
    lacking = [f"the patch release of {change}" for change in changes if change.names_no_patch]
    expectations = {}
    for name, expectation in first.expectations.items():
        every = [expectation, *(other[name] for other in others if name in other)]
        agreed = all(_outcome(at_patch) == _outcome(expectation) for at_patch in every)
        expectations[name] = expectation if agreed else _open(every, lacking)
    return replace(first, expectations=expectations)


def _outcome(expectation: Expectation) -> tuple[object, ...]:
    """Return what an expectation decides, without the sentences that name a version."""
    limitation = expectation.limitation.id if expectation.limitation else None
    return expectation.expected, limitation, expectation.undecided is None, expectation.known_bugs


def _open(every: Sequence[Expectation], lacking: Iterable[str]) -> Expectation:
    """Return an undecided expectation; it depends on the entries that apply at some releases only."""
    named = {name for expectation in every for name in expectation.entries}
    ids = sorted(
        name for name in named if not all(name in expectation.entries for expectation in every)
    )
    return replace(
        every[0],
        expected=None,
        limitation=None,
        undecided=undecided(AND.join(ids), lacking),
        known_bugs=(),
    )
