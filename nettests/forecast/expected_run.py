"""A plan and its expectations → a run in which every check behaves as documented. Pure.

A forecast is then a difference of two such runs, by the rules for recorded runs: joined by ids and
nodes, each change with the facts that its expectation depends on. As fixes are cherry-picked, a
minor version of Kubernetes is resolved for its first patch release, for each that a condition
names, and for the newest. If they differ, the check is undecided until the patch release is named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nettests.compare.known_facts import AND
from nettests.compare.recorded import End, Expecting, Member, RecordedCheck, RecordedRun, Seen
from nettests.expect import Manifest
from nettests.expect.manifest import Condition
from nettests.expect.resolve import undecided
from nettests.forecast.keys import LAST_PATCH, Change
from nettests.model.check import Check, Plan, Target, Vantage
from nettests.model.check_id import member_of
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.versions import Bound, KubernetesVersion
from nettests.model.words import Verdict
from nettests.report.results import Coverage, RunInfo

OPEN = "left open by the documents"
UNDECIDED = "undecided"
_TURNS = {">=": (0,), "<": (0,), ">": (1,), "<=": (1,), "==": (0, 1)}
"""How many releases after its bound a comparison changes, by operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a run on a cluster with these facts would test, and expect of each check and member."""

    facts: ClusterFacts
    plan: Plan
    expectations: Mapping[str, Expectation]

    @property
    def applying(self) -> dict[str, set[str]]:
        """The ids of the entries that apply to each check, or to any of its members."""
        return {
            check.id: {name for each in check.each for name in self.expectations[each.id].entries}
            for check in self.plan.checks
        }


def as_documented(planned: Planned) -> RecordedRun:
    """Return the run in which each planned check shows what is expected."""
    number = len(planned.plan.checks)
    return RecordedRun(
        run=RunInfo(complete=True),
        coverage=Coverage(due=number, ran=number, skipped=0, not_judged=0),
        checks=tuple(_recorded(check, planned.expectations) for check in planned.plan.checks),
        facts=planned.facts,
    )


def verdict_of(expectation: Expectation) -> Verdict:
    """Return the verdict of a check that behaves as documented."""
    if expectation.undecided:
        return Verdict.UNKNOWN
    if expectation.expected is None:
        return Verdict.RECORDED
    return Verdict.LIMITED if expectation.limitation else Verdict.PASS


def text_of(expecting: Expecting) -> str:
    """Return an expectation in words that do not depend on the version of nettests."""
    if expecting.undecided is not None:
        return UNDECIDED
    if expecting.outcome is None:
        return OPEN
    source = f"source = {expecting.source_seen}" if expecting.source_seen else None
    outcomes = " or ".join((expecting.outcome, *expecting.alternatives))
    return ", ".join(filter(None, (outcomes, source, expecting.distribution)))


def _recorded(check: Check, expectations: Mapping[str, Expectation]) -> RecordedCheck:
    expectation = expectations[check.id]
    expecting = _expecting(expectation)
    members = {
        member_of(member.id): _member(expectations[member.id])
        for member in (check.each if check.members else ())
    }
    return RecordedCheck(
        id=check.id,
        flow=check.flow,
        verdict=verdict_of(expectation),
        message=expectation.undecided or "",
        source=_end(check.source),
        target=_end(check.target),
        expected=expecting,
        observed=Seen(
            outcome=expecting.outcome,
            source_seen=expecting.source_seen,
            distribution=expecting.distribution,
        ),
        limitation=expectation.limitation,
        members=members,
    )


def _member(expectation: Expectation) -> Member:
    limitation = expectation.limitation.id if expectation.limitation else None
    return Member(verdict=verdict_of(expectation), limitation=limitation)


def _expecting(expectation: Expectation) -> Expecting:
    expecting = Expecting(claim=str(expectation.claim), undecided=expectation.undecided)
    if expected := expectation.expected:
        expecting = replace(
            expecting,
            outcome=expected.outcome.value,
            alternatives=tuple(alternative.value for alternative in expected.alternatives),
            source_seen=expected.source_seen and expected.source_seen.value,
            distribution=expected.distribution and expected.distribution.value,
        )
    return replace(expecting, text=text_of(expecting))


def _end(end: Vantage | Target) -> End:
    return End(kind=end.kind.value, role=end.pool, os=end.os, node=end.node)


def deciding_patches(manifests: Iterable[Manifest], changes: Iterable[Change]) -> tuple[int, ...]:
    """Return the patch releases above the first at which a condition changes, and the newest.

    Nothing changes between two of them. Empty if every version has a patch release.
    """
    minors = {
        (change.value.major, change.value.minor) for change in changes if change.names_no_patch
    }
    if not minors:
        return ()
    patches = {
        bound.patch + later
        for sign, bound in bounds(manifests)
        if isinstance(bound, KubernetesVersion) and (bound.major, bound.minor) in minors
        for later in _TURNS[sign]
    }
    return tuple(sorted({LAST_PATCH, *patches} - {0}))


def bounds(manifests: Iterable[Manifest]) -> Iterator[tuple[str, Bound]]:
    """Yield the bounds of all version ranges in conditions, each with its operator."""
    for condition in conditions(manifests):
        ranges = [condition.kubernetes]
        for end in (condition.source, condition.target):
            ranges += [end.build, end.kubelet, end.kube_proxy]
        for versions in ranges:
            yield from versions.bounds if versions else ()


def conditions(manifests: Iterable[Manifest]) -> Iterator[Condition]:
    """Yield the condition of each entry."""
    return (entry.condition for manifest in manifests for entry in manifest.limitations)


def at_any_patch(
    first: Planned, others: Sequence[Mapping[str, Expectation]], changes: Iterable[Change]
) -> Planned:
    """Return the plan with expectations for any patch release of minor versions without one."""
    lacking = [f"the patch release of {change}" for change in changes if change.names_no_patch]
    expectations = {}
    for name, expectation in first.expectations.items():
        every = [expectation, *(other[name] for other in others if name in other)]
        agreed = all(_outcome(at_patch) == _outcome(expectation) for at_patch in every)
        expectations[name] = expectation if agreed else _open(every, lacking)
    return replace(first, expectations=expectations)


def _outcome(expectation: Expectation) -> tuple[object, ...]:
    """Return what an expectation decides, without sentences that name a version."""
    limitation = expectation.limitation.id if expectation.limitation else None
    return expectation.expected, limitation, expectation.undecided is None, expectation.known_bugs


def _open(every: Sequence[Expectation], lacking: Iterable[str]) -> Expectation:
    """Return an undecided expectation, by the entries that apply at some releases only."""
    named = {name for expectation in every for name in expectation.entries}
    ids = sorted(
        name for name in named if not all(name in expectation.entries for expectation in every)
    )
    why = undecided(AND.join(ids), lacking)
    return replace(every[0], expected=None, limitation=None, undecided=why, known_bugs=())
