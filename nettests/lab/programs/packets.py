"""Captured frames of a namespace, for the lab's ``tcpdump`` and ``pktmon``.

A packet socket sees packets that enter an interface before all rules, and packets that leave it after all rules.
Only the headers that filters and output need are parsed.
"""

import asyncio
import ipaddress
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

from nettests.lab.interfaces import Namespace

ETH_P_ALL, OTHER_HOST, OUTGOING = 0x0003, 3, 4
IPV4, IPV6 = 0x0800, 0x86DD
ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
_LONGEST = 262144
SOL_PACKET, PACKET_STATISTICS = 263, 6
_COUNTERS = struct.Struct("II")
_BUFFER = 4 * 1024 * 1024
ETHERNET = 14
_NAMES = {ICMP: "ICMP", ICMPV6: "ICMP6"}
_FLAGS = ((0x02, "S"), (0x01, "F"), (0x04, "R"), (0x08, "P"), (0x10, "."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A captured frame: its interface, time and bytes, with the Ethernet header if requested."""

    time: float
    interface: str
    out: bool
    data: bytes
    other_host: bool = False
    """Whether it was addressed to another machine's MAC."""


class Sniffer:
    """Calls ``take`` with each IP frame at any interface of the namespace, during the block."""

    def __init__(
        self, namespace: Namespace, take: Callable[[Taken], None], *, ethernet: bool
    ) -> None:
        self._take = take
        kind = socket.SOCK_RAW if ethernet else socket.SOCK_DGRAM
        self._socket = namespace.socket(socket.AF_PACKET, kind, socket.htons(ETH_P_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._socket, self._read)
        return self

    def __exit__(self, *_error: object) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._read()
        self._socket.close()

    def dropped(self) -> int:
        """Return how many frames the kernel has dropped since the last call (packet(7))."""
        counted = self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, _COUNTERS.size)
        return int(_COUNTERS.unpack(counted)[1])

    def _read(self) -> None:
        while True:
            try:
                data, (name, protocol, kind, *_) = self._socket.recvfrom(_LONGEST)
            except BlockingIOError:
                return
            if protocol in {IPV4, IPV6}:
                way = {"out": kind == OUTGOING, "other_host": kind == OTHER_HOST}
                self._take(Taken(time=time.time(), interface=name, data=data, **way))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The headers of an IP packet: addresses, protocol, ports if any, and the IP payload."""

    source: str
    destination: str
    protocol: int
    ports: tuple[int, ...]
    segment: bytes
    length: int

    @property
    def inner(self) -> bytes:
        """The IP packet inside a VXLAN or GENEVE packet without options; empty if the packet is too short."""
        return self.segment[8 + 8 + ETHERNET :] if self.protocol == UDP else b""


def heads(packet: bytes) -> Heads | None:
    """Parse the headers of an IP packet; ``None`` if it is not one."""
    if len(packet) < 20:
        return None
    if packet[0] >> 4 == 4:
        start, protocol = 4 * (packet[0] & 0xF), packet[9]
        ends, length = (packet[12:16], packet[16:20]), int.from_bytes(packet[2:4])
        later = bool(int.from_bytes(packet[6:8]) & 0x1FFF)
    elif packet[0] >> 4 == 6 and len(packet) >= 40:
        start, protocol, later = 40, packet[6], False
        ends, length = (packet[8:24], packet[24:40]), int.from_bytes(packet[4:6]) + 40
    else:
        return None
    segment = packet[start:]
    has_ports = protocol in {TCP, UDP} and len(segment) >= 4 and not later
    return Heads(
        source=str(ipaddress.ip_address(ends[0])),
        destination=str(ipaddress.ip_address(ends[1])),
        protocol=protocol,
        ports=(int.from_bytes(segment[:2]), int.from_bytes(segment[2:4])) if has_ports else (),
        segment=segment,
        length=length,
    )


def described(headers: Heads) -> str:
    """Describe a packet like tcpdump and pktmon: ``10.0.0.1.80 > 10.0.0.2.5000: Flags [S.], seq 1, length 0``."""
    if not headers.ports:
        return f"{headers.source} > {headers.destination}: {_NAMES.get(headers.protocol, 'ip-proto')}, length {len(headers.segment)}"
    ends = f"{headers.source}.{headers.ports[0]} > {headers.destination}.{headers.ports[1]}"
    if headers.protocol == UDP:
        return f"{ends}: UDP, length {max(0, len(headers.segment) - 8)}"
    if len(headers.segment) < 16:
        return f"{ends}: tcp"
    flags = "".join(letter for bit, letter in _FLAGS if headers.segment[13] & bit)
    sequence = int.from_bytes(headers.segment[4:8])
    window = int.from_bytes(headers.segment[14:16])
    data = max(0, len(headers.segment) - 4 * (headers.segment[12] >> 4))
    return f"{ends}: Flags [{flags}], seq {sequence}, win {window}, length {data}"


def hexadecimal(data: bytes) -> Iterator[str]:
    """Yield the lines of a hex dump, as both programs print it."""
    for start in range(0, len(data), 16):
        digits = data[start : start + 16].hex()
        words = (digits[at : at + 4] for at in range(0, len(digits), 4))
        yield f"\t0x{start:04x}:  {' '.join(words)}"
