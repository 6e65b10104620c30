"""The objects in HNS of one Windows node, and the addresses that EndpointSlices list. Stateful, without side effects.

``Hns`` has load balancers by id, and the endpoints that kube-proxy created or deleted; it outlives kube-proxy's
process. ``Listed`` mirrors ``endpointsMapChange`` of ``pkg/proxy/winkernel``: slices are remembered even without a
Service, and kube-proxy deletes HNS endpoints at addresses that slices no longer list for other nodes. ``proxier``
uses both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import is_
from types import MappingProxyType

from nettests.lab.network.winkernel.endpoint_choice import is_here
from nettests.lab.network.winkernel.load_balancer import Host, LoadBalancer
from nettests.lab.topology import Address, Backend, ServicePort

Name = tuple[str, str]
"""Namespace and name of a Service."""
Orphaned = Mapping[Name, Iterable[Backend]]
"""Endpoints in slices of Services that do not exist."""
NONE: Orphaned = MappingProxyType({})


class Hns:
    """HNS of one node, for both families; it survives a restart of kube-proxy."""

    def __init__(self) -> None:
        self._held: dict[int, LoadBalancer] = {}
        self._frontends: set[tuple[Address, str, int]] = set()
        self._next = 0
        self.remote: dict[Address, str] = {}
        """Ids of the remote endpoints that kube-proxy created, by address; a recreated one has a new id."""
        self.lost: set[str] = set()
        """Ids of local Pods' endpoints that kube-proxy deleted, because a slice did not name this node."""

    @property
    def balancers(self) -> tuple[LoadBalancer, ...]:
        """The load balancers, in order of creation."""
        return tuple(self._held.values())

    @property
    def numbers(self) -> tuple[int, ...]:
        """Their ids, in the same order."""
        return tuple(self._held)

    def create(self, balancer: LoadBalancer, limit: int) -> int | None:
        """Create a load balancer; return its id, or ``None`` if HNS refuses.

        It refuses too many backends ("invalid number of destinations"), and a second load balancer with the same
        frontend ("Cannot create a file when that file already exists", kubernetes/kubernetes issue 139519).
        """
        if _frontend(balancer) in self._frontends or len(balancer.backends) > limit:
            return None
        self._next += 1
        self._frontends.add(_frontend(balancer))
        self._held[self._next] = balancer
        return self._next

    def change(self, number: int, balancer: LoadBalancer, limit: int) -> bool:
        """Replace a load balancer; return whether HNS accepted it."""
        if number not in self._held or len(balancer.backends) > limit:
            return False
        self._held[number] = balancer
        return True

    def reach(self, addresses: Iterable[Address]) -> None:
        """Create a remote endpoint for each address that has none."""
        for address in sorted(set(addresses) - self.remote.keys(), key=int):
            self._next += 1
            self.remote[address] = f"{address}/{self._next}"

    def lose(self, addresses: Iterable[Address], host: Host) -> None:
        """Delete the local endpoints at addresses that slices no longer list for other nodes.

        kube-proxy counts references only for remote endpoints, and finds endpoints in HNS by address. So it
        deletes a local Pod's endpoint, too, if a hand-written slice did not name its node.
        """
        self.lost |= {host.endpoints[address] for address in addresses if address in host.endpoints}

    def without_lost(self, host: Host) -> Host:
        """Return the node without lost endpoints, of which those that the plugin removed are forgotten."""
        self.lost &= set(host.endpoints.values())
        there = {
            address: number for address, number in host.endpoints.items() if number not in self.lost
        }
        return replace(host, endpoints=there)

    def delete(self, number: int) -> None:
        """Delete a load balancer; no error if there is none."""
        if number in self._held:
            self._frontends.discard(_frontend(self._held.pop(number)))


def _frontend(balancer: LoadBalancer) -> tuple[Address, str, int]:
    """Return address, protocol and port; HNS puts the node's own address in the place of a NodePort's."""
    return balancer.vip, balancer.protocol, balancer.external_port


class Listed:
    """The addresses that each Service's slices list for other nodes."""

    def __init__(self) -> None:
        self._services: Mapping[Name, Sequence[ServicePort]] = {}
        self._elsewhere: dict[Name, frozenset[Address]] = {}

    def change_to(
        self, services: Mapping[Name, Sequence[ServicePort]], orphaned: Orphaned, host: Host
    ) -> frozenset[Address]:
        """Take the current slices; return the addresses that they no longer list for other nodes."""
        before, previous = self._elsewhere, self._services
        self._services = services
        self._elsewhere = {
            name: _elsewhere(backends, host)
            for name, backends in orphaned.items()
            if name not in services
        }
        for name, ports in services.items():
            if name in previous and same(previous[name], ports):
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


def same(before: Sequence[ServicePort], after: Sequence[ServicePort]) -> bool:
    """Whether both sequences have the same objects."""
    return len(before) == len(after) and all(map(is_, before, after))


def name_of(port: ServicePort) -> Name:
    """Return the name of a port's Service."""
    return port.namespace, port.service


def by_service(ports: Iterable[ServicePort]) -> dict[Name, list[ServicePort]]:
    """Return ports by their Service."""
    grouped: dict[Name, list[ServicePort]] = {}
    for port in ports:
        grouped.setdefault(name_of(port), []).append(port)
    return grouped
