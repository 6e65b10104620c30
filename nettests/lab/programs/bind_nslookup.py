"""BIND's ``nslookup`` of the agnhost images of both operating systems.

It walks the suffix list itself, for dotted names too, so on Windows it finds names that the DNS client
does not (kubernetes/kubernetes #65016). Exit code 1 if nothing was found. Not interactive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import dns.flags
import dns.message
import dns.rdatatype
import dns.reversename

from nettests.lab.dns import exchange
from nettests.lab.dns.clients import linux_candidates
from nettests.lab.interfaces import Process, ResolverConfig
from nettests.lab.programs.terminal import out
from nettests.lab.topology import OS

_TRIES = 3
_SECONDS = 5.0
_WINDOWS_NDOTS = 1
_RCODES = {exchange.Failure.NO_SUCH_HOST: "NXDOMAIN", exchange.Failure.SERVER_FAILURE: "SERVFAIL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    name: str
    server: str
    kind: str = ""
    seconds: float = _SECONDS
    tries: int = _TRIES
    search: bool = True
    over_tcp: bool = False
    """``-vc``: TCP, which BIND calls a virtual circuit."""


async def run(process: Process, words: Sequence[str]) -> int:
    """Look a name up; 0 if it was found, else 1."""
    question = _parse(process.machine.resolver, words)
    if question is None:
        await out(process, "Usage: nslookup [-opt] NAME [SERVER]; the lab's is not interactive\n")
        return 1
    answer: dns.message.Message | None = None
    candidate, usual = question.name, "PTR" if exchange.from_literal(question.name) else "A"
    for candidate in _candidates(process, question):
        answer = await _query_server(process, question, candidate, question.kind or usual)
        if answer is None:
            await out(process, ";; connection timed out; no servers could be reached\n\n")
            return 1
        if exchange.failure(answer) is not exchange.Failure.NO_SUCH_HOST:
            break
    assert answer is not None
    await out(
        process, f"Server:\t\t{question.server}\nAddress:\t{question.server}#{exchange.PORT}\n\n"
    )
    if not answer.answer:
        failure, name = exchange.failure(answer), question.name
        why = f"** server can't find {name}: {_RCODES.get(failure)}"
        if failure is exchange.Failure.NO_DATA:
            why = f"*** Can't find {name}: No answer"
        await out(process, f"{why}\n\n")
        return 1
    await out(process, await _report(process, question, candidate, answer))
    return 0


def _parse(config: ResolverConfig, words: Sequence[str]) -> _Question | None:
    options = [word.lstrip("-").lower() for word in words if word.startswith("-")]
    names = [word for word in words if not word.startswith("-")]
    given = dict(option.split("=", 1) for option in options if "=" in option)
    if not names:
        return None
    default = config.servers[0] if config.servers else "127.0.0.1"
    return _Question(
        name=names[0],
        server=names[1] if len(names) > 1 else default,
        kind=(given.get("type") or given.get("querytype") or given.get("q", "")).upper(),
        seconds=float(given.get("timeout", _SECONDS)),
        tries=int(given.get("retry", _TRIES)),
        search="nosearch" not in options,
        over_tcp="vc" in options,
    )


def _candidates(process: Process, question: _Question) -> Iterator[str]:
    """Yield the absolute names to try: with enough dots the name itself first, then with suffixes."""
    name = question.name
    if exchange.from_literal(name):
        yield dns.reversename.from_address(name).to_text()
        return
    config = process.machine.resolver
    if process.machine.os is OS.WINDOWS:
        walks = config.nslookup_walks or "." not in name
        config = replace(config, ndots=_WINDOWS_NDOTS, searches=config.searches if walks else ())
    if not question.search:
        config = replace(config, searches=())
    yield from linux_candidates(config, name)


async def _query_server(
    process: Process, question: _Question, name: str, kind: str
) -> dns.message.Message | None:
    for _ in range(question.tries):
        try:
            return await exchange.query_servers(
                process.machine.namespace,
                question.server,
                exchange.question(name, kind),
                limit=question.seconds,
                over_tcp=question.over_tcp,
            )
        except exchange.NoAnswerError as error:
            if question.over_tcp and error.silence is not exchange.Silence.TIMED_OUT:
                refused = error.silence is exchange.Silence.REFUSED
                why = "connection refused" if refused else "host unreachable"
                place = (
                    f"{question.server}#{exchange.PORT}({question.server}) for {name.rstrip('.')}"
                )
                await out(process, f";; Connection to {place} failed: {why}.\n")
    return None


async def _report(
    process: Process, question: _Question, candidate: str, answer: dns.message.Message
) -> str:
    lines = [] if answer.flags & dns.flags.AA else ["Non-authoritative answer:"]
    lines += [f"{name}\tcanonical name = {target}" for name, target in exchange.aliases(answer)]
    lines += _addresses(answer)
    if not question.kind and not exchange.from_literal(question.name):
        newer = await _query_server(process, question, candidate, "AAAA")
        lines += _addresses(newer) if newer else []
    labels = {dns.rdatatype.PTR: "name", dns.rdatatype.SRV: "service", dns.rdatatype.TXT: "text"}
    lines += [
        f"{rrset.name.to_text(omit_final_dot=True)}\t{labels[rrset.rdtype]} = {record.to_text()}"
        for rrset in answer.answer
        if rrset.rdtype in labels
        for record in rrset
    ]
    return "".join(f"{line}\n" for line in [*lines, ""])


def _addresses(answer: dns.message.Message) -> list[str]:
    kinds = (dns.rdatatype.A, dns.rdatatype.AAAA)
    return [
        line
        for rrset in answer.answer
        if rrset.rdtype in kinds
        for record in rrset
        for line in (
            f"Name:\t{rrset.name.to_text(omit_final_dot=True)}",
            f"Address: {record.address}",
        )
    ]
