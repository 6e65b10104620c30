"""Microsoft's ``nslookup``, which HostProcess containers find on the node.

It first queries the server's own name, tries the name with every suffix (dotted names too) before the bare name, and
always exits with 0. Some of its texts are in the machine's language, in the ANSI code page, others are always English.
Not interactive.
"""

from collections.abc import Sequence
from functools import partial

import dns.flags
import dns.message
import dns.rdatatype
import dns.reversename

from nettests.lab.dns import exchange
from nettests.lab.dns.exchange import Failure, NoAnswerError, query_servers
from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows import texts

_SECONDS = 2
_TRIES = 2
_UNKNOWN = "UnKnown"
_TEXTS = {Failure.NO_SUCH_HOST: "Non-existent domain", Failure.SERVER_FAILURE: "Server failed"}


_say = partial(texts.say, "nslookup")


async def run(process: Process, words: Sequence[str]) -> int:
    """Look a name up; the exit code is always 0."""
    config = process.machine.resolver
    names = [word for word in words if not word.startswith("-")]
    kinds = [word.partition("=")[2].upper() for word in words if word.lower().startswith("-type=")]
    server = names[1] if len(names) > 1 else next(iter(config.servers), "")
    if not names or not server:
        await err(process, f"{_say(process, 'no_servers')}\n")
        return 0
    title = await _server_name(process, server)
    await out(process, f"{_say(process, 'server', title=title)}\nAddress:  {server}\n\n")
    answer: dns.message.Message | None = None
    suffixed = [f"{names[0]}.{suffix.rstrip('.')}." for suffix in config.searches]
    whole = names[0].endswith(".")
    for candidate in [names[0]] if whole else [*suffixed, f"{names[0]}."]:
        answer = await _query_server(process, server, candidate, kinds[0] if kinds else "A")
        if answer is None:
            await err(process, f"{_say(process, 'timed_out', title=title)}\n")
            return 0
        if answer.answer:
            await _report(process, names[0], answer)
            return 0
    assert answer is not None
    failure = exchange.failure(answer)
    if failure is Failure.NO_DATA:
        await out(process, f"{_say(process, 'name', name=names[0])}\n\n")
    else:
        values = {"title": title, "name": names[0], "why": _TEXTS[failure]}
        await err(process, f"{_say(process, 'not_found', **values)}\n")
    return 0


async def _server_name(process: Process, server: str) -> str:
    name = dns.reversename.from_address(server).to_text()
    answer = await _query_server(process, server, name, "PTR")
    for rrset in answer.answer if answer else ():
        if rrset.rdtype == dns.rdatatype.PTR:
            return str(rrset[0].target.to_text(omit_final_dot=True))
    return _UNKNOWN


async def _query_server(
    process: Process, server: str, name: str, kind: str
) -> dns.message.Message | None:
    for _ in range(_TRIES):
        try:
            return await query_servers(
                process.machine.namespace, server, exchange.question(name, kind), limit=_SECONDS
            )
        except NoAnswerError:
            await out(process, f"DNS request timed out.\n    timeout was {_SECONDS} seconds.\n")
    return None


async def _report(process: Process, queried: str, answer: dns.message.Message) -> None:
    if not answer.flags & dns.flags.AA:
        await err(process, f"{_say(process, 'others')}\n")
    resolved = exchange.addresses(answer)
    lines = [_say(process, "name", name=resolved.canonical if resolved else queried)]
    if resolved:
        more = len(resolved.addresses) > 1
        lines.append(f"{'Addresses' if more else 'Address'}:  {resolved.addresses[0]}")
        lines += [f"          {address}" for address in resolved.addresses[1:]]
    aliases = exchange.aliases(answer)
    if aliases:
        lines.append(f"Aliases:  {aliases[0][0]}")
    await out(process, "".join(f"{line}\n" for line in [*lines, ""]))
