"""``kill`` and ``pkill``: signals in a container whose processes are its program and those run by exec.

The container's program is process 1. The kernel keeps SIGKILL and SIGSTOP from the first process of a PID namespace
when they come from inside (pid_namespaces(7)); no other signal is delivered in the lab, but SIGINT to programs that say
what becomes of them then (``running``).
"""

import asyncio
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nettests.lab.interfaces import Process

INIT = "1"
_WITHOUT_EFFECT = frozenset({0, signal.SIGKILL, signal.SIGSTOP})


_interruptible: list[tuple[Process, asyncio.Event]] = []


@contextmanager
def running(process: Process) -> Iterator[asyncio.Event]:
    """Yield what is set by SIGINT, which the program handles itself for the time of the block."""
    entry = process, asyncio.Event()
    _interruptible.append(entry)
    try:
        yield entry[1]
    finally:
        _interruptible.remove(entry)


async def pkill(process: Process, words: Sequence[str]) -> int:
    """``pkill -INT -f PATTERN``: interrupt the programs of the same container whose argv matches; exit 1 if none does."""
    if len(words) != 3 or list(words[:2]) != ["-INT", "-f"]:
        await process.stderr(b"pkill: usage: pkill -INT -f PATTERN\n")
        return 2
    events = [
        event
        for running_process, event in _interruptible
        if running_process.machine is process.machine
        and re.search(words[2], " ".join(running_process.argv))
    ]
    for event in events:
        event.set()
    return 0 if events else 1


async def run(process: Process, words: Sequence[str]) -> int:
    """Send a signal to each process named; exit 1 when one of them cannot get it."""
    number, targets = arguments(words)
    if number is None or not targets:
        await process.stderr(b"kill: you need to specify whom to kill, and a known signal\n")
        return 1
    status = 0
    for target in targets:
        if target == INIT and number in _WITHOUT_EFFECT:
            continue
        reason = "The lab delivers no signals" if target == INIT else "No such process"
        await process.stderr(f"kill: can't kill pid {target}: {reason}\n".encode())
        status = 1
    return status


def arguments(words: Sequence[str]) -> tuple[int | None, Sequence[str]]:
    """Return the signal (``None`` when unknown) and the process ids of ``-9 1`` or ``-s KILL 1``."""
    if words[:1] == ["-s"]:
        return _signal("".join(words[1:2])), words[2:]
    if words and words[0].startswith("-"):
        return _signal(words[0][1:]), words[1:]
    return signal.SIGTERM, words


def _signal(name: str) -> int | None:
    if name.isdigit():
        return int(name)
    signals = {each.name: each.value for each in signal.Signals}
    name = name.upper()
    return signals.get(name, signals.get(f"SIG{name}"))
