"""Frames → a capture file per node. Pure.

Ethernet headers are left out, because not all tools show them; tunnels are kept. Sources:
draft-ietf-opsawg-pcap, section 4 and 5; tcpdump.org, "link-layer header types" (101).
"""

import struct
from collections.abc import Iterable

from nettests.tracing.mark import IPV4_HEADER, IPV6_HEADER
from nettests.tracing.packet import Frame

MAGIC, MAJOR, MINOR = 0xA1B2C3D4, 2, 4
SNAP_LENGTH, RAW = 65535, 101
IPV4, IPV6 = 4, 6
ETHERNET_HEADER = 14
IP_TYPES = frozenset({b"\x08\x00", b"\x86\xdd"})


def pcap(frames: Iterable[Frame]) -> bytes:
    """Return a capture file of the frames that carry IP."""
    parts = [struct.pack("<IHHiIII", MAGIC, MAJOR, MINOR, 0, 0, SNAP_LENGTH, RAW)]
    for frame in frames:
        data = _from_ip(frame)
        if data:
            whole, part = int(frame.time), round(frame.time % 1 * 1_000_000) % 1_000_000
            parts.append(
                struct.pack("<IIII", whole & 0xFFFFFFFF, part, len(data), _length(data)) + data
            )
    return b"".join(parts)


def _length(data: bytes) -> int:
    """Return the packet's length by its header, because a capture may be truncated."""
    stated = 0
    if data[0] >> 4 == IPV4 and len(data) >= IPV4_HEADER:
        stated = int.from_bytes(data[2:4])
    elif data[0] >> 4 == IPV6 and len(data) >= IPV6_HEADER:
        stated = int.from_bytes(data[4:6]) + IPV6_HEADER
    return max(len(data), stated)


def _from_ip(frame: Frame) -> bytes:
    if not frame.ethernet:
        return frame.data[:SNAP_LENGTH]
    if frame.data[12:ETHERNET_HEADER] not in IP_TYPES:
        return b""
    return frame.data[ETHERNET_HEADER : ETHERNET_HEADER + SNAP_LENGTH]
