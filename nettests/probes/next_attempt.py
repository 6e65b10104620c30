"""The next request of a check, and when enough have been sent. Pure.

Attempts alternate over the requests that a target serves. If its ports differ the alternation ends: each port is
probed in a row, failing ports first, until its result is conclusive. If alternation went on, a load balancer that
round-robins over its backends, one of them dead, would look like a dead port.
"""

from collections.abc import Mapping, Sequence

from nettests.model.observation import Attempt
from nettests.parse.ports import ENOUGH, by_port


def next_attempt(
    turns: Sequence[int], attempts: Sequence[Attempt], *, successes: int, failures: int
) -> int | None:
    """Return the next turn after these turns and their attempts; ``None`` if they are enough."""
    ports = by_port(attempts)
    if ports:
        return _of_a_port(ports, turns, attempts, successes=successes, failures=failures)
    if sum(not attempt.outcome.positive for attempt in attempts) >= failures:
        return None
    if len(attempts) >= successes and all(
        attempt.outcome.positive for attempt in attempts[-successes:]
    ):
        return None
    return len(attempts)


def _of_a_port(
    ports: Mapping[int, Sequence[Attempt]],
    turns: Sequence[int],
    attempts: Sequence[Attempt],
    *,
    successes: int,
    failures: int,
) -> int | None:
    """Return a turn for a port that was not probed often enough."""
    reaches = {attempt.port: turn for turn, attempt in zip(turns, attempts, strict=True)}
    for port, those in sorted(ports.items(), key=lambda item: item[1][0].outcome.positive):
        wanted = successes if those[0].outcome.positive else failures
        if len(those) < max(ENOUGH, wanted):
            return reaches[port]
    return None
