"""A plan and its expectations → a run in which every check behaves as documented. Pure.

A forecast is then a difference of two such runs, by the rules for recorded runs: joined by ids and nodes, each change
with the facts that its expectation depends on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nettests.compare.recorded import (
    End,
    Expecting,
    Members,
    OtherMembers,
    RecordedCheck,
    RecordedRun,
    Seen,
)
from nettests.model.check import Check, Plan, Target, Vantage
from nettests.model.check_id import member_of
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.words import Verdict
from nettests.report.results import Coverage, RunInfo

OPEN = "left open by the documents"
UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a run on a cluster with these facts would test, and what is expected of each check and member."""

    facts: ClusterFacts
    plan: Plan
    expectations: Mapping[str, Expectation]


def as_documented(planned: Planned) -> RecordedRun:
    """Return the run that shows of each planned check what is expected."""
    checks = tuple(_recorded(check, planned.expectations) for check in planned.plan.checks)
    number = len(checks)
    return RecordedRun(
        run=RunInfo(complete=True),
        coverage=Coverage(due=number, ran=number, skipped=0, not_judged=0),
        checks=checks,
        facts=planned.facts,
    )


def verdict_of(expectation: Expectation) -> Verdict:
    """Return the verdict of a check that does as documented."""
    if expectation.undecided:
        return Verdict.UNKNOWN
    if expectation.expected is None:
        return Verdict.RECORDED
    return Verdict.LIMITED if expectation.limitation else Verdict.PASS


def text_of(expecting: Expecting) -> str:
    """Return what is expected in words that two runs share, whichever version wrote them."""
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
        members=_members(check.each if check.members else (), expectations),
    )


def _expecting(expectation: Expectation) -> Expecting:
    expected = expectation.expected
    expecting = Expecting(
        outcome=expected.outcome.value if expected else None,
        alternatives=tuple(alternative.value for alternative in expected.alternatives)
        if expected
        else (),
        source_seen=expected.source_seen.value if expected and expected.source_seen else None,
        distribution=expected.distribution.value if expected and expected.distribution else None,
        claim=str(expectation.claim),
        undecided=expectation.undecided,
    )
    return replace(expecting, text=text_of(expecting))


def _members(members: Iterable[Check], expectations: Mapping[str, Expectation]) -> Members:
    alike: dict[tuple[Verdict, str | None], list[str]] = {}
    for member in members:
        expectation = expectations[member.id]
        decided = expectation.limitation.id if expectation.limitation else None
        alike.setdefault((verdict_of(expectation), decided), []).append(member_of(member.id))
    groups = (
        OtherMembers(verdict=verdict, limitation=decided, members=tuple(labels))
        for (verdict, decided), labels in alike.items()
    )
    return Members(others=tuple(groups))


def _end(end: Vantage | Target) -> End:
    return End(kind=end.kind.value, role=end.pool, os=end.os, node=end.node)
