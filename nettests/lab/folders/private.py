"""Private folders and files of this user: opened by descriptor, checked, then used through it.

The only place where owner and mode are checked. ``/tmp`` is shared: a folder of the right name may be another user's,
or a link. No link is followed, and a checked descriptor stays valid whatever happens to its name.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nettests.lab.errors import StateError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_BYTES = 1 << 20
"""Larger than any file that is read here; a larger file is not a lab's."""


class NotPrivateError(StateError):
    """A folder is a link, belongs to another user, or is open to others; the text says which."""


@contextmanager
def opened(path: Path, *, within: int | None = None) -> Iterator[int]:
    """Yield a descriptor of the folder, relative to ``within`` if that is given.

    ``NotPrivateError`` unless it is a folder, not a link, owned by this user, with no rights for others;
    ``FileNotFoundError`` if it does not exist.
    """
    try:
        descriptor = os.open(path, _FOLDER, dir_fd=within)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refused(path, os.stat(path, dir_fd=within, follow_symlinks=False)) from error
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise _refused(path, status)
        yield descriptor
    finally:
        os.close(descriptor)


def owner(path: Path) -> int | None:
    """Return the id of the owner of the path (of a link, not its target); ``None`` if it does not exist."""
    try:
        return path.lstat().st_uid
    except FileNotFoundError:
        return None


def read(name: str, within: int) -> str:
    """Return the text of a private file; ``OSError`` or ``ValueError`` if it is not one."""
    with os.fdopen(os.open(name, _FILE, dir_fd=within), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise ValueError(f"{name} is not a file of this user")
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise ValueError(f"{name} is longer than {_MOST_BYTES} bytes")
    return text.decode("utf-8")


def write(name: str, text: str, within: int) -> None:
    """Write a file of mode 0600 atomically."""
    draft = f".{name}.{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(draft, _DRAFT, 0o600, dir_fd=within), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, name, src_dir_fd=within, dst_dir_fd=within)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=within)
        raise


def empty(within: int) -> None:
    """Remove everything in a folder."""
    for name in os.listdir(within):
        remove(name, within)


def remove(name: str, within: int) -> None:
    """Remove a file, a link (not its target) or a folder with its content."""
    status = os.stat(name, dir_fd=within, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        shutil.rmtree(name, dir_fd=within)  # by descriptors, on Linux
    else:
        os.unlink(name, dir_fd=within)


def _refused(path: Path, status: os.stat_result) -> NotPrivateError:
    if stat.S_ISLNK(status.st_mode):
        what = "it is a link"
    elif not stat.S_ISDIR(status.st_mode):
        what = "it is no folder"
    elif status.st_uid != os.geteuid():
        what = f"it belongs to user {status.st_uid}"
    else:
        what = f"its mode is {stat.S_IMODE(status.st_mode):04o}"
    return NotPrivateError(
        f"{path} is not a private folder of this user: {what}.",
        hint="Nothing in it was read. Remove it, or make it yours with mode 0700.",
    )
