"""The lock on a journal that its writer holds as long as it lives: ``flock``, which the kernel drops with the process.

Windows has none. Only ``nettests calibrate --local`` runs there, whose journal nobody follows while it is written.
"""

from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

_fcntl: Any = None
with suppress(ImportError):
    _fcntl = import_module("fcntl")


def take(file: BinaryIO, *, alone: bool) -> bool:
    """Take the lock, ``alone`` or together with others who look; return whether nobody holds it alone."""
    if _fcntl is None:
        return True
    try:
        _fcntl.flock(file, (_fcntl.LOCK_EX if alone else _fcntl.LOCK_SH) | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
