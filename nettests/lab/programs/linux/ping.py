"""``ping`` of iputils: real ICMP echo from the container, with iputils' output."""

import asyncio
import errno
import getopt
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from nettests.lab.dns import clients
from nettests.lab.dns.exchange import Failure, ResolutionError
from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets.icmp import Answer, Echo, EchoSocket

_ICMP_HEADER, _IP_HEADER = 8, 20
_USAGE_ERROR = 2
_LAST_WAIT = 10.0
_UNREACHABLE_TEXTS = {
    0: "Destination Net Unreachable",
    1: "Destination Host Unreachable",
    2: "Destination Protocol Unreachable",
    3: "Destination Port Unreachable",
    4: "Frag needed and DF set",
    13: "Packet filtered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    host: str
    count: int | None = None
    wait: float = _LAST_WAIT
    deadline: float | None = None
    interval: float = 1.0
    size: int = 56
    quiet: bool = False
    whole: bool = False
    """``-M do``: packets must not be fragmented."""


@dataclass(slots=True)
class _Tally:
    sent: int = 0
    errors: int = 0
    times: list[float] = field(default_factory=list)


async def run(process: Process, words: Sequence[str]) -> int:
    """Ping with these options; 0 with a reply, 1 without, 2 for any other error."""
    try:
        options = _parse(words)
    except (getopt.GetoptError, ValueError) as error:
        await process.stderr(f"ping: {error}\n".encode())
        return _USAGE_ERROR
    # only root has NET_RAW; no group may ping without it
    if process.machine.user not in {"", "root"}:
        await process.stderr(b"ping: socket: Operation not permitted\n")
        return _USAGE_ERROR
    try:
        address = (await clients.resolve_on_linux(process.machine, options.host)).addresses[0]
    except ResolutionError as error:
        text = "Name or service not known"
        if error.failure in (Failure.TIMED_OUT, Failure.NO_SERVER, Failure.SERVER_FAILURE):
            text = "Temporary failure in name resolution"
        await process.stderr(f"ping: {options.host}: {text}\n".encode())
        return _USAGE_ERROR
    try:
        return await _ping(process, options, address)
    except OSError as error:
        text = os.strerror(error.errno or errno.EINVAL)
        await process.stderr(f"ping: connect: {text}\n".encode())
        return _USAGE_ERROR


def _parse(words: Sequence[str]) -> _Options:
    pairs, hosts = getopt.gnu_getopt(list(words), "46c:i:M:nqs:W:w:")
    if len(hosts) != 1:
        raise ValueError("usage error: Destination address required")
    given = dict(pairs)
    deadline = given.get("-w")
    return _Options(
        host=hosts[0],
        count=int(given["-c"]) if "-c" in given else None,
        wait=float(given.get("-W", _LAST_WAIT)),
        deadline=float(deadline) if deadline else None,
        interval=float(given.get("-i", 1.0)),
        size=int(given.get("-s", 56)),
        quiet="-q" in given,
        whole=given.get("-M") == "do",
    )


async def _ping(process: Process, options: _Options, address: str) -> int:
    tally = _Tally()
    loop = asyncio.get_running_loop()
    started = loop.time()
    size = f"{options.size}"
    if ":" not in address:  # iputils prints the whole size only for IPv4
        size += f"({options.size + _ICMP_HEADER + _IP_HEADER})"
    with EchoSocket(process.machine.namespace, address, whole=options.whole) as sock:
        await process.stdout(f"PING {options.host} ({address}) {size} bytes of data.\n".encode())
        while options.count is None or tally.sent < options.count:
            left = None if options.deadline is None else started + options.deadline - loop.time()
            if left is not None and left <= 0:
                break
            await _send_one(process, options, sock, tally, left)
    spent = int((loop.time() - started) * 1000)
    await process.stdout(_statistics(options, tally, spent).encode())
    return 0 if tally.times else 1


async def _send_one(
    process: Process, options: _Options, sock: EchoSocket, tally: _Tally, left: float | None
) -> None:
    """Send one request, print its answer, and keep the interval unless it was the last."""
    tally.sent += 1
    last = tally.sent == options.count
    patience = options.wait if last else min(options.wait, options.interval)
    if left is not None:
        patience = min(patience, left)
    echo = await sock.echo(tally.sent, bytes(options.size), limit=patience)
    if echo.answer is Answer.REPLY:
        tally.times.append(echo.milliseconds)
    elif echo.answer is not Answer.NOTHING:
        tally.errors += 1
    if echo.answer is Answer.TOO_LARGE:
        await process.stderr(f"ping: local error: message too long, mtu={echo.size}\n".encode())
    line = _line(tally.sent, echo)
    if line and not options.quiet:
        await process.stdout(f"{line}\n".encode())
    if not last and echo.answer is not Answer.NOTHING:
        await asyncio.sleep(max(0.0, options.interval - echo.milliseconds / 1000))


def _line(sequence: int, echo: Echo) -> str:
    if echo.answer is Answer.REPLY:
        size = echo.size + _ICMP_HEADER
        time = _milliseconds(echo.milliseconds)
        return f"{size} bytes from {echo.source}: icmp_seq={sequence} ttl={echo.ttl} time={time} ms"
    if echo.answer is Answer.UNREACHABLE:
        text = _UNREACHABLE_TEXTS.get(echo.code, f"Dest Unreachable, Bad Code: {echo.code}")
        return f"From {echo.source} icmp_seq={sequence} {text}"
    if echo.answer is Answer.EXCEEDED:
        return f"From {echo.source} icmp_seq={sequence} Time to live exceeded"
    return ""


def _milliseconds(value: float) -> str:
    """Return a time with three significant digits, as iputils prints it."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def _statistics(options: _Options, tally: _Tally, spent: int) -> str:
    received = len(tally.times)
    loss = f"{100 * (tally.sent - received) / max(tally.sent, 1):.6g}"
    errors = f"+{tally.errors} errors, " if tally.errors else ""
    text = (
        f"\n--- {options.host} ping statistics ---\n"
        f"{tally.sent} packets transmitted, {received} received, {errors}{loss}% packet loss, "
        f"time {spent}ms\n"
    )
    if not tally.times:
        return f"{text}\n"
    mean = sum(tally.times) / received
    spread = (sum(time**2 for time in tally.times) / received - mean**2) ** 0.5
    figures = (min(tally.times), mean, max(tally.times), spread if isinstance(spread, float) else 0)
    return f"{text}rtt min/avg/max/mdev = {'/'.join(f'{figure:.3f}' for figure in figures)} ms\n"
