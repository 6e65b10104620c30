"""The members of a check as results of their own, with their verdict and evidence. Pure.

Used by ``build``. The judge made the verdicts; a member that is as expected keeps one line of
numbers as evidence, because there may be thousands.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from nettests.model.check import Check, counted
from nettests.model.expectation import Expectation
from nettests.model.observation import Observation, Raw
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement, MembersJudged
from nettests.model.words import Verdict
from nettests.report.latencies import latency
from nettests.report.results import CheckResult, Latency

_PASSED = MembersJudged(verdict=Verdict.PASS, labels=())


def member_results(
    check: Check,
    judgement: Judgement,
    expectations: Mapping[str, Expectation],
    *,
    ran: bool,
    observed: Callable[[Check], Observation | None],
    raws: Callable[[str], tuple[Raw, ...]],
    distrust: Callable[[str], str],
) -> tuple[CheckResult, ...]:
    """Return a check's members, empty if it has none; ``unknown`` members if it was not judged."""
    if not check.members:
        return ()
    otherwise = _PASSED if ran else _unjudged(judgement)
    judged = {label: member for member in judgement.members for label in member.labels}
    results = tuple(
        _member(
            member,
            judged.get(label, otherwise),
            expectations[member.id],
            observed(member),
            raws=raws,
            distrust=distrust(member.id),
        )
        for label, member in zip((of.label for of in check.members), check.each, strict=True)
    )
    return tuple(
        result if ran and result.verdict is not Verdict.SKIPPED else replace(result, ran=False)
        for result in results
    )


def member_line(result: CheckResult) -> str:
    """Return one line about a check's members: the count of each verdict, and the answer times."""
    seen = Counter(member.verdict for member in result.members)
    verdicts = ", ".join(
        f"{seen[verdict]} {verdict.value}" for verdict in SUMMARY_ORDER if seen[verdict]
    )
    times = latency_of(result)
    took = (
        f"; answers took {times.median:.3f} s (median), at most {times.worst:.3f} s"
        if times
        else ""
    )
    return f"{counted([member.label for member in result.members])}: {verdicts}{took}"


def latency_of(result: CheckResult) -> Latency | None:
    """Summarise the times of all members' positive answers, ``None`` without any."""
    seconds = [
        attempt.elapsed
        for member in result.members
        if member.observation is not None
        for attempt in member.observation.attempts
        if attempt.outcome.positive
    ]
    return latency(result.flow, "", seconds) if seconds else None


def _unjudged(judgement: Judgement) -> MembersJudged:
    return MembersJudged(verdict=judgement.verdict, labels=(), message=judgement.message)


def _member(
    check: Check,
    judged: MembersJudged,
    expectation: Expectation,
    observation: Observation | None,
    *,
    raws: Callable[[str], tuple[Raw, ...]],
    distrust: str,
) -> CheckResult:
    expected = str(expectation.expected) if expectation.expected else ""
    return CheckResult(
        id=check.id,
        flow=check.flow,
        suite=check.suite,
        verdict=judged.verdict,
        message=judged.message,
        ran=True,
        check=check,
        expectation=expectation,
        observation=observation,
        expected=judged.expected or expected,
        observed=judged.observed or (observation.outcome.value if observation else ""),
        next_step=judged.next_step,
        limitation_id=judged.limitation,
        distrust=(observation.distrust if observation else distrust) or "",
        raws=raws(check.id) if judged.verdict in ATTENTION else (),
    )
