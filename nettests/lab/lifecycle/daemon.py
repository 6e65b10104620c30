"""The lab's own process: opens sockets on the machine, enters the lab's namespaces, runs the supervisor.

Started by ``launch.up`` as ``python -m nettests.lab.lifecycle.daemon``; it reports phases, and success or the
error that ended it, as JSON lines on a pipe. If the starting process ends before the lab is ready, so does the lab;
afterwards it is independent. A process can enter a user namespace only while it has one thread, so nothing may
start another before.
"""

import asyncio
import contextlib
import gc
import json
import logging
import os
import resource
import select
import signal
import socket
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from nettests.lab.client import Json
from nettests.lab.errors import LabError, StartError
from nettests.lab.folders import control, processes
from nettests.lab.folders.state import LabFolder
from nettests.lab.lifecycle.supervisor import Lab, Sockets
from nettests.lab.network import enter_isolated_namespaces, kernel, nft
from nettests.lab.network.isolation import give_up
from nettests.lab.topology import Profile, profiles

_COLLECTED = (10_000, 50, 200)
"""Thresholds of the garbage collector, less frequent than the default: with hundreds of nodes a full collection visits
millions of objects and stops everything for a second or more."""
_SWITCHED = 0.0005
"""Switch interval in seconds, a tenth of the default: after every system call the event loop waits for the thread that
programs nodes to release the interpreter."""
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Report:
    """The pipe to the starting process; writing to a closed pipe is no error."""

    descriptor: int

    def send(self, message: Json) -> None:
        """Write one line."""
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                os.write(self.descriptor, json.dumps(message).encode() + b"\n")

    def file(self, name: str, text: str) -> None:
        """Let the starting process write a file into the lab's folder, which it owns."""
        self.send({"file": name, "text": text})

    def close(self) -> None:
        """Close the pipe; later reports are dropped."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def main(arguments: list[str]) -> int:
    """Run a lab with the arguments ``FOLDER PROFILE OPTIONS DESCRIPTOR``; return the exit code."""
    gc.set_threshold(*_COLLECTED)
    sys.setswitchinterval(_SWITCHED)
    folder, name, options, descriptor = arguments
    report = Report(int(descriptor))
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname).1s %(name)s: %(message)s"
    )
    try:
        parsed = json.loads(options)
        _run(LabFolder(Path(folder)), chosen(name, parsed), report, parsed)
    except Exception as error:  # noqa: BLE001  # the process reports why it ends
        _LOG.exception("the lab failed")
        report.send(_explained(_innermost(error)))
        return 1
    return 0


def chosen(name: str, options: Json) -> Profile:
    """Return the profile with the user's options applied."""
    loaded = profiles.load(name, changes=options.get("settings", ()))
    profile = replace(loaded, mechanisms=tuple(options.get("mechanisms", {}).items()))
    if options.get("windows_ping") is False:
        return replace(profile, options=replace(profile.options, windows_image_has_ping=False))
    return profile


def _guard(options: Json) -> int | None:
    """Return a descriptor of the process with which the lab ends (``--while``), if any; readable once it has ended."""
    process = options.get("while")
    if process is None:
        return None
    with processes.held(processes.Identity(**process)) as descriptor:
        if descriptor is not None:
            return os.dup(descriptor)
    raise StartError(f"The process {process['pid']}, for whose time the lab was to run, has ended.")


def _run(folder: LabFolder, profile: Profile, report: Report, options: Json) -> None:
    guard = _guard(options)
    _allow_many_files()
    sockets = Sockets(
        api=_loopback_listener(),
        proxy=_loopback_listener(),
        udp_proxy=_loopback_listener(),
        relay=_loopback_datagrams(),
        control=control.listen(folder.path),
    )
    if guard is not None:
        _leave_caretaker(folder, guard)
    of_root = os.geteuid() == 0  # in its own user namespace every user is root
    enter_isolated_namespaces()
    if of_root and (reason := give_up(options["user"])):
        remark = f"the lab keeps the rights of who started it: {reason}"
        _LOG.warning(remark)
        report.send({"remark": remark})
    nft.keep_helper()
    kernel.raise_link("lo")  # the lab's components communicate over it
    report.send({"phase": "namespaces"})
    os.chdir("/")
    with contextlib.suppress(asyncio.CancelledError):
        lab = Lab(
            folder, profile, sockets, lambda phase: report.send({"phase": phase}), report.file
        )
        asyncio.run(_supervise(lab, report, guard))


def _leave_caretaker(folder: LabFolder, guard: int) -> None:
    """Fork a process that removes the lab's folder if the lab ends because ``guard`` ended: nothing else would.

    It runs as the user that started the lab, who owns the folder.
    """
    pid = os.getpid()
    lab = os.pidfd_open(pid)
    if os.fork() != 0:
        os.close(lab)
        return
    kernel.keep_open(guard, lab)
    try:
        select.select([lab], [], [])
        record = folder.record()
        if record is not None and record.pid == pid and select.select([guard], [], [], 0)[0]:
            folder.remove()
    finally:
        os._exit(0)


async def _supervise(lab: Lab, report: Report, guard: int | None) -> None:
    """Run the lab until a signal or the end of ``guard``; before it is ready, also until the starting process ends.

    The starting process writes the lab's files, without which the lab cannot be used.
    """
    loop = asyncio.get_running_loop()
    starter = report.descriptor

    def ready() -> None:
        if starter >= 0:
            loop.remove_reader(starter)
        report.send({"ready": True})
        report.close()

    task = asyncio.ensure_future(lab.run(ready))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)

    def gone(descriptor: int) -> None:
        loop.remove_reader(descriptor)  # it stays readable; cancel only once
        task.cancel()

    # The write end of a pipe polls as readable once the read end is closed (poll(2), POLLERR).
    for descriptor in (starter, -1 if guard is None else guard):
        if descriptor >= 0:
            loop.add_reader(descriptor, gone, descriptor)
    await task


def _allow_many_files() -> None:
    """Raise the limit of open files: each node needs dozens, and the usual soft limit is 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _loopback_listener() -> socket.socket:
    """Listen on a free port of the machine's loopback; the socket stays there when namespaces change."""
    return socket.create_server(("127.0.0.1", 0), backlog=512)


def _loopback_datagrams() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    return sock


def _innermost(error: BaseException) -> BaseException:
    """Return the first error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explained(error: BaseException) -> Json:
    if isinstance(error, LabError):
        return {"error": error.message, "hint": error.hint}
    return {"error": f"The lab failed to start: {type(error).__name__}: {error}"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
