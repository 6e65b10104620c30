"""Open files that come from outside: results, journals, bundles, baselines, captures and users' YAML.

One opener for all of them: regular files only, so that no pipe or device holds or floods the reader, and at most as
many bytes as the reader names. It raises ``OSError``; the reader says what the file was to be, and the next step, or
has ``text_of`` say it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nettests.errors import ManifestError, NettestsError, PathError
from nettests.model import limits
from nettests.model.limits import spelled

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""For a writer of a named pipe; Windows has neither."""


class OutsideFileError(OSError):
    """A file is no regular one, or too large; ``strerror`` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(0, reason)


@contextmanager
def path_error(path: object, what_fails: str = "read", hint: str = "") -> Iterator[None]:
    """Say in a ``PathError`` which path cannot be read, or written, where the block raises ``OSError``."""
    try:
        yield
    except OSError as error:
        raise PathError(f"{path} cannot be {what_fails}: {error.strerror}", hint=hint) from error


def read_bytes(path: Path, most: int = limits.JSON_BYTES) -> bytes:
    """Return what is in a regular file of at most ``most`` bytes; ``OSError`` otherwise."""
    descriptor = os.open(path, os.O_RDONLY | _NO_WAITING)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise OutsideFileError("it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise OutsideFileError(
                "it is a pipe or a device and may never end: save it into a file first"
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1) if status.st_size <= most else b""
    finally:
        os.close(descriptor)
    if max(len(content), status.st_size) > most:
        raise OutsideFileError(f"it is larger than {spelled(most)}")
    return content


def read_text(path: Path, most: int = limits.YAML_BYTES) -> str:
    """Return a regular file's text in UTF-8; ``OSError`` or ``UnicodeDecodeError`` otherwise."""
    return read_bytes(path, most).decode("utf-8")


def text_of(
    path: Path,
    what: str,
    hint: str,
    *,
    refusal: type[NettestsError] = ManifestError,
    most: int = limits.YAML_BYTES,
) -> str:
    """Return the text of a file that a user named; ``refusal`` says what it was to be, why it is not read, and the next step."""
    try:
        return read_text(path, most)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise refusal(f"the {what} {path} cannot be read: {reason}", hint=hint) from error
