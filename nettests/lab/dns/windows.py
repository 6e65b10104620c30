"""Name resolution as the Windows DNS client does it (``getaddrinfo``, ``Resolve-DnsName``, ``curl``).

The documented difference from Linux: a name that contains a dot is taken as fully qualified and never
gets a suffix; only a dot-less name walks the suffix list (Kubernetes documentation, "DNS for Services
and Pods", section "DNS resolution on Windows nodes"). A silent server is queried again at 1, 2, 4 and 8
seconds and given up after ten (Microsoft, "DNS client resolution timeouts").
"""

import asyncio
import contextlib
import dataclasses
from collections.abc import Iterator

import dns.message

from nettests.lab.dns import exchange
from nettests.lab.dns.exchange import (
    PORT,
    Failure,
    NoAnswerError,
    ResolutionError,
    Resolved,
    Silence,
    from_hosts,
    from_literal,
    query_servers,
)
from nettests.lab.interfaces import Machine, ResolverConfig

WAITS = (1.0, 1.0, 2.0, 4.0, 2.0)
"""Seconds waited for each of the five questions to a server that stays silent."""

_LOOPBACK = Resolved(canonical="localhost", addresses=("127.0.0.1",))


def candidates(config: ResolverConfig, name: str) -> Iterator[str]:
    """Yield the absolute names that ``name`` may stand for, in the order in which they are queried."""
    if "." in name:
        yield name if name.endswith(".") else f"{name}."
        if name.endswith(".") or not config.dotted_suffixes:
            return
    for suffix in config.searches:
        yield f"{name}.{suffix.rstrip('.')}."
    if not config.searches:
        yield f"{name}."


async def resolve(machine: Machine, name: str) -> Resolved:
    """Return the addresses of ``name``, IPv4 first; ``ResolutionError`` when it has none."""
    resolved = from_literal(name) or from_hosts(machine.resolver, name)
    if resolved:
        return resolved
    if name.rstrip(".").lower() == "localhost":
        return _LOOPBACK
    last: ResolutionError | None = None
    for candidate in candidates(machine.resolver, name):
        try:
            answer = await query(machine, candidate)
        except ResolutionError as error:
            raise ResolutionError(
                error.failure, name, server=error.server, cause=error.cause
            ) from error
        ipv4 = exchange.addresses(answer)
        ipv6 = await _ipv6(machine, candidate)
        if ipv4 or ipv6:
            both = [result for result in (ipv4, ipv6) if result]
            addresses = tuple(address for result in both for address in result.addresses)
            return dataclasses.replace(both[0], addresses=addresses)
        last = ResolutionError(exchange.failure(answer), name)
    assert last is not None
    raise last


async def _ipv6(machine: Machine, name: str) -> Resolved | None:
    """Return IPv6 addresses of a name for a machine that has one; silence is no answer."""
    if not any(":" in address for address in machine.addresses):
        return None
    with contextlib.suppress(ResolutionError):
        return exchange.addresses(await query(machine, name, "AAAA"), "AAAA")
    return None


async def query(machine: Machine, name: str, kind: str = "A") -> dns.message.Message:
    """Query the configured servers for the absolute ``name``, querying again a silent one.

    ``ResolutionError`` with ``TIMED_OUT`` when none answered in time. A refusing port is queried again
    too: the DNS client does not take ICMP for an answer.
    """
    servers = machine.resolver.servers
    for attempt, wait in enumerate(WAITS):
        if not servers:
            break
        server = servers[attempt % len(servers)]
        try:
            return await _request_and_wait(machine, server, exchange.question(name, kind), wait)
        except NoAnswerError as silence:
            last = silence
    else:
        raise ResolutionError(Failure.TIMED_OUT, name, server=f"{server}:{PORT}", cause=last)
    raise ResolutionError(Failure.NO_SERVER, name)


async def _request_and_wait(
    machine: Machine, server: str, message: dns.message.Message, wait: float
) -> dns.message.Message:
    try:
        return await query_servers(machine.namespace, server, message, limit=wait)
    except NoAnswerError as silence:
        if silence.silence is Silence.REFUSED:
            # The port may open meanwhile; the next question waits its turn as for any silence.
            await asyncio.sleep(wait)
        raise
