"""ICMP echo over a raw socket in the container's namespace, for ``ping`` of both systems.

TTL and source are those of the received packet. The kernel delivers ICMPv6 without the IP header, with
source and hop limit as ancillary data, and computes its checksum.
"""

import asyncio
import errno
import os
import socket
import struct
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from nettests.lab.interfaces import Namespace
from nettests.lab.programs.sockets.transport import family, source_towards

_ECHO_REPLY, _UNREACHABLE, _ECHO_REQUEST, _EXCEEDED = 0, 3, 8, 11
_MTU_DISCOVER, _DO, _MTU = 10, 2, 14
"""``IP_MTU_DISCOVER``, ``IP_PMTUDISC_DO`` and ``IP_MTU`` (ip(7)): Python has no names for them."""
_IPV6_MTU_DISCOVER, _IPV6_MTU = 23, 24
"""The same for ipv6(7)."""
_IPV6_REQUEST = 128
_IPV6_ANSWERS = {1: _UNREACHABLE, 3: _EXCEEDED, 129: _ECHO_REPLY}
"""Types of ICMPv6, with the equivalent types of ICMP."""
_IPV6_HEADER = 40
_HEADER = struct.Struct("!BBHHH")


class Answer(StrEnum):
    """The answer to one echo request."""

    REPLY = "reply"
    UNREACHABLE = "unreachable"
    EXCEEDED = "exceeded"
    TOO_LARGE = "too large"
    """The request was not sent: it exceeds the link's MTU and must not be fragmented."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """The result of an echo request: ``source`` sent the answer; ``code`` is the ICMP code."""

    answer: Answer
    source: str = ""
    ttl: int = 0
    code: int = 0
    size: int = 0
    milliseconds: float = 0.0


class EchoSocket:
    """Sends echo requests to one address and waits for their answers.

    With ``whole`` they must not be fragmented. ``OSError`` if the namespace has no route to the address.
    """

    def __init__(self, namespace: Namespace, address: str, *, whole: bool = False) -> None:
        source_towards(namespace, address)
        self._family = family(address)
        ipv6 = self._family is socket.AF_INET6
        protocol = socket.IPPROTO_ICMPV6 if ipv6 else socket.IPPROTO_ICMP
        self._sock = namespace.socket(self._family, socket.SOCK_RAW, protocol)
        if ipv6:
            self._sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        if whole and ipv6:
            self._sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _DO)
        elif whole:
            self._sock.setsockopt(socket.IPPROTO_IP, _MTU_DISCOVER, _DO)
        self._identifier = int.from_bytes(os.urandom(2), "big")
        self._address = address
        self._namespace = namespace

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._sock.close()

    async def echo(self, sequence: int, payload: bytes, *, limit: float) -> Echo:
        """Send one request and return its answer within ``limit`` seconds."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        packet = _request(self._family, self._identifier, sequence, payload)
        try:
            async with asyncio.timeout(limit):
                await loop.sock_sendto(self._sock, packet, (self._address, 0))
                while True:
                    message = await self._receive()
                    echo = _read(message, self._identifier, sequence, loop.time() - started)
                    if echo:
                        return echo
        except TimeoutError:
            return Echo(answer=Answer.NOTHING)
        except OSError as error:
            if error.errno != errno.EMSGSIZE:
                raise
            return Echo(answer=Answer.TOO_LARGE, size=self._path_mtu())

    def _path_mtu(self) -> int:
        ipv6 = self._family is socket.AF_INET6
        option = (socket.IPPROTO_IPV6, _IPV6_MTU) if ipv6 else (socket.IPPROTO_IP, _MTU)
        with self._namespace.socket(self._family, socket.SOCK_DGRAM) as probe:
            probe.connect((self._address, 9))
            return probe.getsockopt(*option)

    async def _receive(self) -> "_Message":
        loop = asyncio.get_running_loop()
        if self._family is not socket.AF_INET6:
            packet = await loop.sock_recv(self._sock, 65535)
            body = packet[(packet[0] & 0x0F) * 4 :]  # behind the IPv4 header
            return _Message(source=socket.inet_ntoa(packet[12:16]), ttl=packet[8], body=body)
        arrived = asyncio.Event()
        loop.add_reader(self._sock, arrived.set)
        try:
            await arrived.wait()
        finally:
            loop.remove_reader(self._sock)
        body, beside, _flags, sender = self._sock.recvmsg(65535, socket.CMSG_SPACE(4))
        hops = [int.from_bytes(data, sys.byteorder) for _level, _kind, data in beside]
        return _Message(source=sender[0], ttl=hops[0] if hops else 0, body=body, ipv6=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A received message: its source, its TTL or hop limit, and the ICMP message."""

    source: str
    ttl: int
    body: bytes
    ipv6: bool = False


def _request(family: socket.AddressFamily, identifier: int, sequence: int, payload: bytes) -> bytes:
    if family is socket.AF_INET6:  # the kernel fills the checksum in
        return _HEADER.pack(_IPV6_REQUEST, 0, 0, identifier, sequence) + payload
    blank = _HEADER.pack(_ECHO_REQUEST, 0, 0, identifier, sequence)
    checksum = _checksum(blank + payload)
    return _HEADER.pack(_ECHO_REQUEST, 0, checksum, identifier, sequence) + payload


def _checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _read(message: _Message, identifier: int, sequence: int, seconds: float) -> Echo | None:
    body = message.body
    if len(body) < _HEADER.size:
        return None
    kind, code, _, its_identifier, its_sequence = _HEADER.unpack_from(body)
    if message.ipv6:
        kind = _IPV6_ANSWERS.get(kind, -1)
    common = {"source": message.source, "ttl": message.ttl, "code": code}
    size = len(body) - _HEADER.size
    spent = seconds * 1000
    if kind == _ECHO_REPLY and (its_identifier, its_sequence) == (identifier, sequence):
        return Echo(answer=Answer.REPLY, size=size, milliseconds=spent, **common)
    answers = {_UNREACHABLE: Answer.UNREACHABLE, _EXCEEDED: Answer.EXCEEDED}
    if kind in answers and _quotes(body[_HEADER.size :], identifier, sequence):
        return Echo(answer=answers[kind], size=size, milliseconds=spent, **common)
    return None


def _quotes(original: bytes, identifier: int, sequence: int) -> bool:
    """Whether an ICMP error quotes our request (its IP header and eight bytes)."""
    if len(original) < 28:
        return False
    ipv6 = original[0] >> 4 == 6
    inner = original[_IPV6_HEADER if ipv6 else (original[0] & 0x0F) * 4 :]
    if len(inner) < _HEADER.size:
        return False
    queried = _IPV6_REQUEST if ipv6 else _ECHO_REQUEST
    kind, _, _, its_identifier, its_sequence = _HEADER.unpack_from(inner)
    return (kind, its_identifier, its_sequence) == (queried, identifier, sequence)
