"""The members of a check as results of their own, with their verdict and evidence, and how soon Pods answer. Pure.

Used by ``build``. The judge made the verdicts; a member that is as expected keeps one line of
numbers as evidence, because there may be thousands. Times are given by flow and node and by kind of
path. The harness measures them, including the channel to the probe: they compare with each other
and with another run on the same cluster, but do not measure the network. Only positive answers to
single requests count. A transfer of 1 MiB counts the time on the channel and, of the server's
reply, only what the client must read, so the real throughput is at least that.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from statistics import median, quantiles

from nettests.model.check import Check, counted
from nettests.model.expectation import Expectation
from nettests.model.observation import Observation, Raw
from nettests.model.payload import ONE_MIB
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement, MembersJudged
from nettests.model.words import OS, Placement, Question, VantageKind, Verdict
from nettests.report.results import CheckResult, Latency, PathPace

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


CARRIED = 4
"""Payloads per transfer: there, back as the clean address, and there twice, with ``Referer``."""
_MIB = 2**20


def latencies(checks: Iterable[CheckResult]) -> tuple[Latency, ...]:
    """Return the latencies of each flow from each node, in the order in which the flows ran."""
    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for check in checks:
        if not check.ran or check.check is None or check.observation is None:
            continue
        node = check.check.source.node
        if node and check.check.action.question.timed and check.observation.trusted:
            seconds[check.flow, node] += [
                attempt.elapsed
                for attempt in check.observation.attempts
                if attempt.outcome.positive
            ]
    return tuple(latency(*key, elapsed) for key, elapsed in seconds.items() if elapsed)


def paths(checks: Iterable[CheckResult]) -> tuple[PathPace, ...]:
    """Return latency and throughput between Pods for each pair of OSes and placement."""
    seconds: defaultdict[tuple[OS, OS, Placement], list[float]] = defaultdict(list)
    rates: defaultdict[tuple[OS, OS, Placement], list[float]] = defaultdict(list)
    for check in checks:
        if not check.ran or check.check is None or check.observation is None:
            continue
        source, target, action = check.check.source, check.check.target, check.check.action
        by_pods = source.kind is VantageKind.POD and target.descriptor.of_pod
        if not by_pods or source.os is None or target.os is None or not check.observation.trusted:
            continue
        if action.question is not Question.REACH or target.descriptor.by_name:
            continue
        key = source.os, target.os, check.check.placement
        took = [seen.elapsed for seen in check.observation.attempts if seen.outcome.positive]
        if action.size is None:
            seconds[key] += took
        elif action.size >= ONE_MIB:
            rates[key] += [CARRIED * action.size / _MIB / each for each in took if each]
    return tuple(_pace(*key, seconds[key], rates[key]) for key in sorted(seconds) if seconds[key])


def _pace(
    source: OS, target: OS, placement: Placement, took: list[float], rates: list[float]
) -> PathPace:
    cuts = quantiles(took, n=100, method="inclusive") if len(took) > 1 else took * 99
    return PathPace(
        source_os=source,
        target_os=target,
        placement=placement,
        answers=len(took),
        median=round(cuts[49], 3),
        p99=round(cuts[98], 3),
        transfers=len(rates),
        mib_per_second=round(median(rates), 1) if rates else None,
    )


def latency(flow: str, node: str, seconds: list[float]) -> Latency:
    """Summarise answer times in seconds as median, 99th percentile and worst."""
    cuts = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else seconds * 99
    return Latency(
        flow=flow,
        node=node,
        answers=len(seconds),
        median=round(cuts[49], 3),
        p99=round(cuts[98], 3),
        worst=round(max(seconds), 3),
    )
