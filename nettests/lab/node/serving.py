"""Connections and small HTTP servers in namespaces of the lab: real ``connect()`` calls, the ports of system pods, of Services and of the kubelet.

System pods answer ``/ready`` (CoreDNS) and ``/healthz`` (kube-proxy) on the real components' ports, so that probes and people find them
where they look. The health check ports of Services are served as a service proxy does (``pkg/proxy/healthcheck``): a balancer outside
learns from them which nodes have backends of a Service with ``externalTrafficPolicy: Local``; any path, 200 where the node has local
endpoints, 503 where it has none. Port 10250 is TLS with ``/healthz``, and Go's answer to plain HTTP; it serves nothing that runs
programs or reads logs: the API server reaches those without it.
"""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from nettests.lab.interfaces import Duplex, Namespace
from nettests.lab.programs.sockets.transport import family
from nettests.lab.topology import ServiceTable

_LIMIT = 2**18


async def connect(namespace: Namespace, address: str, port: int) -> Duplex:
    """Open a TCP connection from ``namespace``; ``OSError`` when it fails."""
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=_LIMIT)
    except BaseException:
        sock.close()
        raise
    return Duplex(reader=reader, writer=writer)


def listen(namespace: Namespace, address: str, port: int) -> socket.socket:
    """Return a listening TCP socket that lives in ``namespace``; of IPv6 alone at its addresses."""
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family(address) is socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, port))
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock


class NodeDialer:
    """Opens connections from one namespace: the API server's way to pods, nodes and Services."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    async def dial(self, address: str, port: int) -> Duplex:
        """Connect to ``address``; ``OSError`` when it fails."""
        return await connect(self._namespace, address, port)


Answer = Callable[[], web.Response]


@asynccontextmanager
async def answering(
    namespace: Namespace, address: str, port: int, paths: Mapping[str, Answer]
) -> AsyncIterator[None]:
    """Answer GET of ``paths`` on ``address:port`` while the context lasts; others are 404."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        handler = paths.get(request.path)
        return web.Response(status=404) if handler is None else handler()

    runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=0)
    await runner.setup()
    try:
        await web.SockSite(runner, listen(namespace, address, port)).start()
        yield
    finally:
        await runner.cleanup()


_EVERYWHERE = "0.0.0.0"  # noqa: S104  # of a namespace of the lab


class HealthChecks:
    """Keeps one small server for each health check port in ``namespace``, that of node ``node``."""

    def __init__(self, namespace: Namespace, node: str) -> None:
        self._namespace = namespace
        self._node = node
        self._local: dict[int, tuple[str, str, int]] = {}
        self._servers: dict[int, web.ServerRunner] = {}
        self._turn = asyncio.Lock()

    async def follow(self, table: ServiceTable) -> None:
        """Serve the ports of ``table``, and no others."""
        async with self._turn:
            self._local = _counts(table, self._node)
            for port in [port for port in self._servers if port not in self._local]:
                await self._servers.pop(port).cleanup()
            for port in self._local.keys() - self._servers.keys():
                await self._open(port)

    async def _open(self, port: int) -> None:
        async def answer(_request: web.BaseRequest) -> web.StreamResponse:
            return _response(*self._local[port])

        runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=0)
        await runner.setup()
        with contextlib.suppress(OSError):  # the port is taken: kube-proxy logs it and goes on
            await web.SockSite(runner, listen(self._namespace, _EVERYWHERE, port)).start()
        self._servers[port] = runner


def _counts(table: ServiceTable, node: str) -> dict[int, tuple[str, str, int]]:
    """Return namespace, name and number of local ready endpoints of each Service, by its port."""
    by_port: dict[int, dict[int, set[str]]] = {}
    names: dict[int, tuple[str, str]] = {}
    for service in table:
        if service.health_check_port is None:
            continue
        names[service.health_check_port] = (service.namespace, service.service)
        families = by_port.setdefault(service.health_check_port, {})
        families.setdefault(service.cluster_ip.version, set()).update(
            str(backend.address)
            for backend in service.endpoints
            if backend.node == node and backend.ready
        )
    # A pod of two families is one endpoint.
    return {port: (*names[port], max(map(len, by_port[port].values()))) for port in names}


def _response(namespace: str, name: str, local: int) -> web.Response:
    body = {
        "service": {"namespace": namespace, "name": name},
        "localEndpoints": local,
        "serviceProxyHealthy": True,
    }
    return web.Response(
        body=json.dumps(body, indent="\t").encode(),
        status=200 if local else 503,
        headers={
            "Content-Type": "application/json",
            "X-Content-Type-Options": "nosniff",
            "X-Load-Balancing-Endpoint-Weight": str(local),
        },
    )


_TLS_HANDSHAKE = 0x16
_PLAIN_ANSWER = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
_FIRST_BYTE_SECONDS = 10


class KubeletServer:
    """Listens on ``address:port`` in ``namespace`` until closed."""

    def __init__(self, namespace: Namespace, address: str, port: int, tls: ssl.SSLContext) -> None:
        self._listener = listen(namespace, address, port)
        self._tls = tls
        self._web = web.Server(_answer, access_log=None)
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Accept connections until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                connection, _ = await loop.sock_accept(self._listener)
                task = asyncio.create_task(self._serve(connection))
                self._connections.add(task)
                task.add_done_callback(self._connections.discard)
        finally:
            self._listener.close()
            await self._web.shutdown(timeout=0)

    async def _serve(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        connection.setblocking(False)  # noqa: FBT003  # the standard library's signature
        try:
            async with asyncio.timeout(_FIRST_BYTE_SECONDS):
                first = await _peek(connection)
            if first[:1] == bytes([_TLS_HANDSHAKE]):
                await loop.connect_accepted_socket(self._web, connection, ssl=self._tls)
                return
            if first:
                await loop.sock_sendall(connection, _PLAIN_ANSWER)
                connection.shutdown(socket.SHUT_WR)
                await _drain(connection)
        except (OSError, TimeoutError):
            pass  # the client went away, or never said anything
        connection.close()


async def _peek(connection: socket.socket) -> bytes:
    """Wait for the first byte without taking it, so that TLS can start on an untouched stream."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)
    return connection.recv(1, socket.MSG_PEEK)


async def _drain(connection: socket.socket) -> None:
    """Read what the client sent: closing with unread data would reset the connection."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            while await loop.sock_recv(connection, 65536):
                pass


async def _answer(request: web.BaseRequest) -> web.StreamResponse:
    headers = {"X-Content-Type-Options": "nosniff"}
    if request.path in {"/healthz", "/healthz/ping"}:
        return web.Response(text="ok", headers=headers)
    if request.path == "/":
        return web.Response(status=404, text="404 page not found\n", headers=headers)
    return web.Response(status=401, text="Unauthorized", headers=headers)
