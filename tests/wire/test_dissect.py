"""Frames are read as the flow they carry, with the tunnel around it."""

import subprocess
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror, UDPerror
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet as Layer
from scapy.packet import Raw
from scapy.utils import PcapNgWriter, PcapWriter

from nettests.model.words import Protocol
from nettests.wire import Encapsulation, Packet, dissect, read_capture

POD, BACKEND = "10.244.2.7", "10.244.0.9"
NODE_A, NODE_B = "172.30.0.21", "172.30.0.11"
FRAME = Ether(src="00:15:5d:00:00:07", dst="00:15:5d:00:00:01")


def flow(layer: Layer, source: str = POD, destination: str = BACKEND) -> Layer:
    return FRAME / IP(src=source, dst=destination, ttl=63) / layer


def tunnelled(inner: Layer, port: int = 4789) -> Layer:
    outer = IP(src=NODE_A, dst=NODE_B) / UDP(sport=50000, dport=port)
    return Ether(src="02:00:00:00:00:21", dst="02:00:00:00:00:11") / outer / VXLAN(vni=4096) / inner


def read(frame: Layer, vxlan_port: int | None = None) -> Packet:
    packet = dissect(bytes(frame), vxlan_port=vxlan_port)
    assert packet is not None
    return packet


def test_a_plain_tcp_packet_is_its_own_flow() -> None:
    """Addresses, ports, hop limit, MACs and payload of an ordinary packet."""
    packet = read(flow(TCP(sport=49152, dport=8080, flags="PA") / Raw(b"GET /")))
    assert packet == Packet(
        source=ip_address(POD),
        destination=ip_address(BACKEND),
        protocol=Protocol.TCP,
        source_mac="00:15:5d:00:00:07",
        destination_mac="00:15:5d:00:00:01",
        ttl=63,
        source_port=49152,
        destination_port=8080,
        ack=True,
        sequence=0,
        length=45,
        carried=5,
        payload=b"GET /",
    )


@pytest.mark.parametrize(
    ("flags", "syn", "ack", "reset"),
    [("S", True, False, False), ("SA", True, True, False), ("RA", False, True, True)],
)
def test_flags_tell_an_opening_from_a_refusal(
    flags: str, syn: bool, ack: bool, reset: bool
) -> None:
    """SYN, SYN+ACK and RST are told apart."""
    packet = read(flow(TCP(flags=flags)))
    assert (packet.syn, packet.ack, packet.reset) == (syn, ack, reset)


def test_a_udp_packet_has_no_flags() -> None:
    """UDP has ports and a payload, never a reset."""
    packet = read(flow(UDP(sport=5000, dport=8081) / Raw(b"hostname")))
    assert packet.protocol is Protocol.UDP
    assert (packet.source_port, packet.destination_port) == (5000, 8081)
    assert packet.payload == b"hostname"
    assert not packet.reset


def test_vxlan_is_taken_off_and_told() -> None:
    """The flow is the inner packet; the tunnel has the nodes' addresses, VNI and port."""
    packet = read(tunnelled(flow(TCP(dport=8080))))
    assert (str(packet.source), str(packet.destination)) == (POD, BACKEND)
    assert packet.source_mac == "00:15:5d:00:00:07"
    assert packet.encapsulation == Encapsulation(
        source=ip_address(NODE_A), destination=ip_address(NODE_B), vni=4096, port=4789
    )


def test_vxlan_on_another_port_is_read_where_it_is_stated() -> None:
    """A cluster may choose its own port: without being told, it is a UDP flow of the nodes."""
    frame = tunnelled(flow(TCP(dport=8080)), port=14789)
    untold, told = read(frame), read(frame, vxlan_port=14789)
    assert untold.encapsulation is None
    assert str(untold.source) == NODE_A
    assert told.encapsulation is not None
    assert (told.encapsulation.port, told.encapsulation.vni) == (14789, 4096)
    assert str(told.source) == POD


def test_an_arp_inside_a_tunnel_is_no_flow() -> None:
    """Only IP is a flow, inside a tunnel too."""
    assert dissect(bytes(tunnelled(FRAME / ARP()))) is None


def test_an_arp_frame_is_no_flow() -> None:
    """A frame without IP gives nothing."""
    assert dissect(bytes(FRAME / ARP())) is None


def test_an_echo_request_has_type_and_code() -> None:
    """ICMP has no ports; type 8 probes, type 0 answers."""
    packet = read(flow(ICMP(type="echo-request")))
    assert packet.protocol is Protocol.ICMP
    assert packet.icmp == (8, 0)
    assert packet.source_port is None


def test_an_icmp_error_is_not_the_packet_that_it_quotes() -> None:
    """ "Port unreachable" is from the host that says so, not from the packet that it quotes."""
    error = ICMP(type=3, code=3) / IPerror(src=POD, dst=BACKEND) / UDPerror(dport=8081)
    packet = read(flow(error, source=BACKEND, destination=POD))
    assert str(packet.source) == BACKEND
    assert packet.icmp == (3, 3)
    assert packet.destination_port is None


def test_a_later_fragment_has_no_ports() -> None:
    """The bytes of a later fragment are no header: nothing is read from them."""
    fragment = FRAME / IP(src=POD, dst=BACKEND, frag=185, proto=17) / Raw(b"\x12\xb5\x12\xb5" * 8)
    packet = read(fragment)
    assert packet.source_port is None
    assert packet.encapsulation is None


def test_ipv6_is_read_alike() -> None:
    """Addresses, hop limit and ICMPv6 of the other family."""
    frame = FRAME / IPv6(src="fd00::7", dst="fd00::9", hlim=63) / ICMPv6EchoRequest()
    packet = read(frame)
    assert (str(packet.source), str(packet.destination)) == ("fd00::7", "fd00::9")
    assert (packet.protocol, packet.icmp, packet.ttl) == (Protocol.ICMP, (128, 0), 63)


@pytest.mark.parametrize("writer", [PcapWriter, PcapNgWriter])
def test_a_capture_is_read_in_its_order(writer: type, tmp_path: Path) -> None:
    """pcap and pcapng give the same packets; frames without IP are left out."""
    file = tmp_path / "capture"
    with writer(str(file)) as capture:
        for frame in (flow(TCP(dport=1)), FRAME / ARP(), tunnelled(flow(TCP(dport=2)))):
            capture.write(frame)
    packets = list(read_capture(file.read_bytes()))
    assert [packet.destination_port for packet in packets] == [1, 2]
    assert [packet.encapsulation is None for packet in packets] == [True, False]


def test_it_is_silent_and_opens_no_network_socket() -> None:
    """No warning is printed; scapy's own netlink questions at import are the only sockets made."""
    program = """
import socket, sys
families = set()
def note(event, arguments):
    if event == "socket.__new__":
        families.add(socket.AddressFamily(arguments[1]).name)
sys.addaudithook(note)
import nettests.wire
families.discard("AF_NETLINK")
nettests.wire.dissect(bytes(64))
print(sorted(families))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_without_scapy_the_line_that_installs_it_is_told() -> None:
    """Where the extra was not installed, the error says what to type."""
    program = """
import sys
sys.modules["scapy"] = None  # as where it is not installed
try:
    import nettests.wire
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert 'pip install "nettests[packets]"' in done.stdout
