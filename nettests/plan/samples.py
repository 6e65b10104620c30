"""How many connections tell one backend from several.

Used where a flow requests a distribution. Pure arithmetic; it assumes that a balancer without
affinity picks a backend independently for each new connection, as hashing of distinct source ports
does approximately.
"""

import math

FALSE_RATE = 1e-8
"""The chance, per check, that connections spread over several backends all meet the same one."""

FEWEST = 32
"""Requested even where fewer would do: hashes of consecutive ports are not quite independent."""


def connections(backends: int) -> int:
    """Return how many new connections to make towards ``backends`` (at least 2) backends.

    All ``n`` meet one backend by chance with probability ``k * (1/k)**n``, which is to be at most
    ``FALSE_RATE``.
    """
    if backends < 2:
        raise ValueError(f"a distribution needs 2 backends, not {backends}")
    enough = 1 - math.log(FALSE_RATE) / math.log(backends)
    return max(FEWEST, math.ceil(enough))
