"""Check results → how long answers took, by flow and source node.

As the harness sees it, its own way to the probe included: numbers to compare with each other and with another run
of the same cluster, no measurement of the network. Only positive answers of one question count. Pure.
"""

from collections import defaultdict
from collections.abc import Iterable
from statistics import quantiles

from nettests.report.results import CheckResult, Latency


def latencies(checks: Iterable[CheckResult]) -> tuple[Latency, ...]:
    """Return the latencies of each flow from each node, in the order in which flows were run."""
    seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in checks:
        if not one.ran or one.check is None or one.observation is None:
            continue
        node = one.check.source.node
        if node and one.check.action.question.timed and one.observation.trusted:
            seconds[one.flow, node] += [
                attempt.elapsed for attempt in one.observation.attempts if attempt.outcome.positive
            ]
    return tuple(latency(*key, found) for key, found in seconds.items() if found)


def latency(flow: str, node: str, found: list[float]) -> Latency:
    """Return the middle, the slow end and the worst of some answers."""
    cuts = quantiles(found, n=100, method="inclusive") if len(found) > 1 else found * 99
    return Latency(
        flow=flow,
        node=node,
        answers=len(found),
        median=round(cuts[49], 3),
        p99=round(cuts[98], 3),
        worst=round(max(found), 3),
    )
