"""The three system calls that Python 3.11 lacks: ``unshare``, ``setns`` and ``mount``.

The lowest layer of the data plane; knows nothing of the lab. ``os.unshare`` and ``os.setns`` exist
from Python 3.12 on; one way for all versions is less to reason about.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000

_OWN_NETWORK = Path("/proc/thread-self/ns/net")

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def unshare(flags: int) -> None:
    """Move the calling thread (with ``CLONE_NEWUSER``: the process) into new namespaces."""
    _checked(_libc.unshare(flags))


def enter_network(fd: int) -> None:
    """Move the calling thread into the network namespace that ``fd`` refers to."""
    _checked(_libc.setns(fd, CLONE_NEWNET))


def make_mounts_private() -> None:
    """Keep mounts made from now on inside this mount namespace."""
    _checked(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))


def open_network() -> int:
    """Return a file descriptor of the calling thread's own network namespace."""
    return os.open(_OWN_NETWORK, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def inside_network(fd: int) -> Iterator[None]:
    """Run a block in another network namespace and come back, in the calling thread only.

    Nothing inside the block may await: the event loop's thread itself has moved.
    """
    home = open_network()
    try:
        enter_network(fd)
        try:
            yield
        finally:
            enter_network(home)
    finally:
        os.close(home)
