"""Capture files are read within bounds, as far as they can be; whatever is in them, reading ends."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.contrib.geneve import GENEVE
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import CookedLinuxV2, Ether
from scapy.packet import Raw
from scapy.utils import PcapWriter

from nettests import wire
from nettests.errors import PathError
from nettests.tracing.packet import Direction, Edge, Frame
from nettests.wire import reading

FRAME = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=28002, dport=80)


def content(*frames: object, linktype: int | None = None) -> bytes:
    buffer = io.BytesIO()
    with PcapWriter(buffer, linktype=linktype) as writer:
        for frame in frames:
            writer.write(frame)
        writer.flush()
        return buffer.getvalue()


WHOLE = content(FRAME, FRAME, FRAME)


def test_a_capture_file_gives_its_packets(tmp_path: Path) -> None:
    """Packets in their order, with their times, of the node that was named."""
    file = tmp_path / "a.pcap"
    file.write_bytes(WHOLE)
    read = wire.read_file("win-1", file)
    assert [one.packet.source_port for one in read.sightings] == [28002] * 3
    assert {one.node for one in read.sightings} == {"win-1"}
    assert not read.doubt


def test_linux_cooked_headers_tell_the_direction() -> None:
    """A capture of any interface says of each frame whether it came or went."""
    cooked = CookedLinuxV2(pkttype=4, proto=0x0800) / FRAME[IP]
    came = CookedLinuxV2(pkttype=0, proto=0x0800) / FRAME[IP]
    read = reading.read_bytes("n", content(cooked, came, linktype=276), "x")
    assert [one.direction for one in read.sightings] == [Direction.OUT, Direction.IN]


def test_a_truncated_file_is_read_as_far_as_it_goes() -> None:
    """What was cut off is doubted, what stands before it is read."""
    read = reading.read_bytes("n", WHOLE[:-20], "cut.pcap")
    assert len(read.sightings) in {2, 3}
    assert read.doubt == "cut.pcap breaks off in the middle of a frame"
    assert not reading.read_bytes("n", WHOLE, "x").doubt
    assert reading.read_bytes("n", WHOLE[: 24 + 7], "x").doubt


@pytest.mark.parametrize("text", [b"", b"not a capture", b"\xd4\xc3\xb2\xa1"])
def test_what_is_no_capture_is_refused(text: bytes, tmp_path: Path) -> None:
    """A file of another kind is named, with what can be read."""
    file = tmp_path / "x"
    file.write_bytes(text)
    with pytest.raises(PathError, match="is not a capture"):
        wire.read_file("n", file)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """Gigabytes are refused by their size, before a byte of them is read."""
    file = tmp_path / "huge.pcap"
    with file.open("wb") as opened:
        opened.truncate(reading.CAPTURE_BYTES + 1)
    with pytest.raises(PathError, match="larger than 64 MiB"):
        wire.read_file("n", file)
    with pytest.raises(PathError, match="cannot be read"):
        wire.read_file("n", tmp_path / "missing")


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    """A device and a pipe are refused at once: neither has a size that could be bounded before."""
    pipe = tmp_path / "pipe.pcap"
    os.mkfifo(pipe)
    for each in (pipe, Path("/dev/zero")):
        with pytest.raises(PathError, match="may never end"):
            wire.read_file("n", each)


def test_more_frames_than_are_read_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a capture with too many frames the first ones are read, and it is doubted."""
    monkeypatch.setattr(reading, "CAPTURE_FRAMES", 2)
    read = reading.read_bytes("n", WHOLE, "x")
    assert len(read.sightings) == 2
    assert "first 2 frames" in read.doubt


def test_a_capture_without_packets_is_doubted() -> None:
    """A file that holds nothing of a flow says so."""
    assert "no IP packet" in reading.read_bytes("n", content(Ether(type=0x88CC)), "x").doubt


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(at=st.integers(24, len(WHOLE) - 1), put=st.binary(max_size=30))
def test_a_broken_file_never_breaks_the_reader(at: int, put: bytes) -> None:
    """Whatever bytes stand in a capture behind its header, reading returns."""
    broken = WHOLE[:at] + put + WHOLE[at + len(put) :]
    assert len(reading.read_bytes("n", broken, "x").sightings) <= 50


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=120), ethernet=st.booleans())
def test_malformed_headers_never_break_the_dissector(data: bytes, *, ethernet: bool) -> None:
    """A frame of any bytes is a packet, or none, or told as not understood."""
    frames = [
        Frame(time=0.0, data=head + data, ethernet=ethernet) for head in (b"", b"\x45", b"\x60")
    ]
    pairs, unread = wire.dissected("n", frames)
    assert len(pairs) + len(unread) <= 3


def test_the_place_of_a_frame_is_that_of_its_packet() -> None:
    """Interface, edge, direction and drop of what a tool printed stay with it."""
    frame = Frame(
        time=1.5,
        data=bytes(Ether() / IP() / UDP()),
        interface="vfpext.sys (5)",
        direction=Direction.OUT,
        edge=Edge.WIRE,
        drop="Unknown",
        edge_id="2",
    )
    ((given, seen),), _ = wire.dissected("n", [frame])
    told = {
        name: getattr(seen, name) for name in ("interface", "direction", "edge", "drop", "edge_id")
    }
    assert told == {name: getattr(given, name) for name in told}


def test_geneve_is_taken_off_like_vxlan() -> None:
    """The flow is the inner packet, the tunnel says its kind and network id."""
    inner = Ether() / IP(src="10.244.1.2", dst="10.244.2.3") / TCP(dport=80)
    outer = Ether() / IP(src="172.30.0.1", dst="172.30.0.2") / UDP(dport=6081) / GENEVE(vni=7)
    packet = wire.dissect(bytes(outer / inner))
    assert packet is not None
    assert packet.encapsulation is not None
    assert (packet.encapsulation.kind, packet.encapsulation.vni) == ("GENEVE", 7)
    assert str(packet.source) == "10.244.1.2"


def test_an_error_tells_what_it_is_about() -> None:
    """An ICMP error quotes the head of the packet that was too big."""
    quoted = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=28002, dport=80)
    error = Ether() / IP(src="10.0.0.9", dst="10.0.0.1") / ICMP(type=3, code=4) / quoted
    packet = wire.dissect(bytes(error))
    assert packet is not None
    assert packet.reports_too_big
    assert packet.quoted is not None
    assert (packet.quoted.source_port, packet.quoted.destination_port) == (28002, 80)


def test_lengths_are_those_of_headers_not_of_what_was_captured() -> None:
    """A packet of which a capture took the first bytes has its whole length and carries all of its data."""
    whole = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(dport=80) / Raw(b"x" * 1000)
    packet = wire.dissect(bytes(whole)[:60], ethernet=False)
    assert packet is not None
    assert (packet.length, packet.carried) == (1040, 1000)


def test_fragments_are_told() -> None:
    """The first part of a split packet has ports, later ones have none; all are fragments."""
    first = IP(src="10.0.0.1", dst="10.0.0.2", flags="MF") / UDP(sport=5, dport=6)
    six = IPv6(src="fd00::1", dst="fd00::2") / IPv6ExtHdrFragment(m=1) / UDP(sport=5, dport=6)
    for one in (first, six):
        packet = wire.dissect(bytes(one), ethernet=False)
        assert packet is not None
        assert (packet.fragment, packet.source_port) == (True, 5)
