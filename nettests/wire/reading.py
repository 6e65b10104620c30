"""Capture files, and frames printed by a node's tool → packets, within limits.

A truncated capture is read as far as it goes, and frames that cannot be dissected are counted and reported; no input
makes this process crash or run without end. Uses ``dissect``.

The innermost IP packet is the flow; what was wrapped around it (VXLAN or GENEVE) is its ``encapsulation``. Frames
without IP (ARP, LLDP) give ``None``. No network socket is opened; scapy reads the kernel's interfaces over netlink
when it is imported.
"""

import io
import logging
import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import islice
from pathlib import Path

from scapy.error import Scapy_Exception
from scapy.packet import Packet as Layer
from scapy.utils import PcapReader

from nettests import outside_files
from nettests.errors import PathError
from nettests.model import ports
from nettests.model.limits import MIB
from nettests.model.words import Protocol
from nettests.tracing.packet import (
    Capture,
    Direction,
    Encapsulation,
    Frame,
    Packet,
    Quoted,
    Sighting,
)

CAPTURE_BYTES = 64 * MIB
"""Size limit of one capture file. One flow of a few seconds has kilobytes."""
CAPTURE_FRAMES = 50_000
"""Most frames of one capture file: scapy dissects some thousands a second."""
DISSECTING_SECONDS = 30.0
"""Time limit for all frames of one capture file."""
UNREAD_SHOWN = 3
"""How many frames or lines that were not understood are shown."""


def read_capture(capture: bytes) -> Iterator[Packet]:
    """Yield the IP packets of a capture file (pcap or pcapng) in its order."""
    with PcapReader(io.BytesIO(capture)) as frames:
        for frame in frames:
            packet = packet_of(frame)
            if packet is not None:
                yield packet


def read_file(node: str, path: Path, *, vxlan_port: int | None = None) -> Capture:
    """Return the contents of a node's capture file; ``PathError`` if it is none, or is too large."""
    try:
        content = outside_files.read_bytes(path, CAPTURE_BYTES)
    except OSError as error:
        raise PathError(
            f"{path} cannot be read: {error.strerror}",
            hint="a large capture is cut by, for example: tcpdump -r FILE -w SMALL.pcap port 28600",
        ) from error
    return read_bytes(node, content, str(path), vxlan_port=vxlan_port)


def read_bytes(node: str, content: bytes, name: str, *, vxlan_port: int | None = None) -> Capture:
    """Return the contents of a capture file, as far as it can be read."""
    try:
        frames = PcapReader(io.BytesIO(content))
    except (Scapy_Exception, EOFError, ValueError) as error:
        raise PathError(
            f"{name} is no capture: {error or 'it ends in its header'}",
            hint="captures are read as pcap or pcapng; pktmon etl2pcap makes one of a log of pktmon",
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
    """Whether a pcap ends within a frame: the rest is missing, and scapy does not report it."""
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
    """The packets of one file so far."""

    node: str
    vxlan_port: int | None
    sightings: list[Sighting] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    doubt: str = ""
    frames: int = 0
    began: float = field(default_factory=time.monotonic)

    def take(self, frame: Layer) -> bool:
        """Dissect one more frame; return whether another one is wanted."""
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
    """Return the packets in a node tool's frames, each with its frame, and the errors of unreadable frames."""
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


# scapy warns on import about interfaces and routes that dissection never uses.
logging.getLogger("scapy").setLevel(logging.ERROR)

try:
    from scapy.contrib.geneve import GENEVE
    from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror
    from scapy.layers.inet6 import IPerror6, IPv6, IPv6ExtHdrFragment, _ICMPv6
    from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Ether
    from scapy.layers.vxlan import VXLAN
    from scapy.packet import Packet as Layer
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "nettests.wire reads captures with scapy, which is not installed (decision 0027): "
        'pip install "nettests[packets]"',
        name=error.name,
    ) from error

IPV4_VERSION, IPV6_HEADER = 4, 40


def dissect(frame: bytes, *, vxlan_port: int | None = None, ethernet: bool = True) -> Packet | None:
    """Return the packet in an Ethernet frame, or ``None`` if it carries no IP.

    ``vxlan_port`` is a VXLAN port besides the usual ones. Without ``ethernet`` the frame begins with its IP header.
    """
    if ethernet:
        return packet_of(Ether(frame), vxlan_port)
    if not frame:
        return None
    return packet_of(IP(frame) if frame[0] >> 4 == IPV4_VERSION else IPv6(frame), vxlan_port)


def packet_of(frame: Layer, vxlan_port: int | None = None) -> Packet | None:
    """Return the packet from scapy's layers."""
    outer = _ip(frame)
    if outer is None:
        return None
    tunnel = _tunnel(outer, vxlan_port)
    if tunnel is None:
        return _flow(frame, outer, None)
    inner_frame = tunnel.payload
    inner = _ip(inner_frame)
    if inner is None:
        return None
    wrapped = Encapsulation(
        source=ip_address(outer.src),
        destination=ip_address(outer.dst),
        vni=tunnel.vni,
        port=outer[UDP].dport,
        kind="GENEVE" if isinstance(tunnel, GENEVE) else "VXLAN",
    )
    return _flow(inner_frame, inner, wrapped)


def _ip(frame: Layer) -> Layer | None:
    """Return the frame's own IP layer: never one that an ICMP error quotes, never one in a tunnel."""
    for kind in (IP, IPv6):
        if kind in frame:
            return frame[kind]
    return None


def _tunnel(outer: Layer, vxlan_port: int | None) -> Layer | None:
    if UDP not in outer or (isinstance(outer, IP) and outer.frag > 0):
        return None
    port = outer[UDP].dport
    if port == ports.GENEVE:
        return outer[GENEVE] if GENEVE in outer else GENEVE(bytes(outer[UDP].payload))
    carrying = {ports.VXLAN, ports.VXLAN_OF_LINUX} | ({vxlan_port} if vxlan_port else set())
    if port not in carrying:
        return None
    # scapy knows the usual ports; another stated one is read here.
    return outer[VXLAN] if VXLAN in outer else VXLAN(bytes(outer[UDP].payload))


def _flow(frame: Layer, ip: Layer, wrapped: Encapsulation | None) -> Packet:
    fragment = ip.payload if isinstance(ip.payload, IPv6ExtHdrFragment) else None
    segment = ip.payload if fragment is None else fragment.payload
    tcp = isinstance(segment, TCP)
    ports = isinstance(segment, TCP | UDP)
    icmp = isinstance(segment, ICMP | _ICMPv6)
    length = _length(ip)
    ethernet = isinstance(frame, Ether)
    return Packet(
        source=ip_address(ip.src),
        destination=ip_address(ip.dst),
        protocol=_protocol(segment),
        source_mac=frame.src if ethernet else "",
        destination_mac=frame.dst if ethernet else "",
        ttl=ip.ttl if isinstance(ip, IP) else ip.hlim,
        source_port=segment.sport if ports else None,
        destination_port=segment.dport if ports else None,
        syn=tcp and "S" in segment.flags,
        ack=tcp and "A" in segment.flags,
        reset=tcp and "R" in segment.flags,
        fin=tcp and "F" in segment.flags,
        sequence=segment.seq if tcp else None,
        icmp=(segment.type, segment.code) if icmp else None,
        quoted=_quoted(segment) if icmp else None,
        fragment=fragment is not None or (isinstance(ip, IP) and (ip.frag > 0 or "MF" in ip.flags)),
        length=length,
        carried=_carried(ip, segment, length) if ports else 0,
        payload=bytes(segment.payload) if ports else b"",
        encapsulation=wrapped,
    )


def _length(ip: Layer) -> int:
    """Return the packet's length by its header; 0 if that states none."""
    if isinstance(ip, IP):
        return int(ip.len or 0)
    return int(ip.plen or 0) + IPV6_HEADER


def _carried(ip: Layer, segment: Layer, length: int) -> int:
    header = 4 * int(segment.dataofs or 0) if isinstance(segment, TCP) else 8
    ip_header = 4 * int(ip.ihl or 0) if isinstance(ip, IP) else IPV6_HEADER
    return max(0, length - ip_header - header)


def _quoted(segment: Layer) -> Quoted | None:
    """Return the packet that an ICMP error quotes; scapy has separate names for its layers."""
    for kind in (IPerror, IPerror6):
        if kind in segment:
            inner = segment[kind]
            rest = inner.payload
            return Quoted(
                source=ip_address(inner.src),
                destination=ip_address(inner.dst),
                source_port=getattr(rest, "sport", None),
                destination_port=getattr(rest, "dport", None),
            )
    return None


def _protocol(segment: Layer) -> Protocol | None:
    kinds = ((TCP, Protocol.TCP), (UDP, Protocol.UDP), (ICMP, Protocol.ICMP))
    for kind, protocol in (*kinds, (_ICMPv6, Protocol.ICMP)):
        if isinstance(segment, kind):
            return protocol
    return None


def goes_out(frame: Layer) -> bool | None:
    """Return which way a frame went, by the capture's own header (``LINUX_SLL``); ``None`` without one."""
    for kind in (CookedLinux, CookedLinuxV2):
        if kind in frame:
            return bool(frame[kind].pkttype == OUTGOING)
    return None


OUTGOING = 4
"""``PACKET_OUTGOING`` of Linux' ``if_packet.h``."""
