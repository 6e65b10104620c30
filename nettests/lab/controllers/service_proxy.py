"""The service proxy of one node: Services and their endpoints in, the node's rules out.

Endpoints come from EndpointSlices, or without ``by_slices`` from Endpoints, which lack endpoints that only slices list.
The container of a kube-proxy pod runs this. Changes within a short time are programmed together. Every proxy watches
the API itself and has its own table; the same versions of a Service and its slices give the same ports on each node, so
proxies share the ports as long as one of them uses them. The data plane renders the rules.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from weakref import WeakValueDictionary

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer, key_of, work_after_changes
from nettests.lab.controllers import service_table
from nettests.lab.interfaces import NodeNetwork
from nettests.lab.topology import Profile, ServicePort, ServiceTable

_GATHER_A_NODE = 0.005
_GATHER_AT_MOST = 1.0
"""Seconds in which changes are gathered: 20 ms with four nodes, and kube-proxy's minSyncPeriod with 200.

All proxies of a lab share one process, and each goes through its whole table after a change.
"""
_TURN_SECONDS = 0.5
_AT_ONCE = 3
"""How many nodes are programmed at a time: one on the worker thread, and two that wait for it."""

Versions = tuple[tuple[str, str], ...]
"""Uid and version of the objects that ports were computed from."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Ports:
    """The ports of one Service, each with its sort key in a table."""

    placed: tuple[tuple[tuple[str, int], ServicePort], ...]


class SharedPorts:
    """The ports of Services for all service proxies of one lab, and the limit of concurrent programming."""

    def __init__(self, profile: Profile) -> None:
        self.turns = asyncio.Semaphore(_AT_ONCE)
        """Acquired before a proxy reads its table, so that changes during the wait are programmed too."""
        self._nodes = service_table.node_addresses(profile)
        self._cached: WeakValueDictionary[Versions, Ports] = WeakValueDictionary()

    def __len__(self) -> int:
        """Return the number of Services whose ports are in use."""
        return len(self._cached)

    def of(self, service: Json, listed: Sequence[Json]) -> Ports:
        """Return the ports of a Service; ``listed`` are its EndpointSlices, or its Endpoints."""
        versions = tuple(map(_version, (service, *listed)))
        cached = self._cached.get(versions)
        if cached is None:
            slices = (part for item in listed for part in _slices(item))
            ports = service_table.service_ports(service, slices, self._nodes)
            cached = Ports(tuple((service_table.place_of(port), port) for port in ports))
            self._cached[versions] = cached
        return cached


class NodeTable:
    """The Service table of one node, kept current with two informers: Services, and slices or Endpoints."""

    def __init__(self, shared: SharedPorts, services: Informer, listed: Informer) -> None:
        self._shared = shared
        self._services = services
        self._listed: dict[str, dict[str, Json]] = {}
        """The EndpointSlices or Endpoints of each Service, by key."""
        self._ports: dict[str, Ports] = {}
        self._changed: set[str] = set()
        self._table: ServiceTable = ()
        services.subscribe(lambda key, _old, _new: self._changed.add(key))
        listed.subscribe(self._listed_changed)

    def current(self) -> ServiceTable:
        """Return the current table; unchanged ports are the same objects as before."""
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
    return service_table.owner_of(item) if "addressType" in item else key_of(item)


def _slices(item: Json) -> Iterable[Json]:
    return (item,) if "addressType" in item else service_table.as_slices(item)


def _version(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata["uid"], metadata["resourceVersion"]


def seconds_gathered(nodes: int) -> float:
    """Return for how many seconds the proxies of a cluster gather changes."""
    return min(_GATHER_A_NODE * nodes, _GATHER_AT_MOST)


class ServiceProxy:
    """Keeps the Service rules of ``network`` current; ``programmed`` is called after each new table.

    ``synced`` is set after the first one; the proxies of all nodes use ``shared``.
    """

    def __init__(
        self,
        client: Client,
        network: NodeNetwork,
        shared: SharedPorts,
        programmed: Callable[[ServiceTable], Awaitable[None]],
        *,
        gather: float,
        by_slices: bool = True,
    ) -> None:
        self._network = network
        self._turns = shared.turns
        self._gather = gather
        self._services = Informer(client, "/api/v1/services")
        path = "/apis/discovery.k8s.io/v1/endpointslices" if by_slices else "/api/v1/endpoints"
        self._endpoints = Informer(client, path)
        self._table = NodeTable(shared, self._services, self._endpoints)
        self._tell = programmed
        self._programmed: ServiceTable | None = None
        self.synced = False

    async def run(self) -> None:
        """Program the node until cancelled; the rules remain afterwards, as with kube-proxy."""
        informers = (self._services, self._endpoints)
        await work_after_changes(informers, self._gather, self._program)

    async def _program(self) -> None:
        work: asyncio.Task[None] | None = None
        try:
            async with self._turns:
                table = self._table.current()
                if table == self._programmed:
                    return
                work = asyncio.create_task(self._network.program_services(table))
                # A node with slow rules must not hold up others.
                await asyncio.wait({work}, timeout=_TURN_SECONDS)
            await work
        finally:
            if work is not None:
                work.cancel()
        self._programmed = table
        self.synced = True
        await self._tell(table)
