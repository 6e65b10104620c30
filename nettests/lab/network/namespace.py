"""Network namespaces held by file descriptors, and the one thread that works inside them.

Unnamed namespaces leave nothing behind: when the last descriptor and socket is closed, the kernel
removes the namespace and every link in it. Netlink and ``nft`` run on the worker thread, because
pyroute2 0.9 runs its own event loop and cannot do so inside another. Sockets are created in the
caller's thread, which takes microseconds.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from nettests.lab.data_files import read_yaml
from nettests.lab.network import kernel

T = TypeVar("T")

_ROWS: Mapping[str, dict[str, int]] = read_yaml(__package__, "sysctls.yaml")
LIMITED_ERRORS, IPV6, FORWARDING = (
    _ROWS[name] for name in ("limited errors", "ipv6", "forwarding")
)
_SETTINGS = Path("/proc/sys/net")


class NetworkNamespace:
    """A namespace of the lab (``interfaces.Namespace``)."""

    def __init__(self, name: str, fd: int) -> None:
        self.name = name
        self._fd = fd

    @property
    def fd(self) -> int:
        """The descriptor that holds the namespace; -1 once it is released."""
        return self._fd

    def socket(self, family: int, kind: int, proto: int = 0) -> socket.socket:
        """Return a non-blocking, close-on-exec socket that lives in this namespace."""
        with kernel.inside_network(self._fd):
            created = socket.socket(family, kind, proto)
        created.settimeout(0)
        return created

    def close(self) -> None:
        """Close the descriptor; the namespace is removed once its sockets are closed too."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class Worker:
    """The thread that creates, connects and programs namespaces, one job after another."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lab-network")

    async def run(self, job: Callable[[], T]) -> T:
        """Run ``job`` on the worker thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def stop(self) -> None:
        """End the thread after its queued jobs."""
        self._thread.shutdown(wait=False)


def make_namespace(name: str, settings: dict[str, int] | None = None) -> NetworkNamespace:
    """Create a namespace with its loopback up. On the worker thread only.

    A new namespace inherits the machine's IPv4 settings (``ip_forward``, ``rp_filter``), so every setting
    that the lab relies on is written; ``settings`` are values by path below ``/proc/sys/net``.
    """
    home = kernel.open_network()
    try:
        kernel.unshare(kernel.CLONE_NEWNET)
        try:
            namespace = NetworkNamespace(name, kernel.open_network())
            _write({**_ROWS["quiet"], **(settings or {})})
            kernel.raise_link("lo")
        finally:
            kernel.enter_network(home)
    finally:
        os.close(home)
    return namespace


def _write(settings: dict[str, int]) -> None:
    for path, value in settings.items():
        setting = _SETTINGS / path
        if setting.exists():  # a kernel without IPv6 has no settings for it
            setting.write_text(str(value), encoding="ascii")
