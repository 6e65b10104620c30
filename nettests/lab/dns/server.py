"""DNS servers of the lab: the cluster's (in place of CoreDNS), the outside resolver that it forwards to, and faults of the former.

Both listen on UDP and TCP 53 of an address in a namespace; ``zone`` decides the answers of the cluster's DNS. ``DnsFeeder`` builds a
``DnsView`` from the API's objects and calls ``ClusterDns.update``. The cluster's servers share one ``DnsTroubles``, which may change
their answers; lost packets are faults of the network.
"""

import asyncio
import contextlib
import random
import socket
import struct
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from ipaddress import IPv4Address

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from nettests.lab.dns import zone
from nettests.lab.dns.exchange import PORT, NoAnswerError, query_servers, question
from nettests.lab.interfaces import Namespace

Trouble = Callable[[IPv4Address, dns.message.Message], Awaitable[dns.message.Message]]
"""Takes a server's address and its answer; returns the answer to send."""

_TTL = 30
_LONGER_THAN_CLIENTS = 60.0


class DnsTroubles:
    """The faults in force at the cluster's DNS servers. With ``frozen`` they ignore updates from the API."""

    def __init__(self) -> None:
        self._troubles: dict[object, Trouble] = {}
        self.frozen = False

    def add(self, trouble: Trouble) -> Callable[[], object]:
        """Start a fault; return the function that ends it."""
        key = object()
        self._troubles[key] = trouble
        return partial(self._troubles.pop, key, None)

    async def pass_through(
        self, server: IPv4Address, answer: dns.message.Message
    ) -> dns.message.Message:
        """Return the answer to send instead of a server's own."""
        for trouble in tuple(self._troubles.values()):
            answer = await trouble(server, answer)
        return answer


def late(seconds: float) -> Trouble:
    """Delay each answer."""

    async def trouble(_server: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        await asyncio.sleep(seconds)
        return answer

    return trouble


def ignoring(kind: str, server: IPv4Address | None = None) -> Trouble:
    """Hold back answers for records of a kind, of one server or of all, longer than any client waits."""

    async def trouble(queried: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        of_kind = answer.question and answer.question[0].rdtype == dns.rdatatype.from_text(kind)
        if of_kind and server in {None, queried}:
            await asyncio.sleep(_LONGER_THAN_CLIENTS)
        return answer

    return trouble


def truncating() -> Trouble:
    """Truncate answers (TC), so that clients have to query again over TCP."""

    async def trouble(_server: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        cut = dns.message.make_response(_question(answer), recursion_available=True)
        cut.flags |= dns.flags.TC
        return cut

    return trouble


def denying(server: IPv4Address) -> Trouble:
    """Let one server answer NXDOMAIN for every name, like one that sees no Services."""

    async def trouble(queried: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        if queried != server:
            return answer
        denied = dns.message.make_response(_question(answer), recursion_available=True)
        denied.set_rcode(dns.rcode.NXDOMAIN)
        return denied

    return trouble


def wildcard(address: IPv4Address) -> Trouble:
    """Answer with an address for names that do not exist, like a wildcard record."""

    async def trouble(_server: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        if answer.rcode() != dns.rcode.NXDOMAIN or not answer.question:
            return answer
        response = dns.message.make_response(_question(answer), recursion_available=True)
        queried = response.question[0]
        if queried.rdtype == dns.rdatatype.A:
            response.answer.append(dns.rrset.from_text(queried.name, _TTL, "IN", "A", str(address)))
        return response

    return trouble


def _question(answer: dns.message.Message) -> dns.message.Message:
    """Return the query of an answer, with the parts needed to answer it."""
    query = dns.message.Message(id=answer.id)
    query.flags = answer.flags & ~dns.flags.QR
    query.question = answer.question
    return query


Forward = Callable[[dns.message.Message], Awaitable[dns.message.Message]]
"""Queries another server; ``NoAnswerError`` if that does not answer."""

_PLAIN_UDP_SIZE = 512
_BACKLOG = 64
_IDLE_SECONDS = 10.0
_FORWARD_SECONDS = 2.0
_OUTSIDE_TTL = 300


class DnsServer(ABC):
    """Serves ``respond`` on one address; ``start`` binds, ``stop`` closes everything."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: list[socket.socket] = []

    @abstractmethod
    async def respond(self, query: dns.message.Message) -> dns.message.Message:
        """Return the response to one query."""

    def start(self, namespace: Namespace, address: IPv4Address) -> None:
        """Bind UDP and TCP 53 of ``address`` and serve in the running loop; ``OSError`` if taken."""
        datagrams = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        streams = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._sockets += [datagrams, streams]
        streams.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        datagrams.bind((str(address), PORT))
        streams.bind((str(address), PORT))
        streams.listen(_BACKLOG)
        self._spawn(self._serve_datagrams(datagrams))
        self._spawn(self._serve_streams(streams))

    async def stop(self) -> None:
        """Stop serving; safe to call twice."""
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for sock in self._sockets:
            sock.close()
        self._sockets.clear()

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_datagrams(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            data, peer = await loop.sock_recvfrom(sock, 4096)
            self._spawn(self._answer_datagram(sock, data, peer))

    async def _answer_datagram(
        self, sock: socket.socket, data: bytes, peer: tuple[str, int]
    ) -> None:
        query = _parse(data)
        if query is None:
            return
        limit = query.payload if query.edns >= 0 else _PLAIN_UDP_SIZE
        reply = _to_wire(await self._safe_response(query), max(limit, _PLAIN_UDP_SIZE))
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().sock_sendto(sock, reply, peer)

    async def _serve_streams(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listener)
            self._spawn(self._answer_stream(connection))

    async def _answer_stream(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                (size,) = struct.unpack("!H", await reader.readexactly(2))
                query = _parse(await reader.readexactly(size))
                if query is not None:
                    response = await self._safe_response(query)
                    writer.write(response.to_wire(prepend_length=True))
                    await writer.drain()
        except (TimeoutError, EOFError, OSError):
            pass  # the client has disconnected
        finally:
            writer.close()

    async def _safe_response(self, query: dns.message.Message) -> dns.message.Message:
        try:
            return await self.respond(query)
        except NoAnswerError:
            response = dns.message.make_response(query, recursion_available=True)
            response.set_rcode(dns.rcode.SERVFAIL)
            return response


class ClusterDns(DnsServer):
    """The cluster's DNS: the zone from a ``DnsView``, every other name by ``forward``."""

    def __init__(
        self,
        view: zone.DnsView,
        *,
        forward: Forward,
        address: IPv4Address | None = None,
        troubles: DnsTroubles | None = None,
    ) -> None:
        super().__init__()
        self._view = self._latest = view
        self._forward = forward
        self._address = address or IPv4Address(0)
        self._troubles = troubles or DnsTroubles()

    def update(self, view: zone.DnsView) -> None:
        """Answer from ``view`` from now on."""
        self._latest = view

    async def respond(self, query: dns.message.Message) -> dns.message.Message:
        """Answer from the records, as changed by faults of the lab."""
        if not self._troubles.frozen:
            self._view = self._latest
        return await self._troubles.pass_through(self._address, await self._answer(query))

    async def _answer(self, query: dns.message.Message) -> dns.message.Message:
        """Answer from the zone; resolve the target of an ExternalName; forward other names."""
        view = self._view
        response = zone.answer(view, query)
        if response is None:
            return await self._forward(query)
        target = zone.alias_target(view, response)
        kind = query.question[0].rdtype if query.question else dns.rdatatype.NONE
        if target and kind in (dns.rdatatype.A, dns.rdatatype.AAAA):
            behind = await self._forward(question(target, dns.rdatatype.to_text(kind)))
            response.answer += behind.answer
        response.answer = [  # in a different order each time, like the default Corefile's ``loadbalance``
            dns.rrset.from_rdata_list(rrset.name, rrset.ttl, random.sample(list(rrset), len(rrset)))
            for rrset in response.answer
        ]
        return response


class OutsideResolver(DnsServer):
    """The resolver outside the cluster: a fixed table of names and addresses, NXDOMAIN for the rest."""

    def __init__(self, table: Mapping[str, IPv4Address]) -> None:
        super().__init__()
        self._table = {f"{name.rstrip('.').lower()}.": address for name, address in table.items()}

    async def respond(self, query: dns.message.Message) -> dns.message.Message:
        """Answer from the table."""
        response = dns.message.make_response(query, recursion_available=True)
        if not query.question:
            response.set_rcode(dns.rcode.FORMERR)
            return response
        queried = query.question[0]
        name = queried.name.to_text().lower()
        if name not in self._table:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif queried.rdtype == dns.rdatatype.A:
            address = str(self._table[name])
            response.answer.append(dns.rrset.from_text(name, _OUTSIDE_TTL, "IN", "A", address))
        return response


def forward_to(namespace: Namespace, server: IPv4Address) -> Forward:
    """Return a ``Forward`` that queries ``server`` from ``namespace``, over the lab's network."""

    async def forward(query: dns.message.Message) -> dns.message.Message:
        return await query_servers(namespace, str(server), query, limit=_FORWARD_SECONDS)

    return forward


def _parse(data: bytes) -> dns.message.Message | None:
    try:
        message = dns.message.from_wire(data)
    except dns.exception.DNSException:
        return None
    return None if message.flags & dns.flags.QR else message


def _to_wire(response: dns.message.Message, limit: int) -> bytes:
    """Encode for UDP; a response above the limit is cut to the question with the TC flag."""
    try:
        return response.to_wire(max_size=limit)
    except dns.exception.TooBig:
        short = dns.message.Message(id=response.id)
        short.flags = response.flags | dns.flags.TC
        short.question = response.question
        return short.to_wire()
