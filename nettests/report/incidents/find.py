"""Turn check results into incidents, those that explain most first; unexplained checks stand alone.

The package's entry point, called by ``build``. Red are ``fail``, ``flaky``, ``unknown`` and
``lifted``; green is what proves its path (``evidence``): ``pass``, and ``limited`` with a positive
outcome. All else (``recorded``, expected silence) contradicts no cause.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from nettests.judge.advice import STEPS
from nettests.model.check_id import member_of, parent_of
from nettests.model.facts import ClusterFacts
from nettests.model.words import Protocol, Verdict
from nettests.report.incidents.echoes import echoes
from nettests.report.incidents.evidence import (
    beside,
    evidence_of,
    struck,
    way_of_new_pods,
    way_to_dns,
)
from nettests.report.incidents.folding import FEW, Surroundings, folded
from nettests.report.incidents.hops import directed, node_of_dns, nodes_of_pods
from nettests.report.incidents.loss import Loss, counted_over, early, find_losses
from nettests.report.incidents.loss import lossy as is_lossy
from nettests.report.incidents.pathless import deviations, without_path
from nettests.report.incidents.phrases import (
    cause_alone,
    cause_of,
    cause_of_loss,
    cause_of_slowness,
)
from nettests.report.incidents.search import RED, Evidence, Explanation, explain, of_families
from nettests.report.incidents.slowness import (
    Slowness,
    beside_single_queries,
    find_slowness,
    late_rules,
    waited_as_long,
)
from nettests.report.incidents.steps import next_step_of, step_after_loss
from nettests.report.incidents.traits import Kind, Trait
from nettests.report.incidents.wrong_answers import denials, errors, uncompleted, wrong_answers
from nettests.report.results import CheckResult, Incident

_WEIGHTS = (Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY, Verdict.UNKNOWN)
"""Order of unexplained checks: definite faults come first."""


def find_incidents(
    checks: Sequence[CheckResult], facts: ClusterFacts | None
) -> tuple[Incident, ...]:
    """Return the incidents, which together cover every red check that ran.

    Members are evidence by themselves: through them, a check may be in several incidents.
    """
    ran = [result for result in checks if result.ran and result.check is not None]
    red = {result.id: result for result in ran if result.verdict in RED}
    if not red:
        return ()
    nodes = nodes_of_pods([result.planned for result in ran], facts)
    evidence = [evidence_of(result, nodes) for result in ran]
    besides = of_families(_besides(ran, red, evidence, nodes), evidence)
    evidence = of_families(evidence, evidence)
    ways = [way for result in red.values() for way in way_of_new_pods(result)]
    besides += ways
    dns_node = node_of_dns(facts)
    queried = [clue for result in ran for clue in way_to_dns(result, dns_node)] if dns_node else []
    besides += queried
    new = [*early(ran, evidence), *late_rules(red, evidence)]
    besides += new
    late = find_slowness(list(red.values()), evidence, ways)
    slowness = tuple(beside_single_queries(each, ran) for each in late)
    clues = [*_without((*evidence, *besides), *slowness)]
    apart = {clue.check for clue in new}.union(*(each.checks for each in slowness))
    others = [result for result in red.values() if result.id not in apart]
    losses, explained = _losses_beside_causes(others, evidence, queried, clues)
    slowness, losses = _with_names_as_late(slowness, losses, red)
    slowness, losses = _with_queries_sent_again(slowness, losses, evidence)
    incidents = [_incident(explanation, red, evidence, facts) for explanation in explained]
    shares = {each.checks: 0.0 for each in slowness}
    incidents += map(_of_slowness, slowness)
    of_losses = []
    for loss in losses:
        slow = next((each for each in slowness if each.scope == loss.scope), None)
        echoed = echoes(loss, incidents, red, nodes) | {*(slow.checks if slow else ())}
        incidents = [each for each in incidents if not echoed.issuperset(each.checks)]
        struck_too = tuple(check for check in red if check in echoed or check in loss.checks)
        of_losses.append(_of_loss(replace(loss, checks=struck_too), facts, slow))
        shares[struck_too] = _share(loss)
    incidents += of_losses
    alone = [*_left_alone(red, incidents)]
    for rest in find_losses(alone, evidence, queried, unexplained=True):
        if rest.scope:
            counted = counted_over(rest, ran, evidence)
            incidents = [each for each in incidents if not {*each.checks} <= {*rest.checks}]
            incidents.append(_of_loss(counted, facts))
            shares[rest.checks] = _share(rest)
    covered = {check for incident in incidents for check in incident.checks}
    incidents.sort(key=lambda incident: _place(incident, red))
    alone = sorted((result for result in alone if result.id not in covered), key=_weight)
    whole = [*incidents, *(_unexplained(result, nodes) for result in alone)]
    around = _around(whole, red, nodes, facts, shares)
    return tuple(_by_check(incident) for incident in folded(whole, around))


def _left_alone(
    red: Mapping[str, CheckResult], incidents: Sequence[Incident]
) -> Iterator[CheckResult]:
    """Yield checks without a cause, and those of a cause of two that lost some attempts: these may be part of a loss."""
    several = {
        check
        for each in incidents
        if len(each.checks) > FEW
        or (len(each.checks) > 1 and not all(is_lossy(red[check]) for check in each.checks))
        for check in each.checks
    }
    yield from (result for result in red.values() if result.id not in several)


def _around(
    whole: Sequence[Incident],
    red: Mapping[str, CheckResult],
    nodes: Mapping[str, str],
    facts: ClusterFacts | None,
    shares: Mapping[tuple[str, ...], float],
) -> Surroundings:
    return Surroundings(
        red=red,
        nodes=nodes,
        dns_node=node_of_dns(facts),
        dns_address=str(facts.dns_address.value) if facts else "",
        partial=[each for each in whole if each.checks in shares],
        shares=shares,
    )


def _besides(
    ran: Sequence[CheckResult],
    red: Mapping[str, CheckResult],
    evidence: Sequence[Evidence],
    nodes: Mapping[str, str],
) -> Iterator[Evidence]:
    """Yield what red checks show beside their own paths."""
    results = list(red.values())
    for result in results:
        yield from beside(result, nodes)
    for shown in (wrong_answers, denials, errors, deviations):
        yield from shown(results)
    yield from uncompleted(ran)
    yield from without_path(red, evidence)


def _share(loss: Loss) -> float:
    return loss.lost / max(loss.attempts, 1)


def _place(incident: Incident, red: Mapping[str, CheckResult]) -> tuple[bool, int, int, bool]:
    return (
        Kind.OVERLOADED in incident.traits,
        -len(incident.checks),
        min(_weight(red[check]) for check in incident.checks),
        Kind.SERVICE not in incident.traits,  # on a tie, naming a Service is most specific
    )


def _by_check(incident: Incident) -> Incident:
    return replace(
        incident,
        checks=tuple(dict.fromkeys(map(parent_of, incident.checks))),
        members=tuple(check for check in incident.checks if member_of(check)),
    )


def _losses_beside_causes(
    others: Sequence[CheckResult],
    evidence: Sequence[Evidence],
    queried: Sequence[Evidence],
    clues: Sequence[Evidence],
) -> tuple[tuple[Loss, ...], tuple[Explanation, ...]]:
    """Return the losses that checks show, and the causes of what these do not explain.

    Checks that a greater cause struck or silenced stay with it: they do not locate a loss.
    """
    losses = find_losses(others, evidence, queried)
    explained = explain([*_without(clues, *losses)])
    located = {check for loss in losses for check in loss.checks}
    lossy = located or {result.id for result in others if is_lossy(result)}
    apart = _struck_by_cause(lossy, explained, evidence) | _silenced(lossy, explained, evidence)
    if lossy and apart:
        others = [result for result in others if result.id not in apart]
        losses = find_losses(others, evidence, queried)
        explained = explain([*_without(clues, *losses)])
    return losses, explained


def _struck_by_cause(
    lossy: set[str], explained: Sequence[Explanation], evidence: Sequence[Evidence]
) -> set[str]:
    """Return lossy checks that share the main cause, to which other checks lost all attempts.

    If a node is cut off, one of several backends of a Service does not answer. A cause with fewer
    checks than the loss is itself a chance effect of the loss.
    """
    if not explained or len(explained[0].checks) <= len(lossy):
        return set()
    cause = frozenset(explained[0].traits)
    return {clue.check for clue in evidence if clue.check in lossy and cause <= clue.traits}


def _silenced(
    lossy: set[str], explained: Sequence[Explanation], evidence: Sequence[Evidence]
) -> set[str]:
    """Return checks of causes that are greater than the loss, or that no lossy check shares."""
    traits = [clue.traits for clue in evidence if clue.check in lossy]
    return {
        check
        for each in explained
        if len(each.checks) > len(lossy) or not any(of.issuperset(each.traits) for of in traits)
        for check in each.checks
    }


def _with_queries_sent_again(
    slowness: tuple[Slowness, ...], losses: tuple[Loss, ...], evidence: Sequence[Evidence]
) -> tuple[tuple[Slowness, ...], tuple[Loss, ...]]:
    """Return late names as lost queries, where other names resolve at once: a resolver sent them again."""
    names = (Trait(Kind.DNS, "cluster DNS"),)
    late = [each for each in slowness if each.scope == names]
    lost = [each for each in losses if each.scope == names]
    if not (late and lost and any(clue.green and names[0] in clue.traits for clue in evidence)):
        return slowness, losses
    (slow,), (loss,) = late, lost
    checks = tuple(dict.fromkeys((*slow.checks, *loss.checks)))
    whole = replace(loss, checks=checks, resent=loss.resent + len(slow.checks))
    others = tuple(each for each in slowness if each is not slow)
    return others, tuple(whole if each is loss else each for each in losses)


def _with_names_as_late(
    slowness: tuple[Slowness, ...], losses: tuple[Loss, ...], red: Mapping[str, CheckResult]
) -> tuple[tuple[Slowness, ...], tuple[Loss, ...]]:
    """Return queries sent again as late ones, where the answer was late and nothing shows a loss."""
    for slow in slowness:
        late = [loss for loss in losses if waited_as_long(slow, map(red.__getitem__, loss.checks))]
        checks = dict.fromkeys(chain(slow.checks, *(loss.checks for loss in late)))
        whole = replace(slow, checks=tuple(checks))
        slowness = tuple(whole if each is slow else each for each in slowness)
        losses = tuple(loss for loss in losses if loss not in late)
    return slowness, losses


def _without(evidence: Sequence[Evidence], *causes: Loss | Slowness) -> Iterator[Evidence]:
    explained = {check for cause in causes for check in cause.checks}
    for clue in evidence:
        yield replace(clue, red=False) if clue.check in explained else clue


def _incident(
    explanation: Explanation,
    red: dict[str, CheckResult],
    evidence: Sequence[Evidence],
    facts: ClusterFacts | None,
) -> Incident:
    results = [red[check] for check in explanation.checks]
    of_size = {trait for trait in explanation.traits if trait.kind is Kind.SIZE}
    rest = {*explanation.traits} - of_size
    smaller = any(
        clue.green and rest <= clue.traits and not of_size & clue.traits for clue in evidence
    )
    explanation = directed(_over_udp(explanation, evidence), results)
    return Incident(
        cause=cause_of(explanation.traits, results, smaller_arrive=smaller),
        traits={trait.kind.value: trait.value for trait in explanation.traits},
        checks=explanation.checks,
        next_step=next_step_of(explanation.traits, results, facts),
    )


def _over_udp(explanation: Explanation, evidence: Sequence[Evidence]) -> Explanation:
    """Return a node's unanswered queries as those over UDP, if those over TCP are answered."""
    of = {trait.kind: trait.value for trait in explanation.traits}
    if of.keys() != {Kind.DNS, Kind.SOURCE_NODE}:
        return explanation
    service = Trait(Kind.DNS_SERVICE, of[Kind.SOURCE_NODE])
    over_tcp = {service, Trait(Kind.QUERIES_OVER, Protocol.TCP.value)}
    if not any(clue.green and over_tcp <= clue.traits for clue in evidence):
        return explanation
    udp = Trait(Kind.QUERIES_OVER, Protocol.UDP.value)
    return replace(explanation, traits=(*explanation.traits, udp))


def _of_loss(loss: Loss, facts: ClusterFacts | None, slow: Slowness | None = None) -> Incident:
    """Return the incident of a loss, or of late answers at its place that most of its checks show."""
    if slow and 2 * len(slow.checks) > len(loss.checks):
        return _of_slowness(replace(slow, checks=loss.checks))
    return Incident(
        cause=cause_of_loss(loss),
        traits={trait.kind.value: trait.value for trait in loss.scope},
        checks=loss.checks,
        next_step=step_after_loss(loss.scope, facts),
    )


def _of_slowness(slowness: Slowness) -> Incident:
    return Incident(
        cause=cause_of_slowness(slowness),
        traits={trait.kind.value: trait.value for trait in slowness.scope},
        checks=slowness.checks,
        next_step=STEPS["single-queries" if slowness.single else "slowness"],
    )


def _weight(result: CheckResult) -> int:
    return _WEIGHTS.index(result.verdict)


def _unexplained(result: CheckResult, nodes: Mapping[str, str]) -> Incident:
    cause, traits = cause_alone(struck(result, nodes), result.message)
    return Incident(
        cause=cause,
        traits={trait.kind.value: trait.value for trait in traits},
        checks=(result.id,),
        next_step=result.next_step,
        explained=False,
    )
