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
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from nettests.lab.interfaces import Duplex, Machine, Namespace, Process, ResolverConfig
from nettests.lab.node.serving import connect
from nettests.lab.programs.images import run
from nettests.lab.topology import OS, Profile
from nettests.lab.web import messages
from nettests.lab.web.messages import Head, MalformedError, Messages

_LOG = logging.getLogger(__name__)

USER = "lab"
_CONNECT_SECONDS = 10
_CHUNK = 65536
_HOP_BY_HOP = frozenset(
    {"proxy-authorization", "proxy-connection", "connection", "keep-alive", "transfer-encoding"}
)


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
        duplex = Duplex(reader=reader, writer=writer)
        try:
            requests = Messages(reader, answers=False)
            head = await requests.head()
            if head is not None:
                await self._handle(duplex, head, requests)
        except _RefusedError as refused:
            await _refuse(duplex, refused)
        except (MalformedError, OSError) as error:
            _LOG.debug("proxy: %s", error)
        finally:
            writer.close()

    async def _handle(self, duplex: Duplex, head: Head, requests: Messages) -> None:
        credentials = head.header("proxy-authorization").encode("latin-1")
        if not hmac.compare_digest(credentials, self._expected):
            text = "Proxy authentication is required."
            raise _RefusedError(407, "ERR_CACHE_ACCESS_DENIED 0", text)
        address, port, path = _target(head)
        upstream = await self._open(address, port)
        try:
            if head.method == "CONNECT":
                duplex.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                upstream.writer.write(_forwarded(head, path, await requests.body()))
            answered = await _join(duplex, upstream)
            if not answered and head.method != "CONNECT":
                text = f"{address}:{port} closed the connection and said nothing."
                raise _RefusedError(502, "ERR_ZERO_SIZE_OBJECT 0", text)
        finally:
            upstream.writer.close()

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


def _target(head: Head) -> tuple[str, int, str]:
    """Read address, port and path of ``GET http://198.51.100.10:80/x`` or ``CONNECT 198.51.100.10:80``."""
    text, connects = head.target, head.method == "CONNECT"
    parts = urlsplit(f"//{text}" if connects else text)
    try:
        port = parts.port or (443 if connects else 80)
    except ValueError as error:
        raise _RefusedError(400, "ERR_INVALID_URL 0", f"{text} is not an address.") from error
    if not parts.hostname or (not connects and parts.scheme != "http"):
        raise _RefusedError(400, "ERR_INVALID_URL 0", f"{text} is not an absolute http address.")
    try:
        address = str(ipaddress.IPv4Address(parts.hostname))
    except ValueError as error:
        text = f"Unable to determine the IP address of {parts.hostname}."
        raise _RefusedError(503, "ERR_DNS_FAIL 0", text) from error
    query = f"?{parts.query}" if parts.query else ""
    return address, port, f"{parts.path or '/'}{query}"


def _forwarded(head: Head, path: str, body: bytes) -> bytes:
    dropped = _HOP_BY_HOP | {"content-length"} if body else _HOP_BY_HOP
    headers = [(name, value) for name, value in head.headers if name.lower() not in dropped]
    return messages.request(head.method, path, [*headers, ("Connection", "close")], body)


async def _refuse(duplex: Duplex, refused: _RefusedError) -> None:
    body = f"{refused}\n"
    lines = [
        f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}",
        "Server: squid",
        f"X-Squid-Error: {refused.squid_error}",
        "Content-Type: text/plain",
        f"Content-Length: {len(body.encode())}",
        "Connection: close",
    ]
    if refused.status == 407:
        lines.append('Proxy-Authenticate: Basic realm="lab"')
    duplex.writer.write("\r\n".join([*lines, "", body]).encode())
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
