"""One DNS question to one server: UDP first, TCP when the answer was truncated or it is told to.

The lowest step of every resolver manner (``linux``, ``windows``) and of the ``nslookup`` programs. It
neither retries nor walks a search list. Each question leaves from a fresh source port.
"""

import asyncio
import errno
import socket
from dataclasses import dataclass
from enum import StrEnum

import dns.exception
import dns.flags
import dns.message

from nettests.lab.interfaces import Namespace

PORT = 53
_UDP_SIZE = 4096


class Silence(StrEnum):
    """Why no usable answer came from a server."""

    TIMED_OUT = "timed out"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The two ends of an exchange, as ``address:port`` text."""

    local: str
    server: str


class NoAnswerError(Exception):
    """The server did not answer; ``idle_connection`` says how, ``error`` holds the kernel's own error."""

    def __init__(self, silence: Silence, ends: Endpoints, error: OSError | None = None) -> None:
        super().__init__(f"{ends.server}: {silence}")
        self.silence = silence
        self.ends = ends
        self.error = error


async def query_servers(
    namespace: Namespace,
    server: str,
    query: dns.message.Message,
    *,
    limit: float,
    over_tcp: bool = False,
) -> dns.message.Message:
    """Return the server's answer to ``query`` within ``limit`` seconds; ``NoAnswerError`` otherwise.

    ``over_tcp`` queries by TCP at once.
    """
    ends = Endpoints(local="", server=f"{server}:{PORT}")
    sock = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.connect((server, PORT))
        host, port = sock.getsockname()[:2]
        ends = Endpoints(local=f"{host}:{port}", server=f"{server}:{PORT}")
        async with asyncio.timeout(limit):
            if over_tcp:
                return await _query_tcp(namespace, server, query)
            answer = await _query_udp(sock, query)
            if answer.flags & dns.flags.TC:
                answer = await _query_tcp(namespace, server, query)
            return answer
    except TimeoutError as error:
        raise NoAnswerError(Silence.TIMED_OUT, ends) from error
    except OSError as error:
        raise NoAnswerError(_silence(error), ends, error) from error
    except (dns.exception.DNSException, EOFError) as error:
        raise NoAnswerError(Silence.MALFORMED, ends) from error
    finally:
        sock.close()


def _silence(error: OSError) -> Silence:
    return Silence.REFUSED if error.errno == errno.ECONNREFUSED else Silence.UNREACHABLE


async def _query_udp(sock: socket.socket, query: dns.message.Message) -> dns.message.Message:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, query.to_wire())
    while True:
        answer = dns.message.from_wire(await loop.sock_recv(sock, _UDP_SIZE))
        if answer.id == query.id:
            return answer


async def _query_tcp(
    namespace: Namespace, server: str, query: dns.message.Message
) -> dns.message.Message:
    loop = asyncio.get_running_loop()
    with namespace.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        await loop.sock_connect(sock, (server, PORT))
        wire = query.to_wire()
        await loop.sock_sendall(sock, len(wire).to_bytes(2, "big") + wire)
        size = int.from_bytes(await _read_exactly(sock, 2), "big")
        return dns.message.from_wire(await _read_exactly(sock, size))


async def _read_exactly(sock: socket.socket, count: int) -> bytes:
    loop = asyncio.get_running_loop()
    data = b""
    while len(data) < count:
        chunk = await loop.sock_recv(sock, count - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return data
