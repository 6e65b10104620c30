"""Sockets of a program: TCP connections with the behaviour of its operating system, UDP flows, listeners, and error texts.

Linux: the kernel's own behaviour. Windows (Winsock): a refused SYN is retried after half a second (Microsoft KB 175523),
for about two seconds in all (curl/curl#14144; ``windows.refusalSeconds``); ICMP "unreachable" does not end an attempt; a
silent peer is given up after 21 seconds (3 + 6 + 12). Linux texts are the C library's, lower-cased as Go prints them; Windows
texts are Winsock's (Microsoft, "Windows Sockets Error Codes"), in English if the system has English messages, else in its
own language (golang/go, ``syscall_windows.go``, ``Errno.Error``).
"""

import asyncio
import errno
import ipaddress
import math
import os
import socket
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, Self

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Machine, Namespace
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.broken_tools import NO_REFUSAL
from nettests.lab.topology import OS
from nettests.lab.topology.windows_settings import ENGLISH


class Call(StrEnum):
    """A socket operation, which each OS names differently."""

    CONNECT = "connect"
    READ = "read"
    WRITE = "write"
    BIND = "bind"
    SEND_TO = "sendto"


_WINDOWS_CALLS = {
    Call.CONNECT: "connectex",
    Call.READ: "wsarecv",
    Call.WRITE: "wsasend",
    Call.SEND_TO: "wsasendto",
}

_WINSOCK: Mapping[str, Mapping[str, Any]] = read_yaml(__package__, "winsock.yaml")


def winsock(error: OSError) -> Mapping[str, Any]:
    """Return Winsock's number for an error, and what curl and .NET call it; WSAEINVAL if there is no counterpart."""
    return _WINSOCK.get(errno.errorcode.get(error.errno or 0, ""), _WINSOCK["EINVAL"])


def error_text(system: OS, error: OSError, locale: str = ENGLISH) -> str:
    """Return the system's text for ``error``: ``connection refused``, on Windows a sentence."""
    sentence = texts.of(locale).system(winsock(error)["number"]) if system is OS.WINDOWS else None
    if sentence is not None:
        return sentence
    text = os.strerror(error.errno or errno.EINVAL)
    return text[:1].lower() + text[1:]


def call_text(system: OS, call: Call, error: OSError, locale: str = ENGLISH) -> str:
    """Return ``connect: connection refused`` or ``connectex: No connection could be made …``."""
    verb = _WINDOWS_CALLS.get(call, call.value) if system is OS.WINDOWS else call.value
    return f"{verb}: {error_text(system, error, locale)}"


def datagram_error(system: OS, error: OSError) -> OSError:
    """Return the error of a UDP read: Winsock reports a closed port as a reset (WSAECONNRESET)."""
    if system is OS.WINDOWS and error.errno == errno.ECONNREFUSED:
        return OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    return error


Peer = tuple[str, int]


def family(address: str) -> socket.AddressFamily:
    """Return the address family of a literal address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def join(host: str, port: int | str) -> str:
    """Return ``host:port``, with brackets around IPv6 (Go's ``net.JoinHostPort``)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def peer(name: tuple[str, int] | tuple[str, int, int, int]) -> Peer:
    """Return address and port of a socket name; an IPv4-mapped address becomes the IPv4 one."""
    return _unmapped(name[0]), name[1]


@lru_cache(maxsize=4096)
def _unmapped(written: str) -> str:
    address = ipaddress.ip_address(written.partition("%")[0])
    return str(getattr(address, "ipv4_mapped", None) or address)


def text(name: tuple[str, int] | tuple[str, int, int, int]) -> str:
    """Return a socket name as ``address:port``."""
    return join(*peer(name))


def source_towards(namespace: Namespace, address: str) -> str:
    """Return the local address used towards ``address``; ``OSError`` if there is no route."""
    with namespace.socket(family(address), socket.SOCK_DGRAM) as probe:
        probe.connect((address, 1))
        return str(probe.getsockname()[0])


WINDOWS_SYN_INTERVAL = 0.5
WINDOWS_CONNECT_SECONDS = 21.0
_BACKLOG = 128

_SENT_AGAIN = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT)
"""Errors that do not end Winsock's attempt: a reset, a router's error, no answer."""


async def connect(machine: Machine, address: str, port: int, *, own_port: int = 0) -> socket.socket:
    """Return a connected socket; ``OSError`` with the kernel's number if that fails.

    ``own_port`` is the source port, 0 for a new one. The caller limits the wait.
    """
    if machine.os is OS.WINDOWS:
        resends = machine.windows.refusal_seconds / WINDOWS_SYN_INTERVAL
        if NO_REFUSAL in machine.troubles.tools:
            resends = math.inf
        return await _connect_windows(machine.namespace, address, port, own_port, resends)
    return await _connect_once(machine.namespace, address, port, own_port)


async def _connect_once(
    namespace: Namespace, address: str, port: int, own_port: int
) -> socket.socket:
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        if own_port:
            sock.bind(("", own_port))
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock


async def _connect_windows(
    namespace: Namespace, address: str, port: int, own_port: int, resends: float
) -> socket.socket:
    loop = asyncio.get_running_loop()
    refused, wanted = 0, own_port
    try:
        async with asyncio.timeout(WINDOWS_CONNECT_SECONDS):
            while True:
                started = loop.time()
                sock = namespace.socket(family(address), socket.SOCK_STREAM)
                try:
                    sock.bind(("", own_port))
                    # retried SYNs use the same port, and so reach the same backend
                    own_port = sock.getsockname()[1]
                    await loop.sock_connect(sock, (address, port))
                except BaseException as error:
                    sock.close()
                    if not isinstance(error, OSError):
                        raise
                    # the port was taken meanwhile: no SYN has been sent
                    if error.errno == errno.EADDRINUSE and not wanted:
                        own_port = 0
                        continue
                    refused += error.errno == errno.ECONNREFUSED
                    if refused > resends or error.errno not in _SENT_AGAIN:
                        raise
                    source_towards(namespace, address)  # fails without a route: WSAENETUNREACH
                else:
                    return sock
                await asyncio.sleep(max(0.0, started + WINDOWS_SYN_INTERVAL - loop.time()))
    except TimeoutError as error:
        if error.errno:
            raise
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)) from error


def listen(namespace: Namespace, port: int, address: str = "") -> socket.socket:
    """Return a listening socket; without ``address`` for both families, like Go's ``:port``."""
    return _bound(namespace, socket.SOCK_STREAM, port, address)


class Conversation:
    """A connected UDP socket to one peer; ``local`` and ``remote`` are ``address:port`` texts."""

    def __init__(self, machine: Machine, address: str, port: int) -> None:
        self._machine = machine
        self._sock = machine.namespace.socket(family(address), socket.SOCK_DGRAM)
        try:
            self._sock.connect((address, port))
        except OSError:
            self._sock.close()
            raise
        self.local = text(self._sock.getsockname())
        self.remote = join(address, port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._sock.close()

    async def send(self, data: bytes) -> None:
        """Send one datagram; ``OSError`` as on the program's OS."""
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, data)
        except OSError as error:
            raise datagram_error(self._machine.os, error) from error

    async def receive(self, size: int) -> bytes:
        """Wait for one datagram from the peer; the caller limits the wait."""
        try:
            return await asyncio.get_running_loop().sock_recv(self._sock, size)
        except OSError as error:
            raise datagram_error(self._machine.os, error) from error


def bind(namespace: Namespace, port: int, address: str = "") -> socket.socket:
    """Return a bound UDP socket; without ``address`` for both families."""
    return _bound(namespace, socket.SOCK_DGRAM, port, address)


def _bound(namespace: Namespace, kind: int, port: int, address: str) -> socket.socket:
    if address:
        return _bound_to(namespace, family(address), kind, (address, port))
    try:
        return _bound_to(namespace, socket.AF_INET6, kind, ("::", port))
    except OSError as error:
        if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            raise
        return _bound_to(namespace, socket.AF_INET, kind, ("", port))


def _bound_to(namespace: Namespace, family: int, kind: int, name: tuple[str, int]) -> socket.socket:
    sock = namespace.socket(family, kind)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(name[0] != "::"))
        if kind == socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(name)
        if kind == socket.SOCK_STREAM:
            sock.listen(_BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock
