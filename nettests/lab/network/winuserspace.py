"""kube-proxy's userspace mode: it listens on every Service address itself and forwards to backends.

After ``pkg/proxy/winuserspace`` of Kubernetes up to 1.25. One portal for each address, protocol and port: the ClusterIP,
which is an address of the host, and each NodePort on all addresses. Backends are dialled from the host, so they see the
node's address, and are used round-robin (``LoadBalancerRR``), with ClientIP affinity up to its time-out. Traffic policies
are ignored. Runs on the event loop; ``windows_node`` gives the host the addresses.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from nettests.lab.interfaces import Namespace
from nettests.lab.topology import Address, Backend, ServicePort, ServiceTable

DIAL_SECONDS = (0.25, 0.5, 1.0, 2.0)
"""kube-proxy's ``EndpointDialTimeouts``: one attempt each, every time to the next backend."""
UDP_IDLE_SECONDS = 2.0
"""A client's datagrams go to one backend until that was idle for so long (``--udp-timeout``, there 0.25 s)."""
_EVERYWHERE = IPv4Address(0)
_CHUNK = 65536
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a portal listens."""

    protocol: str
    address: Address
    port: int


@dataclass(slots=True)
class _Portal:
    service: str
    listener: socket.socket
    work: asyncio.Task[None] | None = None
    clients: dict[tuple[str, int], socket.socket] = field(default_factory=dict)
    """For UDP: each client's own socket towards its backend."""


@dataclass(slots=True)
class _Service:
    backends: tuple[Backend, ...]
    affinity: int | None
    """Seconds for which a client keeps its backend; ``None`` without affinity."""
    position: int = 0
    kept: dict[str, tuple[Backend, float]] = field(default_factory=dict)
    """Each client's backend, and when it last connected."""


class RoundRobin:
    """The backends of a node's Services, by the key of their ports."""

    def __init__(self) -> None:
        self._services: dict[str, _Service] = {}

    def take(self, table: ServiceTable) -> None:
        """Replace the table; a Service whose backends did not change keeps its position."""
        self._services = {port.key: self._renewed(port) for port in table}

    def next(self, key: str, client: str, *, anew: bool = False) -> Backend | None:
        """Return the backend for a client's next connection; with ``anew`` ignore affinity."""
        service = self._services.get(key)
        if service is None or not service.backends:
            return None
        now = time.monotonic()
        if service.affinity is not None and not anew and client in service.kept:
            backend, requested = service.kept[client]
            if backend in service.backends and now - requested < service.affinity:
                service.kept[client] = backend, now
                return backend
        backend = service.backends[service.position % len(service.backends)]
        service.position += 1
        if service.affinity is not None:
            service.kept[client] = backend, now
        return backend

    def _renewed(self, port: ServicePort) -> _Service:
        affinity = port.affinity_timeout if port.client_ip_affinity else None
        old = self._services.get(port.key)
        if old is None:
            return _Service(port.backends, affinity)
        unchanged = old.backends == port.backends
        return _Service(port.backends, affinity, old.position if unchanged else 0, old.kept)


class Portals:
    """All portals of one node."""

    def __init__(self, host: Namespace) -> None:
        self._host = host
        self._open: dict[_Place, _Portal] = {}
        self._turns = RoundRobin()
        self._carrying: set[asyncio.Task[None]] = set()

    async def serve(self, table: ServiceTable) -> None:
        """Listen for the Services of ``table`` and no others; open connections continue."""
        self._turns.take(table)
        wanted = {place: service.key for service in table for place in _places(service)}
        for place in [
            open_place
            for open_place, portal in self._open.items()
            if wanted.get(open_place) != portal.service
        ]:
            await self._close(self._open.pop(place))
        for place, service in wanted.items():
            if place not in self._open:
                self._listen(place, service)

    async def close(self) -> None:
        """Stop listening and break every connection."""
        await self.serve(())
        for task in list(self._carrying):
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    def _listen(self, place: _Place, service: str) -> None:
        kind = socket.SOCK_STREAM if place.protocol == "TCP" else socket.SOCK_DGRAM
        listener = self._host.socket(socket.AF_INET, kind)
        try:
            if kind is socket.SOCK_STREAM:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((str(place.address), place.port))
            if kind is socket.SOCK_STREAM:
                listener.listen(_BACKLOG)
        except OSError:  # the port is taken on the node: kube-proxy logs it and continues
            listener.close()
            return
        portal = self._open[place] = _Portal(service, listener)
        carry = self._accept if place.protocol == "TCP" else self._receive
        portal.work = asyncio.create_task(carry(portal))

    async def _close(self, portal: _Portal) -> None:
        if portal.work is not None:
            portal.work.cancel()
            await asyncio.gather(portal.work, return_exceptions=True)
        portal.listener.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _accept(self, portal: _Portal) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(ConnectionError):  # the client closed before it was accepted
                client, peer = await loop.sock_accept(portal.listener)
                self._start(self._carry(client, peer[0], portal.service))

    async def _carry(self, client: socket.socket, address: str, service: str) -> None:
        """Forward one connection; close it if no backend answers."""
        with client, contextlib.suppress(OSError):
            async with self._dialled(address, service) as backend:
                if backend is not None:
                    await _exchange(client, backend)

    @asynccontextmanager
    async def _dialled(self, address: str, service: str) -> AsyncIterator[socket.socket | None]:
        for attempt, seconds in enumerate(DIAL_SECONDS):
            backend = self._turns.next(service, address, anew=attempt > 0)
            if backend is None:
                break
            with self._host.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
                try:
                    async with asyncio.timeout(seconds):
                        await asyncio.get_running_loop().sock_connect(sock, _name(backend))
                except OSError:  # a TimeoutError is one
                    continue
                yield sock
                return
        yield None

    async def _receive(self, portal: _Portal) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                data, peer = await loop.sock_recvfrom(portal.listener, _CHUNK)
                conversation = portal.clients.get(peer) or self._conversation(portal, peer)
                if conversation is not None:
                    await loop.sock_sendall(conversation, data)
            except OSError:
                continue  # a client's or backend's port is closed: go on with the next datagram

    def _conversation(self, portal: _Portal, peer: tuple[str, int]) -> socket.socket | None:
        backend = self._turns.next(portal.service, peer[0])
        if backend is None:
            return None
        sock = self._host.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sock.connect(_name(backend))
        except OSError:
            sock.close()
            return None
        portal.clients[peer] = sock
        self._start(_answer(portal, peer, sock))
        return sock


async def _answer(portal: _Portal, peer: tuple[str, int], sock: socket.socket) -> None:
    """Forward a backend's answers to its client, until the backend is idle."""
    loop = asyncio.get_running_loop()
    with sock:
        try:
            while True:
                async with asyncio.timeout(UDP_IDLE_SECONDS):
                    data = await loop.sock_recv(sock, _CHUNK)
                await loop.sock_sendto(portal.listener, data, peer)
        except OSError:
            pass  # idle, refused, or the portal closed
        finally:
            portal.clients.pop(peer, None)


async def _exchange(client: socket.socket, backend: socket.socket) -> None:
    """Copy both ways; the end of either direction ends both, as in kube-proxy."""
    ways = {
        asyncio.create_task(_copy(client, backend)),
        asyncio.create_task(_copy(backend, client)),
    }
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _copy(source: socket.socket, target: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(source, _CHUNK):
        await loop.sock_sendall(target, data)


def _places(service: ServicePort) -> Iterator[_Place]:
    yield _Place(service.protocol, service.cluster_ip, service.port)
    if service.node_port is not None:
        yield _Place(service.protocol, _EVERYWHERE, service.node_port)


def _name(backend: Backend) -> tuple[str, int]:
    return str(backend.address), backend.port
