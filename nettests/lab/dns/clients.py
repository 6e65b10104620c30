"""Name resolution by clients: Go's own resolver and glibc on Linux, the DNS client on Windows (``getaddrinfo``, ``Resolve-DnsName``).

On Linux: hosts file, search list, ``ndots``; ``nslookup`` walks the list itself. Timing follows Go's defaults
(``net/dnsconfig_unix.go``): five seconds per query, two attempts, A and AAAA in parallel. On Windows a name that contains
a dot is fully qualified and never gets a suffix (Kubernetes documentation, "DNS for Services and Pods"); a silent server is
queried again after 1, 2, 4 and 8 seconds and given up after ten (Microsoft, "DNS client resolution timeouts").
"""

import asyncio
import contextlib
import dataclasses
from collections.abc import Iterator

import dns.message

from nettests.lab.dns import exchange
from nettests.lab.interfaces import Machine, ResolverConfig

ATTEMPTS = 2
SECONDS = 5.0
_DEFAULT_SERVER = "127.0.0.1"


def linux_candidates(config: ResolverConfig, name: str) -> Iterator[str]:
    """Yield the absolute names tried for ``name``, in order (resolv.conf(5), ``ndots``)."""
    if name.endswith("."):
        yield name
        return
    absolute = f"{name}."
    enough_dots = name.count(".") >= config.ndots
    if enough_dots:
        yield absolute
    for suffix in config.searches:
        yield f"{name}.{suffix.rstrip('.')}."
    if not enough_dots:
        yield absolute


async def resolve_on_linux(machine: Machine, name: str) -> exchange.Resolved:
    """Return the addresses of ``name``, IPv4 before IPv6; ``ResolutionError`` if it has none."""
    config = machine.resolver
    resolved = exchange.from_literal(name) or exchange.from_hosts(config, name)
    if resolved:
        return resolved
    last: exchange.ResolutionError | None = None
    for candidate in linux_candidates(config, name):
        both = await asyncio.gather(
            _one_name(machine, candidate, "A"),
            _one_name(machine, candidate, "AAAA"),
            return_exceptions=True,
        )
        answers = [result for result in both if isinstance(result, exchange.Resolved)]
        if answers:
            return exchange.Resolved(
                canonical=answers[0].canonical,
                addresses=tuple(address for result in answers for address in result.addresses),
                ttl=answers[0].ttl,
            )
        for result in both:
            if isinstance(result, exchange.ResolutionError):
                if last is None or candidate != f"{name}.":  # the bare name's replaces no other
                    last = result
            elif isinstance(result, BaseException):
                raise result
    assert last is not None
    raise exchange.ResolutionError(last.failure, name, server=last.server, cause=last.cause)


async def _one_name(machine: Machine, name: str, kind: str) -> exchange.Resolved:
    servers = machine.resolver.servers or (_DEFAULT_SERVER,)
    last: exchange.ResolutionError | None = None
    for server in servers * ATTEMPTS:
        try:
            answer = await exchange.query_servers(
                machine.namespace, server, exchange.question(name, kind), limit=SECONDS
            )
        except exchange.NoAnswerError as silence:
            timed_out = silence.silence is exchange.Silence.TIMED_OUT
            failure = exchange.Failure.TIMED_OUT if timed_out else exchange.Failure.NO_SERVER
            last = exchange.ResolutionError(failure, name, server=silence.server, cause=silence)
            continue
        if resolved := exchange.addresses(answer, kind):
            return resolved
        last = exchange.ResolutionError(
            exchange.failure(answer), name, server=f"{server}:{exchange.PORT}"
        )
        if last.failure is not exchange.Failure.SERVER_FAILURE:
            raise last
    assert last is not None
    raise last


WAITS = (1.0, 1.0, 2.0, 4.0, 2.0)
"""Seconds to wait after each of the five queries to a silent server."""

_LOOPBACK = exchange.Resolved(canonical="localhost", addresses=("127.0.0.1",))


def windows_candidates(config: ResolverConfig, name: str) -> Iterator[str]:
    """Yield the absolute names tried for ``name``, in order."""
    if "." in name:
        yield name if name.endswith(".") else f"{name}."
        if name.endswith(".") or not config.dotted_suffixes:
            return
    for suffix in config.searches:
        yield f"{name}.{suffix.rstrip('.')}."
    if not config.searches:
        yield f"{name}."


async def resolve_on_windows(machine: Machine, name: str) -> exchange.Resolved:
    """Return the addresses of ``name``, IPv4 first; ``ResolutionError`` if it has none."""
    resolved = exchange.from_literal(name) or exchange.from_hosts(machine.resolver, name)
    if resolved:
        return resolved
    if name.rstrip(".").lower() == "localhost":
        return _LOOPBACK
    last: exchange.ResolutionError | None = None
    for candidate in windows_candidates(machine.resolver, name):
        try:
            answer = await query(machine, candidate)
        except exchange.ResolutionError as error:
            raise exchange.ResolutionError(
                error.failure, name, server=error.server, cause=error.cause
            ) from error
        ipv4 = exchange.addresses(answer)
        ipv6 = None
        if any(":" in address for address in machine.addresses):  # no answer is an error
            with contextlib.suppress(exchange.ResolutionError):
                newer = await query(machine, candidate, "AAAA")
                ipv6 = exchange.addresses(newer, "AAAA")
        if ipv4 or ipv6:
            both = [result for result in (ipv4, ipv6) if result]
            addresses = tuple(address for result in both for address in result.addresses)
            return dataclasses.replace(both[0], addresses=addresses)
        last = exchange.ResolutionError(exchange.failure(answer), name)
    assert last is not None
    raise last


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
            message = exchange.question(name, kind)
            return await exchange.query_servers(machine.namespace, server, message, limit=wait)
        except exchange.NoAnswerError as silence:
            last = silence
            if silence.silence is exchange.Silence.REFUSED:
                # The port may open meanwhile; the next question waits its turn as for any silence.
                await asyncio.sleep(wait)
    else:
        raise exchange.ResolutionError(
            exchange.Failure.TIMED_OUT, name, server=f"{server}:{exchange.PORT}", cause=last
        )
    raise exchange.ResolutionError(exchange.Failure.NO_SERVER, name)
