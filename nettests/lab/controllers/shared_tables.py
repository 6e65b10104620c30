"""Service tables of many nodes: what is the same on all of them is read once and kept once.

Every node's service proxy follows the API for itself and has a table of its own, of the versions that it was told.
What a Service and its slices come to in some versions is the same wherever it is read, so that hundreds of
proxies of one process share it while one of them has it. Does not know what nodes make of a table.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from weakref import WeakValueDictionary

from nettests.lab.client import Json
from nettests.lab.client.informer import Informer, key_of
from nettests.lab.controllers.service_table import (
    as_slices,
    node_addresses,
    owner_of,
    place_of,
    service_ports,
)
from nettests.lab.topology import Profile, ServicePort, ServiceTable

_AT_ONCE = 3
"""Nodes that are programmed one after the other: one, and those that are ready to be."""

Versions = tuple[tuple[str, str], ...]
"""Uid and version of the objects that something was made of."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Ports:
    """The ports of one Service, each with its place in a table."""

    placed: tuple[tuple[tuple[str, int], ServicePort], ...]


class SharedPorts:
    """What Services come to, for all service proxies of one lab, and whose turn it is to program."""

    def __init__(self, profile: Profile) -> None:
        self.turns = asyncio.Semaphore(_AT_ONCE)
        """Taken before a proxy looks at its table: what came while it waited for others is programmed with it."""
        self._nodes = node_addresses(profile)
        self._cached: WeakValueDictionary[Versions, Ports] = WeakValueDictionary()

    def __len__(self) -> int:
        """Return how many Services and versions some proxy has."""
        return len(self._cached)

    def of(self, service: Json, listed: Sequence[Json]) -> Ports:
        """Return the ports of a Service; ``listed`` are its EndpointSlices, or its Endpoints."""
        versions = tuple(map(_version, (service, *listed)))
        cached = self._cached.get(versions)
        if cached is None:
            slices = (part for item in listed for part in _slices(item))
            ports = service_ports(service, slices, self._nodes)
            cached = Ports(tuple((place_of(port), port) for port in ports))
            self._cached[versions] = cached
        return cached


class NodeTable:
    """The Service table of one node, kept current with two informers: Services, and slices or Endpoints."""

    def __init__(self, shared: SharedPorts, services: Informer, listed: Informer) -> None:
        self._shared = shared
        self._services = services
        self._listed: dict[str, dict[str, Json]] = {}
        """What lists the endpoints of each Service, by its own key."""
        self._ports: dict[str, Ports] = {}
        self._changed: set[str] = set()
        self._table: ServiceTable = ()
        services.subscribe(lambda key, _old, _new: self._changed.add(key))
        listed.subscribe(self._listed_changed)

    def current(self) -> ServiceTable:
        """Return the table as things stand, in which what did not change is the very same value as before."""
        if self._changed:
            for key in self._changed:
                self._read(key)
            self._changed.clear()
            placed = chain.from_iterable(ports.placed for ports in self._ports.values())
            self._table = tuple(port for _, port in sorted(placed, key=itemgetter(0)))
        return self._table

    def _read(self, key: str) -> None:
        service = self._services.objects.get(key)
        if service is None:
            self._ports.pop(key, None)
        else:
            self._ports[key] = self._shared.of(service, list(self._listed.get(key, {}).values()))

    def _listed_changed(self, key: str, old: Json | None, new: Json | None) -> None:
        before, after = _owner(old), _owner(new)
        if before is not None and before != after:
            listed = self._listed[before]
            del listed[key]
            if not listed:
                del self._listed[before]
            self._changed.add(before)
        if new is not None and after is not None:
            self._listed.setdefault(after, {})[key] = new
            self._changed.add(after)


def _owner(item: Json | None) -> str | None:
    if item is None:
        return None
    return owner_of(item) if "addressType" in item else key_of(item)


def _slices(item: Json) -> Iterable[Json]:
    return (item,) if "addressType" in item else as_slices(item)


def _version(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata["uid"], metadata["resourceVersion"]
