"""``tcpdump -i any -nn -tt -x … EXPRESSION``: packets of the node or pod, as text; and ``timeout``, which ends it.

No capture file is written or read. Of pcap-filter(7), ``port``, ``portrange``, ``icmp``, ``icmp6``, ``udp port``,
``udp[OFFSET:SIZE]`` with ``&`` and ``=``, ``and``, ``or`` and parentheses are supported; anything else is a syntax
error, like an unknown word in the real tcpdump.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import cast

from nettests.lab.interfaces import Process
from nettests.lab.programs import packets
from nettests.lab.programs.linux.basics import running
from nettests.lab.programs.terminal import racing

Matches = Callable[[packets.Heads], bool]
_SWITCHES = frozenset({"-n", "-nn", "-tt", "-l", "-x", "-p", "-U"})
_VALUES = {"-i": "interface", "-s": "length", "-c": "count"}
_TOKEN = re.compile(r"\s*(udp\[\d+(?::\d)?\]|0x[0-9a-f]+|[a-z0-9-]+|[()&=])")
_FIELD = re.compile(r"udp\[(\d+)(?::(\d))?\]")
_SECONDS = re.compile(r"\d+(\.\d+)?")
_ENDED = 124
TERMINATE = (
    "listening on any, link-type LINUX_SLL2 (Linux cooked v2), snapshot length {length} bytes\n"
)


class _SyntaxError(Exception):
    """The expression or an option is invalid."""


async def run(process: Process, words: Sequence[str]) -> int:
    """Print packets up to the requested number, or until the process ends."""
    try:
        options, expression = _options(words)
        matches = parse(expression)
    except _SyntaxError as error:
        await process.stderr(f"tcpdump: {error}\n".encode())
        return 1
    length = int(options.get("length") or 0) or 262144
    left = int(options.get("count") or 0) or None
    waiting: asyncio.Queue[packets.Taken] = asyncio.Queue()
    try:
        sniffer = packets.Sniffer(process.machine.namespace, waiting.put_nowait, ethernet=False)
    except PermissionError:
        await process.stderr(b"tcpdump: any: You don't have permission to perform this capture\n")
        return 1
    seen = 0
    with sniffer, running(process) as interrupted:
        await process.stderr(TERMINATE.format(length=length).encode())
        while left is None or seen < left:
            frame = await _next(waiting, interrupted)
            if frame is None:
                break
            headers = packets.heads(frame.data)
            if headers is not None and matches(headers):
                seen += 1
                await process.stdout(_printed(frame, headers, length).encode())
        dropped = sniffer.dropped()
        await process.stderr(
            f"\n{seen} packet{'' if seen == 1 else 's'} captured\n{seen + dropped} packets received by filter\n"
            f"{dropped} packet{'' if dropped == 1 else 's'} dropped by kernel\n".encode()
        )
    return 0


async def _next(
    waiting: asyncio.Queue[packets.Taken], interrupted: asyncio.Event
) -> packets.Taken | None:
    """Return the next frame; ``None`` once the process was interrupted and no frame is left."""
    if not waiting.empty():
        return waiting.get_nowait()
    async with racing(waiting.get(), interrupted.wait()) as (frame, _):
        return cast("packets.Taken", frame.result()) if frame.done() else None


def _printed(frame: packets.Taken, headers: packets.Heads, length: int) -> str:
    way = "Out" if frame.out else "P  " if frame.other_host else "In "
    family = "IP6" if ":" in headers.source else "IP"
    head = f"{frame.time:.6f} {frame.interface:<5} {way} {family} {packets.described(headers)}"
    return "\n".join([head, *packets.hexadecimal(frame.data[:length])]) + "\n"


async def timeout(
    process: Process, words: Sequence[str], program: Callable[[Process], Awaitable[int]]
) -> int:
    """Run ``timeout [-s SIGNAL] SECONDS PROGRAM …``: end a program after some seconds."""
    rest = list(words[2:] if words[:1] == ["-s"] else words)
    if len(rest) < 2 or not _SECONDS.fullmatch(rest[0]):
        await process.stderr(b"timeout: usage: timeout [-s SIG] SECS PROG ARGS\n")
        return 1
    try:
        async with asyncio.timeout(float(rest[0])):
            return await program(replace(process, argv=rest[1:]))
    except TimeoutError:
        return _ENDED


def _options(words: Sequence[str]) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in _VALUES and rest:
            options[_VALUES[word]] = rest.pop(0)
        elif word not in _SWITCHES:
            raise _SyntaxError(f"the lab's tcpdump has no option {word}")
    if options.get("interface") != "any":
        raise _SyntaxError("the lab's tcpdump captures on any interface alone: -i any")
    return options, " ".join(rest)


def parse(expression: str) -> Matches:
    """Return the predicate of an expression of pcap-filter(7); raise if it is invalid."""
    words = _words(expression)
    if not words:
        return lambda _: True
    matches = _any(words)
    if words:
        raise _SyntaxError(f"syntax error in filter expression: {words[0]}")
    return matches


def _words(expression: str) -> list[str]:
    tokens, at = [], 0
    while expression[at:].strip():
        match = _TOKEN.match(expression, at)
        if match is None:
            raise _SyntaxError(f"syntax error in filter expression: {expression[at:]}")
        tokens.append(match[1])
        at = match.end()
    return tokens


def _any(words: list[str]) -> Matches:
    alternatives = _joined(words, "or", _all)
    return lambda packet: any(matches(packet) for matches in alternatives)


def _all(words: list[str]) -> Matches:
    terms = _joined(words, "and", _term)
    return lambda packet: all(matches(packet) for matches in terms)


def _joined(words: list[str], joiner: str, read: Callable[[list[str]], Matches]) -> list[Matches]:
    parts = [read(words)]
    while words[:1] == [joiner]:
        words.pop(0)
        parts.append(read(words))
    return parts


def _term(words: list[str]) -> Matches:
    match words:
        case ["(", *_]:
            words.pop(0)
            inner = _any(words)
            if words[:1] != [")"]:
                raise _SyntaxError("syntax error in filter expression: ) is missing")
            words.pop(0)
            return inner
        case ["udp", "port", number, *_] if number.isdecimal():
            del words[:3]
            return lambda packet: packet.protocol == packets.UDP and int(number) in packet.ports
        case ["port", number, *_] if number.isdecimal():
            del words[:2]
            return lambda packet: int(number) in packet.ports
        case ["portrange", ends, *_] if re.fullmatch(r"\d+-\d+", ends):
            del words[:2]
            first, last = map(int, ends.split("-"))
            return lambda packet: any(first <= port <= last for port in packet.ports)
        case ["icmp" | "icmp6" as name, *_]:
            del words[:1]
            return lambda packet: (
                packet.protocol == (packets.ICMP if name == "icmp" else packets.ICMPV6)
            )
        case [field, *_] if _FIELD.fullmatch(field):
            return _compared(words)
    raise _SyntaxError(f"syntax error in filter expression: {' '.join(words[:2])}")


def _compared(words: list[str]) -> Matches:
    """Parse ``udp[50:2] & 0xfff8 = 28600``."""
    field = _FIELD.fullmatch(words.pop(0))
    assert field is not None, "the caller has looked"
    start, size = int(field[1]), int(field[2] or 1)
    mask = -1
    if words[:1] == ["&"] and len(words) > 1:
        mask = int(words[1], 0)
        del words[:2]
    if words[:1] != ["="] or len(words) < 2:
        raise _SyntaxError("syntax error in filter expression: = is missing")
    value = int(words[1], 0)
    del words[:2]

    def matches(packet: packets.Heads) -> bool:
        taken = packet.segment[start : start + size]
        return (
            packet.protocol == packets.UDP
            and len(taken) == size
            and int.from_bytes(taken) & mask == value
        )

    return matches
