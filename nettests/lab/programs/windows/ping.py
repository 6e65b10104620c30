"""Microsoft's ``ping``: real ICMP echo, with output and exit code of Windows, in the language of the machine.

"Destination host unreachable" counts as received, as on Windows; only lines with ``TTL=`` are replies, or for
IPv6, where ping prints neither size nor hop limit, lines with a time.
"""

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from nettests.lab.dns import clients
from nettests.lab.dns.exchange import ResolutionError
from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets.icmp import Answer, Echo, EchoSocket
from nettests.lab.programs.terminal import out
from nettests.lab.programs.windows import broken_tools, texts

_INTERVAL = 1.0
_DEFAULT_WAIT = 4.0
_DEFAULT_SIZE = 32
_UNREACHABLE = {0: "net", 1: "host", 2: "protocol", 3: "port"}
_SPLIT = (Answer.UNREACHABLE, 4)
"""A router's "fragmentation needed", which Windows prints without the router's address."""
_NUMBERS = ("-n", "-w", "-l")
_FAMILIES = ("-4", "-6")


_say = partial(texts.say, "ping")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    host: str
    count: int = 4
    wait: float = _DEFAULT_WAIT
    size: int = _DEFAULT_SIZE
    whole: bool = False
    """``-f``: packets must not be fragmented."""


@dataclass(slots=True)
class _Tally:
    sent: int = 0
    received: int = 0
    times: list[int] = field(default_factory=list)


async def run(process: Process, words: Sequence[str]) -> int:
    """Ping with these options; 0 if anything was received, else 1."""
    try:
        options = _parse(words)
    except ValueError as error:
        await out(process, f"{error}\n")
        return 1
    try:
        address = (await clients.resolve_on_windows(process.machine, options.host)).addresses[0]
    except ResolutionError:
        await out(process, f"{_say(process, 'no_host', name=options.host)}\n")
        return 1
    return await _ping(process, options, address)


def _parse(words: Sequence[str]) -> _Options:
    rest = list(words)
    hosts: list[str] = []
    numbers: dict[str, int] = {}
    whole = False
    while rest:
        word = rest.pop(0)
        option = word.replace("/", "-", 1).lower()
        if option in _NUMBERS:
            if not rest or not rest[0].isdecimal():
                raise ValueError(f"Value must be supplied for option {word}.")
            numbers[option] = int(rest.pop(0))
        elif option == "-f":
            whole = True
        elif option.startswith("-") and option not in _FAMILIES:
            raise ValueError(f"Bad option {word}.")
        elif option not in _FAMILIES:
            hosts.append(word)
    if len(hosts) != 1:
        raise ValueError("IP address must be specified.")
    return _Options(
        host=hosts[0],
        count=numbers.get("-n", 4),
        wait=numbers.get("-w", int(_DEFAULT_WAIT * 1000)) / 1000,
        size=numbers.get("-l", _DEFAULT_SIZE),
        whole=whole,
    )


async def _ping(process: Process, options: _Options, address: str) -> int:
    shown = address if options.host == address else f"{options.host} [{address}]"
    await out(process, f"\n{_say(process, 'header', shown=shown, size=options.size)}\n")
    tally = _Tally()
    try:
        with EchoSocket(process.machine.namespace, address, whole=options.whole) as sock:
            while tally.sent < options.count:
                await _send_one(process, options, address, sock, tally)
    except OSError:
        while tally.sent < options.count:
            tally.sent += 1
            await out(process, f"{_say(process, 'failed')}\n")
    await out(process, _statistics(process, address, tally))
    return 0 if tally.received else 1


async def _send_one(
    process: Process, options: _Options, address: str, sock: EchoSocket, tally: _Tally
) -> None:
    tally.sent += 1
    payload = bytes(ord("a") + index % 23 for index in range(options.size))
    machine = process.machine
    own_addresses = {each.partition("/")[0] for each in machine.addresses}
    itself = address in own_addresses or ipaddress.ip_address(address).is_loopback
    if itself and broken_tools.PING_ITSELF in machine.troubles.tools:
        await asyncio.sleep(options.wait)
        echo = Echo(answer=Answer.NOTHING)
    else:
        echo = await sock.echo(tally.sent, payload, limit=options.wait)
    too_large = echo.answer is Answer.TOO_LARGE or (echo.answer, echo.code) == _SPLIT
    tally.received += echo.answer is not Answer.NOTHING and not too_large
    if echo.answer is Answer.REPLY:
        tally.times.append(int(echo.milliseconds))
    await out(process, f"{_line(process, echo)}\n")
    if tally.sent < options.count:
        await asyncio.sleep(max(0.0, _INTERVAL - echo.milliseconds / 1000))


def _line(process: Process, echo: Echo) -> str:
    if echo.answer is Answer.NOTHING:
        return _say(process, "timed_out")
    if echo.answer is Answer.TOO_LARGE or (echo.answer, echo.code) == _SPLIT:
        return _say(process, "too_large")
    if echo.answer is Answer.EXCEEDED:
        return _say(process, "expired", source=echo.source)
    if echo.answer is Answer.UNREACHABLE:
        return _say(process, _UNREACHABLE.get(echo.code, "host"), source=echo.source)
    milliseconds = int(echo.milliseconds)
    time = _say(process, "equal" if milliseconds else "less", milliseconds=milliseconds)
    if ":" in echo.source:
        return _say(process, "reply6", source=echo.source, time=time)
    return _say(process, "reply", source=echo.source, size=echo.size, time=time, ttl=echo.ttl)


def _statistics(process: Process, address: str, tally: _Tally) -> str:
    lost = tally.sent - tally.received
    packets = {"sent": tally.sent, "received": tally.received, "lost": lost}
    packets["share"] = 100 * lost // max(tally.sent, 1)
    lines = ["", _say(process, "statistics", address=address), _say(process, "packets", **packets)]
    if tally.times:
        mean = sum(tally.times) // len(tally.times)
        figures = {"least": min(tally.times), "most": max(tally.times), "mean": mean}
        lines += [_say(process, "times"), _say(process, "figures", **figures)]
    return "".join(f"{line}\n" for line in lines)
