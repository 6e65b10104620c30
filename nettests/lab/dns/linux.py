"""Name resolution as Go's own resolver and glibc do it on Linux: hosts file, search list, ``ndots``.

Used by every Linux program but ``nslookup``, which walks the list itself. Timing follows Go's defaults
(``net/dnsconfig_unix.go``): five seconds a question, two attempts, A and AAAA side by side.
"""

import asyncio
from collections.abc import Iterator, Sequence

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

ATTEMPTS = 2
SECONDS = 5.0
_DEFAULT_SERVER = "127.0.0.1"


def candidates(config: ResolverConfig, name: str) -> Iterator[str]:
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


async def resolve(machine: Machine, name: str) -> Resolved:
    """Return the addresses of ``name``, IPv4 before IPv6; ``ResolutionError`` when it has none."""
    config = machine.resolver
    resolved = from_literal(name) or from_hosts(config, name)
    if resolved:
        return resolved
    last: ResolutionError | None = None
    for candidate in candidates(config, name):
        both = await asyncio.gather(
            _one_name(machine, candidate, "A"),
            _one_name(machine, candidate, "AAAA"),
            return_exceptions=True,
        )
        answers = [result for result in both if isinstance(result, Resolved)]
        if answers:
            return Resolved(
                canonical=answers[0].canonical,
                addresses=tuple(address for result in answers for address in result.addresses),
                ttl=answers[0].ttl,
            )
        last = _remember(both, last, is_original=candidate == f"{name}.")
    assert last is not None
    raise ResolutionError(last.failure, name, server=last.server, cause=last.cause)


def _remember(
    both: Sequence[Resolved | BaseException], last: ResolutionError | None, *, is_original: bool
) -> ResolutionError | None:
    """Keep the error to report: the first one, replaced by later ones except the bare name's own."""
    for result in both:
        if isinstance(result, ResolutionError):
            if last is None or not is_original:
                last = result
        elif isinstance(result, BaseException):
            raise result
    return last


async def _one_name(machine: Machine, name: str, kind: str) -> Resolved:
    servers = machine.resolver.servers or (_DEFAULT_SERVER,)
    last: ResolutionError | None = None
    for server in servers * ATTEMPTS:
        try:
            answer = await query_servers(
                machine.namespace, server, exchange.question(name, kind), limit=SECONDS
            )
        except NoAnswerError as silence:
            timed_out = silence.silence is Silence.TIMED_OUT
            failure = Failure.TIMED_OUT if timed_out else Failure.NO_SERVER
            last = ResolutionError(failure, name, server=silence.ends.server, cause=silence)
            continue
        if resolved := exchange.addresses(answer, kind):
            return resolved
        last = ResolutionError(exchange.failure(answer), name, server=f"{server}:{PORT}")
        if last.failure is not Failure.SERVER_FAILURE:
            raise last
    assert last is not None
    raise last
