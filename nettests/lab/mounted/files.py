"""Files of a container: its Pod's mounted volumes, and the executables of a Windows container.

The node (``node.machine``) makes volumes, programs read and write them; errors have Go's texts for each system. Each container gets
a ``Drive`` when it starts, so that files that its command copies are visible to execs, and vanish with the container; paths are
compared as on Windows: without case, with either slash. No file of the host is opened.
"""

import contextlib
import ntpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache

from nettests.lab.topology import OS

OTHERS_READ = 0o004
"""The mode bit that lets others read a file."""


_TEXTS = {
    OS.LINUX: ("no such file or directory", "permission denied", "read-only file system"),
    OS.WINDOWS: ("The system cannot find the file specified.", *["Access is denied."] * 2),
}
_MISSING, _DENIED, _READ_ONLY = range(3)
NO_FILE, NO_PATH, IN_USE = 2, 3, 32
"""Win32 error numbers."""


class FileError(Exception):
    """A file cannot be opened; the text is that of Go's ``os``."""


@dataclass(slots=True)
class Volume:
    """A volume's files by path; ``mode`` is that of each file, ``in_memory`` means a tmpfs."""

    texts: MutableMapping[str, str] = field(default_factory=dict)
    mode: int = 0o644
    in_memory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A volume mounted at a folder, or one ``file`` of it mounted at a path."""

    place: str
    volume: Volume
    file: str | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The mounts of a container; later ones hide earlier ones.

    A ``privileged`` user may read files of any mode; without ``modes`` the system does not check modes.
    """

    os: OS = OS.LINUX
    mounts: tuple[Mount, ...] = ()
    privileged: bool = True
    modes: bool = True

    def read(self, path: str) -> str:
        """Return the text of a file; ``FileError`` if it does not exist or may not be read."""
        mount, inside = self._at(path)
        if inside not in mount.volume.texts:
            raise self._error(path, _MISSING)
        if self.modes and not self.privileged and not mount.volume.mode & OTHERS_READ:
            raise self._error(path, _DENIED)
        return mount.volume.texts[inside]

    def write(self, path: str, text: str) -> None:
        """Write a file; ``FileError`` if no volume is mounted there, or it is read-only."""
        mount, inside = self._at(path)
        if mount.read_only:
            raise self._error(path, _READ_ONLY)
        mount.volume.texts[inside] = text

    def in_memory(self, folder: str) -> bool:
        """Whether the volume mounted at a folder is in memory; ``FileError`` if there is none."""
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
    """Return a normalised path: on Windows without drive C, with one kind of slash, in lower case."""
    if os is OS.LINUX:
        return path.rstrip("/")
    return path.replace("\\", "/").lower().removeprefix("c:").rstrip("/")


_PATHS = 8192
"""Paths that are remembered: each command is looked for in every folder of ``PATH``."""


class CopyError(Exception):
    """A file cannot be copied; the Win32 error is ``NO_FILE``, ``NO_PATH`` (no such folder) or ``IN_USE``."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@lru_cache(maxsize=_PATHS)
def full(path: str, directory: str) -> str:
    """Return the absolute path of ``path`` in ``directory``, with backslashes: ``C:\\hpc\\agnhost.exe``."""
    return ntpath.normpath(ntpath.join("C:\\", directory, path))


@lru_cache(maxsize=_PATHS)
def _path_key(path: str) -> str:
    return ntpath.normpath(path).lower()


@dataclass(slots=True)
class Drive:
    """Executables by path, each with the name of its program; ``plugins`` are the node's CNI plugins.

    ``missing`` are names (without ``.exe``) of files that do not exist anywhere.
    """

    programs: dict[str, str] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)
    missing: Collection[str] = ()
    _running: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.programs = {_path_key(path): name for path, name in self.programs.items()}

    def program(self, path: str) -> str | None:
        """Return the name of the program in a file, or ``None`` if the file does not exist."""
        key = _path_key(path)
        if ntpath.basename(key).removesuffix(".exe") in self.missing:
            return None
        if any(_path_key(plugin) == key for plugin in self.plugins):
            return "cni-plugin"
        return self.programs.get(key)

    def has_folder(self, path: str) -> bool:
        """Whether a folder exists, which means that it contains a file."""
        below = _path_key(path).rstrip("\\") + "\\"
        files = (*self.programs, *map(_path_key, self.plugins))
        return any(each.startswith(below) for each in files)

    def copy(self, source: str, target: str) -> None:
        """Copy a file to a path or into a folder; ``CopyError`` if that fails."""
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
        """Keep a file from being overwritten while its program runs."""
        key = _path_key(path)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
