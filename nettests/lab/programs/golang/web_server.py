"""A Go HTTP server in a namespace: listening, connections, keep-alive, TLS, shutdown.

``requests`` renders answers, ``web.messages`` reads requests. Handlers are coroutines; cancelling ``serve`` drops
every connection at once, like the end of a process.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.requests import Handler, Request, Response
from nettests.lab.programs.sockets import transport
from nettests.lab.web.messages import Head, MalformedError, Messages, TooLargeError

_READ_SIZE = 65536
_HEAD_BYTES = 2**20 + 4096
"""``http.DefaultMaxHeaderBytes``, and another 4 KiB that the server accepts (net/http/server.go)."""
_RST_AVOIDANCE_SECONDS = 0.5
"""``rstAvoidanceDelay`` of net/http/server.go."""
_PLAIN_ON_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
_METHOD_STARTS = (b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO")


class WebServer:
    """Serves ``handler`` on a listening socket; ``on_plain`` is called for plain HTTP on a TLS port."""

    def __init__(
        self,
        listener: socket.socket,
        handler: Handler,
        *,
        tls: ssl.SSLContext | None = None,
        on_plain: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._listener = listener
        self._handler = handler
        self._tls = tls
        self._on_plain = on_plain
        self._connections: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Accept connections until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                sock, peer = await loop.sock_accept(self._listener)
                task = asyncio.create_task(self._connection(sock, transport.text(peer)))
                self._connections.add(task)
                task.add_done_callback(self._connections.discard)
        finally:
            self._listener.close()
            for task in self._connections:
                task.cancel()

    async def drain(self, limit: float) -> bool:
        """Wait until no request is being answered; ``False`` if that takes longer than ``limit`` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while self._busy - {asyncio.current_task()}:
                    await asyncio.wait(self._busy, return_when=asyncio.FIRST_COMPLETED)
        return not self._busy

    async def _connection(self, sock: socket.socket, peer: str) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self._tls is not None and await _starts_plain(sock):
                await self._refuse_plain(sock, peer)
                return
            reader, writer = await _streams(sock, self._tls)
        except OSError:
            sock.close()
            return
        try:
            await _Conversation(reader, writer, peer, self._answer).run()
            writer.close()
            await writer.wait_closed()
        except OSError:
            pass  # the client disconnected
        finally:
            writer.transport.abort()

    async def _answer(self, request: Request) -> Response:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            if request.method == "OPTIONS" and request.target == "*":
                return Response(headers=(("Content-Length", "0"),))
            return await self._handler(request)
        finally:
            self._busy.discard(task)

    async def _refuse_plain(self, sock: socket.socket, peer: str) -> None:
        with sock:
            if self._on_plain is not None:
                await self._on_plain(peer)
            loop = asyncio.get_running_loop()
            await loop.sock_recv(sock, _READ_SIZE)
            await loop.sock_sendall(sock, _PLAIN_ON_TLS)


class _Conversation:
    """One connection: requests in, responses out, until either side closes."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str, answer: Handler
    ) -> None:
        self._writer = writer
        self._peer = peer
        self._answer = answer
        self._messages = Messages(reader, answers=False, most=_HEAD_BYTES)

    async def run(self) -> None:
        while True:
            try:
                head = await self._messages.head()
                if head is None:
                    return
                request = _to_request(head, await self._messages.body(), self._peer)
            except MalformedError as error:
                await self._refuse(too_large=isinstance(error, TooLargeError))
                return
            if not await self._send(request, await self._answer(request)):
                return

    async def _refuse(self, *, too_large: bool) -> None:
        status = "431 Request Header Fields Too Large" if too_large else "400 Bad Request"
        fields = "Content-Type: text/plain; charset=utf-8\r\nConnection: close"
        self._writer.write(f"HTTP/1.1 {status}\r\n{fields}\r\n\r\n{status}".encode())
        await self._writer.drain()
        # unread data would reset the connection, and lose the answer
        if too_large:
            self._writer.write_eof()
            await asyncio.sleep(_RST_AVOIDANCE_SECONDS)

    async def _send(self, request: Request, response: Response) -> bool:
        """Send the answer; return whether the connection is kept."""
        if not 200 <= response.status <= 999:  # Go panics, and drops the connection
            return False
        wants_close = "close" in request.header("connection").lower()
        close = wants_close or response.close or request.version == "1.0"
        self._writer.write(requests.frame(request, response, datetime.now(UTC), close=close))
        await self._writer.drain()
        return not close


def _to_request(head: Head, body: bytes, peer: str) -> Request:
    if head.version == "1.1" and not head.header("host"):
        raise MalformedError("missing required Host header")
    return Request(
        method=head.method,
        target=head.target,
        remote=peer,
        headers=head.headers,
        body=body,
        version=head.version,
    )


async def _streams(
    sock: socket.socket, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return streams over an accepted socket, after the TLS handshake if there is one."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, sock, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _starts_plain(sock: socket.socket) -> bool:
    """Whether the first bytes, which are only peeked at, are HTTP: no TLS record starts like it."""
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(sock, readable.set_result, None)
    try:
        await readable
    finally:
        loop.remove_reader(sock)
    return sock.recv(5, socket.MSG_PEEK).startswith(_METHOD_STARTS)
