"""A Go HTTP server in a namespace: listening, connections, keep-alive, TLS, shutdown.

``requests`` renders heads; h11 parses requests, frames bodies and tracks the connection's state. Handlers
are coroutines; cancelling ``serve`` drops every connection at once, like the end of a process.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http import HTTPStatus

import h11

from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.requests import Handler, Request, Response
from nettests.lab.programs.sockets import transport

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
        except (OSError, EOFError, h11.LocalProtocolError):
            pass  # the client disconnected, or a handler's status is invalid: Go drops the connection
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
        self._reader, self._writer = reader, writer
        self._peer = peer
        self._answer = answer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_BYTES)

    async def run(self) -> None:
        while True:
            try:
                request = await self._next_request()
            except h11.RemoteProtocolError as error:
                too_large = error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                status = "431 Request Header Fields Too Large" if too_large else "400 Bad Request"
                fields = "Content-Type: text/plain; charset=utf-8\r\nConnection: close"
                self._writer.write(f"HTTP/1.1 {status}\r\n{fields}\r\n\r\n{status}".encode())
                await self._writer.drain()
                # unread data would reset the connection, and lose the answer
                if too_large:
                    self._writer.write_eof()
                    await asyncio.sleep(_RST_AVOIDANCE_SECONDS)
                return
            if request is None:
                return
            await self._send(request, await self._answer(request))
            if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
                return
            self._http.start_next_cycle()

    async def _next_request(self) -> Request | None:
        head: h11.Request | None = None
        body = b""
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(_READ_SIZE))
            elif isinstance(event, h11.Request):
                if _size(event) > _HEAD_BYTES:  # h11 limits only incomplete heads
                    raise h11.RemoteProtocolError(
                        "head too large", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                    )
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return _to_request(head, body, self._peer)
            else:
                return None

    async def _send(self, request: Request, response: Response) -> None:
        wants_close = "close" in request.header("connection").lower()
        close = wants_close or response.close or request.version == "1.0"
        head, fields = requests.frame(request, response, datetime.now(UTC), close=close)
        # h11 tracks the response; the bytes of the head are Go's, in Go's order.
        fields += [("Connection", "close")] if close else []
        reason = requests.reason(response.status)
        self._http.send(h11.Response(status_code=response.status, headers=fields, reason=reason))
        self._writer.write(head)
        if response.body and request.method != "HEAD" and response.status not in (204, 304):
            self._writer.write(self._http.send(h11.Data(data=response.body)))
        self._writer.write(self._http.send(h11.EndOfMessage()))
        await self._writer.drain()


def _size(head: h11.Request) -> int:
    line = len(head.method) + len(head.target) + len(" ") * 2 + len("HTTP/1.1\r\n")
    fields = (len(name) + len(value) + len(": \r\n") for name, value in head.headers)
    return line + sum(fields) + len("\r\n")


def _to_request(head: h11.Request, body: bytes, peer: str) -> Request:
    return Request(
        method=head.method.decode("ascii"),
        target=head.target.decode("ascii"),
        remote=peer,
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in head.headers.raw_items()
        ),
        body=body,
        version=head.http_version.decode("ascii"),
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
