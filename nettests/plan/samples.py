"""How many connections tell one backend from several.

Used where a flow requests a distribution. Pure arithmetic; it assumes that a balancer without
affinity picks a backend independently for each new connection, as hashing of distinct source ports
does approximately.
"""

import math
from typing import assert_never

from nettests.model.loss import tries
from nettests.model.words import CheckClass, Protocol

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


SHORT_TRAIN = 200
"""TCP connections in a row where echoes over UDP test the same path: a connection costs ten times an echo. What is lost
of every protocol the echoes show; of TCP alone, a loss of 3 % of packets on either way shows with a chance of 99.9 %."""


def train(protocol: Protocol, check_class: CheckClass) -> int:
    """Return how many tries show a loss: of costly checks all that 1 % takes, whatever one of them costs."""
    match protocol:
        case Protocol.TCP if check_class is CheckClass.DEFAULT:
            return SHORT_TRAIN
        case Protocol.TCP | Protocol.UDP | Protocol.ICMP:
            return tries()
        case _:
            assert_never(protocol)
