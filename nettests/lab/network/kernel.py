"""System calls that Python 3.11 lacks: ``unshare``, ``setns``, ``mount``, and those for capabilities.

The lowest layer of the data plane. ``os.unshare`` and ``os.setns`` exist from Python 3.12 on, but one
implementation for all versions is simpler.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000
_PR_SET_KEEPCAPS, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 8, 23, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 38, 47, 2
_CAPABILITY_VERSION = 0x20080522
_CAPABILITIES = 64

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCETHTOOL = 0x8913, 0x8914, 0x8946
_IFF_UP, _IFF_RUNNING = 1, 0x40
_ETHTOOL_GLINK = 0xA
_CARRIER_SECONDS = 5.0
"""The link watch of Linux delays work that is not urgent by a second."""

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


def bound_capabilities(capabilities: Sequence[int]) -> None:
    """Drop all other capabilities from the bounding set, and keep these over a change of user id."""
    for capability in range(_CAPABILITIES):
        if (
            capability not in capabilities
            and _libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) == 1
        ):
            _checked(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0))
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0))


def set_capabilities(capabilities: Sequence[int]) -> None:
    """Reduce the capabilities of the calling thread, and of programs that it starts, to these."""
    mask = sum(1 << capability for capability in capabilities)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    # Effective, permitted, inheritable: capabilities 0 to 31, then 32 to 63 (capget(2)).
    data = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    _checked(_libc.capset(header, data))
    for capability in capabilities:
        _checked(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0))


def make_mounts_private() -> None:
    """Keep mounts made from now on inside this mount namespace."""
    _checked(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))


def open_network() -> int:
    """Return a file descriptor of the calling thread's own network namespace."""
    return os.open(_OWN_NETWORK, os.O_RDONLY | os.O_CLOEXEC)


def raise_link(name: str) -> None:
    """Bring up a link of the calling thread's own network namespace.

    By an ``ifreq`` of name and flags (netdevice(7)), which takes a hundredth of the time of a pyroute2 netlink
    message; every pod and node has several links.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        flags = _flags(sock, name) | _IFF_UP
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", name.encode(), flags))


def await_carrier(name: str) -> None:
    """Wait until a link of the calling thread's own network namespace carries packets; both its ends must be up.

    The end of a veth pair that came up first has no queue, and as a bridge port forwards nothing, until the
    kernel's link watch, a work queue, has seen the carrier; packets sent before that are dropped silently.
    Since Linux 6.8 reading the carrier by ethtool does that work at once (``ethtool_op_get_link``). Measured:
    of 300 datagrams sent to a new link at once 108 were lost; after this wait none of 300.
    """
    carrier = ctypes.create_string_buffer(struct.pack("II", _ETHTOOL_GLINK, 0))
    request = struct.pack("16sP16x", name.encode(), ctypes.addressof(carrier))
    until = time.monotonic() + _CARRIER_SECONDS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCETHTOOL, request)
        while not _flags(sock, name) & _IFF_RUNNING:
            if time.monotonic() > until:
                raise OSError(errno.ENETDOWN, f"the other end of {name} did not come up")
            os.sched_yield()


def _flags(sock: socket.socket, name: str) -> int:
    request = struct.pack("16sH22x", name.encode(), 0)
    return int(struct.unpack_from("16xH", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[0])


def keep_open(*kept: int) -> None:
    """Close all descriptors of a forked process but its outputs and these."""
    for opened in tuple(Path("/proc/self/fd").iterdir()):
        if (descriptor := int(opened.name)) not in {1, 2, *kept}:
            with suppress(OSError):
                os.close(descriptor)


@contextmanager
def inside_network(fd: int) -> Iterator[None]:
    """Run a block in another network namespace, in the calling thread only.

    The block must not await: the event loop's own thread has changed its namespace.
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
