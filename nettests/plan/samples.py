"""How many connections are needed to tell one backend from several.

Used by flows of distribution. Pure arithmetic; it assumes that a load balancer without affinity picks a backend
independently for each new connection, as hashing of distinct source ports does approximately.
"""

import math
from typing import assert_never

from nettests.model.loss import tries
from nettests.model.words import CheckClass, Protocol

FALSE_RATE = 1e-8
"""The chance, per check, that connections spread over several backends all meet the same one."""

FEWEST = 32
"""The least connections, even where fewer would be enough: hashes of consecutive ports are not quite independent."""


SHARED_FALSE_RATE = 1e-6
"""The same for one of several members of a check: each has the cost."""


def connections(backends: int, *, shared: bool = False) -> int:
    """Return how many new connections to make towards ``backends`` (at least 2) backends.

    All ``n`` reach one backend by chance with probability ``k * (1/k)**n``, which must be at most ``FALSE_RATE``.
    A member of a check that has several (``shared``) makes fewer: a node that distributes connections shows it by its
    second or third.
    """
    if shared:
        return _enough(backends, SHARED_FALSE_RATE)
    return max(FEWEST, _enough(backends, FALSE_RATE))


def _enough(backends: int, false_rate: float) -> int:
    if backends < 2:
        raise ValueError(f"a distribution needs 2 backends, not {backends}")
    return math.ceil(1 - math.log(false_rate) / math.log(backends))


SHORT_TRAIN = 200
"""TCP connections in a row where echoes over UDP test the same path: a connection costs ten times an echo. What is lost
of every protocol the echoes show; of TCP alone, a loss of 3 % of packets on either way shows with a chance of 99.9 %."""

SHARED_TRAIN = 80
"""TCP connections of one of several members of a check: where 5 % of packets are lost on either way, two of their first packets are with
a chance of 99.7 %, and each node is the target of another one's as well."""


def train(protocol: Protocol, check_class: CheckClass, *, shared: bool = False) -> int:
    """Return how many tries show a loss: costly checks make as many as a loss of 1 % takes, whatever a try costs.

    A member of a check that has several (``shared``) makes fewer connections.
    """
    match protocol:
        case Protocol.TCP if shared:
            return SHARED_TRAIN
        case Protocol.TCP if check_class is CheckClass.DEFAULT:
            return SHORT_TRAIN
        case Protocol.TCP | Protocol.UDP | Protocol.ICMP:
            return tries()
        case _:
            assert_never(protocol)


def share_of_pods(pods: int, nodes: int) -> int:
    """Return how many of the Pods each node gets, rounded up."""
    return math.ceil(pods / nodes)
