"""Count the connections that succeeded in trains of many, and whether all failed from some number on. Pure.

Used by ``observe`` for the answers of ``probes.many_flows``, and by that module to know whether to go on. What was
expected is not known here.
"""

from collections.abc import Sequence

from nettests.model.measured import FlowCount
from nettests.model.observation import Attempt
from nettests.parse.late_trains import BESIDE

AT_LAST = 8
"""So many in a row that fail after others have connected show that there are no more: on a path that loses half of all
connections that happens once in 256 times."""
IN_ORDER = 100
"""After so many of which none failed, a round of which many do is the end of something: a path that loses 10 % brings
so many in a row once in 37,000 times, and one that loses more never."""
WALL = 0.4
"""The share of a round that fails when something runs out; the rest got the last entries, or freed ones."""


def count(wanted: int, attempts: Sequence[Attempt]) -> FlowCount:
    """Count the connections of all trains; the last train was sent alone if others had failed."""
    return FlowCount(
        wanted=wanted,
        tried=sum(attempt.tries for attempt in attempts),
        connected=sum(_connected(attempt) for attempt in attempts),
        before=_before(attempts),
        ran_out=ran_out(attempts),
    )


def ran_out(attempts: Sequence[Attempt]) -> bool:
    """Whether connections succeeded up to a number and then no more, except for entries that became free again."""
    if not _before(attempts):
        return False
    return _connected(attempts[-1]) == 0 or _at_a_wall(attempts)


def _at_a_wall(attempts: Sequence[Attempt]) -> bool:
    """Whether a round failed after many connections without a failure: random loss would show from the start."""
    if _before(attempts) < IN_ORDER:
        return False
    first = next(
        (place for place, attempt in enumerate(attempts) if _failed(attempt)), len(attempts)
    )
    failed_round = attempts[first : first + BESIDE]
    tried = sum(attempt.tries for attempt in failed_round)
    return tried >= AT_LAST and sum(map(_failed, failed_round)) >= WALL * tried


def _before(attempts: Sequence[Attempt]) -> int:
    """Return how many connections succeeded before the first train with a failure."""
    connected = 0
    for attempt in attempts:
        if _failed(attempt):
            break
        connected += attempt.tries
    return connected


def _failed(attempt: Attempt) -> int:
    return attempt.tries - _connected(attempt)


def _connected(attempt: Attempt) -> int:
    """Return how many of a train's connections were answered; 0 if it brought an error other than silence."""
    return attempt.tries - attempt.lost if attempt.outcome.positive else 0
