"""Read the connection tracking table fast: once for each change of a node's rules.

Only the two tuples and the state of an entry are read, and nothing is changed. Sources: Linux,
``include/uapi/linux/netfilter/nfnetlink_conntrack.h`` and ``nfnetlink.h``.
"""

import os
import socket
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nettests.lab.network.netlink_messages import ATTRIBUTE, GENERIC, HEADER, attributes, messages

_NETFILTER = 12
_GET = 1 << 8 | 1
"""``NFNL_SUBSYS_CTNETLINK`` and ``IPCTNL_MSG_CT_GET``."""
_COUNT = 1 << 8 | 5
"""``IPCTNL_MSG_CT_GET_STATS``, whose first attribute is how many entries the namespace has."""
_ENTRIES = 1
_REQUEST = 0x1
_REQUEST_DUMP = 0x1 | 0x300
_ERROR, _DONE = 2, 3
_ORIGINAL, _REPLY = 1, 2
_STATE_OF_PROTOCOL, _OF_TCP, _TCP_STATE = 4, 1, 1
"""``CTA_PROTOINFO``, ``CTA_PROTOINFO_TCP`` and ``CTA_PROTOINFO_TCP_STATE``."""
_SYN_SENT = 1
"""``TCP_CONNTRACK_SYN_SENT``."""
_ADDRESSES, _PROTOCOL = 1, 2
_SOURCES, _DESTINATIONS = (1, 3), (2, 4)
"""``CTA_IP_V4_…`` and ``CTA_IP_V6_…``."""
_NUMBER, _SOURCE_PORT, _DESTINATION_PORT = 1, 2, 3
_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True)
class Direction:
    """Who sends to whom in one direction of a flow: addresses packed, ports 0 where a protocol has none."""

    source: bytes
    destination: bytes
    protocol: int
    source_port: int
    destination_port: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A remembered flow: as its client began it, and as answers come."""

    original: Direction
    reply: Direction
    opening: bool = False
    """Whether it is a connection whose SYN was never answered."""


def count() -> int:
    """Return how many flows the calling thread's network namespace remembers, of both IP versions.

    To list them the kernel walks through a table that all namespaces share, which takes it 5 to 10 ms with
    262,144 buckets; a namespace whose rules are programmed for the first time remembers none.
    """
    with _requested(_COUNT, _REQUEST, socket.AF_UNSPEC) as kernel:
        data = kernel.recv(_BUFFER)
    kind, _, start, end = next(messages(data))
    if kind == _ERROR:
        raise _refused(data, start)
    first, last = attributes(data, start + GENERIC.size, end)[_ENTRIES]
    return int.from_bytes(data[first:last], "big")


def flows(version: int, destinations: Collection[bytes] | None = None) -> Iterator[Flow]:
    """Yield what the calling thread's network namespace remembers of one IP version; ``OSError`` if refused.

    With ``destinations``, packed addresses, only the flows that were begun to one of these: all others are passed over
    by the place of their destination, without being decoded.
    """
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with _requested(_GET, _REQUEST_DUMP, family) as kernel:
        while True:
            data = kernel.recv(_BUFFER)
            for kind, _, start, end in messages(data):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise _refused(data, start)
                first = start + GENERIC.size
                if destinations is not None and _destination(data, first) not in destinations:
                    continue
                flow = _flow(data, first, end)
                if flow is not None:
                    yield flow


@contextmanager
def _requested(kind: int, flags: int, family: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER) as kernel:
        kernel.bind((0, 0))
        body = GENERIC.pack(family, 0, 0)
        kernel.send(HEADER.pack(HEADER.size + len(body), kind, flags, 1, 0) + body)
        yield kernel


def _refused(data: bytes, start: int) -> OSError:
    (code,) = struct.unpack_from("=i", data, start)
    return OSError(-code, f"connection tracking: {os.strerror(-code)}")


def _destination(data: bytes, start: int) -> bytes:
    """Return where the flow of a message was begun to, from its fixed place.

    The kernel writes the original tuple first, in it the addresses, and of these the source
    (``ctnetlink_fill_info``, ``nf_conntrack_netlink.c``).
    """
    source = start + 2 * ATTRIBUTE.size
    length, _ = ATTRIBUTE.unpack_from(data, source)
    return data[source + length + ATTRIBUTE.size : source + 2 * length]


def _flow(data: bytes, start: int, end: int) -> Flow | None:
    tuples = attributes(data, start, end)
    if _ORIGINAL not in tuples or _REPLY not in tuples:
        return None
    original, reply = (_direction(data, *tuples[way]) for way in (_ORIGINAL, _REPLY))
    return Flow(original, reply, opening=_opens(data, tuples))


def _opens(data: bytes, spans: dict[int, tuple[int, int]]) -> bool:
    """Whether the state of an entry is that of a SYN without answer; protocols but TCP have none."""
    if _STATE_OF_PROTOCOL not in spans:
        return False
    of_protocol = attributes(data, *spans[_STATE_OF_PROTOCOL])
    of_tcp = attributes(data, *of_protocol[_OF_TCP]) if _OF_TCP in of_protocol else {}
    return _TCP_STATE in of_tcp and data[of_tcp[_TCP_STATE][0]] == _SYN_SENT


def _direction(data: bytes, start: int, end: int) -> Direction:
    parts = attributes(data, start, end)
    addresses = attributes(data, *parts[_ADDRESSES])
    protocol = attributes(data, *parts[_PROTOCOL])
    return Direction(
        source=_address(data, addresses, _SOURCES),
        destination=_address(data, addresses, _DESTINATIONS),
        protocol=data[protocol[_NUMBER][0]],
        source_port=_port(data, protocol, _SOURCE_PORT),
        destination_port=_port(data, protocol, _DESTINATION_PORT),
    )


def _address(data: bytes, spans: dict[int, tuple[int, int]], kinds: tuple[int, int]) -> bytes:
    return data[slice(*next(spans[kind] for kind in kinds if kind in spans))]


def _port(data: bytes, spans: dict[int, tuple[int, int]], kind: int) -> int:
    return int.from_bytes(data[slice(*spans[kind])], "big") if kind in spans else 0
