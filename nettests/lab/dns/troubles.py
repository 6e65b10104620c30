"""Faults of the cluster's DNS servers: late answers, wrong answers, missed updates.

One ``DnsTroubles`` is shared by the servers of a lab; each sends its answers through it. Packets that are lost on
their way to a server are the network's business.
"""

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

Trouble = Callable[[IPv4Address, dns.message.Message], Awaitable[dns.message.Message]]
"""Given a server's address and its answer, returns the one that is sent."""

_TTL = 30


class DnsTroubles:
    """The faults in force at the cluster's DNS servers. ``frozen``: they ignore updates from the API."""

    def __init__(self) -> None:
        self._troubles: dict[object, Trouble] = {}
        self.frozen = False

    def add(self, trouble: Trouble) -> Callable[[], None]:
        """Put a fault in force; what is returned ends it."""
        key = object()
        self._troubles[key] = trouble

        def end() -> None:
            self._troubles.pop(key, None)

        return end

    async def pass_through(
        self, server: IPv4Address, answer: dns.message.Message
    ) -> dns.message.Message:
        """Return the answer to send for a server's own."""
        for trouble in tuple(self._troubles.values()):
            answer = await trouble(server, answer)
        return answer


def late(seconds: float) -> Trouble:
    """Delay each answer."""

    async def trouble(_server: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        await asyncio.sleep(seconds)
        return answer

    return trouble


def denying(server: IPv4Address) -> Trouble:
    """Let one server deny every name, as one that sees no Services does."""

    async def trouble(queried: IPv4Address, answer: dns.message.Message) -> dns.message.Message:
        if queried != server:
            return answer
        denied = dns.message.make_response(_question(answer), recursion_available=True)
        denied.set_rcode(dns.rcode.NXDOMAIN)
        return denied

    return trouble


def wildcard(address: IPv4Address) -> Trouble:
    """Answer for names that do not exist, as a wildcard record does."""

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
    """Return the query that an answer belongs to, as far as an answer to it needs it."""
    query = dns.message.Message(id=answer.id)
    query.flags = answer.flags & ~dns.flags.QR
    query.question = answer.question
    return query
