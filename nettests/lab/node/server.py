"""Port 10250 of a node: TLS with ``/healthz``, and Go's answer to plain HTTP.

It listens in the node's own namespace, so that pods can reach it where a real kubelet is reachable.
It serves nothing that runs programs or reads logs: the API server reaches those without it.
"""

import asyncio
import contextlib
import socket
import ssl

from aiohttp import web

from nettests.lab.interfaces import Namespace
from nettests.lab.node.dial import listen

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
