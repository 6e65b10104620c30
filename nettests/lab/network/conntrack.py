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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from pyroute2.conntrack import Conntrack, NFCTAttrTuple
from pyroute2.netlink.exceptions import NetlinkError

from nettests.lab.network import kernel, tracked
from nettests.lab.network.tracked import Flow
from nettests.lab.topology import Address, ServiceTable

_UDP = socket.IPPROTO_UDP
_NUMBERS = {"TCP": socket.IPPROTO_TCP, "UDP": _UDP}


@dataclass(slots=True)
class Forgetting:
    """Whether UDP flows to backends that have gone are forgotten on a node, as kube-proxy on Linux does."""

    udp: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpFlow:
    """The address that UDP clients dialled, and the backend that they were sent to."""

    address: Address
    port: int
    backend: Address


def changed(old: ServiceTable, new: ServiceTable) -> tuple[ServiceTable, ServiceTable]:
    """Return the ports that only the old and only the new table have; unchanged ports are the same objects in both."""
    before, after = set(map(id, old)), set(map(id, new))
    return (
        tuple(port for port in old if id(port) not in after),
        tuple(port for port in new if id(port) not in before),
    )


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
    keys = {(flow.address.packed, flow.port, flow.backend.packed) for flow in flows}

    def ended(flow: Flow) -> bool:
        requested = flow.original
        key = (requested.destination, requested.destination_port, flow.reply.source)
        return requested.protocol == _UDP and key in keys

    _forget(fd, {flow.address.version for flow in flows}, ended)


def forget_untranslated(fd: int, frontends: frozenset[Frontend]) -> None:
    """Delete the entries that went to one of ``frontends`` itself. On the worker thread only."""
    tracked_frontends = [frontend for frontend in frontends if frontend.protocol in _NUMBERS]
    keys = {
        (_NUMBERS[frontend.protocol], frontend.address.packed, frontend.port)
        for frontend in tracked_frontends
    }

    def begun_early(flow: Flow) -> bool:
        requested = flow.original
        untranslated = flow.reply.source == requested.destination
        return (
            untranslated
            and (requested.protocol, requested.destination, requested.destination_port) in keys
        )

    _forget(fd, {frontend.address.version for frontend in tracked_frontends}, begun_early)


def _forget(fd: int, versions: Iterable[int], chosen: Callable[[Flow], bool]) -> None:
    for version in versions:
        with kernel.inside_network(fd):
            flows = tracked.flows(version) if tracked.count() else ()
            ended = [flow for flow in flows if chosen(flow)]
            if ended:
                _delete(version, ended)


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
