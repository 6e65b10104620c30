"""The emulated outside: an external host, and an HTTP forward proxy on the machine's loopback for external clients.

The host runs netexec on TCP and UDP, reachable from the cluster only through its gateway. The proxy connects from the
outside client's namespace. It behaves like squid: GET with an absolute URL and CONNECT, ``Proxy-Authorization``, and
``503`` with ``X-Squid-Error`` and the errno if the target cannot be reached (``ERR_CONNECT_FAIL 111`` refused, ``110``
timed out, ``113`` unreachable). It resolves no names.
"""

import asyncio
import base64
import errno
import hmac
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import urlsplit

import h11

from nettests.lab.interfaces import Duplex, Machine, Namespace, Process, ResolverConfig
from nettests.lab.node.serving import connect
from nettests.lab.programs.images import run
from nettests.lab.topology import OS, Profile

_LOG = logging.getLogger(__name__)

USER = "lab"
_CONNECT_SECONDS = 10
_CHUNK = 65536
_HOP_BY_HOP = frozenset({b"proxy-authorization", b"proxy-connection", b"connection", b"keep-alive"})


class _RefusedError(Exception):
    """The proxy answers itself, instead of the target."""

    def __init__(self, status: int, squid_error: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.squid_error = squid_error


class OutsideProxy:
    """Serves ``listener``; ``token`` is the password of user ``lab``."""

    def __init__(self, listener: socket.socket, client: Namespace, token: str) -> None:
        self._listener = listener
        self._client = client
        self._expected = b"Basic " + base64.b64encode(f"{USER}:{token}".encode())

    async def run(self) -> None:
        """Serve until cancelled."""
        server = await asyncio.start_server(self._serve, sock=self._listener)
        async with server:
            await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        duplex = Duplex(reader=reader, writer=writer)
        try:
            request = await _read_request(connection, duplex)
            if request is not None:
                await self._handle(connection, duplex, request)
        except (h11.ProtocolError, OSError) as error:
            _LOG.debug("proxy: %s", error)
        finally:
            writer.close()

    async def _handle(
        self, connection: h11.Connection, duplex: Duplex, request: h11.Request
    ) -> None:
        try:
            self._authorize(request)
            address, port, path = _target(request)
            upstream = await self._open(address, port)
        except _RefusedError as refused:
            await _refuse(connection, duplex, refused)
            return
        try:
            if request.method == b"CONNECT":
                duplex.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                body = await _read_body(connection, duplex)
                upstream.writer.write(_forwarded(request, path, body))
            answered = await _join(duplex, upstream)
            if not answered and request.method != b"CONNECT":
                text = f"{address}:{port} closed the connection and said nothing."
                await _refuse(
                    connection, duplex, _RefusedError(502, "ERR_ZERO_SIZE_OBJECT 0", text)
                )
        finally:
            upstream.writer.close()

    def _authorize(self, request: h11.Request) -> None:
        credentials = dict(request.headers).get(b"proxy-authorization", b"")
        if not hmac.compare_digest(credentials, self._expected):
            text = "Proxy authentication is required."
            raise _RefusedError(407, "ERR_CACHE_ACCESS_DENIED 0", text)

    async def _open(self, address: str, port: int) -> Duplex:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await connect(self._client, address, port)
        except OSError as error:
            late = errno.ETIMEDOUT if isinstance(error, TimeoutError) else errno.EIO
            code = error.errno or late
            name = errno.errorcode.get(code, "unknown error")
            text = f"Connection to {address}:{port} failed: ({code}) {name}."
            raise _RefusedError(503, f"ERR_CONNECT_FAIL {code}", text) from error


def _target(request: h11.Request) -> tuple[str, int, str]:
    """Read address, port and path of ``GET http://198.51.100.10:80/x`` or ``CONNECT 198.51.100.10:80``."""
    text = request.target.decode("ascii", "replace")
    parts = urlsplit(f"//{text}" if request.method == b"CONNECT" else text)
    try:
        port = parts.port or (443 if request.method == b"CONNECT" else 80)
    except ValueError as error:
        raise _RefusedError(400, "ERR_INVALID_URL 0", f"{text} is not an address.") from error
    if not parts.hostname or (request.method != b"CONNECT" and parts.scheme != "http"):
        raise _RefusedError(400, "ERR_INVALID_URL 0", f"{text} is not an absolute http address.")
    try:
        address = str(ipaddress.IPv4Address(parts.hostname))
    except ValueError as error:
        text = f"Unable to determine the IP address of {parts.hostname}."
        raise _RefusedError(503, "ERR_DNS_FAIL 0", text) from error
    query = f"?{parts.query}" if parts.query else ""
    return address, port, f"{parts.path or '/'}{query}"


async def _read_request(connection: h11.Connection, duplex: Duplex) -> h11.Request | None:
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            return event
        if event is not h11.NEED_DATA:
            return None
        connection.receive_data(await duplex.reader.read(_CHUNK))


async def _read_body(connection: h11.Connection, duplex: Duplex) -> bytes:
    parts = []
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif event is h11.NEED_DATA:
            connection.receive_data(await duplex.reader.read(_CHUNK))
        else:
            return b"".join(parts)


def _forwarded(request: h11.Request, path: str, body: bytes) -> bytes:
    headers: Sequence[tuple[bytes, bytes]] = [
        (name, value)
        for name, value in request.headers
        if name not in _HOP_BY_HOP and name != b"transfer-encoding"
    ]
    lines = [
        b"%s %s HTTP/1.1" % (request.method, path.encode()),
        *(name.title() + b": " + value for name, value in headers),
        b"Connection: close",
    ]
    names: Mapping[bytes, bytes] = dict(headers)
    if body and b"content-length" not in names:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def _refuse(connection: h11.Connection, duplex: Duplex, refused: _RefusedError) -> None:
    body = f"{refused}\n".encode()
    headers = [
        ("Server", "squid"),
        ("X-Squid-Error", refused.squid_error),
        ("Content-Type", "text/plain"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    if refused.status == 407:
        headers.append(("Proxy-Authenticate", 'Basic realm="lab"'))
    answer = h11.Response(status_code=refused.status, headers=headers)
    duplex.writer.write(connection.send(answer) or b"")
    duplex.writer.write(connection.send(h11.Data(data=body)) or b"")
    duplex.writer.write(connection.send(h11.EndOfMessage()) or b"")
    await duplex.writer.drain()


async def _join(client: Duplex, upstream: Duplex) -> bool:
    """Copy both ways until the target has closed; return whether it sent anything."""
    upward = asyncio.create_task(_copy(client.reader, upstream.writer))
    try:
        first = await _first(upstream.reader)
        client.writer.write(first)
        if first:
            await _copy(upstream.reader, client.writer)
        return bool(first)
    finally:
        upward.cancel()
        await asyncio.gather(upward, return_exceptions=True)


async def _first(source: asyncio.StreamReader) -> bytes:
    """Return the first bytes; none if the target closed or reset the connection."""
    try:
        return await source.read(_CHUNK)
    except ConnectionError:
        return b""


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


class OutsideServer:
    """The external target of a profile; ``run`` serves until it is cancelled."""

    def __init__(self, profile: Profile, namespace: Namespace) -> None:
        self._profile = profile
        self.machine = Machine(
            os=OS.LINUX,
            hostname=profile.outside_name.partition(".")[0],
            namespace=namespace,
            addresses=(str(profile.outside_server),),
            gateway="",
            resolver=ResolverConfig(servers=()),
        )

    async def run(self, log: Callable[[bytes], Awaitable[None]]) -> int:
        """Serve the profile's TCP and UDP ports; log lines go to ``log``."""
        ports = self._profile.outside_tcp_port, self._profile.outside_udp_port
        process = Process(
            argv=["/agnhost", "netexec", f"--http-port={ports[0]}", f"--udp-port={ports[1]}"],
            environment={},
            machine=self.machine,
            stdout=log,
            stderr=log,
        )
        return await run(process)
