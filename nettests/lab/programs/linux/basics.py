"""Small Linux programs: ``cat`` of the few files there are, ``echo``, ``env``, ``sleep``, ``tty``, ``kill``, ``pkill`` …

The files of a container are a few texts made from the ``Machine``; no file of the host is ever opened. A container's processes are its
program, process 1, and those run by exec. Like the kernel, the lab does not deliver SIGKILL and SIGSTOP from inside to the first
process of a PID namespace (pid_namespaces(7)); it delivers no other signals either, except SIGINT to programs that handle it
(``running``).
"""

import asyncio
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from nettests.lab.interfaces import Machine, Process, ResolverConfig
from nettests.lab.topology import OS

_WINDOWS_HOSTS = "C:/Windows/System32/drivers/etc/hosts"


def readable_files(machine: Machine) -> Mapping[str, str]:
    """Return the container's readable files: content by absolute path."""
    hosts = hosts_file(machine.resolver)
    if machine.os is OS.WINDOWS:
        return {_WINDOWS_HOSTS: hosts}
    return {
        "/etc/hostname": f"{machine.hostname}\n",
        "/etc/hosts": hosts,
        "/etc/resolv.conf": resolv_conf(machine.resolver),
    }


def hosts_file(config: ResolverConfig) -> str:
    """Return the hosts file as the kubelet writes it for a pod."""
    lines = ["# Kubernetes-managed hosts file."]
    lines += [f"{address}\t{' '.join(names)}" for address, names in config.hosts]
    return "".join(f"{line}\n" for line in lines)


def resolv_conf(config: ResolverConfig) -> str:
    """Return resolv.conf as the kubelet writes it for a pod."""
    lines = [f"search {' '.join(config.searches)}"] if config.searches else []
    lines += [f"nameserver {server}" for server in config.servers]
    lines.append(f"options ndots:{config.ndots}")
    return "".join(f"{line}\n" for line in lines)


async def cat(process: Process, words: Sequence[str]) -> int:
    """Print files of the container, or standard input; exit 1 if a file does not exist."""
    files = readable_files(process.machine)
    status = 0
    for path in words or ("-",):
        if path == "-":
            while chunk := await process.stdin():
                await process.stdout(chunk)
        elif path in files:
            await process.stdout(files[path].encode())
        else:
            await process.stderr(f"cat: {path}: No such file or directory\n".encode())
            status = 1
    return status


async def echo(process: Process, words: Sequence[str]) -> int:
    """Print the arguments; ``-n`` omits the final newline."""
    silent = words[:1] == ["-n"]
    text = " ".join(words[1:] if silent else words)
    await process.stdout(f"{text}{'' if silent else chr(10)}".encode())
    return 0


async def env(process: Process, words: Sequence[str]) -> int:
    """Print the environment; running a command with it is not provided."""
    if words:
        await process.stderr(f"env: {words[0]!r}: the lab's env only prints\n".encode())
        return 125
    for name, value in process.environment.items():
        await process.stdout(f"{name}={value}\n".encode())
    return 0


async def hostname(process: Process, _words: Sequence[str]) -> int:
    """Print the host name."""
    await process.stdout(f"{process.machine.hostname}\n".encode())
    return 0


async def sleep(process: Process, words: Sequence[str]) -> int:
    """Sleep; ``infinity`` and the suffixes s, m and h are supported."""
    units = {"s": 1, "m": 60, "h": 3600}
    total = 0.0
    for word in words:
        number, unit = (word[:-1], word[-1]) if word[-1:] in units else (word, "s")
        try:
            total += float(number) * units[unit]
        except ValueError:
            await process.stderr(f"sleep: invalid time interval '{word}'\n".encode())
            return 1
    if not words:
        await process.stderr(b"sleep: missing operand\n")
        return 1
    if total == float("inf"):
        await asyncio.Event().wait()
    await asyncio.sleep(total)
    return 0


async def tty(process: Process, _words: Sequence[str]) -> int:
    """Print the name of the container's only terminal; exit 1 if there is none."""
    await process.stdout(b"/dev/pts/0\n" if process.tty else b"not a tty\n")
    return 0 if process.tty else 1


async def true(_process: Process, _words: Sequence[str]) -> int:
    """Succeed."""
    return 0


async def false(_process: Process, _words: Sequence[str]) -> int:
    """Fail."""
    return 1


INIT = "1"
_WITHOUT_EFFECT = frozenset({0, signal.SIGKILL, signal.SIGSTOP})


_interruptible: list[tuple[Process, asyncio.Event]] = []


@contextmanager
def running(process: Process) -> Iterator[asyncio.Event]:
    """Yield an event that SIGINT sets; the program handles SIGINT itself during the block."""
    entry = process, asyncio.Event()
    _interruptible.append(entry)
    try:
        yield entry[1]
    finally:
        _interruptible.remove(entry)


async def pkill(process: Process, words: Sequence[str]) -> int:
    """Run ``pkill -INT -f PATTERN``: interrupt matching programs of the container; exit 1 if none matches."""
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


async def kill(process: Process, words: Sequence[str]) -> int:
    """Send a signal to each process; exit 1 if one of them cannot get it."""
    number, targets = kill_arguments(words)
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


def kill_arguments(words: Sequence[str]) -> tuple[int | None, Sequence[str]]:
    """Return the signal (``None`` if unknown) and the process ids of ``-9 1`` or ``-s KILL 1``."""
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
