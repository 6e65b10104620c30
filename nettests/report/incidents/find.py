"""Check results → incidents, most explaining first; what no cause explains is said to be so.

The entry of the package: ``build`` calls it. Red are ``fail``, ``flaky``, ``unknown`` and ``lifted``;
green is what shows that its path works: ``pass``, and ``limited`` with a positive outcome. Everything
else (``recorded``, silence that was expected) contradicts nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nettests.judge.advice import unready_node
from nettests.model.check import Ask, Check
from nettests.model.facts import ClusterFacts
from nettests.model.words import Outcome, Placement, Verdict
from nettests.report.incidents.hops import hops, nodes_of_pods
from nettests.report.incidents.loss import Loss, find_loss
from nettests.report.incidents.search import Evidence, Explanation, explain
from nettests.report.incidents.traits import Kind, Trait, asks_service, traits_of
from nettests.report.incidents.words import cause_of, cause_of_loss, next_step_of, step_after_loss
from nettests.report.results import CheckResult, Incident

_OF_THE_FLOW = frozenset({Kind.FLOW, Kind.PROPERTY})
"""What a control shares with its check without having shown it."""
RED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.UNKNOWN, Verdict.LIFTED})


def find_incidents(
    checks: Sequence[CheckResult], facts: ClusterFacts | None
) -> tuple[Incident, ...]:
    """Return the incidents; together they hold every red check that ran, each once."""
    ran = [one for one in checks if one.ran and one.check is not None]
    nodes = nodes_of_pods([one.check for one in ran if one.check], facts)
    evidence = [_evidence(one, nodes) for one in ran]
    red = {one.id: one for one in ran if one.verdict in RED}
    answered = [control for one in red.values() for control in _answered(one, nodes)]
    loss = find_loss(list(red.values()), evidence)
    explained = explain([*_without(evidence, loss), *answered])
    if loss and (steady := _steadily(loss, explained, evidence)):
        loss = find_loss([one for one in red.values() if one.id not in steady], evidence)
        explained = explain([*_without(evidence, loss), *answered])
    found = [_incident(one, red, facts) for one in explained]
    if loss:
        found.append(_of_loss(loss, facts))
    known = {check for incident in found for check in incident.checks}
    found.sort(key=lambda one: -len(one.checks))
    return (*found, *(_unexplained(one) for one in red.values() if one.id not in known))


def _steadily(
    loss: Loss, explained: Sequence[Explanation], evidence: Sequence[Evidence]
) -> set[str]:
    """Return checks that lost some attempts to a cause which others met with all of theirs.

    One of several backends behind a Service does not answer where its node is cut off. A cause that fewer
    checks show than lose packets is itself an accident of the loss.
    """
    if not explained or len(explained[0].checks) <= len(loss.checks):
        return set()
    cause = frozenset(explained[0].traits)
    return {one.check for one in evidence if one.check in loss.checks and cause <= one.traits}


def _evidence(result: CheckResult, nodes: Mapping[str, str]) -> Evidence:
    assert result.check is not None, "only checks that ran are evidence"
    red, green, traits = result.verdict in RED, _green(result), _traits(result)
    if asks_service(result.check):
        traits |= frozenset(hops(traits, _met(result, result.check, red=red), nodes))
    if green and not asks_service(result.check):
        traits = _as_dns_shows(traits)
    return Evidence(check=result.id, traits=traits, red=red, green=green)


def _met(result: CheckResult, check: Check, *, red: bool) -> Sequence[str]:
    """Return the backends that a check speaks of: all if it is red, those that answered if it is not."""
    several = len(check.target.backends) > 1
    if red or not several or result.observation is None:
        return check.target.backends
    return result.observation.backends


def _as_dns_shows(traits: frozenset[Trait]) -> frozenset[Trait]:
    """Return what names show that resolve: not that a Service proxy took up Services made since."""
    return frozenset(one for one in traits if one.kind is not Kind.PROXY_NODE)


def _answered(result: CheckResult, nodes: Mapping[str, str]) -> Iterator[Evidence]:
    """Yield as green what the positive controls of a red check reached: those paths were up meanwhile."""
    if result.check is None or result.observation is None:
        return
    shown = {control.proves for control in result.observation.controls if control.ok}
    for control in result.check.controls:
        if control.proves in shown:
            asked = replace(result.check, ask=control.ask, placement=_placement(control.ask))
            traits = frozenset(one for one in traits_of(asked) if one.kind not in _OF_THE_FLOW)
            if not asks_service(asked):
                traits = _as_dns_shows(traits)
            elif len(asked.target.backends) == 1:
                traits |= frozenset(hops(traits, asked.target.backends, nodes))
            yield Evidence(
                check=f"{result.id} ({control.proves} control)", traits=traits, green=True
            )


def _placement(ask: Ask) -> Placement:
    source, target = ask.source.node, ask.target.node
    if not source or not target:
        return Placement.NOWHERE
    return Placement.SAME_NODE if source == target else Placement.OTHER_NODE


def _traits(result: CheckResult) -> frozenset[Trait]:
    """Return a check's traits; where no packet decided the verdict, what did is its only one."""
    assert result.check is not None
    undecided = result.expectation.undecided if result.expectation else None
    if result.verdict is Verdict.UNKNOWN and undecided:
        return frozenset({Trait(Kind.UNDECIDED, undecided)})
    distrust = result.observation.distrust if result.observation else None
    if result.verdict is Verdict.UNKNOWN and (node := unready_node(distrust or "")):
        return frozenset({Trait(Kind.UNREADY, node)})
    if result.verdict is Verdict.LIFTED and result.limitation_id:
        return frozenset({Trait(Kind.LIMITATION, result.limitation_id)})
    return traits_of(result.check)


def _green(result: CheckResult) -> bool:
    if result.observation is None:
        return False
    seen = result.observation.outcome
    if result.verdict is Verdict.PASS:
        # Expected silence shows nothing of a path; a refusal or "no such name" is an answer.
        return seen is not Outcome.TIMED_OUT
    return result.verdict is Verdict.LIMITED and seen.positive


def _without(evidence: Sequence[Evidence], loss: Loss | None) -> Iterator[Evidence]:
    """Yield evidence that is no longer red where a loss explains it already."""
    for one in evidence:
        yield replace(one, red=False) if loss and one.check in loss.checks else one


def _incident(
    found: Explanation, red: dict[str, CheckResult], facts: ClusterFacts | None
) -> Incident:
    results = [red[check] for check in found.checks]
    return Incident(
        cause=cause_of(found.traits, results),
        traits={trait.kind.value: trait.value for trait in found.traits},
        checks=found.checks,
        next_step=next_step_of(found.traits, results, facts),
    )


def _of_loss(loss: Loss, facts: ClusterFacts | None) -> Incident:
    return Incident(
        cause=cause_of_loss(loss),
        traits={trait.kind.value: trait.value for trait in loss.scope},
        checks=loss.checks,
        next_step=step_after_loss(loss.scope, facts),
    )


def _unexplained(result: CheckResult) -> Incident:
    """Return a check that shares its failure with no other, in its own words."""
    return Incident(
        cause=result.message,
        traits={},
        checks=(result.id,),
        next_step=result.next_step,
        explained=False,
    )
