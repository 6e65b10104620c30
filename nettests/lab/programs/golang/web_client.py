"""Go's HTTP client as ``/dial`` uses it: one GET, redirects followed, one deadline for all of it.

Every request is a new connection. Errors carry the text of Go's ``url.Error``. The body is read whole.
"""

import asyncio
import errno
from urllib.parse import quote as escape
from urllib.parse import urljoin, urlsplit

import h11

from nettests.lab.interfaces import Machine
from nettests.lab.programs.golang import failures
from nettests.lab.programs.golang.failures import NetError, operation_failed
from nettests.lab.programs.golang.values import quote
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.texts import Call
from nettests.lab.topology import OS

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
_DEADLINE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_READ_SIZE = 65536
_HEAD_BYTES = 10 * 2**20
"""``http.Transport.MaxResponseHeaderBytes``, by default."""
_SAFE = "/%?&=:@+,;$!*'()[]~#"


async def get(machine: Machine, url: str, *, limit: float) -> bytes:
    """Return the body behind ``url``, whatever the status; ``NetError`` within ``limit`` seconds."""
    current = url
    referer = ""
    try:
        async with asyncio.timeout(limit):
            for _ in range(_MOST_REDIRECTS):
                current = url
                status, location, body = await _get_once(machine, url, referer)
                if status not in _REDIRECTS or not location:
                    return body
                url, referer = urljoin(url, location), url
    except TimeoutError as error:
        raise NetError(f"Get {quote(current)}: {_DEADLINE}", timeout=True) from error
    except ValueError as error:
        raise NetError(f"Get {quote(current)}: parse {quote(url)}: {error}") from error
    except NetError as error:
        text = f"Get {quote(current)}: {error.text}"
        raise NetError(text, timeout=error.timeout, refused=error.refused) from error
    raise NetError(f"Get {quote(location)}: stopped after {_MOST_REDIRECTS} redirects")


async def _get_once(machine: Machine, url: str, referer: str) -> tuple[int, str, bytes]:
    parts = urlsplit(url)
    if parts.scheme != "http":
        raise NetError(f"unsupported protocol scheme {quote(parts.scheme)}")
    host, port = await failures.resolve_address(
        machine, parts.hostname or "", str(parts.port or 80) if parts.port != 0 else "0"
    )
    place = transport.join(host, port)
    try:
        sock = await transport.connect(machine, host or "127.0.0.1", port)
    except OSError as error:
        if error.errno is None:
            raise
        raise operation_failed(machine, f"dial tcp {place}", Call.CONNECT, error) from error
    ends = f"{transport.text(sock.getsockname())}->{place}"
    reader, writer = await asyncio.open_connection(sock=sock)
    try:
        return await _exchange(reader, writer, _request(parts.netloc, url, referer))
    except ConnectionError as error:
        raise _broken(machine, ends, error) from error
    except h11.RemoteProtocolError as error:
        raise NetError(f"net/http: HTTP/1.x transport connection broken: {error}") from error
    finally:
        # As Go closes a connection: what a server that answered early did not read is not waited for.
        writer.transport.abort()


def _request(netloc: str, url: str, referer: str) -> h11.Request:
    parts = urlsplit(url)
    target = escape((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_SAFE)
    headers = [("Host", netloc), ("User-Agent", "Go-http-client/1.1")]
    if referer:
        headers.append(("Referer", referer))
    headers.append(("Accept-Encoding", "gzip"))
    return h11.Request(method="GET", target=target, headers=headers)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request
) -> tuple[int, str, bytes]:
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_BYTES)
    writer.write(http.send(request) + http.send(h11.EndOfMessage()))
    await writer.drain()
    status, location, body = 0, "", b""
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(_READ_SIZE)
            if not data and not status:
                raise NetError("EOF")
            http.receive_data(data)
        elif isinstance(event, h11.Response):
            status = event.status_code
            location = dict(event.headers).get(b"location", b"").decode("latin-1")
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return status, location, body
        elif isinstance(event, h11.ConnectionClosed):
            raise NetError("EOF")


def _broken(machine: Machine, ends: str, error: OSError) -> NetError:
    """A reset while the answer was awaited; a peer that closed first counts as EOF."""
    if error.errno == errno.EPIPE or (error.errno is None and machine.os is OS.LINUX):
        return NetError("EOF")
    number = error.errno or errno.ECONNRESET
    return operation_failed(
        machine, f"read tcp {ends}", Call.READ, OSError(number, error.strerror or "")
    )
