"""The files that a container's mounts show: volumes that its Pod's containers share, by path. Pure but for what is written.

Made by the node (``node.volumes``), read and written by programs. No file of the host is opened. Texts of errors are
Go's, as each system spells them.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from enum import StrEnum

from nettests.lab.topology import OS

OTHERS_READ = 0o004
"""The bit of a file's mode that lets everybody read it."""


class Complaint(StrEnum):
    """Why a file cannot be opened."""

    MISSING = "missing"
    DENIED = "denied"
    READ_ONLY = "read-only"


_TEXTS = {
    (OS.LINUX, Complaint.MISSING): "no such file or directory",
    (OS.LINUX, Complaint.DENIED): "permission denied",
    (OS.LINUX, Complaint.READ_ONLY): "read-only file system",
    (OS.WINDOWS, Complaint.MISSING): "The system cannot find the file specified.",
    (OS.WINDOWS, Complaint.DENIED): "Access is denied.",
    (OS.WINDOWS, Complaint.READ_ONLY): "Access is denied.",
}


class FileError(Exception):
    """A file cannot be opened; the text is that of Go's ``os``."""


@dataclass(slots=True)
class Volume:
    """What a volume holds, by path within it; ``mode`` is that of each file, ``in_memory`` says that it is no disk."""

    texts: MutableMapping[str, str] = field(default_factory=dict)
    mode: int = 0o644
    in_memory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A volume at a place: all of it below a folder, or one ``file`` of it at the very place."""

    place: str
    volume: Volume
    file: str | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What a container sees of its mounts; later ones lie over earlier ones.

    ``privileged`` says that its user may read whatever the mode says; ``modes`` says that the system checks modes
    at all.
    """

    os: OS = OS.LINUX
    mounts: tuple[Mount, ...] = ()
    privileged: bool = True
    modes: bool = True

    def read(self, path: str) -> str:
        """Return the text of a file; ``FileError`` where there is none, or it may not be read."""
        mount, inside = self._at(path)
        if inside not in mount.volume.texts:
            raise self._error(path, Complaint.MISSING)
        if self.modes and not self.privileged and not mount.volume.mode & OTHERS_READ:
            raise self._error(path, Complaint.DENIED)
        return mount.volume.texts[inside]

    def write(self, path: str, text: str) -> None:
        """Write a file; ``FileError`` where no volume is mounted, or it is mounted to be read alone."""
        mount, inside = self._at(path)
        if mount.read_only:
            raise self._error(path, Complaint.READ_ONLY)
        mount.volume.texts[inside] = text

    def in_memory(self, folder: str) -> bool:
        """Whether the volume that is mounted at a folder is in memory; ``FileError`` where none is."""
        for mount in self.mounts:
            if mount.file is None and normal(mount.place, self.os) == normal(folder, self.os):
                return mount.volume.in_memory
        raise self._error(folder, Complaint.MISSING)

    def _at(self, path: str) -> tuple[Mount, str]:
        """Return the mount that shows a path, and the path within its volume."""
        wanted = normal(path, self.os)
        for mount in reversed(self.mounts):
            place = normal(mount.place, self.os)
            if mount.file is not None and wanted == place:
                return mount, mount.file
            if mount.file is None and wanted.startswith(f"{place}/"):
                return mount, wanted.removeprefix(f"{place}/")
        raise self._error(path, Complaint.MISSING)

    def _error(self, path: str, why: Complaint) -> FileError:
        return FileError(f"open {path}: {_TEXTS[self.os, why]}")


def normal(path: str, os: OS) -> str:
    """Return a path as its system compares it: on Windows without drive C, slashes either way, in lower case."""
    if os is OS.LINUX:
        return path.rstrip("/")
    return path.replace("\\", "/").lower().removeprefix("c:").rstrip("/")
