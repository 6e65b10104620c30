"""Where running labs are noted: one private folder each, found again by name, cleaned when stale.

``$XDG_RUNTIME_DIR/nettests-lab/<name>/``, else ``/tmp/nettests-lab-<uid>/<name>/``, mode 0700, files 0600. A lab
is identified by process id *and* start time, so that a recycled id is never taken for a lab, and never
killed. Starting holds a lock on the folder, so that two ``up`` of one name cannot meet.
"""

import fcntl
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from nettests.lab.errors import StateError

# lab, my-lab-2
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_RECORD = "lab.json"
_SAME_START = 2.0
"""Seconds by which a start time may seem to move when the clock is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A lab's process, as noted when it was started."""

    name: str
    profile: str
    pid: int
    started: float
    """The process's start time as psutil gives it, in seconds since the epoch."""


class LabFolder:
    """The folder of one lab; it need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    @property
    def kubeconfig(self) -> Path:
        """The file to export as ``KUBECONFIG``."""
        return self.path / "kubeconfig"

    @property
    def short_lived(self) -> Path:
        """A kubeconfig without a token: its exec plugin fetches one that lives for a minute."""
        return self.path / "kubeconfig-short-lived"

    @property
    def cluster_profile(self) -> Path:
        """The file for ``nettests run --cluster-profile``."""
        return self.path / "cluster-profile.yaml"

    @property
    def log(self) -> Path:
        """What the lab's process wrote."""
        return self.path / "lab.log"

    def record(self) -> Record | None:
        """Return what is noted, ``None`` when nothing (readable) is."""
        try:
            return Record(**json.loads((self.path / _RECORD).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def note(self, record: Record) -> None:
        """Write the record."""
        self.write(_RECORD, json.dumps(asdict(record)))

    def write(self, name: str, text: str) -> Path:
        """Write a private file in one step."""
        path = self.path / name
        draft = path.with_name(f".{name}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
        return path

    def process(self) -> psutil.Process | None:
        """Return the lab's process if it runs; a zombie or another process of that id does not count."""
        record = self.record()
        return None if record is None else find_process(record.pid, record.started)

    def remove(self) -> None:
        """Delete the folder, and the parent when this was the last lab."""
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            self.path.parent.rmdir()
        except OSError:
            return

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Create the folder and hold it while the lab starts; ``StateError`` if the name is taken.

        What a killed lab left behind under this name is removed first.
        """
        self.path.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StateError(
                    f'A lab called "{self.name}" is being started.', hint="Choose another --name."
                ) from error
            self._refuse_if_running()
            for leftover in self.path.iterdir():
                leftover.unlink()
            yield
        finally:
            os.close(descriptor)

    def _refuse_if_running(self) -> None:
        process = self.process()
        if process is None:
            return
        record = self.record()
        profile = record.profile if record else "?"
        raise StateError(
            f'A lab called "{self.name}" runs already (profile {profile}, process {process.pid}).',
            hint=f"Use it, choose another --name, or stop it: nettests lab down --name {self.name}",
        )


def find_process(pid: int, started: float) -> psutil.Process | None:
    """Return the live process of that id and start time."""
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started) < _SAME_START
        alive = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return process if same and alive else None


def folder(name: str) -> LabFolder:
    """Return the folder for a lab of that name; ``StateError`` for a name that cannot be one."""
    if not _NAME.fullmatch(name):
        raise StateError(
            f'"{name}" cannot be the name of a lab.',
            hint="Use up to 40 lower-case letters, digits and dashes.",
        )
    return LabFolder(_base() / name)


def folders() -> tuple[LabFolder, ...]:
    """Return the folders of all labs, running or not, by name."""
    base = _base_path()
    if not base.is_dir():
        return ()
    return tuple(LabFolder(path) for path in sorted(base.iterdir()) if path.is_dir())


def _base_path() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime) / "nettests-lab"
    return Path(tempfile.gettempdir()) / f"nettests-lab-{os.geteuid()}"


def _base() -> Path:
    """Return the parent of all labs' folders, made if needed; it must be ours alone.

    Below ``/tmp`` anybody could have made it first.
    """
    base = _base_path()
    base.mkdir(mode=0o700, exist_ok=True)
    found = base.lstat()
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not private or stat.S_IMODE(found.st_mode) & 0o077:
        raise StateError(
            f"{base} is not a private folder of this user.",
            hint="Remove it, or set its mode to 0700.",
        )
    return base
