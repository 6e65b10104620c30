"""Checks that lost packets only while the run's own Pods were new, on a node whose new Pods have no network at first.

Beside ``loss``, which it keeps from naming them: probes and servers are new Pods, too, and what was sent to them or
by them before their network was there is no loss on the way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nettests.judge.message import last_detail
from nettests.model.observation import Attempt
from nettests.model.retransmission import SYN_AGAIN
from nettests.model.words import Outcome
from nettests.parse.first_packets import lateness
from nettests.report.incidents.evidence import RED
from nettests.report.incidents.loss import lossy
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait, speaks_of_first_packets
from nettests.report.results import CheckResult

SPARE = SYN_AGAIN[1]
"""Seconds by which the run's Pods may be younger than the run: a SYN and its second one are lost within that."""
_PLACES = frozenset({Kind.NODE, Kind.REMOTE_NODE, Kind.SOURCE_NODE, Kind.TARGET_NODE})


def early(ran: Sequence[CheckResult], evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield that new Pods of a node are why a check lost packets, where all that it lost was sent while they were new."""
    late = _late(ran)
    if not late:
        return
    traits = {clue.check: clue.traits for clue in evidence}
    for result in (check for check in ran if check.verdict in RED):
        there = {trait.value for trait in traits.get(result.id, ()) if trait.kind in _PLACES}
        ends = max((late[node] for node in there & {*late}), default=0.0)
        if ends and lossy(result) and _before(result, ends + SPARE):
            node = max(there & {*late}, key=lambda name: late[name])
            yield Evidence(
                check=result.id, traits=frozenset({Trait(Kind.NEW_PODS, node)}), red=True
            )


def _late(ran: Iterable[CheckResult]) -> Mapping[str, float]:
    """Return for how long new Pods of a node had no network at most, by node, where all its checks of new Pods say so."""
    late: dict[str, float] = {}
    in_time: set[str] = set()
    for result in ran:
        check, seen = result.check, result.observation
        if check is None or seen is None or not speaks_of_first_packets(check):
            continue
        node, delay = check.source.node or "", lateness(last_detail(seen))
        if result.verdict in RED and delay:
            late[node] = max(late.get(node, 0.0), delay.seconds)
        else:
            in_time.add(node)
    return {node: seconds for node, seconds in late.items() if node not in in_time}


def _before(result: CheckResult, moment: float) -> bool:
    """Whether a check lost something, and all of it was sent before a moment."""
    attempts = result.observation.attempts if result.observation else ()
    struck = [attempt.started for attempt in attempts if _struck(attempt)]
    return bool(struck) and max(struck) < moment


def _struck(attempt: Attempt) -> bool:
    if attempt.outcome is Outcome.REFUSED:  # a refusal takes two seconds on Windows
        return False
    return attempt.outcome is Outcome.TIMED_OUT or attempt.elapsed >= SYN_AGAIN[0]
