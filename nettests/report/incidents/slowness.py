"""Lateness: checks whose every answer came so late that clients send again, wherever the delay is.

Beside ``loss``: what is not measured for its time contradicts nothing, such as a command on a node or many connections in
a row, so these checks are one incident, scoped to the trait that best tells them from the rest. Checks that lost some
answers to time-outs, and had none in time, belong to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nettests.model.check_id import member_of
from nettests.model.words import Outcome
from nettests.parse.slow import RETRANSMITTED
from nettests.report.incidents.loss import FEWEST, scope_of
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Trait
from nettests.report.results import CheckResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowness:
    """Checks whose answers were all late; ``scope`` is empty where no trait stands out."""

    scope: tuple[Trait, ...]
    checks: tuple[str, ...]
    least: float
    """Seconds of the soonest answer of those that were measured."""


def find_slowness(red: Sequence[CheckResult], evidence: Sequence[Evidence]) -> Slowness | None:
    """Return the lateness that red checks show together, ``None`` where too few do; one of every node's members is enough."""
    slow = [result for result in red if result.observation and result.observation.slow]
    if len(slow) < FEWEST and not any(member_of(result.id) for result in slow):
        return None
    struck = [*slow, *(result for result in red if result not in slow and _never_in_time(result))]
    ids = {result.id for result in struck}
    answered = [
        attempt.elapsed
        for result in slow
        if result.observation
        for attempt in result.observation.attempts
        if attempt.outcome.positive
    ]
    return Slowness(
        scope=scope_of(ids, evidence),
        checks=tuple(result.id for result in red if result.id in ids),
        least=min(answered, default=0.0),
    )


def _never_in_time(result: CheckResult) -> bool:
    """Whether some attempts timed out, and what was answered was late."""
    if result.observation is None or result.observation.loss or result.observation.path_size:
        return False
    attempts = result.observation.attempts
    in_time = any(one.outcome.positive and one.elapsed < RETRANSMITTED for one in attempts)
    answered = any(one.outcome.positive for one in attempts)
    return answered and not in_time and any(one.outcome is Outcome.TIMED_OUT for one in attempts)
