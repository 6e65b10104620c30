"""Records of running labs: one private folder each, found by name, cleaned when stale.

``places`` finds the parent folder, ``private`` checks the owner before anything is read, and ``processes`` checks
that the recorded process is the lab. Starting holds a lock on the folder, so that two ``up`` of the same name exclude
each other.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from nettests.lab.errors import StateError
from nettests.lab.folders import places, private, processes

# lab, my-lab-2
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_RECORD = "lab.json"
_TRIES = 10
"""Attempts to create a folder while another lab's ``down`` removes the parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A lab's process, as recorded at its start."""

    name: str
    profile: str
    pid: int
    started: int
    boot: str
    user: int
    """Owner of the process: this user, or the unprivileged id that root chose."""

    @property
    def identity(self) -> processes.Identity:
        """What distinguishes the process from later ones with the same id."""
        return processes.Identity(pid=self.pid, started=self.started, boot=self.boot)

    def __post_init__(self) -> None:
        for field, kind in (
            *((self.name, str), (self.profile, str), (self.boot, str)),
            *((self.pid, int), (self.started, int), (self.user, int)),
        ):
            if type(field) is not kind:
                raise TypeError(f"{field!r} is no {kind.__name__}")


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
        """A kubeconfig without a token: its exec plugin fetches one that is valid for a minute."""
        return self.path / "kubeconfig-short-lived"

    @property
    def cluster_profile(self) -> Path:
        """The file for ``nettests run --cluster-profile``."""
        return self.path / "cluster-profile.yaml"

    @property
    def log(self) -> Path:
        """The log of the lab's process."""
        return self.path / "lab.log"

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Yield a descriptor of the folder; ``StateError`` if it or its parent is not private."""
        with (
            private.opened(self.path.parent) as base,
            private.opened(Path(self.name), within=base) as descriptor,
        ):
            yield descriptor

    def exists(self) -> bool:
        """Whether the folder exists; ``StateError`` if it is not private."""
        try:
            with self.opened():
                return True
        except FileNotFoundError:
            return False

    def record(self) -> Record | None:
        """Return the record, ``None`` if there is none or it is invalid."""
        try:
            with self.opened() as descriptor:
                return _read(descriptor)
        except FileNotFoundError:
            return None

    def note(self, record: Record) -> None:
        """Write the record."""
        self.write(_RECORD, json.dumps(asdict(record)))

    def write(self, name: str, text: str) -> Path:
        """Write a private file atomically."""
        with self.opened() as descriptor:
            private.write(name, text, descriptor)
        return self.path / name

    @contextmanager
    def process(self) -> Iterator[int | None]:
        """Yield a descriptor of the lab's process (pidfd_open(2)) if it runs, else ``None``.

        Another process with the recorded id does not count, nor does a zombie.
        """
        with ExitStack() as stack:
            yield self._held(stack)

    def _held(self, stack: ExitStack) -> int | None:
        try:
            descriptor = stack.enter_context(self.opened())
        except FileNotFoundError:
            return None
        record = _read(descriptor)
        if record is None:
            return None
        users = frozenset({os.geteuid(), record.user})
        return stack.enter_context(processes.held_lab(record.identity, descriptor, users))

    def runs(self) -> bool:
        """Whether the lab's process runs."""
        with self.process() as process:
            return process is not None

    def remove(self) -> None:
        """Delete the folder, and the parent if this was the last lab; a folder that is not private stays."""
        with (
            suppress(OSError),  # another process may remove it at the same time
            private.opened(self.path.parent) as base,
            private.opened(Path(self.name), within=base),
        ):
            private.remove(self.name, base)
        with suppress(OSError):
            self.path.parent.rmdir()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Create and lock the folder while the lab starts; ``StateError`` if the name is taken.

        Files of a killed lab of this name are removed first.
        """
        with self._created() as descriptor:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StateError(
                    f'A lab called "{self.name}" is being started.', hint="Choose another --name."
                ) from error
            self._refuse_if_running()
            private.empty(descriptor)
            yield

    @contextmanager
    def _created(self) -> Iterator[int]:
        """Create the folder and open it, even while the end of another lab removes the parent."""
        for _ in range(_TRIES):
            places.make(self.path.parent)
            with suppress(FileNotFoundError), private.opened(self.path.parent) as base:
                with suppress(FileExistsError):
                    os.mkdir(self.name, mode=0o700, dir_fd=base)
                break
        with self.opened() as descriptor:
            yield descriptor

    def _refuse_if_running(self) -> None:
        record = self.record()
        if record is None or not self.runs():
            return
        raise StateError(
            f'A lab called "{self.name}" runs already (profile {record.profile}, process {record.pid}).',
            hint=f"Use it, choose another --name, or stop it: nettests lab down --name {self.name}",
        )


def _read(descriptor: int) -> Record | None:
    try:
        return Record(**json.loads(private.read(_RECORD, descriptor)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def folder(name: str) -> LabFolder:
    """Return the folder for a lab of that name; ``StateError`` if the name is invalid."""
    if not _NAME.fullmatch(name):
        raise StateError(
            f'"{name}" cannot be the name of a lab.',
            hint="Use up to 40 lower-case letters, digits and dashes.",
        )
    for place in places.existing():
        lab = LabFolder(place / name)
        if lab.exists():
            return lab
    return LabFolder(places.usable() / name)


def folders() -> tuple[LabFolder, ...]:
    """Return the folders of all labs, running or not, by name; some may not be private."""
    labs: list[LabFolder] = []
    for place in places.existing():
        with (
            suppress(FileNotFoundError),
            private.opened(place) as base,
            os.scandir(base) as entries,
        ):
            names = [each.name for each in entries if not each.is_file(follow_symlinks=False)]
            labs += (LabFolder(place / name) for name in names if _NAME.fullmatch(name))
    return tuple(sorted(labs, key=lambda lab: lab.name))
