"""Service tables as the rules of a node need them; shared by both systems. Pure.

Topology hints decide which backends a node's proxy keeps, as in kube-proxy's ``CategorizeEndpoints``: they apply if the
node has a zone, every backend has hints, and some backend is hinted for that zone. Services with a traffic policy Local
are left unchanged. ``PerObject`` caches rendered rules: of hundreds of Service ports a few change at a time, and
unchanged ones are the same objects.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from nettests.lab.topology import Address, ServicePort, ServiceTable

PROTOCOLS = frozenset({"TCP", "UDP"})
"""Protocols with rules; SCTP is not supported on Windows, though HNS shows an object, nor emulated on Linux."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """One address, protocol and port of a Service port, as clients dial it."""

    address: Address
    protocol: str
    port: int


def frontends(port: ServicePort, node_address: Address) -> Iterator[Frontend]:
    """Yield the frontends of a Service port on a node: its addresses, and the NodePort."""
    for address in (port.cluster_ip, *port.outer_addresses):
        yield Frontend(protocol=port.protocol, address=address, port=port.port)
    if port.node_port is not None:
        yield Frontend(protocol=port.protocol, address=node_address, port=port.node_port)


def unchanged(old: ServiceTable, new: ServiceTable) -> ServiceTable:
    """Return ``new`` without the ports whose endpoints differ from those in ``old``."""
    before = {port.key: port.endpoints for port in old if port.endpoints}
    return tuple(port for port in new if before.get(port.key, port.endpoints) == port.endpoints)


def services_of(table: ServiceTable) -> set[tuple[str, str]]:
    """Return the Services of a table, by namespace and name."""
    return {(port.namespace, port.service) for port in table}


def carried(table: ServiceTable) -> ServiceTable:
    """Return the Service ports whose protocols have rules."""
    return tuple(service for service in table if service.protocol in PROTOCOLS)


def without_terminating(table: ServiceTable) -> ServiceTable:
    """Return the Service ports as a proxy keeps them that uses no terminating endpoints (KEP-1669)."""
    return tuple(
        replace(port, endpoints=tuple(each for each in port.endpoints if not each.terminating))
        if any(each.terminating for each in port.endpoints)
        else port
        for port in table
    )


def within_zone(table: ServiceTable, zone: str) -> ServiceTable:
    """Return the Service ports as a proxy in ``zone`` that follows topology hints keeps them."""
    return tuple(_in_zone(port, zone) for port in table) if zone else table


def _in_zone(port: ServicePort, zone: str) -> ServicePort:
    local = port.external_traffic_local or port.internal_traffic_local
    near = tuple(backend for backend in port.backends if zone in backend.zones)
    hinted = port.topology_aware and all(backend.zones for backend in port.backends)
    return replace(port, endpoints=near) if hinted and near and not local else port


Value = TypeVar("Value")
Result = TypeVar("Result")


class PerObject(Generic[Value, Result]):
    """Caches the results of ``make``, only for the values of the last call."""

    def __init__(self, make: Callable[[Value], Result]) -> None:
        self._make = make
        self._kept: dict[int, tuple[Value, Result]] = {}

    def __call__(self, values: Iterable[Value]) -> list[Result]:
        """Return the result for each value, in order."""
        before = self._kept
        kept: dict[int, tuple[Value, Result]] = {}
        results = []
        for value in values:
            # Keeping the value prevents that another object gets its id.
            pair = before.get(id(value)) or kept.get(id(value)) or (value, self._make(value))
            kept[id(value)] = pair
            results.append(pair[1])
        self._kept = kept
        return results
