"""The folder of reports: checked for write access before a run, with a link ``latest`` to the newest run."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from nettests.errors import PathError
from nettests.model.run_folder import LATEST
from nettests.private import make_folder


def require_writable(directory: Path) -> None:
    """Make the folder of reports, and raise ``PathError`` where nothing can be written into it."""
    try:
        make_folder(directory)
        user = os.geteuid() if hasattr(os, "geteuid") else 0
        if user and directory.stat().st_uid not in {user, 0}:
            raise PathError(
                f"no report is written to {directory}: it belongs to another user, who could replace what is written",
                hint="name a folder of yours with --report-dir",
            )
        with TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise PathError(
            f"no report can be written to {directory}: {error.strerror}",
            hint="name a folder of yours with --report-dir",
        ) from error


def link_latest(directory: Path) -> None:
    """Point ``latest`` at the newest run; a file system without links does without."""
    link = directory.parent / LATEST
    temporary = directory.parent / f".{LATEST}-{directory.name}"
    with suppress(OSError):
        temporary.symlink_to(directory.name)
        temporary.replace(link)
