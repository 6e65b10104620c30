"""The members of a check as results of their own, each with its part of the verdict and the evidence. Pure.

Used by ``build``. Verdicts are the judge's; the evidence of a member that is as expected is one line of numbers,
because there may be thousands.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from nettests.model.check import Check
from nettests.model.expectation import Expectation
from nettests.model.observation import Observation, Raw
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement, MembersJudged
from nettests.model.words import Verdict
from nettests.report.latency import latency
from nettests.report.results import CheckResult, Latency
from nettests.report.text import plural

_PASSED = MembersJudged(verdict=Verdict.PASS, labels=())


def member_results(
    check: Check,
    judgement: Judgement,
    expectations: Mapping[str, Expectation],
    *,
    ran: bool,
    observed: Callable[[Check], Observation | None],
    raws: Callable[[str], tuple[Raw, ...]],
) -> tuple[CheckResult, ...]:
    """Return the members of a check; none of one that has none. Those of a check that was not judged are ``unknown``."""
    if not check.members:
        return ()
    otherwise = _PASSED if ran else _unjudged(judgement)
    told = {label: member for member in judgement.members for label in member.labels}
    found = tuple(
        _member(one, told.get(label, otherwise), expectations[one.id], observed(one), raws)
        for label, one in zip((of.label for of in check.members), check.each, strict=True)
    )
    return tuple(
        one if ran and one.verdict is not Verdict.SKIPPED else replace(one, ran=False)
        for one in found
    )


def member_line(result: CheckResult) -> str:
    """Return one line about the members of a check: how many came to what, and how long the answers took."""
    seen = Counter(member.verdict for member in result.members)
    verdicts = ", ".join(
        f"{seen[verdict]} {verdict.value}" for verdict in SUMMARY_ORDER if seen[verdict]
    )
    told = latency_of(result)
    took = (
        f"; answers took {told.median:.3f} s (median), at most {told.worst:.3f} s" if told else ""
    )
    return f"{plural(len(result.members), 'member')}: {verdicts}{took}"


def latency_of(result: CheckResult) -> Latency | None:
    """Return how long the positive answers of all members took, where there were any."""
    found = [
        attempt.elapsed
        for member in result.members
        if member.observation is not None
        for attempt in member.observation.attempts
        if attempt.outcome.positive
    ]
    return latency(result.flow, "", found) if found else None


def _unjudged(judgement: Judgement) -> MembersJudged:
    return MembersJudged(verdict=judgement.verdict, labels=(), message=judgement.message)


def _member(
    check: Check,
    said: MembersJudged,
    expectation: Expectation,
    observation: Observation | None,
    raws: Callable[[str], tuple[Raw, ...]],
) -> CheckResult:
    expected = str(expectation.expected) if expectation.expected else ""
    return CheckResult(
        id=check.id,
        flow=check.flow,
        suite=check.suite,
        verdict=said.verdict,
        message=said.message,
        ran=True,
        check=check,
        expectation=expectation,
        observation=observation,
        expected=said.expected or expected,
        observed=said.observed or (observation.outcome.value if observation else ""),
        next_step=said.next_step,
        limitation_id=said.limitation,
        distrust=(observation.distrust or "") if observation else "",
        raws=raws(check.id) if said.verdict in ATTENTION else (),
    )
