"""Go's ``net`` and its HTTP client as ``/dial`` uses it: error texts per operating system, addresses, one GET with redirects.

``NetError`` has the properties of an error that agnhost uses besides its text. Source: Go's ``net`` package (``OpError``, ``DNSError``,
``SplitHostPort``, ``ResolveTCPAddr``), and the recorded transcript for Linux. For Windows the texts are inferred from the same source
and Winsock's messages. Every HTTP request is a new connection, with one deadline for everything; errors have the text of Go's
``url.Error``; the body is read whole.
"""

import asyncio
import errno
import ipaddress
from urllib.parse import quote as escape
from urllib.parse import urljoin, urlsplit

from nettests.lab.dns import clients
from nettests.lab.dns.exchange import Failure, NoAnswerError, ResolutionError, Resolved, Silence
from nettests.lab.interfaces import Machine
from nettests.lab.programs.golang.values import quote
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.topology import OS
from nettests.lab.web import messages

_TRY_AGAIN = (
    "getaddrinfow: This is usually a temporary error during hostname resolution and means that the "
    "local server did not receive a response from an authoritative server."
)
_NO_DATA = "getaddrinfow: The requested name is valid, but no data of the requested type was found."
IO_TIMEOUT = "i/o timeout"


class NetError(Exception):
    """A Go ``net`` error: its text, whether ``Timeout()`` holds, whether it equals ECONNREFUSED."""

    def __init__(self, text: str, *, timeout: bool = False, refused: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.timeout = timeout
        self.refused = refused


def operation_failed(machine: Machine, prefix: str, call: Call, error: OSError) -> NetError:
    """Return the ``OpError`` for a failed call; ``prefix`` is ``dial tcp 10.0.0.1:80`` and the like.

    On Windows no system error equals Go's ``ECONNREFUSED`` or counts as a timeout, because Go's constants
    of that name are invented there (``syscall/types_windows.go``).
    """
    if error.errno is None:
        return timed_out(prefix)
    on_linux = machine.os is OS.LINUX
    text = call_text(machine.os, call, error, machine.message_locale)
    return NetError(
        f"{prefix}: {text}",
        timeout=on_linux and error.errno == errno.ETIMEDOUT,
        refused=on_linux and error.errno == errno.ECONNREFUSED,
    )


def timed_out(prefix: str) -> NetError:
    """Return the ``OpError`` for a deadline of the program."""
    return NetError(f"{prefix}: {IO_TIMEOUT}", timeout=True)


def lookup_failed(machine: Machine, error: ResolutionError) -> NetError:
    """Return the ``DNSError`` for a name that did not resolve.

    On Linux it names the server and the cause, on Windows it is ``no such host``, or quotes ``getaddrinfo``
    if no server answered.
    """
    if machine.os is OS.WINDOWS:
        reasons = {Failure.NO_SUCH_HOST: "no such host", Failure.NO_DATA: _NO_DATA}
        reason = reasons.get(error.failure, _TRY_AGAIN)
        return NetError(f"lookup {error.name}: {reason}")
    on = f" on {error.server}" if error.server else ""
    if error.failure in (Failure.NO_SUCH_HOST, Failure.NO_DATA):
        reason = "no such host"
    elif error.cause is None:
        reason = "server misbehaving"
    else:
        reason = _exchange_reason(machine, error.cause)
    return NetError(f"lookup {error.name}{on}: {reason}")


def _exchange_reason(machine: Machine, cause: NoAnswerError) -> str:
    call = Call.READ if cause.local else Call.CONNECT
    ends = f"{cause.local}->{cause.server}" if cause.local else cause.server
    what = f"{'read' if cause.local else 'dial'} udp {ends}"
    if cause.silence is Silence.TIMED_OUT:
        return f"{what}: {IO_TIMEOUT}"
    if cause.error is None:
        return "cannot unmarshal DNS message"
    return f"{what}: {call_text(machine.os, call, cause.error, machine.message_locale)}"


_PORTS = {"domain": 53, "http": 80, "https": 443, "ssh": 22}


def split(text: str) -> tuple[str, str]:
    """Split ``host:port``; ``NetError`` with Go's text if that is not possible."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        raise NetError(f"address {text}: missing port in address")
    if host.startswith("["):
        if not host.endswith("]"):
            raise NetError(f"address {text}: missing ']' in address")
        return host[1:-1], port
    if ":" in host:
        raise NetError(f"address {text}: too many colons in address")
    return host, port


def parse_port(text: str) -> int:
    """Return a port given by number or service name; empty is 0."""
    if not text:
        return 0
    if text in _PORTS:
        return _PORTS[text]
    if text.isdecimal():
        number = int(text)
        if number <= 65535:
            return number
        raise NetError(f"address {text}: invalid port")
    raise NetError(f"lookup tcp/{text}: unknown port")


async def resolve_name(machine: Machine, name: str) -> Resolved:
    """Resolve ``name`` like the machine's OS; ``ResolutionError`` if that fails."""
    if machine.os is OS.WINDOWS:
        return await clients.resolve_on_windows(machine, name)
    return await clients.resolve_on_linux(machine, name)


async def resolve_address(machine: Machine, host: str, port: str) -> tuple[str, int]:
    """Return the address that Go dials for ``host`` and ``port``: the first IPv4 one, else the first.

    An empty host is the local machine. ``NetError`` if the port or the name is invalid.
    """
    number = parse_port(port)
    if not host:
        return "", number
    try:
        resolved = await resolve_name(machine, host)
    except ResolutionError as error:
        raise lookup_failed(machine, error) from error
    versions = sorted(resolved.addresses, key=lambda text: ipaddress.ip_address(text).version)
    return versions[0], number


_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
_DEADLINE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_SAFE = "/%?&=:@+,;$!*'()[]~#"


async def get(machine: Machine, url: str, *, limit: float) -> bytes:
    """GET ``url`` within ``limit`` seconds and return the body, whatever the status; ``NetError`` if that fails."""
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
    host, port = await resolve_address(
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
    except messages.MalformedError as error:
        raise NetError(f"net/http: HTTP/1.x transport connection broken: {error}") from error
    finally:
        # Like Go, close without waiting for a server that answered early to read the rest.
        writer.transport.abort()


def _request(netloc: str, url: str, referer: str) -> bytes:
    parts = urlsplit(url)
    target = escape((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_SAFE)
    headers = [("Host", netloc), ("User-Agent", "Go-http-client/1.1")]
    if referer:
        headers.append(("Referer", referer))
    headers.append(("Accept-Encoding", "gzip"))
    return messages.request("GET", target, headers)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, str, bytes]:
    writer.write(request)
    await writer.drain()
    answers, head = messages.Messages(reader, answers=True), None
    try:
        head = await answers.head()
        if head is not None:
            return head.status, head.header("location"), await answers.body()
    except messages.CutOffError:
        if head is not None:
            raise
    raise NetError("EOF")


def _broken(machine: Machine, ends: str, error: OSError) -> NetError:
    """Return the error for a reset while waiting for the answer; EOF if the peer had closed before."""
    if error.errno == errno.EPIPE or (error.errno is None and machine.os is OS.LINUX):
        return NetError("EOF")
    number = error.errno or errno.ECONNRESET
    return operation_failed(
        machine, f"read tcp {ends}", Call.READ, OSError(number, error.strerror or "")
    )
