"""Queries a namespace's routing table, by a UDP ``connect()`` that sends nothing."""

import socket

from nettests.lab.interfaces import Namespace
from nettests.lab.programs.sockets.addresses import family


def source_towards(namespace: Namespace, address: str) -> str:
    """Return the local address used towards ``address``; ``OSError`` when there is no route."""
    with namespace.socket(family(address), socket.SOCK_DGRAM) as probe:
        probe.connect((address, 1))
        return str(probe.getsockname()[0])
