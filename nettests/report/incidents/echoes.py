"""Echoes of a loss: checks that it struck too, each in a way of its own, fold under it.

After ``search`` and ``loss``. Where one of three connections is lost, some checks lose all that they sent, a Service seems
dead from one node, and a control channel breaks. Only what no cause with several checks explains folds, only at the place of
the loss, and only what that loss brings about more often than once in a thousand times: a second fault there stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from nettests.judge.distrust import lost_channel
from nettests.model.words import Outcome
from nettests.parse.first_packets import lateness, lost_later
from nettests.report.incidents.loss import PLACES, Loss, lost_after_answer
from nettests.report.incidents.traits import Kind
from nettests.report.results import CheckResult, Incident

FEW = 2
"""Checks of an incident that may each be an echo by itself; so many show that Services which seemed late were lost."""
MOST = 4
"""Checks of an incident that may be an echo."""
RARE = 0.001


def echoes(
    loss: Loss,
    incidents: Sequence[Incident],
    red: Mapping[str, CheckResult],
    nodes: Mapping[str, str],
) -> frozenset[str]:
    """Return the checks that the loss struck as well: of no incident, or of small ones that it explains whole."""
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
    """Return how an incident is marked whose Services seemed late on the node that loses packets; ``None`` if they were.

    Rules that come late answer from then on: what was lost after an answer was not lost for want of them.
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
    """Whether a loss does all of this to so few checks; of more than ``FEW``, at the same time."""
    together = len(shares) <= FEW or prod(shares) > RARE
    return len(shares) <= MOST and min(shares) > RARE and together


def _likely(result: CheckResult, place: set[str], loss: Loss, nodes: Mapping[str, str]) -> float:
    """Return how often the loss does to a check what was seen of it; 0 for what is elsewhere, or is none of its kind."""
    check, seen = result.check, result.observation
    if check is None or not place <= set(_ends(result, nodes)):
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
        return float(rate ** max(late))  # a try a second
    silent = sum(attempt.outcome is Outcome.TIMED_OUT for attempt in seen.attempts)
    if silent < len(seen.attempts):
        return silent > 0
    return float(rate**silent) if silent else 0


def _ends(result: CheckResult, nodes: Mapping[str, str]) -> Iterator[str]:
    assert result.check is not None
    source, target = result.check.source, result.check.target
    yield from filter(None, (source.node, target.node))
    yield from (nodes[pod] for pod in (target.pod or "", *target.backends) if pod in nodes)
