"""How soon Pods answer, by flow and node and by kind of path. Pure.

The harness measures these times, including the channel to the probe: they compare with each other
and with another run on the same cluster, but do not measure the network. Only positive answers to
single requests count. A transfer of 1 MiB counts the time on the channel and, of the server's
reply, only what the client must read, so the real throughput is at least that.
"""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median, quantiles

from nettests.model.payload import ONE_MIB
from nettests.model.words import OS, Placement, Question, VantageKind
from nettests.report.results import CheckResult, Latency, PathPace

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
