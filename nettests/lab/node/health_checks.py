"""The health check ports of Services, as a service proxy serves them on its node.

A balancer outside learns from them which nodes have backends of a Service with ``externalTrafficPolicy: Local``.
After ``pkg/proxy/healthcheck``: any path, 200 where the node has local endpoints, 503 where it has none.
"""

import asyncio
import contextlib
import json

from aiohttp import web

from nettests.lab.interfaces import Namespace
from nettests.lab.node.dial import listen
from nettests.lab.topology import ServiceTable

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
