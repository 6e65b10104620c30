"""Check results → incidents, most explaining first; what no cause explains is said to be so.

The entry of the package: ``build`` calls it. Red are ``fail``, ``flaky``, ``unknown`` and ``lifted``;
green is what shows that its path works: ``pass``, and ``limited`` with a positive outcome. Everything
else (``recorded``, silence that was expected) contradicts nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nettests.model.check import Ask
from nettests.model.facts import ClusterFacts
from nettests.model.words import Outcome, Placement, Verdict
from nettests.report.incidents.loss import Loss, find_loss
from nettests.report.incidents.search import Evidence, Explanation, explain
from nettests.report.incidents.traits import Kind, Trait, traits_of
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
    evidence = [_evidence(one) for one in ran]
    red = {one.id: one for one in ran if one.verdict in RED}
    loss = find_loss(list(red.values()), evidence)
    lost = set(loss.checks) if loss else set()
    answered = [control for one in red.values() for control in _answered(one)]
    explained = explain([*(_without(one, lost) for one in evidence), *answered])
    found = [_incident(one, red, facts) for one in explained]
    if loss:
        found.append(_of_loss(loss, facts))
    known = {check for incident in found for check in incident.checks}
    found.sort(key=lambda one: -len(one.checks))
    return (*found, *(_unexplained(one) for one in red.values() if one.id not in known))


def _evidence(result: CheckResult) -> Evidence:
    assert result.check is not None, "only checks that ran are evidence"
    return Evidence(
        check=result.id,
        traits=_traits(result),
        red=result.verdict in RED,
        green=_green(result),
    )


def _answered(result: CheckResult) -> Iterator[Evidence]:
    """Yield as green what the positive controls of a red check reached: those paths were up meanwhile."""
    if result.check is None or result.observation is None:
        return
    shown = {control.proves for control in result.observation.controls if control.ok}
    for control in result.check.controls:
        if control.proves in shown:
            asked = replace(result.check, ask=control.ask, placement=_placement(control.ask))
            traits = frozenset(one for one in traits_of(asked) if one.kind not in _OF_THE_FLOW)
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


def _without(evidence: Evidence, checks: set[str]) -> Evidence:
    """Return evidence that is no longer red where a loss explains it already."""
    return replace(evidence, red=False) if evidence.check in checks else evidence


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
