"""Frames → packets: addresses, protocol, ports, resets, ICMP, and the VXLAN tunnel around them.

The innermost IP packet is the flow; what was wrapped around it is its ``encapsulation``. Frames that
carry no IP (ARP, LLDP) are no packets of a flow and give ``None``. No network socket is made; scapy queries
the kernel for its interfaces over netlink when it is imported.
"""

import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from nettests.model import ports
from nettests.model.facts import Address
from nettests.model.words import Protocol

# scapy warns on import about interfaces and routes that dissection never uses.
logging.getLogger("scapy").setLevel(logging.ERROR)

try:
    from scapy.layers.inet import ICMP, IP, TCP, UDP
    from scapy.layers.inet6 import IPv6, _ICMPv6
    from scapy.layers.l2 import Ether
    from scapy.layers.vxlan import VXLAN
    from scapy.packet import Packet as Layer
    from scapy.utils import PcapReader
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "nettests.wire reads captures with scapy, which is not installed (decision 0027): "
        'pip install "nettests[packets]"',
        name=error.name,
    ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Encapsulation:
    """A VXLAN tunnel (RFC 7348) around a packet: its ends, its network, its UDP port."""

    source: Address
    destination: Address
    vni: int
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One IP packet of a flow.

    Ports are ``None`` where the protocol has none, or where a fragment does not carry them;
    ``protocol`` is ``None`` for one the vocabulary does not know. ``icmp`` is type and code.
    """

    source: Address
    destination: Address
    protocol: Protocol | None
    source_mac: str
    destination_mac: str
    ttl: int
    source_port: int | None = None
    destination_port: int | None = None
    syn: bool = False
    ack: bool = False
    reset: bool = False
    icmp: tuple[int, int] | None = None
    payload: bytes = b""
    encapsulation: Encapsulation | None = None


def read_capture(capture: bytes) -> Iterator[Packet]:
    """Yield the IP packets of a capture file (pcap or pcapng) in its order."""
    with PcapReader(io.BytesIO(capture)) as frames:
        for frame in frames:
            packet = _packet(frame)
            if packet is not None:
                yield packet


def dissect(frame: bytes, *, vxlan_port: int | None = None) -> Packet | None:
    """Return the packet in an Ethernet frame, or ``None`` when it carries no IP.

    ``vxlan_port`` is another port than the usual ones that carries VXLAN.
    """
    return _packet(Ether(frame), vxlan_port)


def _packet(frame: Layer, vxlan_port: int | None = None) -> Packet | None:
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
    )
    return _flow(inner_frame, inner, wrapped)


def _ip(frame: Layer) -> Layer | None:
    """Return the frame's own IP layer: never one that an ICMP error quotes, never one in a tunnel."""
    for kind in (IP, IPv6):
        if kind in frame:
            return frame[kind]
    return None


def _tunnel(outer: Layer, vxlan_port: int | None) -> Layer | None:
    if UDP not in outer or _is_fragment(outer):
        return None
    carrying = {ports.VXLAN, ports.VXLAN_OF_LINUX} | ({vxlan_port} if vxlan_port else set())
    if outer[UDP].dport not in carrying:
        return None
    # scapy knows the usual ports; whatever else is stated is read here.
    return outer[VXLAN] if VXLAN in outer else VXLAN(bytes(outer[UDP].payload))


def _flow(frame: Layer, ip: Layer, wrapped: Encapsulation | None) -> Packet:
    segment = ip.payload
    tcp = isinstance(segment, TCP)
    ports = isinstance(segment, TCP | UDP)
    return Packet(
        source=ip_address(ip.src),
        destination=ip_address(ip.dst),
        protocol=_protocol(segment),
        source_mac=frame.src if isinstance(frame, Ether) else "",
        destination_mac=frame.dst if isinstance(frame, Ether) else "",
        ttl=ip.ttl if isinstance(ip, IP) else ip.hlim,
        source_port=segment.sport if ports else None,
        destination_port=segment.dport if ports else None,
        syn=tcp and "S" in segment.flags,
        ack=tcp and "A" in segment.flags,
        reset=tcp and "R" in segment.flags,
        icmp=(segment.type, segment.code) if isinstance(segment, ICMP | _ICMPv6) else None,
        payload=bytes(segment.payload) if ports else b"",
        encapsulation=wrapped,
    )


def _protocol(segment: Layer) -> Protocol | None:
    known = ((TCP, Protocol.TCP), (UDP, Protocol.UDP), (ICMP, Protocol.ICMP))
    for kind, protocol in (*known, (_ICMPv6, Protocol.ICMP)):
        if isinstance(segment, kind):
            return protocol
    return None


def _is_fragment(ip: Layer) -> bool:
    """Whether the packet is a later fragment, whose first bytes are no header."""
    return isinstance(ip, IP) and ip.frag > 0
