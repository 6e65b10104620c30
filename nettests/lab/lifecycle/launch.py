"""Start and stop labs from outside: spawn the lab's process, follow its start, end it, clean up.

``up`` returns when the lab is ready, or leaves nothing behind: no process, no namespace (they live in
the process), no file. ``down`` also cleans up after a lab that was killed.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from nettests.lab.errors import StartError, StateError
from nettests.lab.folders import processes, state
from nettests.lab.folders.state import LabFolder, Record
from nettests.lab.topology import profiles
from nettests.lab.topology.mechanisms import Switched

Json = dict[str, Any]

_ISOLATION_HINT = (
    "The lab needs user and network namespaces; `nettests lab up` works as root, or as any user where "
    "unprivileged user namespaces are allowed."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the command line."""

    windows_ping: bool = True
    mechanisms: Switched = ()
    settings: tuple[str, ...] = ()
    """Changed facts of the profile, as ``KEY=VALUE`` (``topology.settings``)."""
    while_pid: int | None = None
    """The lab ends when this process ends, even if it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A finished phase of the start, or a remark about it, ``seconds`` after the start."""

    name: str
    seconds: float


def up(name: str, profile: str, options: Options, tell: Callable[[Phase], None]) -> LabFolder:
    """Start the lab and return when it is ready; ``tell`` is called with each phase.

    Raises ``ProfileError``, ``StateError`` or ``StartError``, and leaves nothing behind then.
    """
    from nettests.lab.network import find_nft  # noqa: PLC0415  # slow; other commands do without

    profiles.load_to_run(profile, changes=options.settings)
    find_nft()
    folder = state.folder(name)
    with folder.starting():
        try:
            _start(folder, profile, options, tell)
        except BaseException:
            end(folder)
            raise
    return folder


def down(folder: LabFolder) -> bool:
    """Stop the lab and delete its folder; return whether its process was still running.

    ``StateError`` if there is no folder of that name.
    """
    if not folder.exists():
        raise StateError(
            f'There is no lab called "{folder.name}".', hint="nettests lab status lists them."
        )
    return end(folder)


def end(folder: LabFolder) -> bool:
    """Terminate the lab's process (kill it if it does not end), delete its folder; return whether it ran."""
    with folder.process() as process:
        if process is not None:
            processes.end(process)
    folder.remove()
    return process is not None


def _start(
    folder: LabFolder, profile: str, options: Options, tell: Callable[[Phase], None]
) -> None:
    from nettests.lab.network.isolation import unprivileged  # noqa: PLC0415  # slow, as above

    began = time.monotonic()
    user = unprivileged()
    reading, writing = os.pipe()
    try:
        daemon = _spawn(folder, profile, options, user, writing)
    finally:
        os.close(writing)
    folder.note(
        Record(
            name=folder.name,
            profile=" ".join((profile, *options.settings)),
            user=user,
            **asdict(processes.identify(daemon.pid)),
        )
    )
    with os.fdopen(reading, encoding="utf-8") as lines:
        for message in map(json.loads, lines):
            if "ready" in message:
                daemon.returncode = 0  # it keeps running, and is not waited for
                return
            if "error" in message:
                raise _failure(message)
            if "file" in message:
                folder.write(message["file"], message["text"])
                continue
            phase = message.get("phase") or message["remark"]
            tell(Phase(name=phase, seconds=time.monotonic() - began))
    raise StartError(
        "The lab's process ended without a word.", hint=f"Its last lines: {_tail(folder)}"
    )


def _spawn(
    folder: LabFolder, profile: str, options: Options, user: int, writing: int
) -> "subprocess.Popen[bytes]":
    """Start the lab's process in a new session, with its log as output."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with folder.opened() as descriptor:
        log = os.open(folder.log.name, flags, 0o600, dir_fd=descriptor)
    chosen = {
        "windows_ping": options.windows_ping,
        "mechanisms": dict(options.mechanisms),
        "settings": options.settings,
        "while": _identified(options.while_pid),
        "user": user,
    }
    arguments = [str(folder.path), profile, json.dumps(chosen), str(writing)]
    command = [sys.executable, "-m", processes.DAEMON, *arguments]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(writing,),
        )
    finally:
        os.close(log)


def _identified(pid: int | None) -> Json | None:
    if pid is None:
        return None
    try:
        return asdict(processes.identify(pid))
    except ProcessLookupError as error:
        raise StartError(f"There is no process {pid} for whose time the lab could run.") from error


def _failure(message: Json) -> StartError:
    """Return the error; if a probe shows that namespaces do not work here, that is the cause."""
    from nettests.lab.network import probe_isolation  # noqa: PLC0415  # slow, as above

    reason = probe_isolation()
    if reason is not None:
        return StartError(f"The lab cannot run here: {reason}", hint=_ISOLATION_HINT)
    return StartError(message["error"], hint=message.get("hint", ""))


def _tail(folder: LabFolder) -> str:
    with contextlib.suppress(OSError):
        return " / ".join(folder.log.read_text(encoding="utf-8").splitlines()[-3:])
    return "none"
