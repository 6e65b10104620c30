"""Faulty views of the Service table: what a broken service proxy programs. Pure values.

An ``Alteration`` turns the table from the API into the table that a node programs; the rules are
rendered from it as usual. Each applies to the Services that ``Which`` matches.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from nettests.lab.topology import Address, Backend, Profile, ServicePort, ServiceTable

Alteration = Callable[[ServiceTable], ServiceTable]

_GONE = -6
"""Offset in a node's pod CIDR of an address that no pod gets: assignment starts at the other end."""
_OFF = 7
"""Added to a port to get a wrong one; no probe listens there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Selects Services by pattern (``svc-*``, ``default/web``) and ports by name; empty selects all.

    An empty pattern leaves out the Service ``kubernetes`` and those of ``kube-system``.
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
    return lambda table: tuple(change(port) if which(port) else port for port in table)


def without(which: Which) -> Alteration:
    """Leave out the matching Services."""
    return lambda table: tuple(port for port in table if not which(port))


def with_stale_endpoint(which: Which, profile: Profile) -> Alteration:
    """Add the endpoint of a pod that no longer exists, on the node of the first ready endpoint."""
    nodes = [node for family in profile.by_family for node in family.nodes]

    def change(port: ServicePort) -> ServicePort:
        ready = (each for each in port.endpoints if each.ready and not each.node_address)
        if (beside := next(ready, None)) is None:
            return port
        homes = (node.pod_cidr[_GONE] for node in nodes if beside.address in node.pod_cidr)
        gone = replace(beside, address=next(homes, beside.address))
        return replace(port, endpoints=(*port.endpoints, gone))

    return each(which, change)


def with_wrong_port(which: Which) -> Alteration:
    """Translate to a wrong port of the backends."""

    def change(port: ServicePort) -> ServicePort:
        moved = tuple(replace(backend, port=backend.port + _OFF) for backend in port.endpoints)
        target = port.target_port + _OFF if port.target_port else port.target_port
        return replace(port, endpoints=moved, target_port=target)

    return each(which, change)


def with_one_backend(which: Which) -> Alteration:
    """Send everything to the first ready backend."""

    def change(port: ServicePort) -> ServicePort:
        ready = [backend for backend in port.endpoints if backend.ready]
        return replace(port, endpoints=tuple(ready[:1])) if ready else port

    return each(which, change)


def without_affinity(which: Which, seconds: int = 0) -> Alteration:
    """Ignore ClientIP affinity, or let it expire after ``seconds``."""

    def change(port: ServicePort) -> ServicePort:
        kept = port.client_ip_affinity and seconds > 0
        return replace(port, client_ip_affinity=kept, affinity_timeout=seconds)

    return each(which, change)


def without_policies(which: Which) -> Alteration:
    """Treat both traffic policies as ``Cluster``."""
    return each(
        which,
        lambda port: replace(port, external_traffic_local=False, internal_traffic_local=False),
    )


def frozen(which: Which) -> Alteration:
    """Keep a Service's first endpoints, like a proxy that ignores updates."""
    first: dict[str, tuple[Backend, ...]] = {}

    def change(port: ServicePort) -> ServicePort:
        if any(backend.ready for backend in port.endpoints):
            first.setdefault(port.key, port.endpoints)
        return replace(port, endpoints=first.get(port.key, port.endpoints))

    return each(which, change)


def shared_lost(which: Which) -> Alteration:
    """Lose the rules of Services with the same endpoints as a deleted Service, until these change.

    A proxy that miscounts references to an endpoint does this (kubernetes/kubernetes issue 93229).
    """
    before: dict[tuple[str, str], frozenset[Address]] = {}
    lost: dict[str, tuple[Backend, ...]] = {}

    def addresses(port: ServicePort) -> frozenset[Address]:
        return frozenset(backend.address for backend in port.endpoints)

    def alter(table: ServiceTable) -> ServiceTable:
        here = {(port.namespace, port.service): addresses(port) for port in table}
        gone = {before[name] for name in before.keys() - here.keys()} - {frozenset()}
        present = {port.key: port.endpoints for port in table}
        for key in [key for key, endpoints in lost.items() if present.get(key) != endpoints]:
            del lost[key]
        lost.update({p.key: p.endpoints for p in table if which(p) and addresses(p) in gone})
        before.clear()
        before.update(here)
        return tuple(port for port in table if port.key not in lost)

    return alter


def _place(port: ServicePort) -> tuple[Address, str, int]:
    return port.cluster_ip, port.protocol, port.port


def renamed_lost(which: Which) -> Alteration:
    """Lose the rules of a renamed port: those of the old name are removed after the new ones are added."""
    names: dict[tuple[Address, str, int], str] = {}

    def alter(table: ServiceTable) -> ServiceTable:
        places = {_place(port): port for port in table}
        for place in names.keys() - places.keys():
            del names[place]
        for place, port in places.items():
            names.setdefault(place, port.port_name)
        same = (port for port in table if not which(port) or names[_place(port)] == port.port_name)
        return tuple(same)

    return alter


def readdressed_lost(which: Which) -> Alteration:
    """Lose an endpoint whose Pod was replaced by another one at the same address.

    The rules still refer to the HNS endpoint of the deleted Pod.
    """
    pods: dict[tuple[str, Address], str] = {}

    def change(port: ServicePort) -> ServicePort:
        kept = tuple(
            backend
            for backend in port.endpoints
            if pods.setdefault((port.key, backend.address), backend.pod) == backend.pod
        )
        return port if len(kept) == len(port.endpoints) else replace(port, endpoints=kept)

    return each(which, change)


def stopped(_which: Which) -> Alteration:
    """Program only the first table, like a proxy that has stopped working."""
    first: list[ServiceTable] = []

    def alter(table: ServiceTable) -> ServiceTable:
        first.append(table)
        del first[1:]
        return first[0]

    return alter


def full(most: int) -> Alteration:
    """Program at most ``most`` Services, because the node's resources for rules are exhausted.

    A deleted Service makes room for a later one.
    """
    held: list[tuple[str, str]] = []

    def alter(table: ServiceTable) -> ServiceTable:
        here = list(dict.fromkeys((port.namespace, port.service) for port in table))
        stay = set(held) & set(here)
        new = [name for name in here if name not in stay][: max(0, most - len(stay))]
        held[:] = [*(name for name in held if name in stay), *new]
        return tuple(port for port in table if (port.namespace, port.service) in {*stay, *new})

    return alter


def removed_kept(which: Which) -> Alteration:
    """Keep the rules of deleted Services until another Service gets their address."""
    programmed: dict[tuple[Address, str, int], ServicePort] = {}

    def alter(table: ServiceTable) -> ServiceTable:
        places = {_place(port): port for port in table}
        programmed.update({place: port for place, port in places.items() if which(port)})
        return (*table, *(port for place, port in programmed.items() if place not in places))

    return alter
