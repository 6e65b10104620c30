"""Lateness: checks whose every answer came so late that clients retransmit, wherever the delay is.

Beside ``loss``: checks without timing (a command on a node, connections in a row) contradict
nothing, so these checks are one incident, scoped to the trait that best distinguishes them. Checks
that timed out now and then and had no answer in time belong to it, as do those on the same path
that gave up first.

Beside ``evidence`` (``late_rules``): a check that ran after the rules came is green and contradicts
nothing; one that ran before looks as if its Service had no rules. If several Services of a node
answered only after their deadline, its proxy explains the silence of its other Services too. Not so
for cluster DNS, whose rules are older than the run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from nettests.judge.advice import Late, late_service
from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.cluster_profile import Timing
from nettests.model.observation import Observation
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse.first_packets import BY_NAME, NO_NAME, lacked, lost_later
from nettests.parse.late_answers import QUERIED_AGAIN, RETRANSMITTED
from nettests.parse.lost_packets import SLOW_TRIES
from nettests.plan.pods import CONNECT_SECONDS
from nettests.report.incidents.loss import FEWEST, lossy, lost_after_answer
from nettests.report.incidents.scopes import SCOPES, places_of, scope_of
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import (
    Kind,
    Trait,
    is_named_outside,
    queries_cluster_dns,
    speaks_of_first_packets,
)
from nettests.report.results import CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowness:
    """Checks whose answers were all late; ``scope`` is empty if no trait stands out."""

    scope: tuple[Trait, ...]
    checks: tuple[str, ...]
    least: float
    """Seconds of the fastest positive answer among the slow checks."""
    single: int = 0
    """How many queries for IPv4 addresses alone the cluster DNS answered, sooner than lookups; 0 if it did not."""


def beside_single_queries(slowness: Slowness, ran: Sequence[CheckResult]) -> Slowness:
    """Return late lookups with the number of single queries that were counted, if these were answered sooner.

    Resolvers send a query for IPv6 addresses (AAAA) beside that for IPv4 (A), and wait for both.
    Names outside the cluster may wait for other servers.
    """
    checks = [result.planned for result in ran if result.id in slowness.checks]
    of_dns = {Kind.DNS, Kind.DNS_SERVICE} & {trait.kind for trait in slowness.scope}
    if not of_dns or all(map(is_named_outside, checks)):
        return slowness
    counted = [
        result.observation
        for result in ran
        if result.planned.action.question is Question.LOSS and result.observation
        if result.planned.target.kind is TargetKind.DNS_SERVICE
    ]
    losses = [seen.loss for seen in counted if seen.loss]
    took = [train.elapsed / train.tries for seen in counted for train in seen.attempts]
    if not took or any(loss.lost for loss in losses) or median(took) > slowness.least * _SOONER:
        return slowness
    return replace(slowness, single=sum(loss.sent for loss in losses))


_SOONER = 2 / 3
"""Single queries are answered sooner than lookups if half of them take this share of the time or less."""


def find_slowness(
    red: Sequence[CheckResult], evidence: Sequence[Evidence], ways: Sequence[Evidence] = ()
) -> tuple[Slowness, ...]:
    """Return the lateness that red checks show together, one for each place; none if too few do.

    ``ways`` are paths from new Pods that reached no other Pod to the nodes they tried.
    """
    slow = [result for result in red if result.observation and result.observation.slow]
    if len(slow) < FEWEST and not _alone(slow, red):
        return ()
    if not any(attempt.outcome.positive for result in slow for attempt in result.attempts):
        return ()  # only transfers were too slow
    struck = [*slow, *(result for result in red if result not in slow and _never_in_time(result))]
    ids = {result.id for result in struck}
    places = [*_by_node(ids, evidence)]
    # Each answer waited for a name until its resolver's second query.
    names = all(queries_cluster_dns(result.planned) for result in slow)
    if names and _least(slow) >= QUERIED_AGAIN:
        places = [(scope_of(ids, [*_of_names(evidence)]) or (Trait(Kind.DNS, "cluster DNS"),), ids)]
    return tuple(_slowness(scope, there, red, evidence, ways) for scope, there in places)


def _by_node(
    ids: set[str], evidence: Sequence[Evidence]
) -> Iterator[tuple[tuple[Trait, ...], set[str]]]:
    """Yield the places of slow checks, one for each node: its proxy is as late as its link."""
    checks: dict[str, set[str]] = {}
    scopes: dict[str, tuple[Trait, ...]] = {}
    for scope, there in places_of(ids, evidence):
        name = scope[0].value if scope else ""
        scopes.setdefault(name, scope)
        checks.setdefault(name, set()).update(there)
    rest = ids.difference(*checks.values())
    yield from ((scopes[name], checks[name]) for name in scopes)
    if len(rest) >= FEWEST:
        elsewhere = [clue for clue in evidence if clue.check not in ids - rest]
        yield scope_of(rest, elsewhere), rest


def _least(slow: Iterable[CheckResult]) -> float:
    attempts = (attempt for result in slow for attempt in result.attempts)
    return min((each.elapsed for each in attempts if each.outcome.positive), default=0.0)


def _slowness(
    scope: tuple[Trait, ...],
    ids: set[str],
    red: Sequence[CheckResult],
    evidence: Sequence[Evidence],
    ways: Sequence[Evidence],
) -> Slowness:
    least = _least(
        each for each in red if each.id in ids and each.observation and each.observation.slow
    )
    new_pods = {result.id for result in _new_pods_without_names(red, scope)}
    new_pods |= {way.check for way in ways if least >= CONNECT_SECONDS and _is_late(way, scope)}
    overdue = {clue.check for clue in evidence if clue.red and scope and {*scope} <= clue.traits}
    overdue &= {result.id for result in red if _gave_up(result, least)}
    ids = ids | new_pods | overdue
    return Slowness(
        scope=scope,
        checks=tuple(result.id for result in red if result.id in ids),
        least=least,
    )


def _of_names(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield evidence with DNS traits only: packets that wait for a name are not late."""
    for clue in evidence:
        kept = (trait for trait in clue.traits if trait.kind in _NAMES or trait.kind not in SCOPES)
        yield replace(clue, traits=frozenset(kept))


_NAMES = {Kind.DNS, Kind.DNS_SERVICE}


def _alone(slow: Sequence[CheckResult], red: Sequence[CheckResult]) -> bool:
    """Whether fewer checks are enough: one fleet member is, unless packets are also lost."""
    return any(member_of(check.id) for check in slow) and not any(map(lossy, red))


def _is_late(way: Evidence, scope: Sequence[Trait]) -> bool:
    return all(
        trait in way.traits or trait == Trait(Kind.PROTOCOL, Protocol.TCP.value) for trait in scope
    )


def _new_pods_without_names(
    red: Sequence[CheckResult], scope: Sequence[Trait]
) -> Iterator[CheckResult]:
    """Yield new Pods that now and then resolved no name where DNS is late: they give up after 1 s."""
    of = {trait.kind: trait.value for trait in scope}
    if not {Kind.DNS, Kind.DNS_SERVICE} & of.keys():
        return
    for result in red:
        check, seen = result.planned, result.observation
        if seen is None or not speaks_of_first_packets(check):
            continue
        there = of.get(Kind.DNS_SERVICE) in {None, check.source.node}
        detail = seen.last_detail
        if there and (lacked(detail) == NO_NAME or lost_later(detail) == BY_NAME):
            yield result


def _gave_up(result: CheckResult, least: float) -> bool:
    """Whether a silent check fits answers that take ``least`` seconds: its client gives up first.

    A payload, or connections in a row, need several such answers.
    """
    action, seen = result.planned.action, result.observation
    if seen is None or seen.outcome is not Outcome.TIMED_OUT:
        return False
    several = action.size is not None or action.connections > 1
    waited = _waited(result.planned, seen)
    return least >= RETRANSMITTED if several else waited is not None and least >= waited / 2


def _waited(check: Check, observation: Observation) -> float | None:
    """Return how many seconds the client of a silent check waited; it differs by client.

    If a name is looked up first, at most the time of a dial counts.
    """
    took = [
        attempt.elapsed / attempt.tries
        for attempt in observation.attempts
        if attempt.outcome is Outcome.TIMED_OUT and not attempt.overloaded
    ]
    named = (Timing().dial,) if check.target.descriptor.by_name else ()
    return min([*took, *named]) if took else None


def _never_in_time(result: CheckResult) -> bool:
    """Whether some attempts timed out, and all answers were late."""
    if result.observation is None or result.observation.loss or result.observation.path_size:
        return False
    answered = [
        attempt.elapsed
        for attempt in result.attempts
        if attempt.outcome.positive or attempt.outcome is Outcome.NXDOMAIN
    ]
    silent = any(attempt.outcome is Outcome.TIMED_OUT for attempt in result.attempts)
    return silent and bool(answered) and min(answered) >= RETRANSMITTED


def waited_as_long(slowness: Slowness, checks: Iterable[CheckResult]) -> bool:
    """Whether these checks' names were late as well: none came sooner, or queries of one type all did.

    A resolver that waits for such an answer sends its query again, as after a lost one.
    """
    results = list(checks)
    return (
        bool({Kind.DNS, Kind.DNS_SERVICE} & {trait.kind for trait in slowness.scope})
        and all(queries_cluster_dns(result.planned) for result in results)
        and (slowness.single >= SLOW_TRIES or _least(results) >= slowness.least)
    )


SEVERAL = 2
"""With this many late Services, the node is late and not a Service."""


def late_rules(red: Mapping[str, CheckResult], evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield late rules of a node for each red check that waited for them or met silence."""
    nodes = set(_late_nodes(red.values()))
    for clue in evidence if nodes else ():
        if not clue.red:
            continue
        result = red[clue.check]
        late = _late(result)
        proxies = {late.node} if late else _translated_by(clue) if _kept_silent(result) else set()
        for node in sorted(proxies & nodes):
            traits = frozenset({Trait(Kind.LATE_RULES, node)})
            yield Evidence(check=clue.check, traits=traits, red=True)


def _late_nodes(red: Iterable[CheckResult]) -> Iterator[str]:
    services: dict[str, set[str]] = {}
    for result in red:
        seen, late = result.observation, _late(result)
        if late and seen and seen.outcome.positive and not result.planned.queries_dns:
            services.setdefault(late.node, set()).add(late.service)
    yield from (node for node, names in services.items() if len(names) >= SEVERAL)


def _late(result: CheckResult) -> Late | None:
    seen = result.observation
    return late_service(seen.late or "") if seen is not None else None


def _translated_by(clue: Evidence) -> set[str]:
    return {trait.value for trait in clue.traits if trait.kind is Kind.PROXY_NODE}


def _kept_silent(result: CheckResult) -> bool:
    """Whether a Service did not answer in a check; one of new Pods counts without a time-out."""
    check, seen = result.planned, result.observation
    if seen is None or check.action.question is Question.RESOLVE or lost_after_answer(result):
        return False
    return Outcome.TIMED_OUT in result.outcomes or speaks_of_first_packets(check)
