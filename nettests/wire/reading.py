"""Capture files, and frames that tools printed → packets, within limits.

A truncated capture is read as far as possible, and frames that cannot be dissected are reported; no
input makes this process crash or run without end.
"""

import io
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from scapy.error import Scapy_Exception
from scapy.packet import Packet as Layer
from scapy.utils import PcapReader

from nettests import outside_files
from nettests.errors import PathError
from nettests.model.limits import MIB
from nettests.tracing.packet import Capture, Direction, Frame, Packet, Sighting
from nettests.wire.dissect import dissect, goes_out, packet_of

CAPTURE_BYTES = 64 * MIB
"""Size limit of a capture file; one flow of a few seconds has kilobytes."""
CAPTURE_FRAMES = 50_000
"""The most frames read of a capture file: scapy dissects some thousands per second."""
DISSECTING_SECONDS = 30.0
"""Time limit for all frames of a capture file."""
UNREAD_SHOWN = 3
"""The most errors that are reported."""


def read_capture(capture: bytes) -> Iterator[Packet]:
    """Yield the IP packets of a capture file (pcap or pcapng) in its order."""
    with PcapReader(io.BytesIO(capture)) as frames:
        for frame in frames:
            packet = packet_of(frame)
            if packet is not None:
                yield packet


def read_file(node: str, path: Path, *, vxlan_port: int | None = None) -> Capture:
    """Return the contents of a node's capture file; ``PathError`` if it is none or too large."""
    try:
        content = outside_files.read_bytes(path, CAPTURE_BYTES)
    except OSError as error:
        raise PathError(
            f"{path} cannot be read: {error.strerror}",
            hint="shorten a large capture, for example with: tcpdump -r FILE -w SMALL.pcap port 28600",
        ) from error
    return read_bytes(node, content, str(path), vxlan_port=vxlan_port)


def read_bytes(node: str, content: bytes, name: str, *, vxlan_port: int | None = None) -> Capture:
    """Return the contents of a capture file, as far as it can be read; raises ``PathError``."""
    try:
        frames = PcapReader(io.BytesIO(content))
    except (Scapy_Exception, EOFError, ValueError) as error:
        raise PathError(
            f"{name} is not a capture: {error or 'it ends in its header'}",
            hint="captures are read as pcap or pcapng; pktmon etl2pcap converts a log of pktmon",
        ) from error
    taken = _Taken(node=node, vxlan_port=vxlan_port)
    try:
        with frames:
            for frame in islice(frames, CAPTURE_FRAMES + 1):
                if not taken.take(frame):
                    break
    except Exception as error:  # noqa: BLE001 - scapy raises what struct, zlib and its own layers raise
        taken.doubt = f"{name} was read until it breaks off: {type(error).__name__}: {error}"
    if not taken.doubt and _breaks_off(content):
        taken.doubt = f"{name} breaks off in the middle of a frame"
    if not taken.sightings and not taken.doubt:
        taken.doubt = f"{name} holds no IP packet"
    return taken.capture()


_PCAP = {
    magic: order
    for order in "<>"
    for magic in (struct.pack(f"{order}I", 0xA1B2C3D4), struct.pack(f"{order}I", 0xA1B23C4D))
}
_FILE_HEADER, _FRAME_HEADER, _LENGTH_AT = 24, 16, 8


def _breaks_off(content: bytes) -> bool:
    """Whether a pcap ends within a frame, which scapy does not report."""
    order = _PCAP.get(content[:4])
    if order is None:
        return False
    at = _FILE_HEADER
    while at < len(content):
        if at + _FRAME_HEADER > len(content):
            return True
        (length,) = struct.unpack_from(f"{order}I", content, at + _LENGTH_AT)
        at += _FRAME_HEADER + length
    return at > len(content)


@dataclass(slots=True)
class _Taken:
    node: str
    vxlan_port: int | None
    sightings: list[Sighting] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    doubt: str = ""
    frames: int = 0
    began: float = field(default_factory=time.monotonic)

    def take(self, frame: Layer) -> bool:
        """Dissect one more frame; return whether to continue."""
        self.frames += 1
        if self.frames > CAPTURE_FRAMES:
            self.doubt = f"only its first {CAPTURE_FRAMES} frames were read"
            return False
        if time.monotonic() - self.began > DISSECTING_SECONDS:
            self.doubt = (
                f"only its first {self.frames} frames were read, in {DISSECTING_SECONDS:.0f} s"
            )
            return False
        try:
            packet = packet_of(frame, self.vxlan_port)
        except Exception as error:  # noqa: BLE001 - whatever a malformed header makes of a dissector
            if len(self.unread) < UNREAD_SHOWN:
                self.unread.append(f"frame {self.frames}: {type(error).__name__}: {error}"[:160])
            return True
        if packet is not None:
            out = goes_out(frame)
            self.sightings.append(
                Sighting(
                    node=self.node,
                    time=float(frame.time),
                    packet=packet,
                    interface=str(frame.sniffed_on or ""),
                    direction=Direction.UNKNOWN if out is None else _DIRECTIONS[out],
                )
            )
        return True

    def capture(self) -> Capture:
        return Capture(
            node=self.node,
            sightings=tuple(self.sightings),
            doubt=self.doubt,
            unread=tuple(self.unread),
        )


_DIRECTIONS = {True: Direction.OUT, False: Direction.IN}


def dissected(
    node: str, frames: Iterable[Frame], *, vxlan_port: int | None = None
) -> tuple[tuple[tuple[Frame, Sighting], ...], tuple[str, ...]]:
    """Return the packets in frames from a node's tool, each with its frame, and the errors."""
    packets: list[tuple[Frame, Sighting]] = []
    unread: list[str] = []
    for frame in islice(frames, CAPTURE_FRAMES):
        try:
            packet = dissect(frame.data, vxlan_port=vxlan_port, ethernet=frame.ethernet)
        except Exception as error:  # noqa: BLE001 - whatever a malformed header makes of a dissector
            if len(unread) < UNREAD_SHOWN:
                unread.append(f"{type(error).__name__}: {error}"[:160])
            continue
        if packet is not None:
            seen = Sighting(
                node=node,
                time=frame.time,
                packet=packet,
                interface=frame.interface,
                direction=frame.direction,
                edge=frame.edge,
                drop=frame.drop,
                edge_id=frame.edge_id,
            )
            packets.append((frame, seen))
    return tuple(packets), tuple(unread)
