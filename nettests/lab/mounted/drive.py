"""The executable files of a Windows container: which program is at which path, copies, and folders that exist.

Made for each container as it starts, so that what its command copies is there for what runs beside it, and gone with it.
Paths are compared as Windows does: without case, slashes either way. What a program does is not known here.
"""

import contextlib
import ntpath
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum


class CopyFailure(Enum):
    """Why a file cannot be copied."""

    NO_SOURCE = "there is no such file"
    NO_FOLDER = "its folder does not exist"
    IN_USE = "a program of that file runs"


class CopyError(Exception):
    """A file cannot be copied."""

    def __init__(self, failure: CopyFailure) -> None:
        super().__init__(failure.value)
        self.failure = failure


def full(path: str, directory: str) -> str:
    """Return a path as ``directory`` makes it a whole one, with backslashes: ``C:\\hpc\\agnhost.exe``."""
    return ntpath.normpath(ntpath.join("C:\\", directory, path))


def _key(path: str) -> str:
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
        self.programs = {_key(path): name for path, name in self.programs.items()}

    def program(self, path: str) -> str | None:
        """Return the name of the program in a file, or ``None`` where no such file is."""
        key = _key(path)
        if ntpath.basename(key).removesuffix(".exe") in self.missing:
            return None
        if any(_key(plugin) == key for plugin in self.plugins):
            return "cni-plugin"
        return self.programs.get(key)

    def has_folder(self, path: str) -> bool:
        """Whether a folder exists: any that holds a file."""
        below = _key(path).rstrip("\\") + "\\"
        files = (*self.programs, *map(_key, self.plugins))
        return any(each.startswith(below) for each in files)

    def copy(self, source: str, target: str) -> None:
        """Copy a file over another, or into a folder; ``CopyError`` says what stands in the way."""
        name = self.program(source)
        if name is None:
            raise CopyError(CopyFailure.NO_SOURCE)
        if self.has_folder(target):
            target = ntpath.join(target, ntpath.basename(source))
        if not self.has_folder(ntpath.dirname(target)):
            raise CopyError(CopyFailure.NO_FOLDER)
        if self._running[_key(target)]:
            raise CopyError(CopyFailure.IN_USE)
        self.programs[_key(target)] = name

    @contextlib.contextmanager
    def running(self, path: str) -> Iterator[None]:
        """Keep a file from being written while its program runs."""
        key = _key(path)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
