"""ICMP echo over a raw socket in the container's namespace: what ``ping`` of either OS is made of.

The reply's TTL and source are read from the packet that came; nothing is assumed. IPv4 only.
"""

import asyncio
import errno
import os
import socket
import struct
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

from nettests.lab.interfaces import Namespace
from nettests.lab.programs.sockets.route import source_towards

_ECHO_REPLY, _UNREACHABLE, _ECHO_REQUEST, _EXCEEDED = 0, 3, 8, 11
_MTU_DISCOVER, _DO, _MTU = 10, 2, 14
"""``IP_MTU_DISCOVER``, ``IP_PMTUDISC_DO`` and ``IP_MTU`` (ip(7)): Python has no names for them."""
_HEADER = struct.Struct("!BBHHH")


class Answer(StrEnum):
    """What came back for one echo request."""

    REPLY = "reply"
    UNREACHABLE = "unreachable"
    EXCEEDED = "exceeded"
    TOO_LARGE = "too large"
    """It was not sent: the link takes no packet of that size, and it must not be split."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """One echo request's end: ``source`` sent the answer; ``code`` is the ICMP code."""

    answer: Answer
    source: str = ""
    ttl: int = 0
    code: int = 0
    size: int = 0
    milliseconds: float = 0.0


class EchoSocket:
    """Sends echo requests to one address and waits for what belongs to them.

    ``whole`` ones are never split. ``OSError`` when the namespace has no route to it.
    """

    def __init__(self, namespace: Namespace, address: str, *, whole: bool = False) -> None:
        source_towards(namespace, address)
        self._sock = namespace.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        if whole:
            self._sock.setsockopt(socket.IPPROTO_IP, _MTU_DISCOVER, _DO)
        self._identifier = int.from_bytes(os.urandom(2), "big")
        self._address = address
        self._namespace = namespace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sock.close()

    async def echo(self, sequence: int, payload: bytes, *, limit: float) -> Echo:
        """Send one request and return what answered it within ``limit`` seconds."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        packet = _request(self._identifier, sequence, payload)
        try:
            async with asyncio.timeout(limit):
                await loop.sock_sendto(self._sock, packet, (self._address, 0))
                while True:
                    data = await loop.sock_recv(self._sock, 65535)
                    found = _read(data, self._identifier, sequence, loop.time() - started)
                    if found:
                        return found
        except TimeoutError:
            return Echo(answer=Answer.NOTHING)
        except OSError as error:
            if error.errno != errno.EMSGSIZE:
                raise
            return Echo(answer=Answer.TOO_LARGE, size=self._path_mtu())

    def _path_mtu(self) -> int:
        """Return what the kernel knows to fit on the way."""
        with self._namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((self._address, 9))
            return probe.getsockopt(socket.IPPROTO_IP, _MTU)


def _request(identifier: int, sequence: int, payload: bytes) -> bytes:
    blank = _HEADER.pack(_ECHO_REQUEST, 0, 0, identifier, sequence)
    checksum = _checksum(blank + payload)
    return _HEADER.pack(_ECHO_REQUEST, 0, checksum, identifier, sequence) + payload


def _checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _read(packet: bytes, identifier: int, sequence: int, seconds: float) -> Echo | None:
    """Return what ``packet`` (with its IPv4 header) says about our request, if anything."""
    length = (packet[0] & 0x0F) * 4
    body = packet[length:]
    if len(body) < _HEADER.size:
        return None
    kind, code, _, its_identifier, its_sequence = _HEADER.unpack_from(body)
    common = {"source": socket.inet_ntoa(packet[12:16]), "ttl": packet[8], "code": code}
    size = len(body) - _HEADER.size
    spent = seconds * 1000
    if kind == _ECHO_REPLY and (its_identifier, its_sequence) == (identifier, sequence):
        return Echo(answer=Answer.REPLY, size=size, milliseconds=spent, **common)
    answers = {_UNREACHABLE: Answer.UNREACHABLE, _EXCEEDED: Answer.EXCEEDED}
    if kind in answers and _quotes(body[_HEADER.size :], identifier, sequence):
        return Echo(answer=answers[kind], size=size, milliseconds=spent, **common)
    return None


def _quotes(original: bytes, identifier: int, sequence: int) -> bool:
    """Tell whether an ICMP error quotes our request (its IPv4 header and eight bytes)."""
    if len(original) < 28:
        return False
    inner = original[(original[0] & 0x0F) * 4 :]
    if len(inner) < _HEADER.size:
        return False
    kind, _, _, its_identifier, its_sequence = _HEADER.unpack_from(inner)
    return (kind, its_identifier, its_sequence) == (_ECHO_REQUEST, identifier, sequence)
