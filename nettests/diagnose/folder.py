"""Write files below one folder and nowhere else, whatever already exists there.

Each part of a path is opened relative to its parent's descriptor, without following symbolic links,
so that a prepared folder cannot redirect writes (openat(2), O_NOFOLLOW). A name that is safe on
every file system is kept; others become their safe characters, ``~`` and a digest. Windows has none of the flags;
the module can be imported there.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from nettests.private import FILE, FOLDER, make_folder


def write_below(top: Path, parts: Sequence[str], data: bytes) -> None:
    """Write ``data`` to the file ``parts`` below ``top``; ``OSError`` for what leads elsewhere."""
    for part in parts:
        if part in {"", ".", ".."} or "/" in part or "\0" in part:
            raise OSError(0, f"{part!r} is not a file name")
    make_folder(top)
    with ExitStack() as opened:
        here = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, here)
        for part in parts[:-1]:
            here = _open_folder(here, part)
            opened.callback(os.close, here)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(parts[-1], flags, mode=FILE, dir_fd=here)
        os.fchmod(descriptor, FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def _open_folder(parent: int, name: str) -> int:
    created = True
    try:
        os.mkdir(name, mode=FOLDER, dir_fd=parent)
    except FileExistsError:
        created = False
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(name, flags, dir_fd=parent)
    if created:
        os.fchmod(here, FOLDER)  # the umask may have removed the owner's permissions
    return here


LENGTH = 120
"""The most characters. File systems allow 255 bytes; a suffix such as ``-2`` must fit."""
_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT = 60
_DIGEST = 16


def safe_name(name: str) -> str:
    """Return a path segment for ``name``: equal for equal names, different for different ones.

    Examples: ``windows-1`` stays; ``../../etc/cron.d/x`` becomes ``etc_cron.d_x~0f3c…``.
    """
    if _HARMLESS.fullmatch(name) and len(name) <= LENGTH and not name.endswith("."):
        return name
    kept = _OTHERS.sub("_", name).strip("._-")[:_KEPT]
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{kept}~{digest}"
