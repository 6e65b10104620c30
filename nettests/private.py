"""Folders and files that only their owner may read: a run's files say much about a cluster.

Used for everything in a run's folder. The mode is set whatever the umask is; an existing folder keeps its own.
"""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Literal

from nettests.errors import PathError
from nettests.redaction import without_held

FOLDER, FILE = 0o700, 0o600


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, for the owner alone."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    try:
        path.mkdir(mode=FOLDER)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(FOLDER)  # the umask may have taken the owner's rights too


def require_writable(directory: Path) -> None:
    """Make the folder of reports, and raise ``PathError`` where nothing can be written into it."""
    try:
        make_folder(directory)
        user = os.geteuid() if hasattr(os, "geteuid") else 0
        if user and directory.stat().st_uid not in {user, 0}:
            raise PathError(
                f"no report is written to {directory}: it belongs to another user, who could replace what is written",
                hint="name a folder of your own with --report-dir",
            )
        with TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise PathError(
            f"no report can be written to {directory}: {error.strerror}",
            hint="name a folder of your own with --report-dir",
        ) from error


def open_file(path: Path, mode: Literal["wb", "ab"]) -> BinaryIO:
    """Open a file to write (``wb``) or append (``ab``), for the owner alone also where it was there before."""
    flags = os.O_WRONLY | os.O_CREAT
    flags |= os.O_APPEND if mode == "ab" else os.O_TRUNC
    file = os.fdopen(os.open(path, flags, FILE), mode)
    os.chmod(file.fileno() if os.chmod in os.supports_fd else path, FILE)  # noqa: PTH101
    return file


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file for the owner alone; none is left of which a part could not be written."""
    with open_file(path, "wb") as file:
        try:
            file.write(data)
            file.flush()
        except OSError:
            with suppress(OSError):
                if path.is_file():  # and no device
                    path.unlink()
            raise


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8 for the owner alone, without the secrets that this process holds."""
    write_bytes(path, without_held(text).encode("utf-8"))
