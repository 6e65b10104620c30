"""Flows that connection tracking remembers and a change of the Service table must end.

Three kinds. UDP flows to a backend that is gone, which kube-proxy on Linux forgets after programming
(``pkg/proxy/conntrack``; kube-proxy on Windows has nothing of the kind). And flows that began before
their Service had rules: they are remembered as untranslated, and a client that draws the same source
port from its 28 232 within two minutes would follow that memory past the new rules. kube-proxy forgets
the latter for UDP on Linux; here it is done for TCP and on Windows too, since no document promises
the accident, and checks would be ``flaky`` by it about once in 20 000 dials. And connections whose SYN no backend
answered, because it went: who draws their source port within two minutes would be sent to it again.
"""

import errno
import socket
from collections.abc import Iterable, Iterator, Mapping
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


def forget_changes(
    fd: int, old: ServiceTable, new: ServiceTable, node_address: Address, *, udp: bool
) -> None:
    """Forget what a change of a node's table ends, in the namespace ``fd``; UDP flows to backends gone only with ``udp``."""
    old, new = _changed(old, new)
    _forget(
        fd,
        removed=removed_udp_flows(old, new, node_address) if udp else frozenset(),
        added=added_frontends(old, new, node_address),
        present=present_backends(old, new, node_address),
    )


def _changed(old: ServiceTable, new: ServiceTable) -> tuple[ServiceTable, ServiceTable]:
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


def present_backends(
    old: ServiceTable, new: ServiceTable, node_address: Address
) -> dict[Frontend, frozenset[Address]]:
    """Return the backends of what TCP clients dial, where it has lost one of ``old``, or is new: the Service may have been recreated."""
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
        for frontend in _frontends((service,), node_address)
        if service.protocol == "TCP"
    }


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


def _forget(
    fd: int,
    *,
    removed: frozenset[UdpFlow],
    added: frozenset[Frontend],
    present: Mapping[Frontend, frozenset[Address]],
) -> None:
    """Delete the entries of ``removed`` flows, those to one of the ``added`` frontends itself, and of SYNs to backends not ``present``.

    In the namespace ``fd``, whose table is listed once for all. On the worker thread only.
    """
    tracked_frontends = [frontend for frontend in added if frontend.protocol in _NUMBERS]
    flow_keys = {(flow.address.packed, flow.port, flow.backend.packed) for flow in removed}
    frontend_keys = {
        (_NUMBERS[frontend.protocol], frontend.address.packed, frontend.port)
        for frontend in tracked_frontends
    }

    led = {
        (_NUMBERS[frontend.protocol], frontend.address.packed, frontend.port): {
            address.packed for address in backends
        }
        for frontend, backends in present.items()
    }

    def ended(flow: Flow) -> bool:
        requested, answered_by = flow.original, flow.reply.source
        destination, port = requested.destination, requested.destination_port
        backends = led.get((requested.protocol, destination, port))
        if flow.opening and backends is not None and answered_by not in backends:
            return True
        if answered_by == requested.destination:  # untranslated: it began before there were rules
            return (requested.protocol, destination, port) in frontend_keys
        return requested.protocol == _UDP and (destination, port, answered_by) in flow_keys

    addresses = {flow.address for flow in removed} | {
        frontend.address for frontend in (*tracked_frontends, *present)
    }
    for version in {address.version for address in addresses}:
        destinations = {address.packed for address in addresses if address.version == version}
        with kernel.inside_network(fd):
            flows = tracked.flows(version, destinations) if tracked.count() else ()
            if entries := [flow for flow in flows if ended(flow)]:
                _delete(version, entries)


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
