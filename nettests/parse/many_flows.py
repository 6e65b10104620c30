"""Read from trains of many connections how many were made, and whether there were no more from a number on. Pure.

Used by ``observe`` for the answers that ``probes.many_flows`` brought, and by that to know whether to go on. What was
expected is not known here.
"""

from collections.abc import Sequence

from nettests.model.flow_count import FlowCount
from nettests.model.observation import Attempt

AT_LAST = 8
"""So many in a row that fail after others have connected show that there are no more: on a path that loses half of all
connections that happens once in 256 times."""


def count(wanted: int, attempts: Sequence[Attempt]) -> FlowCount:
    """Return what trains of connections say, the last of which was sent alone where others had failed."""
    connected = sum(_connected(one) for one in attempts)
    return FlowCount(
        wanted=wanted,
        tried=sum(one.tries for one in attempts),
        connected=connected,
        ran_out=connected > 0 and ran_out(attempts),
    )


def ran_out(attempts: Sequence[Attempt]) -> bool:
    """Whether the last train brought no connection."""
    return bool(attempts) and _connected(attempts[-1]) == 0


def _connected(attempt: Attempt) -> int:
    """Return how many of a train's connections were answered; one that brought another error than silence tells of none."""
    return attempt.tries - attempt.lost if attempt.outcome.positive else 0
