"""Frames → packets: addresses, ports, flags, ICMP with its quoted packet, the tunnel around them.

The innermost IP packet is the flow's; what encapsulates it (VXLAN or GENEVE) is its
``encapsulation``. Frames without IP (ARP, LLDP) yield ``None``. No network socket is opened; scapy
reads the kernel's interfaces over netlink when it is imported.
"""

import logging
from ipaddress import ip_address

from nettests.model import ports
from nettests.model.words import Protocol
from nettests.tracing.packet import Encapsulation, Packet, Quoted

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

    ``vxlan_port`` is one besides the usual ones. Without ``ethernet``, the frame starts with IP.
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
    """Return the frame's outermost IP layer, not one in an ICMP error or a tunnel."""
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
    # scapy knows the usual ports; ``vxlan_port`` is handled here.
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
        fragment=fragment is not None or _is_fragment(ip),
        length=length,
        carried=_carried(ip, segment, length) if ports else 0,
        payload=bytes(segment.payload) if ports else b"",
        encapsulation=wrapped,
    )


def _length(ip: Layer) -> int:
    """Return the packet's length from its header; 0 if it states none."""
    if isinstance(ip, IP):
        return int(ip.len or 0)
    return int(ip.plen or 0) + IPV6_HEADER


def _carried(ip: Layer, segment: Layer, length: int) -> int:
    header = 4 * int(segment.dataofs or 0) if isinstance(segment, TCP) else 8
    ip_header = 4 * int(ip.ihl or 0) if isinstance(ip, IP) else IPV6_HEADER
    return max(0, length - ip_header - header)


def _quoted(segment: Layer) -> Quoted | None:
    """Return the packet that an ICMP error quotes, for which scapy has separate layers."""
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


def _is_fragment(ip: Layer) -> bool:
    return isinstance(ip, IP) and (ip.frag > 0 or "MF" in ip.flags)


def goes_out(frame: Layer) -> bool | None:
    """Return whether a frame was outgoing, by its ``LINUX_SLL`` header; ``None`` without one."""
    for kind in (CookedLinux, CookedLinuxV2):
        if kind in frame:
            return bool(frame[kind].pkttype == OUTGOING)
    return None


OUTGOING = 4
"""``PACKET_OUTGOING`` of Linux's ``if_packet.h``."""
