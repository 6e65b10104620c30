"""What a proven cause did besides: small incidents whose packets cross its place join it. Pure.

After all causes are found. A path that loses everything also breaks checks whose own path is another: the API server
sends to their Pod, a positive control or a name needs it, or a Service that stands for others has its backend there.
Merged are only a few checks at a time that were silent or could not be judged, and only those that one of its losses
would explain, so that a second fault beside a proven one is still reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nettests.judge.distrust import busy
from nettests.model.check import Check
from nettests.model.words import Outcome, Placement, Protocol, Question, VantageKind, Verdict
from nettests.parse.first_packets import lacked, lateness, lost_later
from nettests.report.incidents.hops import nodes_of_target
from nettests.report.incidents.traits import (
    Kind,
    looks_names_up,
    queries_cluster_dns,
    speaks_of_first_packets,
    targets_service,
)
from nettests.report.incidents.untrusted import distrusted
from nettests.report.results import CheckResult, Incident

FEW = 2
SMALL = 16
"""An incident that joins another one has ``FEW`` checks, or one for so many of the other's."""
PROVEN = 6
"""Checks of an incident that others join: so many are no accident."""
RARE = 0.001
"""A path that loses some packets seldom loses all attempts of a check: what is rarer has another cause."""
_PAIRS = {Kind.LINK, Kind.DIRECTION, Kind.POD_PAIR, Kind.POD_ROUTE, Kind.ADDRESSED_BY}
_ACROSS = {
    *(Kind.REMOTE_NODE, Kind.POD_NETWORK, Kind.NODE, Kind.LEFT, Kind.ENTERED),
    *(Kind.HOST, Kind.HOST_SENDS, Kind.FORWARDS, Kind.FORWARDED, Kind.OUTSIDE),
}
_OF_NAMES = {Kind.DNS, Kind.DNS_SERVICE}
_ELSEWHERE = "elsewhere"
"""The other end of packets to the outside, and to the name servers of a node itself."""
_LOAD_BALANCERS = "load-balancers"
"""The rule by which HNS has to hold what kube-proxy programs."""
_HUNG = "did not end within"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What decides where a check's packets go: the nodes of Pods, that of the cluster DNS, and losses by incident."""

    red: Mapping[str, CheckResult]
    nodes: Mapping[str, str]
    dns_node: str | None
    dns_address: str
    partial: Sequence[Incident]
    """Incidents of losses and of late answers."""
    shares: Mapping[tuple[str, ...], float]
    """By its checks: the share of attempts that an incident left without an answer, if that is known; 0 of late answers."""


def folded(incidents: Sequence[Incident], around: Surroundings) -> tuple[Incident, ...]:
    """Return the incidents in their order, the small ones merged into what explains them."""
    proven = [
        each
        for each in incidents
        if each.explained and len(each.checks) >= PROVEN and around.shares.get(each.checks, 1.0)
    ]
    joined: dict[tuple[str, ...], list[str]] = {}
    alone = []
    for small in incidents:
        answers = _of_connections_to_dns(small, incidents, around)
        of = [answers] * len(small.checks) if answers else [*_explaining(small, proven, around)]
        if None in of:
            alone.append(small)
            continue
        for check, cause in zip(small.checks, of, strict=True):
            joined.setdefault(cause.checks if cause else (), []).append(check)
    return tuple(
        replace(each, checks=tuple(dict.fromkeys((*each.checks, *joined.get(each.checks, ())))))
        for each in alone
    )


def _explaining(
    small: Incident, proven: Sequence[Incident], around: Surroundings
) -> Iterator[Incident | None]:
    """Yield for each check of an incident the greater one that explains it, if any."""
    cause = (
        _of_lost_queries(small, around)
        or _of_cut_node(small, proven, around)
        or _of_queries_elsewhere(small, proven, around)
    )
    if cause and cause is not small:
        yield from [cause] * len(small.checks)
        return
    greater = [
        each
        for each in proven
        if len(small.checks) <= max(FEW, len(each.checks) // SMALL)
        and each is not small
        and not {Kind.OVERLOADED, Kind.INSTRUMENT} & small.traits.keys()
    ]
    for check in small.checks:
        yield next((each for each in greater if _befell(around.red[check], each, around)), None)


def _of_connections_to_dns(
    small: Incident, incidents: Sequence[Incident], around: Surroundings
) -> Incident | None:
    """Return the incident of cluster DNS over TCP that silent connections to its Service join, however few it has."""
    over_tcp = {Kind.DNS: "cluster DNS", Kind.QUERIES_OVER: Protocol.TCP.value}.items()
    dns = next((each for each in incidents if over_tcp <= each.traits.items()), None)
    existing = [around.red[check].planned.target.existing for check in small.checks] if dns else []
    to_dns = all(each and str(each.address) == around.dns_address for each in existing)
    return dns if to_dns and small is not dns else None


def _of_lost_queries(small: Incident, around: Surroundings) -> Incident | None:
    """Return the loss or lateness of cluster DNS that an incident of denied names joins, if names are denied only now and then.

    A resolver that has no answer for a name goes on with the next one of its search list, which does not exist.
    """
    if not {Kind.DENIAL, Kind.DNS_ERRORS} & small.traits.keys():
        return None
    seen = [around.red[check].attempts for check in small.checks]
    well = sum(any(attempt.outcome.positive for attempt in attempts) for attempts in seen)
    if 2 * well <= len(seen):
        return None
    return next((each for each in around.partial if Kind.DNS in each.traits), None)


def _of_cut_node(
    small: Incident, proven: Sequence[Incident], around: Surroundings
) -> Incident | None:
    """Return the cut node that an instrument's incident joins: a program that waits for lost packets ends as late as one that hangs."""
    if Kind.INSTRUMENT not in small.traits:
        return None
    lacking = [*map(distrusted, map(around.red.__getitem__, small.checks))]
    if not all(each and _HUNG in each.how for each in lacking):
        return None
    nodes = {each.node for each in lacking if each}
    return next(
        (
            each
            for each in proven
            if around.shares.get(each.checks, 1.0) == 1
            and any(kind in _ACROSS and {value} == nodes for kind, value in each.traits.items())
        ),
        None,
    )


def _of_queries_elsewhere(
    small: Incident, proven: Sequence[Incident], around: Surroundings
) -> Incident | None:
    """Return the node without answers of the cluster DNS that its queries to other servers join, if these are as silent."""
    silent = {
        each.traits[Kind.SOURCE_NODE]: each
        for each in proven
        if {Kind.DNS, Kind.SOURCE_NODE} <= each.traits.keys() and each is not small
        if each.traits.get(Kind.QUERIES_OVER) != Protocol.TCP.value
    }
    results = [around.red[check] for check in small.checks] if silent else []
    nodes = {result.check.source.node for result in results if result.check}
    elsewhere = all(
        each.check and each.check.queries_dns and not _needs_names(each.check) and _silent(each, 1)
        for each in results
    )
    return silent.get(nodes.pop() or "") if elsewhere and len(nodes) == 1 else None


def _befell(result: CheckResult, proven: Incident, around: Surroundings) -> bool:
    check, of = result.planned, {Kind(kind): value for kind, value in proven.traits.items()}
    if not _of_its_protocol(result, check, of.get(Kind.PROTOCOL)):
        return False
    if _misses_load_balancers(check) and check.source.node in {
        of.get(Kind.DNS_SERVICE),
        of.get(Kind.PROXY_NODE),
    }:
        return True
    return _silent(result, around.shares.get(proven.checks, 1.0)) and any(
        _crosses(result, check, kind, value, around) for kind, value in of.items()
    )


def _crosses(
    result: CheckResult, check: Check, kind: Kind, value: str, around: Surroundings
) -> bool:
    place, ends = {*value.replace("↔", "→").split(" → ")}, {*_ends(result, check, around)}
    anywhere = check.target.existing is not None or result.verdict is Verdict.UNKNOWN
    if kind in _PAIRS:
        return place <= ends or (anywhere and bool(place & ends))
    if kind in _ACROSS:
        of_api = check.source.kind is VantageKind.API
        if of_api and result.verdict is Verdict.UNKNOWN:
            return True  # the API server's packets may leave from that node
        return place <= ends and (anywhere or of_api or len(ends) > 1)
    if kind is Kind.PROXY_NODE:
        through = targets_service(check) or anywhere or speaks_of_first_packets(check)
        return through and bool(place & {check.source.node, check.target.node})
    if kind in _OF_NAMES:
        there = kind is Kind.DNS or value == check.source.node
        return there and (_needs_names(check) or check.target.existing is not None)
    return False


def _ends(result: CheckResult, check: Check, around: Surroundings) -> Iterator[str]:
    """Yield the places that a check's packets pass: its own ends, those of failed controls, and its name servers."""
    failed = (
        {control.proves for control in result.observation.controls if not control.ok}
        if result.observation
        else set()
    )
    actions = [check.action, *(c.action for c in check.controls if c.proves in failed)]
    for action in actions:
        yield from nodes_of_target(action.target, around.nodes)
        if action.source.node:
            yield action.source.node
    if check.placement is Placement.OUTSIDE or (check.queries_dns and not _needs_names(check)):
        yield _ELSEWHERE
    existing = check.target.existing
    of_dns = existing is not None and str(existing.address) == around.dns_address
    if around.dns_node and (of_dns or _needs_names(check)):
        yield around.dns_node


def _needs_names(check: Check) -> bool:
    return any(
        needs(check) for needs in (queries_cluster_dns, looks_names_up, speaks_of_first_packets)
    )


def _misses_load_balancers(check: Check) -> bool:
    case = check.action.case
    inspected = check.action.question is Question.INSPECT
    return inspected and case is not None and case.label == _LOAD_BALANCERS


def _of_its_protocol(result: CheckResult, check: Check, protocol: str | None) -> bool:
    if protocol is None or result.verdict is Verdict.UNKNOWN or not check.action.question.has_path:
        return True
    by_name = Protocol.UDP.value in protocol and _needs_names(check)
    return by_name or check.action.protocol.value in protocol


def _silent(result: CheckResult, share: float) -> bool:
    """Whether a loss of that share may have kept a check silent, or from being judged."""
    seen = result.observation
    if result.verdict is Verdict.UNKNOWN:
        return not busy(result.distrust) and not (seen and busy(seen.late))
    if seen is None:
        return False
    if seen.late is not None and seen.outcome.positive:
        return True
    if speaks_of_first_packets(result.planned):
        detail = seen.last_detail
        late = lateness(detail)
        rarely = share ** (late.seconds if late else 1) > RARE  # one try a second
        return rarely and bool(late or lost_later(detail) or (lacked(detail) and share == 1))
    silent = sum(attempt.outcome is Outcome.TIMED_OUT for attempt in seen.attempts)
    return bool(silent) and share**silent > RARE
