"""Connections and small HTTP servers in namespaces of the lab: real ``connect()`` calls, the ports of system pods, of Services and of the kubelet.

System pods serve ``/ready`` (CoreDNS) and ``/healthz`` (kube-proxy) on the real components' ports. The health check ports of Services
are served as by a service proxy (``pkg/proxy/healthcheck``): an external load balancer learns from them which nodes have backends of a
Service with ``externalTrafficPolicy: Local``; the answer, for any path, is 200 if the node has local endpoints, else 503. Port 10250
has TLS with ``/healthz``, and Go's answer to plain HTTP, but neither exec nor logs: the API server calls these directly.
"""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping

from nettests.lab.interfaces import Duplex, Namespace
from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.golang.web_server import WebServer
from nettests.lab.programs.sockets.transport import family, listen
from nettests.lab.topology import ServiceTable

_LIMIT = 2**18
_EVERYWHERE = "0.0.0.0"  # noqa: S104  # of a namespace of the lab
_NO_SNIFF = ("X-Content-Type-Options", "nosniff")

Answer = Callable[[], Response]


async def connect(namespace: Namespace, address: str, port: int) -> Duplex:
    """Open a TCP connection from ``namespace``; ``OSError`` if it fails."""
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=_LIMIT)
    except BaseException:
        sock.close()
        raise
    return Duplex(reader=reader, writer=writer)


def as_json(
    value: object, status: int = 200, *headers: tuple[str, str], indent: str = ""
) -> Response:
    """Return a JSON response."""
    body = json.dumps(value, indent=indent or None).encode()
    return Response(
        body=body,
        status=status,
        headers=(("Content-Type", "application/json"), _NO_SNIFF, *headers),
    )


@contextlib.asynccontextmanager
async def answering(
    namespace: Namespace, address: str, port: int, paths: Mapping[str, Answer]
) -> AsyncIterator[None]:
    """Serve ``paths`` on ``address:port`` while the context lasts; other paths get 404."""

    async def answer(request: Request) -> Response:
        handler = paths.get(request.path)
        return Response(status=404) if handler is None else handler()

    serving = asyncio.create_task(WebServer(listen(namespace, port, address), answer).serve())
    try:
        yield
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


class HealthChecks:
    """Runs a small server for each health check port in ``namespace``, that of node ``node``."""

    def __init__(self, namespace: Namespace, node: str) -> None:
        self._namespace = namespace
        self._node = node
        self._local: dict[int, tuple[str, str, int]] = {}
        self._servers: dict[int, asyncio.Task[None] | None] = {}
        self._turn = asyncio.Lock()

    async def follow(self, table: ServiceTable) -> None:
        """Serve the ports of ``table``, and no others."""
        async with self._turn:
            self._local = _counts(table, self._node)
            for port in [port for port in self._servers if port not in self._local]:
                serving = self._servers.pop(port)
                if serving is not None:
                    serving.cancel()
                    await asyncio.gather(serving, return_exceptions=True)
            for port in self._local.keys() - self._servers.keys():
                self._servers[port] = self._open(port)

    def _open(self, port: int) -> "asyncio.Task[None] | None":
        async def answer(_request: Request) -> Response:
            namespace, name, local = self._local[port]
            body = {
                "service": {"namespace": namespace, "name": name},
                "localEndpoints": local,
                "serviceProxyHealthy": True,
            }
            weight = ("X-Load-Balancing-Endpoint-Weight", str(local))
            return as_json(body, 200 if local else 503, weight, indent="\t")

        with contextlib.suppress(OSError):  # the port is taken: kube-proxy logs it and goes on
            listener = listen(self._namespace, port, _EVERYWHERE)
            return asyncio.create_task(WebServer(listener, answer).serve())
        return None


def _counts(table: ServiceTable, node: str) -> dict[int, tuple[str, str, int]]:
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
    # A dual-stack pod counts as one endpoint.
    return {port: (*names[port], max(map(len, by_port[port].values()))) for port in names}


def kubelet_server(namespace: Namespace, address: str, port: int, tls: ssl.SSLContext) -> WebServer:
    """Return a server on ``address:port`` in ``namespace`` that answers like a kubelet without credentials."""

    async def answer(request: Request) -> Response:
        if request.path in {"/healthz", "/healthz/ping"}:
            return Response(body=b"ok", headers=(_NO_SNIFF,))
        if request.path == "/":
            return requests.error("404 page not found", 404)
        return Response(body=b"Unauthorized", status=401, headers=(_NO_SNIFF,))

    return WebServer(listen(namespace, port, address), answer, tls=tls)
