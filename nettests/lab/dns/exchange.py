"""One DNS query to one server, and the meaning of its answer: addresses, or a kind of failure.

The lowest layer of every resolver (``clients``) and of the ``nslookup`` programs: UDP first, TCP if the answer was truncated or on
request. It neither retries nor walks a search list. Each query uses a new source port. ``NO_SUCH_HOST`` (the server answered NXDOMAIN)
and ``TIMED_OUT`` (no server answered) are kept apart, as programs report them differently.
"""

import asyncio
import errno
import ipaddress
import socket
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from nettests.lab.interfaces import Namespace, ResolverConfig

PORT = 53
_UDP_SIZE = 4096


class Silence(StrEnum):
    """Why a server gave no usable answer."""

    TIMED_OUT = "timed out"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"


class NoAnswerError(Exception):
    """The server did not answer; ``silence`` says how, ``error`` is the kernel's error if any.

    ``local`` and ``server`` are the ends of the exchange, as ``address:port``; ``local`` is empty without a socket.
    """

    def __init__(
        self, silence: Silence, local: str, server: str, error: OSError | None = None
    ) -> None:
        super().__init__(f"{server}: {silence}")
        self.silence = silence
        self.local, self.server = local, server
        self.error = error


async def query_servers(
    namespace: Namespace,
    server: str,
    query: dns.message.Message,
    *,
    limit: float,
    over_tcp: bool = False,
) -> dns.message.Message:
    """Return the server's answer within ``limit`` seconds, or raise ``NoAnswerError``.

    With ``over_tcp`` use TCP at once.
    """
    ends = "", f"{server}:{PORT}"
    sock = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.connect((server, PORT))
        ends = "{}:{}".format(*sock.getsockname()), ends[1]
        async with asyncio.timeout(limit):
            if over_tcp:
                return await _query_tcp(namespace, server, query)
            answer = await _query_udp(sock, query)
            if answer.flags & dns.flags.TC:
                answer = await _query_tcp(namespace, server, query)
            return answer
    except TimeoutError as error:
        raise NoAnswerError(Silence.TIMED_OUT, *ends) from error
    except OSError as error:
        refused = error.errno == errno.ECONNREFUSED
        silence = Silence.REFUSED if refused else Silence.UNREACHABLE
        raise NoAnswerError(silence, *ends, error) from error
    except (dns.exception.DNSException, EOFError) as error:
        raise NoAnswerError(Silence.MALFORMED, *ends) from error
    finally:
        sock.close()


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
        await loop.sock_sendall(sock, query.to_wire(prepend_length=True))
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


class Failure(StrEnum):
    """Why a name did not resolve."""

    NO_SUCH_HOST = "no such host"
    NO_DATA = "no data"
    TIMED_OUT = "timed out"
    NO_SERVER = "no server"
    """The server's port refused, or its address is unreachable."""
    SERVER_FAILURE = "server failure"
    """The server answered SERVFAIL or REFUSED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The addresses of a name, in the server's order; ``canonical`` is the final name."""

    canonical: str
    addresses: tuple[str, ...]
    ttl: int = 0


class ResolutionError(Exception):
    """The name did not resolve; ``server`` is ``address:port`` of the last queried server, or empty."""

    def __init__(
        self, failure: Failure, name: str, *, server: str = "", cause: NoAnswerError | None = None
    ) -> None:
        super().__init__(f"{name}: {failure}")
        self.failure = failure
        self.name = name
        self.server = server
        self.cause = cause


@lru_cache(maxsize=4096)
def from_literal(name: str) -> Resolved | None:
    """Return the address if ``name`` is an IPv4 or IPv6 literal."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    return Resolved(canonical=str(address), addresses=(str(address),))


def from_hosts(config: ResolverConfig, name: str) -> Resolved | None:
    """Return the addresses of ``name`` in the hosts file, compared without case; IPv4 first."""
    wanted = name.rstrip(".").lower()
    addresses = [each for each, names in config.hosts if wanted in map(str.lower, names)]
    in_order = tuple(sorted(addresses, key=lambda text: ":" in text))
    return Resolved(canonical=name, addresses=in_order) if addresses else None


def question(name: str, kind: str = "A") -> dns.message.Message:
    """Return a recursive query for the absolute ``name``."""
    return dns.message.make_query(dns.name.from_text(name), kind)


def addresses(answer: dns.message.Message, kind: str = "A") -> Resolved | None:
    """Return the addresses in ``answer``, following its CNAMEs; ``None`` if there are none."""
    wanted = dns.rdatatype.from_text(kind)
    for rrset in answer.answer:
        if rrset.rdtype == wanted:
            return Resolved(
                canonical=rrset.name.to_text(omit_final_dot=True),
                addresses=tuple(record.address for record in rrset),
                ttl=rrset.ttl,
            )
    return None


def aliases(answer: dns.message.Message) -> list[tuple[str, str]]:
    """Return the CNAME records of ``answer`` as ``(name, target)``, absolute."""
    return [
        (rrset.name.to_text(omit_final_dot=True), record.target.to_text())
        for rrset in answer.answer
        if rrset.rdtype == dns.rdatatype.CNAME
        for record in rrset
    ]


def failure(answer: dns.message.Message) -> Failure:
    """Return the kind of failure of an answer without addresses, by its response code."""
    code = answer.rcode()
    if code == dns.rcode.NXDOMAIN:
        return Failure.NO_SUCH_HOST
    return Failure.NO_DATA if code == dns.rcode.NOERROR else Failure.SERVER_FAILURE
