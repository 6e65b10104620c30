"""``kill``: signals in a container whose processes are its program and those run by exec.

The container's program is process 1. The kernel keeps SIGKILL and SIGSTOP from the first process of a PID namespace
when they come from inside (pid_namespaces(7)); no other signal is delivered in the lab.
"""

import signal
from collections.abc import Sequence

from nettests.lab.interfaces import Process

INIT = "1"
_WITHOUT_EFFECT = frozenset({0, signal.SIGKILL, signal.SIGSTOP})


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
