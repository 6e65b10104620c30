"""Processes that look like a lab's to ``nettests.lab.folders.state``, and records that name any process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from nettests.lab.folders.processes import DAEMON, Identity, identify
from nettests.lab.folders.state import LabFolder, Record

WAITING = "import sys; print(flush=True); sys.stdin.read()"


def record_of(name: str, *, pid: int, identity: Identity | None = None) -> Record:
    """Return a record that names a process, by default of another boot."""
    found = identity or Identity(pid=pid, started=1, boot="another")
    return Record(
        name=name,
        profile="linux",
        user=os.geteuid(),
        pid=found.pid,
        started=found.started,
        boot=found.boot,
    )


@contextmanager
def waiting(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """A process with these words in its command line; it does nothing, and ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def posing(folder: LabFolder) -> Iterator["subprocess.Popen[str]"]:
    """A process that has the command line of the folder's lab and is noted as it."""
    with waiting("-m", DAEMON, str(folder.path)) as process:
        folder.note(record_of(folder.name, pid=process.pid, identity=identify(process.pid)))
        yield process
