"""Identify recorded processes by descriptor, so that no other process is ever signalled.

A process id may be reused. A process is identified by id, start time and boot (proc(5), ``/proc/PID/stat`` field 22;
``/proc/sys/kernel/random/boot_id``), a lab's also by its user and its command line. The descriptor (pidfd_open(2)) is
opened first and checked last: while it is not readable the process has not ended, so everything read in between
belongs to it.
"""

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nettests.lab.errors import StateError

DAEMON = "nettests.lab.lifecycle.daemon"
"""The module that a lab's process runs; its first argument is the lab's folder."""

_END_SECONDS = 5.0
_PROC = Path("/proc")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What distinguishes a process from all others, and from later ones with the same id."""

    pid: int
    started: int
    """In clock ticks since boot, independent of the clock's setting."""
    boot: str


def identify(pid: int) -> Identity:
    """Return the identity of the process that has this id now; ``ProcessLookupError`` if none has."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise ProcessLookupError(f"there is no process {pid}") from error
    # The command's name, in parentheses, may contain spaces and parentheses itself.
    started = int(text.rpartition(")")[2].split()[19])
    return Identity(pid=pid, started=started, boot=_BOOT.read_text(encoding="ascii").strip())


@contextmanager
def held(identity: Identity) -> Iterator[int | None]:
    """Yield a descriptor of the process, ``None`` if it has ended."""
    try:
        descriptor = os.pidfd_open(identity.pid)
    except (OSError, OverflowError):
        yield None
        return
    try:
        yield descriptor if _is(identity) and not ended(descriptor) else None
    finally:
        os.close(descriptor)


@contextmanager
def held_lab(identity: Identity, folder: int, users: frozenset[int]) -> Iterator[int | None]:
    """Yield a descriptor of a lab's process if it runs as one of ``users`` and for ``folder``, else ``None``."""
    with held(identity) as descriptor:
        ours = (
            descriptor is not None
            and _user(identity.pid) in users
            and _is_lab(identity.pid, folder)
            and not ended(descriptor)
        )
        yield descriptor if ours else None


def ended(descriptor: int) -> bool:
    """Whether the process has ended, as a zombie has."""
    return bool(select.select([descriptor], [], [], 0)[0])


def end(descriptor: int) -> None:
    """Send SIGTERM, then SIGKILL; return when the process has ended, ``StateError`` if it does not.

    A process descriptor is readable as soon as the process has ended, even before it is reaped.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)
        if select.select([descriptor], [], [], _END_SECONDS)[0]:
            return
    raise StateError("The lab's process does not end.", hint="Look at it: nettests lab status")


def _is(identity: Identity) -> bool:
    with contextlib.suppress(OSError):
        return identify(identity.pid) == identity
    return False


def _user(pid: int) -> int | None:
    """Return the process's effective user (proc(5), ``status``), as the owner of /proc/PID may be root."""
    with contextlib.suppress(OSError):
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
        for line in status.splitlines():
            # Uid:	1000	1000	1000	1000   (real, effective, saved, of the file system)
            if line.startswith("Uid:"):
                return int(line.split()[2])
    return None


def _is_lab(pid: int, folder: int) -> bool:
    """Whether the command line is that of a lab of this folder, by any path."""
    with contextlib.suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        for first, second, third in zip(words, words[1:], words[2:], strict=False):
            if (first, second) == (b"-m", DAEMON.encode()):
                return os.path.samestat(os.stat(third), os.fstat(folder))  # noqa: PTH116  # bytes
    return False
