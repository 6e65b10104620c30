"""UDP sockets of a program: connected ones that see errors of closed ports, and bound ones that serve."""

import asyncio
import errno
import socket
from types import TracebackType
from typing import Self

from nettests.lab.interfaces import Machine, Namespace
from nettests.lab.programs.sockets import addresses, texts


class Conversation:
    """A connected UDP socket to one peer; ``local`` and ``remote`` are ``address:port`` texts."""

    def __init__(self, machine: Machine, address: str, port: int) -> None:
        self._machine = machine
        self._sock = machine.namespace.socket(addresses.family(address), socket.SOCK_DGRAM)
        try:
            self._sock.connect((address, port))
        except OSError:
            self._sock.close()
            raise
        self.local = addresses.text(self._sock.getsockname())
        self.remote = addresses.join(address, port)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sock.close()

    async def send(self, data: bytes) -> None:
        """Send one datagram; ``OSError`` in the manner of the program's OS."""
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, data)
        except OSError as error:
            raise texts.datagram_error(self._machine.os, error) from error

    async def receive(self, size: int) -> bytes:
        """Wait for one datagram from the peer; the caller bounds the wait."""
        try:
            return await asyncio.get_running_loop().sock_recv(self._sock, size)
        except OSError as error:
            raise texts.datagram_error(self._machine.os, error) from error


def bind(namespace: Namespace, port: int, address: str = "") -> socket.socket:
    """Return a bound socket; without ``address`` for both families, as Go's ``:port``."""
    if address:
        return _bind(namespace, addresses.family(address), (address, port))
    try:
        return _bind(namespace, socket.AF_INET6, ("::", port))
    except OSError as error:
        if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            raise
        return _bind(namespace, socket.AF_INET, ("", port))


def _bind(
    namespace: Namespace, family: socket.AddressFamily, name: tuple[str, int]
) -> socket.socket:
    sock = namespace.socket(family, socket.SOCK_DGRAM)
    try:
        if family is socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(name[0] != "::"))
        sock.bind(name)
    except OSError:
        sock.close()
        raise
    return sock
