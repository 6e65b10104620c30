"""Intermittent failure: attempts of many checks time out now and then, whatever else they share.

Beside ``search``: loss is random, so checks without loss contradict nothing. If enough checks saw
some attempts answered and others not, they are one incident, scoped to the trait that best
distinguishes them.

``early`` keeps such incidents from blaming new Pods' first packets on loss: probes and servers are
new Pods themselves, and what they sent or got before their network was up is not lost on the way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nettests.judge.distrust import busy
from nettests.model.measured import SizeFinding
from nettests.model.observation import Attempt, Observation
from nettests.model.retransmission import SYN_AGAIN
from nettests.model.words import Outcome, Protocol, Question
from nettests.parse.first_packets import lateness
from nettests.parse.lost_packets import UNCLEAR
from nettests.report.incidents.scopes import PLACES, is_apart, places_of
from nettests.report.incidents.search import RED, Evidence
from nettests.report.incidents.traits import Kind, Trait, speaks_of_first_packets
from nettests.report.results import CheckResult

FEWEST = 3
"""Fewer checks may each have another reason, such as a dead backend; one that counts is enough."""
MORE = 3
"""With half of all packets lost, three SYNs are lost a third as often as only the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Checks that lost some of their attempts; ``scope`` is empty if no trait stands out."""

    scope: tuple[Trait, ...]
    checks: tuple[str, ...]
    lost: int
    """How many of ``attempts`` had no answer."""
    attempts: int
    resent: int
    """How many checks had answers only after a retransmission."""
    unclear: int = 0
    """How many checks waited as for lost SYNs while their probes were busy: their common place tells it is loss."""
    whole: int = 0
    """Unanswered TCP connections, if hardly any were late: whole flows are lost, not packets."""


def lossy(result: CheckResult) -> bool:
    """Whether some attempts were answered and others not at all, or after a retransmission."""
    seen = result.observation
    if seen is None or busy(seen.distrust):
        return False
    if _unclear(result):
        return True
    if seen.path_size is not None:
        return seen.path_size.finding is SizeFinding.LOSS
    proven = seen.loss is not None and seen.loss.proven and seen.loss.lost < seen.loss.sent
    if seen.flows is not None:
        return proven  # exhaustion is silent from some number on
    if seen.resent or proven:
        return True
    if len(seen.attempts) < 2:
        return False
    silent = sum(attempt.outcome is Outcome.TIMED_OUT for attempt in seen.attempts)
    answered = sum(attempt.outcome.positive for attempt in seen.attempts)
    if result.planned.action.question is Question.DISTRIBUTE and _lacks_backend(result, seen):
        return False
    return silent > 0 and answered > 0 and not seen.differing_ports


def _lacks_backend(result: CheckResult, seen: Observation) -> bool:
    """Whether a backend answered none of many connections: it is silent, and no packets are lost now and then."""
    return bool({*result.planned.target.backends} - {*seen.backends})


def _unclear(result: CheckResult) -> bool:
    """Whether SYNs were lost or a probe was busy: where only one place is struck, it is loss."""
    return UNCLEAR in result.distrust


def lost_after_answer(result: CheckResult) -> bool:
    """Whether an attempt timed out after another was answered: the rules were in place."""
    attempts = sorted(result.attempts, key=lambda attempt: attempt.started)
    answered = [attempt.outcome.positive for attempt in attempts]
    silent = [attempt.outcome is Outcome.TIMED_OUT for attempt in attempts]
    return True in answered and any(silent[answered.index(True) :])


def find_losses(
    red: Sequence[CheckResult],
    evidence: Sequence[Evidence],
    queries: Sequence[Evidence] = (),
    *,
    unexplained: bool = False,
) -> tuple[Loss, ...]:
    """Return the losses that red checks show together, one for each place; none if too few do.

    ``queries`` are paths of checks to the cluster DNS, counted unless they cover all struck checks.
    With ``unexplained``, checks that lost all their attempts count beside a lossy one.
    """
    struck = [result for result in red if lossy(result)]
    if unexplained and struck:
        struck = [result for result in red if result in struck or _silent(result)]
    placed = len(struck) < FEWEST and not any(map(_counted, struck))
    if placed and (not unexplained or len(struck) < 2):
        return ()
    ids = {result.id for result in struck}
    if ids - {clue.check for clue in queries}:
        evidence = [*evidence, *queries]
    # At high loss some checks lose everything: they show where, not that it is loss. More of them have another cause.
    silent = {result.id for result in red if _silent(result)}
    if len(silent) > len(ids):
        silent = set()
    return tuple(
        _loss(scope, there)
        for scope, checks in places_of(ids | silent, evidence)
        if (there := [result for result in struck if result.id in checks])
        if not all(map(_unclear, there)) or is_apart(scope, checks, evidence)
        if not (placed or (unexplained and any(map(_silent, there))))
        or {trait.kind for trait in scope}
        & {*PLACES}  # few, or silent ones: they have it in common
    )


def _loss(scope: tuple[Trait, ...], struck: Sequence[CheckResult]) -> Loss:
    counted = [_lost_of(result.observation) for result in struck if result.observation]
    return Loss(
        scope=scope,
        checks=tuple(result.id for result in struck),
        lost=sum(lost for lost, _ in counted),
        attempts=sum(attempts for _, attempts in counted),
        unclear=sum(map(_unclear, struck)),
        resent=sum(bool(check.observation and check.observation.resent) for check in struck),
        whole=_lost_whole(struck),
    )


def counted_over(loss: Loss, ran: Iterable[CheckResult], evidence: Iterable[Evidence]) -> Loss:
    """Return a loss counted over all checks at its place: its own were chosen because they lost attempts."""
    there = {clue.check for clue in evidence if clue.traits.issuperset(loss.scope)}
    observed = [result.observation for result in ran if result.id in there]
    counted = [_lost_of(seen) for seen in observed if seen]
    lost, attempts = sum(lost for lost, _ in counted), sum(each for _, each in counted)
    return replace(loss, lost=max(lost, loss.lost), attempts=max(attempts, loss.attempts))


def _lost_of(seen: Observation) -> tuple[int, int]:
    """Return how many attempts of a check got no answer, and how many there were that tell it."""
    if seen.loss is not None:
        return seen.loss.lost, seen.loss.sent
    attempts = [attempt for attempt in seen.attempts if not attempt.overloaded]
    return (
        sum(attempt.outcome is Outcome.TIMED_OUT for attempt in attempts),
        sum(attempt.tries for attempt in attempts),
    )


def _lost_whole(struck: Iterable[CheckResult]) -> int:
    """Return how many TCP connections got no answer, 0 unless whole flows are lost.

    After random packet loss, a second SYN gets through more often.
    """
    seen = [
        result.observation
        for result in struck
        if result.observation and result.planned.action.protocol is Protocol.TCP
    ]
    outcomes = [
        each.outcome
        for of in seen
        for each in of.attempts
        if each.tries == 1 and not each.overloaded
    ]
    lost = outcomes.count(Outcome.TIMED_OUT)
    late = sum(bool(of.resent) for of in seen)
    answered = sum(outcome.positive for outcome in outcomes)
    return lost if lost >= FEWEST and MORE * late <= lost <= answered else 0


def _counted(result: CheckResult) -> bool:
    seen = result.observation
    return seen is not None and seen.loss is not None and bool(seen.loss.proven or seen.resent)


def _silent(result: CheckResult) -> bool:
    seen = result.observation
    if seen is not None and seen.loss is not None:
        return seen.loss.lost == seen.loss.sent
    return seen is not None and seen.outcome is Outcome.TIMED_OUT


SPARE = SYN_AGAIN[1]
"""Seconds by which Pods may be younger than the run: enough for a SYN and a second one."""
_PLACES = frozenset({Kind.NODE, Kind.REMOTE_NODE, Kind.SOURCE_NODE, Kind.TARGET_NODE})


def early(ran: Sequence[CheckResult], evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield new Pods as the cause of checks that lost packets only while those were new."""
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
    """Return by node the seconds without network of new Pods, if all its checks agree."""
    late: dict[str, float] = {}
    in_time: set[str] = set()
    for result in ran:
        check, seen = result.planned, result.observation
        if seen is None or not speaks_of_first_packets(check):
            continue
        node, delay = check.source.node or "", lateness(seen.last_detail)
        if result.verdict in RED and delay:
            late[node] = max(late.get(node, 0.0), delay.seconds)
        else:
            in_time.add(node)
    return {node: seconds for node, seconds in late.items() if node not in in_time}


def _before(result: CheckResult, moment: float) -> bool:
    """Whether a check lost something, all of it sent before ``moment`` (seconds into the run)."""
    struck = [attempt.started for attempt in result.attempts if _struck(attempt)]
    return bool(struck) and max(struck) < moment


def _struck(attempt: Attempt) -> bool:
    if attempt.outcome is Outcome.REFUSED:  # a refusal takes two seconds on Windows
        return False
    return attempt.outcome is Outcome.TIMED_OUT or attempt.elapsed >= SYN_AGAIN[0]
