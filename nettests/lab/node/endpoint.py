"""Small HTTP servers of system pods: ``/ready`` of CoreDNS, ``/healthz`` of kube-proxy.

They listen in the pod's (or its node's) own namespace, on the real components' ports, so that probes and
people find them where they look.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from nettests.lab.interfaces import Namespace
from nettests.lab.node.dial import listen

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
