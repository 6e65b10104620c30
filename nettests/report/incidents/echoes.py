"""Echoes of a loss: other checks that it struck, each in its own way, join its incident.

After ``search`` and ``loss``. Where one of three connections is lost, some checks lose all their
packets, a Service seems dead from one node, and a control channel breaks. Merged are only checks
that no cause with several checks explains, only at the place of the loss, and only effects with a
probability above 1 in 1,000, so that a second fault at that place is still reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from nettests.judge.distrust import lost_channel
from nettests.model.words import Outcome
from nettests.parse.first_packets import lateness, lost_later
from nettests.report.incidents.hops import nodes_of_target
from nettests.report.incidents.loss import Loss, lost_after_answer
from nettests.report.incidents.scopes import PLACES
from nettests.report.incidents.traits import Kind
from nettests.report.results import CheckResult, Incident

FEW = 2
"""Checks of an incident whose effects are judged separately.

Also how many losses after an answer show that Services only seemed late.
"""
MOST = 4
"""Checks of an incident that may be an echo."""
RARE = 0.001


def echoes(
    loss: Loss,
    incidents: Sequence[Incident],
    red: Mapping[str, CheckResult],
    nodes: Mapping[str, str],
) -> frozenset[str]:
    """Return other checks that the loss struck: of no incident, or of small ones it explains."""
    place = set(_place(loss, nodes))
    if not place:
        return frozenset()
    late = _late_rules(loss, red)
    held = [incident.checks for incident in incidents if incident.traits != late]
    single = [(check,) for check in red.keys() - {*loss.checks, *(c for of in held for c in of)}]
    waited = [incident.checks for incident in incidents if incident.traits == late]
    struck = [
        checks
        for checks in (*held, *single)
        if _is_likely([_likely(red[each], place, loss, nodes) for each in checks])
    ]
    return frozenset(check for checks in (*waited, *struck) for check in checks)


def _late_rules(loss: Loss, red: Mapping[str, CheckResult]) -> Mapping[str, str] | None:
    """Return the traits of an incident that blames late rules instead of the loss, if any.

    Late rules stay once they are there: what is lost after an answer was lost otherwise.
    """
    node = next((trait.value for trait in loss.scope if trait.kind is Kind.PROXY_NODE), None)
    again = sum(map(lost_after_answer, (red[check] for check in loss.checks)))
    return {Kind.LATE_RULES.value: node} if node and again >= FEW else None


def _place(loss: Loss, nodes: Mapping[str, str]) -> Iterator[str]:
    for trait in loss.scope:
        if trait.kind in PLACES:
            yield from trait.value.replace("↔", "→").split(" → ")
        elif trait.kind is Kind.BACKEND and trait.value in nodes:
            yield nodes[trait.value]


def _is_likely(shares: Sequence[float]) -> bool:
    """Whether a loss is likely to do this to the checks; beyond ``FEW``, all at once."""
    together = len(shares) <= FEW or prod(shares) > RARE
    return len(shares) <= MOST and min(shares) > RARE and together


def _likely(result: CheckResult, place: set[str], loss: Loss, nodes: Mapping[str, str]) -> float:
    """Return how likely the loss causes what a check saw; 0 elsewhere or for other effects."""
    check, seen = result.planned, result.observation
    if not place <= {check.source.node or "", *nodes_of_target(check.target, nodes)}:
        return 0
    if lost_channel(result.distrust):
        return check.source.node in place
    if seen is None:
        return 0
    rate = loss.lost / max(loss.attempts, 1)
    if any(lost_later(attempt.detail) for attempt in seen.attempts):
        return 1
    late = [each.seconds for attempt in seen.attempts if (each := lateness(attempt.detail))]
    if late:
        return float(rate ** max(late))  # one try per second
    silent = sum(attempt.outcome is Outcome.TIMED_OUT for attempt in seen.attempts)
    if silent < len(seen.attempts):
        return silent > 0
    return float(rate**silent) if silent else 0
