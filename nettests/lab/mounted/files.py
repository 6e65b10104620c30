"""What a container has mounted: its Pod's volumes, by path, and the executable files of a Windows container.

Volumes are made by the node (``node.machine``), read and written by programs; texts of errors are Go's, as each system spells them. A
``Drive`` is made for each container as it starts, so that what its command copies is there for what runs beside it, and gone with it;
paths are compared as Windows does: without case, slashes either way. No file of the host is opened, and what a program does is not
known here.
"""

import contextlib
import ntpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

from nettests.lab.topology import OS

OTHERS_READ = 0o004
"""The bit of a file's mode that lets everybody read it."""


_TEXTS = {
    OS.LINUX: ("no such file or directory", "permission denied", "read-only file system"),
    OS.WINDOWS: ("The system cannot find the file specified.", *["Access is denied."] * 2),
}
_MISSING, _DENIED, _READ_ONLY = range(3)
NO_FILE, NO_PATH, IN_USE = 2, 3, 32
"""Errors of Win32."""


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
            raise self._error(path, _MISSING)
        if self.modes and not self.privileged and not mount.volume.mode & OTHERS_READ:
            raise self._error(path, _DENIED)
        return mount.volume.texts[inside]

    def write(self, path: str, text: str) -> None:
        """Write a file; ``FileError`` where no volume is mounted, or it is mounted to be read alone."""
        mount, inside = self._at(path)
        if mount.read_only:
            raise self._error(path, _READ_ONLY)
        mount.volume.texts[inside] = text

    def in_memory(self, folder: str) -> bool:
        """Whether the volume that is mounted at a folder is in memory; ``FileError`` where none is."""
        for mount in self.mounts:
            if mount.file is None and normal(mount.place, self.os) == normal(folder, self.os):
                return mount.volume.in_memory
        raise self._error(folder, _MISSING)

    def _at(self, path: str) -> tuple[Mount, str]:
        wanted = normal(path, self.os)
        for mount in reversed(self.mounts):
            place = normal(mount.place, self.os)
            if mount.file is not None and wanted == place:
                return mount, mount.file
            if mount.file is None and wanted.startswith(f"{place}/"):
                return mount, wanted.removeprefix(f"{place}/")
        raise self._error(path, _MISSING)

    def _error(self, path: str, why: int) -> FileError:
        return FileError(f"open {path}: {_TEXTS[self.os][why]}")


def normal(path: str, os: OS) -> str:
    """Return a path as its system compares it: on Windows without drive C, slashes either way, in lower case."""
    if os is OS.LINUX:
        return path.rstrip("/")
    return path.replace("\\", "/").lower().removeprefix("c:").rstrip("/")


class CopyError(Exception):
    """A file cannot be copied, because of an error of Win32: ``NO_FILE``, ``NO_PATH`` (no such folder) or ``IN_USE``."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def full(path: str, directory: str) -> str:
    """Return a path as ``directory`` makes it a whole one, with backslashes: ``C:\\hpc\\agnhost.exe``."""
    return ntpath.normpath(ntpath.join("C:\\", directory, path))


def _path_key(path: str) -> str:
    return ntpath.normpath(path).lower()


@dataclass(slots=True)
class Drive:
    """Executables by path, each with the name of its program; ``plugins`` are the node's CNI plugins.

    ``missing`` names files (without ``.exe``) that are at no path.
    """

    programs: dict[str, str] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)
    missing: Collection[str] = ()
    _running: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.programs = {_path_key(path): name for path, name in self.programs.items()}

    def program(self, path: str) -> str | None:
        """Return the name of the program in a file, or ``None`` where no such file is."""
        key = _path_key(path)
        if ntpath.basename(key).removesuffix(".exe") in self.missing:
            return None
        if any(_path_key(plugin) == key for plugin in self.plugins):
            return "cni-plugin"
        return self.programs.get(key)

    def has_folder(self, path: str) -> bool:
        """Whether a folder exists: any that holds a file."""
        below = _path_key(path).rstrip("\\") + "\\"
        files = (*self.programs, *map(_path_key, self.plugins))
        return any(each.startswith(below) for each in files)

    def copy(self, source: str, target: str) -> None:
        """Copy a file over another, or into a folder; ``CopyError`` says what stands in the way."""
        name = self.program(source)
        if name is None:
            raise CopyError(NO_FILE)
        if self.has_folder(target):
            target = ntpath.join(target, ntpath.basename(source))
        if not self.has_folder(ntpath.dirname(target)):
            raise CopyError(NO_PATH)
        if self._running[_path_key(target)]:
            raise CopyError(IN_USE)
        self.programs[_path_key(target)] = name

    @contextlib.contextmanager
    def running(self, path: str) -> Iterator[None]:
        """Keep a file from being written while its program runs."""
        key = _path_key(path)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
