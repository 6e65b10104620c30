"""Delete conntrack entries that a change of the Service table makes stale.

There are three kinds. UDP flows to a removed backend: kube-proxy on Linux deletes these after programming
(``pkg/proxy/conntrack``), kube-proxy on Windows does not. Flows that began before their Service had rules: they are
tracked as untranslated, and a client that gets the same source port within two minutes would bypass the new rules, which
would make about one of 20,000 dials ``flaky``. And connections whose SYN went to a removed backend and was not answered.
The conntrack table is dumped once for each change of a node's rules, and only the needed attributes are decoded.
Sources: Linux, ``include/uapi/linux/netfilter/nfnetlink_conntrack.h`` and ``nfnetlink.h``.
"""

import errno
import os
import socket
import struct
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address

from pyroute2.conntrack import Conntrack, NFCTAttrTuple
from pyroute2.netlink.exceptions import NetlinkError

from nettests.lab.network import kernel
from nettests.lab.network.netlink_messages import ATTRIBUTE, GENERIC, HEADER, attributes, messages
from nettests.lab.network.services import Frontend, frontends
from nettests.lab.topology import Address, ServiceTable

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
    """One direction of a flow; addresses are packed, ports are 0 for protocols without ports."""

    source: bytes
    destination: bytes
    protocol: int
    source_port: int
    destination_port: int


@dataclass(frozen=True, slots=True)
class Flow:
    """A conntrack entry: the direction of the client's packets, and that of the replies."""

    original: Direction
    reply: Direction
    opening: bool = False
    """Whether this is a TCP connection whose SYN was not answered."""


def count() -> int:
    """Return the number of conntrack entries of the calling thread's network namespace, of both IP versions.

    It saves a dump, which walks the table that all namespaces share (5 to 10 ms with 262,144 buckets):
    a namespace whose rules are programmed for the first time has no entries.
    """
    with _requested(_COUNT, _REQUEST, socket.AF_UNSPEC) as kernel:
        data = kernel.recv(_BUFFER)
    kind, _, start, end = next(messages(data))
    if kind == _ERROR:
        raise _refused(data, start)
    first, last = attributes(data, start + GENERIC.size, end)[_ENTRIES]
    return int.from_bytes(data[first:last], "big")


def flows_of(version: int, destinations: Collection[bytes] | None = None) -> Iterator[Flow]:
    """Yield the conntrack entries of the calling thread's network namespace; ``OSError`` if refused.

    With ``destinations`` (packed addresses) only flows whose original destination is one of these;
    others are skipped by the fixed offset of their destination, without being decoded.
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
    """Return the original destination of a message's flow, from its fixed offset.

    The kernel writes the original tuple first, its addresses first, and the source first of these
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
    """Whether an entry is in state SYN_SENT; only TCP has states."""
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


_UDP = socket.IPPROTO_UDP
_NUMBERS = {"TCP": socket.IPPROTO_TCP, "UDP": _UDP}


@dataclass(slots=True)
class Forgetting:
    """Whether a node deletes UDP flows to removed backends, as kube-proxy on Linux does."""

    udp: bool = True


UdpFlow = tuple[Frontend, Address]
"""What UDP clients dialled, and the backend that they were translated to."""


def forget_changes(
    fd: int, old: ServiceTable, new: ServiceTable, node_address: Address, *, udp: bool
) -> None:
    """Delete the flows in the namespace ``fd`` that a table change makes stale; UDP flows only with ``udp``.

    These are flows to removed backends, untranslated ones to new frontends, and SYNs to backends that are gone. The
    conntrack table is dumped once. On the worker thread only.
    """
    old, new = _changed(old, new)
    removed = removed_udp_flows(old, new, node_address) if udp else frozenset()
    present = present_backends(old, new, node_address)
    tracked = [
        each for each in added_frontends(old, new, node_address) if each.protocol in _NUMBERS
    ]
    flow_keys = {(dialled.address.packed, dialled.port, to.packed) for dialled, to in removed}
    frontend_keys = set(map(_key, tracked))
    led = {
        _key(frontend): {address.packed for address in backends}
        for frontend, backends in present.items()
    }

    def ended(flow: Flow) -> bool:
        requested, answered_by = flow.original, flow.reply.source
        destination, port = requested.destination, requested.destination_port
        backends = led.get((requested.protocol, destination, port))
        if flow.opening and backends is not None and answered_by not in backends:
            return True
        if answered_by == requested.destination:  # untranslated: it began before the rules
            return (requested.protocol, destination, port) in frontend_keys
        return requested.protocol == _UDP and (destination, port, answered_by) in flow_keys

    dialled = (*(frontend for frontend, _ in removed), *tracked, *present)
    addresses = {frontend.address for frontend in dialled}
    for version in {address.version for address in addresses}:
        destinations = {address.packed for address in addresses if address.version == version}
        with kernel.inside_network(fd):
            flows = flows_of(version, destinations) if count() else ()
            if entries := [flow for flow in flows if ended(flow)]:
                _delete(version, entries)


def _key(frontend: Frontend) -> tuple[int, bytes, int]:
    return _NUMBERS[frontend.protocol], frontend.address.packed, frontend.port


def _changed(old: ServiceTable, new: ServiceTable) -> tuple[ServiceTable, ServiceTable]:
    """Return the ports of each table that the other lacks; unchanged ports are the same objects in both."""
    before, after = set(map(id, old)), set(map(id, new))
    return (
        tuple(port for port in old if id(port) not in after),
        tuple(port for port in new if id(port) not in before),
    )


def removed_udp_flows(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> frozenset[UdpFlow]:
    """Return the UDP flows that rules of ``old`` allow and those of ``new`` do not."""
    return frozenset(_udp_flows(old, node_address)) - frozenset(_udp_flows(new, node_address))


def added_frontends(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> frozenset[Frontend]:
    """Return the frontends that have backends in ``new`` and had none in ``old``."""
    return frozenset(_frontends(new, node_address)) - frozenset(_frontends(old, node_address))


def present_backends(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> dict[Frontend, frozenset[Address]]:
    """Return the backends of TCP frontends that lost a backend of ``old``, or are new.

    A new frontend may be that of a recreated Service.
    """
    before = _backends(old, node_address)
    now = _backends(new, node_address)
    return {
        frontend: here
        for frontend, here in now.items()
        if frontend not in before or before[frontend] - here
    }


def _backends(table: ServiceTable, node_address: Address) -> dict[Frontend, frozenset[Address]]:
    return {
        frontend: frozenset(backend.address for backend in service.backends)
        for service in table
        if service.protocol == "TCP" and service.backends
        for frontend in frontends(service, node_address)
    }


def _frontends(table: ServiceTable, node_address: Address) -> Iterator[Frontend]:
    for service in table:
        if service.backends:
            yield from frontends(service, node_address)


def _udp_flows(table: ServiceTable, node_address: Address) -> Iterator[UdpFlow]:
    for service in table:
        if service.protocol == "UDP":
            for frontend in frontends(service, node_address):
                yield from ((frontend, backend.address) for backend in service.backends)


def _delete(version: int, flows: Iterable[Flow]) -> None:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with Conntrack(nfgen_family=family) as tracking:
        for flow in flows:
            requested = flow.original
            entry = NFCTAttrTuple(
                family=family,
                proto=requested.protocol,
                saddr=str(ip_address(requested.source)),
                daddr=str(ip_address(requested.destination)),
                sport=requested.source_port,
                dport=requested.destination_port,
            )
            try:
                tracking.delete(entry)
            except NetlinkError as failure:
                if failure.code != errno.ENOENT:  # it expired between listing and deleting
                    raise
