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
"""Place in a node's pod network of an address that no pod ever has: they are given out from the other end."""
_OFF = 7
"""How far a wrong port lies from the right one, among numbers that no probe serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Services by patterns (``svc-*``, ``default/web``) and ports by name; empty stands for all.

    The API's own Service and the cluster's DNS are meant by their names alone.
    """

    service: str = ""
    port: str = ""

    def __call__(self, one: ServicePort) -> bool:
        """Whether this port of a Service is meant."""
        if self.port and one.port_name != self.port:
            return False
        if not self.service:
            return one.namespace != "kube-system" and one.service != "kubernetes"
        full = f"{one.namespace}/{one.service}"
        return fnmatchcase(full if "/" in self.service else one.service, self.service)


def each(which: Which, change: Callable[[ServicePort], ServicePort]) -> Alteration:
    """Return the alteration that changes each Service port for itself."""

    def alter(table: ServiceTable) -> ServiceTable:
        return tuple(change(one) if which(one) else one for one in table)

    return alter


def without(which: Which) -> Alteration:
    """Leave Services out."""

    def alter(table: ServiceTable) -> ServiceTable:
        return tuple(one for one in table if not which(one))

    return alter


def with_stale_endpoint(which: Which, profile: Profile) -> Alteration:
    """Keep an endpoint beside those that are there: a pod that has long gone from the first one's node."""

    def change(one: ServicePort) -> ServicePort:
        ready = [backend for backend in one.endpoints if backend.ready and not backend.node_address]
        if not ready:
            return one
        gone = _departed(ready[0], profile)
        return replace(one, endpoints=(*one.endpoints, gone))

    return each(which, change)


def _departed(beside: Backend, profile: Profile) -> Backend:
    for family in profile.by_family:
        for node in family.nodes:
            if beside.address in node.pod_cidr:
                return replace(beside, address=node.pod_cidr[_GONE])
    return beside


def with_wrong_port(which: Which) -> Alteration:
    """Dial backends at another port than theirs."""

    def change(one: ServicePort) -> ServicePort:
        moved = tuple(replace(backend, port=backend.port + _OFF) for backend in one.endpoints)
        target = one.target_port + _OFF if one.target_port else one.target_port
        return replace(one, endpoints=moved, target_port=target)

    return each(which, change)


def with_one_backend(which: Which) -> Alteration:
    """Send everything to the first of several backends that are ready."""

    def change(one: ServicePort) -> ServicePort:
        ready = [backend for backend in one.endpoints if backend.ready]
        return replace(one, endpoints=tuple(ready[:1])) if ready else one

    return each(which, change)


def without_affinity(which: Which) -> Alteration:
    """Choose a backend anew for each connection."""
    return each(which, lambda one: replace(one, client_ip_affinity=False))


class Frozen:
    """Keep the endpoints that a Service had when it first had any, as an update that is ignored does."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._first: dict[str, tuple[Backend, ...]] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table with the endpoints of then."""
        for one in table:
            if self._which(one) and any(backend.ready for backend in one.endpoints):
                self._first.setdefault(one.key, one.endpoints)
        return tuple(
            replace(one, endpoints=self._first.get(one.key, one.endpoints))
            if self._which(one)
            else one
            for one in table
        )


class SharedLost:
    """Lose the rules of Services whose endpoints are those of another one that was deleted, until they get others.

    As a proxy does that counts the users of an endpoint wrongly (kubernetes/kubernetes issue 93229).
    """

    def __init__(self, which: Which) -> None:
        self._which = which
        self._known: dict[tuple[str, str], frozenset[Address]] = {}
        self._lost: dict[str, tuple[Backend, ...]] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without what shared its endpoints with a Service that has gone since the last one."""
        here = {(one.namespace, one.service): _addresses(one) for one in table}
        gone = {self._known[name] for name in self._known.keys() - here.keys()} - {frozenset()}
        self._known = here
        ports = {one.key: one for one in table}
        self._lost = {
            key: endpoints
            for key, endpoints in self._lost.items()
            if key in ports and ports[key].endpoints == endpoints
        }
        struck = (one for one in table if self._which(one) and _addresses(one) in gone)
        self._lost |= {one.key: one.endpoints for one in struck}
        return tuple(one for one in table if one.key not in self._lost)


def _addresses(one: ServicePort) -> frozenset[Address]:
    return frozenset(backend.address for backend in one.endpoints)


class RenamedLost:
    """Lose the rules of a port that got another name: what has the old name is removed after the new one was made."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._names: dict[tuple[Address, str, int], str] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without ports whose names are others than in the beginning."""
        places = {(one.cluster_ip, one.protocol, one.port): one for one in table}
        self._names = {place: name for place, name in self._names.items() if place in places}
        for place, one in places.items():
            self._names.setdefault(place, one.port_name)
        return tuple(
            one
            for one in table
            if not self._which(one)
            or self._names[one.cluster_ip, one.protocol, one.port] == one.port_name
        )


class ReaddressedLost:
    """Lose an endpoint whose Pod was replaced by another one at the same address.

    As rules do that lead to the HNS endpoint of the Pod that has gone, since the address is still the same.
    """

    def __init__(self, which: Which) -> None:
        self._which = which
        self._pods: dict[tuple[str, Address], str] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without endpoints whose Pods are others than those that had their addresses first."""
        return tuple(self._without(one) if self._which(one) else one for one in table)

    def _without(self, one: ServicePort) -> ServicePort:
        for backend in one.endpoints:
            self._pods.setdefault((one.key, backend.address), backend.pod)
        kept = tuple(
            backend
            for backend in one.endpoints
            if self._pods[one.key, backend.address] == backend.pod
        )
        return one if len(kept) == len(one.endpoints) else replace(one, endpoints=kept)


class Stopped:
    """Program what was there in the beginning, whatever comes: a proxy stops as a whole."""

    def __init__(self, _which: Which) -> None:
        self._first: ServiceTable | None = None

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the first table that was seen."""
        if self._first is None:
            self._first = table
        return self._first


class Full:
    """Program so many Services, and none that comes after them: what a node reserves for each has run out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: list[tuple[str, str]] = []

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table without Services that found no room; one that goes makes room for one that comes then."""
        here = list(dict.fromkeys((one.namespace, one.service) for one in table))
        self._held = [name for name in self._held if name in set(here)]
        held = set(self._held)
        room = max(0, self._most - len(held))
        self._held += [name for name in here if name not in held][:room]
        held = set(self._held)
        return tuple(one for one in table if (one.namespace, one.service) in held)


class RemovedKept:
    """Keep the rules of Services that were removed, until another one has their address."""

    def __init__(self, which: Which) -> None:
        self._which = which
        self._known: dict[tuple[Address, str, int], ServicePort] = {}

    def __call__(self, table: ServiceTable) -> ServiceTable:
        """Return the table with all that was ever in it."""
        places = {(one.cluster_ip, one.protocol, one.port): one for one in table}
        self._known |= {place: one for place, one in places.items() if self._which(one)}
        gone = [one for place, one in self._known.items() if place not in places]
        return (*table, *gone)
