"""What a trace leaves in its folder: frames of its flow, and of what they carry nothing but the mark."""

import struct
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

from nettests import wire
from nettests.capture.trace_files import NodeCapture, write_trace
from nettests.model.words import Protocol
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Capture, Frame
from nettests.tracing.path import trace
from tests.tracing.frames import captures, scene

SECRET = b"Authorization: Bearer of-somebody-else"
PORT, TOKEN = Mark(protocol=Protocol.TCP, port=28002), Mark(protocol=Protocol.UDP, token=b"nt28002")
INSIDE = Ether() / IP(src="10.244.3.5", dst="10.244.1.9") / TCP(sport=28002, dport=80) / SECRET
OUTSIDE = Ether() / IP(src="172.30.0.1", dst="172.30.0.2") / UDP(dport=4789) / VXLAN(vni=1)
MARKED = (
    Ether() / IP(src="10.244.3.5", dst="10.244.1.9") / UDP(sport=9, dport=81) / b"nt28002" / SECRET
)


def kept(one: Ether, mark: Mark) -> NodeCapture:
    pairs, unread = wire.dissected("win-1", [Frame(time=1.0, data=bytes(one))])
    assert not unread
    capture = Capture(node="win-1", sightings=tuple(sighting for _, sighting in pairs))
    return NodeCapture.of(capture, pairs, mark)


@pytest.mark.parametrize(
    ("one", "mark"), [(INSIDE, PORT), (OUTSIDE / INSIDE, PORT), (MARKED, TOKEN)]
)
def test_no_payload_is_written_but_the_mark(one: Ether, mark: Mark, tmp_path: Path) -> None:
    """A connection of somebody else may have the trace's port: its heads stand in the file, its words do not."""
    capture = kept(one, mark)
    write_trace(tmp_path, trace(scene(), mark, captures(())), [capture], title="x")
    written = (tmp_path / "win-1.pcap").read_bytes()
    assert SECRET[:8] not in written
    assert (b"nt28002" in written) is bool(mark.token)
    (frame,) = capture.frames
    assert frame.data == bytes(one)[: len(frame.data)]


def test_a_capture_file_says_how_long_packets_were(tmp_path: Path) -> None:
    """Wireshark takes a packet that was cut for one that is malformed unless the file says its length."""
    write_trace(tmp_path, trace(scene(), PORT, captures(())), [kept(INSIDE, PORT)], title="x")
    written = (tmp_path / "win-1.pcap").read_bytes()
    assert struct.unpack("<II", written[32:40]) == (40, 40 + len(SECRET))
