"""Faulty views of the Service table: what a service proxy programs instead of what the API says. Pure values.

An ``Alteration`` turns the table of the API into the one that a node programs; rules follow from it as from any
other. Each applies to the Services of ``Which``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from nettests.lab.topology import Address, Backend, Profile, ServicePort, ServiceTable

Alteration = Callable[[ServiceTable], ServiceTable]

_GONE = -6
"""Offset in a node's pod network of an address that no pod ever gets: they are assigned from the other end."""
_OFF = 7
"""Distance of a wrong port from the right one, among numbers that no probe serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Services by patterns (``svc-*``, ``default/web``) and ports by name; empty stands for all.

    Patterns do not match the API's own Service and the cluster's DNS; only their names do.
    """

    service: str = ""
    port: str = ""

    def __call__(self, port: ServicePort) -> bool:
        """Whether the pattern matches this port of a Service."""
        if self.port and port.port_name != self.port:
            return False
        if not self.service:
            return port.namespace != "kube-system" and port.service != "kubernetes"
        full = f"{port.namespace}/{port.service}"
        return fnmatchcase(full if "/" in self.service else port.service, self.service)


def each(which: Which, change: Callable[[ServicePort], ServicePort]) -> Alteration:
    """Return the alteration that changes each matching Service port."""

    def alter(table: ServiceTable) -> ServiceTable:
        return tuple(change(port) if which(port) else port for port in table)

    return alter


def without(which: Which) -> Alteration:
    """Leave Services out."""

    def alter(table: ServiceTable) -> ServiceTable:
        return tuple(port for port in table if not which(port))

    return alter


def with_stale_endpoint(which: Which, profile: Profile) -> Alteration:
    """Add a stale endpoint: a pod that was deleted long ago from the first endpoint's node."""

    def change(port: ServicePort) -> ServicePort:
        ready = [
            backend for backend in port.endpoints if backend.ready and not backend.node_address
        ]
        if not ready:
            return port
        gone = _departed(ready[0], profile)
        return replace(port, endpoints=(*port.endpoints, gone))

    return each(which, change)


def _departed(beside: Backend, profile: Profile) -> Backend:
    for family in profile.by_family:
        for node in family.nodes:
            if beside.address in node.pod_cidr:
                return replace(beside, address=node.pod_cidr[_GONE])
    return beside


def with_wrong_port(which: Which) -> Alteration:
    """Dial backends at another port than theirs."""

    def change(port: ServicePort) -> ServicePort:
        moved = tuple(replace(backend, port=backend.port + _OFF) for backend in port.endpoints)
        target = port.target_port + _OFF if port.target_port else port.target_port
        return replace(port, endpoints=moved, target_port=target)

    return each(which, change)


def with_one_backend(which: Which) -> Alteration:
    """Send everything to the first of several backends that are ready."""

    def change(port: ServicePort) -> ServicePort:
        ready = [backend for backend in port.endpoints if backend.ready]
        return replace(port, endpoints=tuple(ready[:1])) if ready else port

    return each(which, change)


def without_affinity(which: Which) -> Alteration:
    """Choose a new backend for each connection."""
    return each(which, lambda port: replace(port, client_ip_affinity=False))


class Frozen:
    """Keep a Service's first endpoints, as a proxy does that ignores updates."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._first: dict[str, tuple[Backend, ...]] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table with the first endpoints."""
        for port in table:
            if self._which(port) and any(backend.ready for backend in port.endpoints):
                self._first.setdefault(port.key, port.endpoints)
        return tuple(
            replace(port, endpoints=self._first.get(port.key, port.endpoints))
            if self._which(port)
            else port
            for port in table
        )


class SharedLost:
    """Lose the rules of Services that shared their endpoints with a deleted Service, until their endpoints change.

    As a proxy does that counts references to an endpoint wrongly (kubernetes/kubernetes issue 93229).
    """

    def __init__(self, which: Which) -> None:
        self._which = which
        self._before: dict[tuple[str, str], frozenset[Address]] = {}
        self._lost: dict[str, tuple[Backend, ...]] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without Services that shared their endpoints with one deleted since the last table."""
        here = {(port.namespace, port.service): _addresses(port) for port in table}
        gone = {self._before[name] for name in self._before.keys() - here.keys()} - {frozenset()}
        self._before = here
        ports = {port.key: port for port in table}
        self._lost = {
            key: endpoints
            for key, endpoints in self._lost.items()
            if key in ports and ports[key].endpoints == endpoints
        }
        struck = (port for port in table if self._which(port) and _addresses(port) in gone)
        self._lost |= {port.key: port.endpoints for port in struck}
        return tuple(port for port in table if port.key not in self._lost)


def _addresses(port: ServicePort) -> frozenset[Address]:
    return frozenset(backend.address for backend in port.endpoints)


class RenamedLost:
    """Lose the rules of a renamed port: the old name's rules are removed after the new name's were added."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._names: dict[tuple[Address, str, int], str] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without ports whose names have changed."""
        places = {(port.cluster_ip, port.protocol, port.port): port for port in table}
        self._names = {place: name for place, name in self._names.items() if place in places}
        for place, port in places.items():
            self._names.setdefault(place, port.port_name)
        return tuple(
            port
            for port in table
            if not self._which(port)
            or self._names[port.cluster_ip, port.protocol, port.port] == port.port_name
        )


class ReaddressedLost:
    """Lose an endpoint whose Pod was replaced by another one at the same address.

    As rules do that still lead to the HNS endpoint of the deleted Pod, because the address is the same.
    """

    def __init__(self, which: Which) -> None:
        self._which = which
        self._pods: dict[tuple[str, Address], str] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without endpoints whose address first belonged to another Pod."""
        return tuple(self._without(port) if self._which(port) else port for port in table)

    def _without(self, port: ServicePort) -> ServicePort:
        for backend in port.endpoints:
            self._pods.setdefault((port.key, backend.address), backend.pod)
        kept = tuple(
            backend
            for backend in port.endpoints
            if self._pods[port.key, backend.address] == backend.pod
        )
        return port if len(kept) == len(port.endpoints) else replace(port, endpoints=kept)


class Stopped:
    """Program the first table only: a proxy that has stopped working."""

    def __init__(self, _which: Which) -> None:
        self._first: ServiceTable | None = None

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the first table."""
        if self._first is None:
            self._first = table
        return self._first


class Full:
    """Program only so many Services: the node's resources for them are exhausted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[tuple[str, str]] = []

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without Services beyond the limit; a deleted Service makes room for a later one."""
        here = list(dict.fromkeys((port.namespace, port.service) for port in table))
        self._held = [name for name in self._held if name in set(here)]
        held = set(self._held)
        room = max(0, self._most - len(held))
        self._held += [name for name in here if name not in held][:room]
        held = set(self._held)
        return tuple(port for port in table if (port.namespace, port.service) in held)


class RemovedKept:
    """Keep the rules of Services that were removed, until another one has their address."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._programmed: dict[tuple[Address, str, int], ServicePort] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table with all Service ports that were ever in it."""
        places = {(port.cluster_ip, port.protocol, port.port): port for port in table}
        self._programmed |= {place: port for place, port in places.items() if self._which(port)}
        gone = [port for place, port in self._programmed.items() if place not in places]
        return (*table, *gone)
