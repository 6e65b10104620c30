"""Flows that connection tracking remembers and a change of the Service table must end.

Two kinds. UDP flows to a backend that is gone, which kube-proxy on Linux forgets after programming
(``pkg/proxy/conntrack``; kube-proxy on Windows has nothing of the kind). And flows that began before
their Service had rules: they are remembered as untranslated, and a client that draws the same source
port from its 28 232 within two minutes would follow that memory past the new rules. kube-proxy forgets
the latter for UDP on Linux; here it is done for TCP and on Windows too, since no document promises
the accident, and checks would be ``flaky`` by it about once in 20 000 dials.
"""

import errno
import socket
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from pyroute2.conntrack import Conntrack, ConntrackEntry, NFCTAttrTuple
from pyroute2.netlink.exceptions import NetlinkError

from nettests.lab.network import kernel
from nettests.lab.topology import Address, ServiceTable

_NUMBERS = {"TCP": socket.IPPROTO_TCP, "UDP": socket.IPPROTO_UDP}


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpFlow:
    """What UDP clients dialled, and the backend they were sent to."""

    address: Address
    port: int
    backend: Address


def removed_udp_flows(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> frozenset[UdpFlow]:
    """Return the flows that ``old`` allowed and ``new`` no longer does."""
    return frozenset(_udp_flows(old, node_address)) - frozenset(_udp_flows(new, node_address))


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """What clients dial: the key by which rules claim a packet. ``protocol`` as in a Service."""

    protocol: str
    address: Address
    port: int


def added_frontends(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> frozenset[Frontend]:
    """Return what the node answers for in ``new`` and did not, for lack of backends, in ``old``."""
    return frozenset(_frontends(new, node_address)) - frozenset(_frontends(old, node_address))


def _frontends(table: ServiceTable, node_address: Address) -> Iterator[Frontend]:
    for service in table:
        if not service.backends:
            continue
        protocol = service.protocol
        for address in (service.cluster_ip, *service.outer_addresses):
            yield Frontend(protocol=protocol, address=address, port=service.port)
        if service.node_port is not None:
            yield Frontend(protocol=protocol, address=node_address, port=service.node_port)


def _udp_flows(table: ServiceTable, node_address: Address) -> Iterator[UdpFlow]:
    for service in table:
        if service.protocol != "UDP":
            continue
        for backend in service.backends:
            for address in (service.cluster_ip, *service.outer_addresses):
                yield UdpFlow(address=address, port=service.port, backend=backend.address)
            if service.node_port is not None:
                yield UdpFlow(address=node_address, port=service.node_port, backend=backend.address)


def forget_removed(fd: int, flows: frozenset[UdpFlow]) -> None:
    """Delete the entries of ``flows`` in the namespace ``fd``. On the worker thread only."""
    dialled = {Frontend(protocol="UDP", address=one.address, port=one.port) for one in flows}
    _forget(fd, dialled, lambda entry: _udp_flow(entry) in flows)


def forget_untranslated(fd: int, frontends: frozenset[Frontend]) -> None:
    """Delete the entries that went to one of ``frontends`` itself. On the worker thread only."""
    _forget(fd, frontends, lambda entry: entry.tuple_reply.saddr == entry.tuple_orig.daddr)


def _udp_flow(entry: ConntrackEntry) -> UdpFlow:
    return UdpFlow(
        address=ip_address(entry.tuple_orig.daddr),
        port=entry.tuple_orig.dport,
        backend=ip_address(entry.tuple_reply.saddr),
    )


def _forget(
    fd: int, frontends: Collection[Frontend], chosen: Callable[[ConntrackEntry], bool]
) -> None:
    """Delete the chosen ones of the entries whose client dialled one of ``frontends``.

    The kernel picks these out (since 5.8): to read its whole table here, thousands of entries after a
    while, would take longer than all else that a change of the Service table takes.
    """
    known = [one for one in frontends if one.protocol in _NUMBERS]
    for version in {one.address.version for one in known}:
        family = socket.AF_INET if version == 4 else socket.AF_INET6
        with kernel.inside_network(fd), Conntrack(nfgen_family=family) as tracking:
            for frontend in (one for one in known if one.address.version == version):
                for entry in [it for it in _dialled(tracking, family, frontend) if chosen(it)]:
                    _delete(tracking, entry)


def _dialled(tracking: Conntrack, family: int, frontend: Frontend) -> Iterator[ConntrackEntry]:
    wanted = NFCTAttrTuple(
        family=family,
        proto=_NUMBERS[frontend.protocol],
        daddr=str(frontend.address),
        dport=frontend.port,
    )
    yield from tracking.dump_entries(tuple_orig=wanted)


def _delete(tracking: Conntrack, entry: ConntrackEntry) -> None:
    try:
        tracking.delete(entry)
    except NetlinkError as failure:
        if failure.code != errno.ENOENT:  # it expired between listing and deleting
            raise
