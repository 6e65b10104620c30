"""Count the connections that succeeded in trains, and whether all failed from some number on. Pure.

Used by ``observe`` for the answers of ``probes.connection_limit``, which uses it to decide when to stop.
"""

from collections.abc import Sequence

from nettests.model.measured import FlowCount
from nettests.model.observation import Attempt
from nettests.parse.lost_packets import BESIDE

AT_LAST = 8
"""So many failures in a row after successes show that connections ran out: a path that loses half of them
does that once in 256 times."""
IN_ORDER = 100
"""After so many successes, a round with many failures shows that something ran out: a path that loses 10 %
has so many successes in a row once in 37,000 times."""
WALL = 0.4
"""The share of a round that fails when entries run out; the others got the last entries, or freed ones."""


def count(wanted: int, attempts: Sequence[Attempt]) -> FlowCount:
    """Count the connections of all trains; after a failure, the last train was sent on its own."""
    return FlowCount(
        wanted=wanted,
        tried=sum(attempt.tries for attempt in attempts),
        connected=sum(_connected(attempt) for attempt in attempts),
        before=_before(attempts),
        ran_out=ran_out(attempts),
    )


def ran_out(attempts: Sequence[Attempt]) -> bool:
    """Whether connections succeeded up to a number, then failed apart from freed entries."""
    if not _before(attempts):
        return False
    return _connected(attempts[-1]) == 0 or _at_a_wall(attempts)


def _at_a_wall(attempts: Sequence[Attempt]) -> bool:
    """Whether a round failed after many successes: random loss would show from the start."""
    if _before(attempts) < IN_ORDER:
        return False
    first = next(
        (place for place, attempt in enumerate(attempts) if _failed(attempt)), len(attempts)
    )
    failed_round = attempts[first : first + BESIDE]
    tried = sum(attempt.tries for attempt in failed_round)
    return tried >= AT_LAST and sum(map(_failed, failed_round)) >= WALL * tried


def _before(attempts: Sequence[Attempt]) -> int:
    connected = 0
    for attempt in attempts:
        if _failed(attempt):
            break
        connected += attempt.tries
    return connected


def _failed(attempt: Attempt) -> int:
    return attempt.tries - _connected(attempt)


def _connected(attempt: Attempt) -> int:
    """Return how many of a train's connections were answered; 0 for an error but a time-out."""
    return attempt.tries - attempt.lost if attempt.outcome.positive else 0
