"""Addresses that EndpointSlices no longer list for other nodes: kube-proxy deletes HNS' endpoints at them.

Mirrors ``endpointsMapChange`` of ``pkg/proxy/winkernel``: slices are remembered whether there is a Service or not.
Part of ``winkernel``; ``proxier`` deletes the endpoints. Stateful, without side effects.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from types import MappingProxyType

from nettests.lab.network.winkernel.endpoint_choice import is_here
from nettests.lab.network.winkernel.load_balancer import Host
from nettests.lab.topology import Address, Backend, ServicePort

Name = tuple[str, str]
"""Namespace and name of a Service."""
Orphaned = Mapping[Name, Iterable[Backend]]
"""Endpoints in slices of Services that do not exist."""
NONE: Orphaned = MappingProxyType({})


class Listed:
    """The addresses of each Service's slices that do not name this node."""

    def __init__(self) -> None:
        self._services: Mapping[Name, Sequence[ServicePort]] = {}
        self._elsewhere: dict[Name, frozenset[Address]] = {}

    def change_to(
        self, services: Mapping[Name, Sequence[ServicePort]], orphaned: Orphaned, host: Host
    ) -> frozenset[Address]:
        """Take the current slices; return the addresses that a Service's slices no longer list."""
        before, previous = self._elsewhere, self._services
        self._services = services
        self._elsewhere = {
            name: _elsewhere(backends, host)
            for name, backends in orphaned.items()
            if name not in services
        }
        for name, ports in services.items():
            same = name in previous and len(previous[name]) == len(ports)
            if same and all(map(is_, previous[name], ports)):
                self._elsewhere[name] = before[name]
            else:
                listed = (endpoint for port in ports for endpoint in port.endpoints)
                self._elsewhere[name] = _elsewhere(listed, host)
        return frozenset(
            address
            for name, addresses in before.items()
            if (now := self._elsewhere.get(name, frozenset())) is not addresses
            for address in addresses - now
        )


def _elsewhere(backends: Iterable[Backend], host: Host) -> frozenset[Address]:
    return frozenset(backend.address for backend in backends if not is_here(backend, host))


def name_of(port: ServicePort) -> Name:
    """Return the name of a port's Service."""
    return port.namespace, port.service


def by_service(ports: Iterable[ServicePort]) -> dict[Name, list[ServicePort]]:
    """Return ports by their Service."""
    grouped: dict[Name, list[ServicePort]] = {}
    for port in ports:
        grouped.setdefault(name_of(port), []).append(port)
    return grouped
