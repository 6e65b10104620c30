"""What tcpdump and pktmon print is read as frames; what is neither is kept and shown, and nothing breaks off."""

import struct
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.tracing.packet import Direction, Edge, Frame
from nettests.tracing.pcap import pcap
from nettests.tracing.printed import FRAMES, LINES, Printed, read_pktmon, read_tcpdump

SOON = 10.0
"""Seconds of a slow machine; without bounds it takes minutes."""
TCPDUMP = """tcpdump: data link type LINUX_SLL2
1764099000.123456 eth0  Out IP 10.244.1.5.28600 > 10.96.0.10.80: Flags [S], seq 1, win 64240, length 0
\t0x0000:  4500 003c 1c46 4000 4006 b1e6 0af4 0105
\t0x0010:  0a60 000a 6fb8 0050
1764099000.223456 veth12 In  IP6 fd00::1.1 > fd00::2.80: Flags [S], length 0
\t0x0000:  6000 0000 00
2 packets captured
"""
PKTMON = """Processing...
[00]0004.0300::2025-01-08 15:00:45.839956300 [Microsoft-Windows-PktMon] PktGroupId 562949953421500, PktNumber 1, Appearance 1, Direction Tx , Type Ethernet , Component 78, Edge 1, Filter 1, OriginalSize 66, LoggedSize 66
\t40-EC-99-B9-17-25 > F0-B4-D2-5A-D3-E2, ethertype IPv4 (0x0800), length 66: 192.168.0.62.65066 > 172.217.2.115.443: Flags [S], seq 1995496356, win 64240, length 0
\t0x0000:  f0b4 d25a d3e2 40ec 99b9 1725 0800 4500
[30]0000.0000::2025-01-08 15:00:45.939956300 [Microsoft-Windows-PktMon] Drop: PktGroupId 8444249301423149, PktNumber 1, Appearance 0, Direction Rx , Type IP , Component 49, Filter 1, DropReason INET: transport endpoint was not found , DropLocation 0xE000460A, OriginalSize 402, LoggedSize 148
       Drop: ip: 192.168.5.88.50005 > 192.168.5.68.50005: UDP, length 374
\t0x0000:  4500 0192 0000
23:02:26.539704700 PktGroupId 3, PktNumber 1, Appearance 1, Direction Rx , Type Ethernet , Component 12, Edge 1, Filter 1, OriginalSize 66, LoggedSize 66
\t0x0000:  f0b4 d25a d3e2 40ec 99b9 1725 0800 4500
[00]0004.0300::2025-01-08 15:00:46.000000000 [Microsoft-Windows-PktMon] Component 78, Type Miniport, Name mlx5.sys, Mellanox ConnectX-5 Adapter #2
[00]0004.0300::2025-01-08 15:00:46.000000000 [Microsoft-Windows-PktMon] Component 12, Type Container vNIC, Name vmswitch.sys, pod
[00]0004.0300::2025-01-08 15:00:46.000000000 [Microsoft-Windows-PktMon] Property: Component 12, MAC Address = F0-B4-D2-5A-D3-E2
"""


def test_tcpdump_names_interface_direction_and_bytes() -> None:
    """Each frame begins with its IP header; statistics are no frames."""
    read = read_tcpdump(TCPDUMP, wire=("eth0",))
    first, second = read.frames
    assert (first.time, first.interface) == (1764099000.123456, "eth0")
    assert (first.direction, first.edge, first.ethernet) == (Direction.OUT, Edge.WIRE, False)
    assert first.data.hex().startswith("4500003c")
    assert len(first.data) == 24
    assert (second.direction, second.edge) == (Direction.IN, Edge.POD)
    assert second.data == bytes.fromhex("6000000000")
    assert not read.unread


def test_a_frame_for_another_machine_did_not_arrive() -> None:
    """What a switch floods is seen at a card and is not for its node."""
    text = TCPDUMP.replace("veth12 In ", "veth12 P  ")
    assert [one.interface for one in read_tcpdump(text).frames] == ["eth0"]


def test_an_older_tcpdump_names_no_interface() -> None:
    """Before 4.99 the text of an interface named any says neither where nor which way."""
    (frame,) = read_tcpdump("1.5 IP 10.0.0.1 > 10.0.0.2: ICMP\n\t0x0000:  4500\n").frames
    assert (frame.interface, frame.direction, frame.edge) == ("", Direction.UNKNOWN, Edge.UNKNOWN)


def test_pktmon_names_component_drop_and_bytes() -> None:
    """A log says at which component a packet was, that it was dropped and why, and at its end what components are."""
    nic, dropped, pod = read_pktmon(PKTMON).frames
    assert (nic.interface, nic.edge, nic.direction) == ("mlx5.sys (78)", Edge.WIRE, Direction.OUT)
    assert nic.ethernet
    assert (nic.edge_id, dropped.edge_id) == ("1", "")
    assert dropped.drop == "INET: transport endpoint was not found (0xE000460A)"
    assert not dropped.ethernet
    assert dropped.interface == "component 49"
    assert (pod.edge, pod.direction) == (Edge.POD, Direction.OUT)


SWITCH = """[00]0004.0300::2026-01-08 15:00:45.839956300 [Microsoft-Windows-PktMon] Drop: PktGroupId 53, PktNumber 1, Appearance 0, Direction Rx , Type Ethernet , Component 5, Filter 1, DropReason UnicastNoDestination , DropLocation 0xE0006063, OriginalSize 74, LoggedSize 54
\tDrop: 00-15-5D-F4-03-02 > 02-01-0A-00-00-01, ethertype IPv4 (0x0800), length 74: 10.244.3.2.28002 > 10.96.0.7.80: Flags [S], seq 1, win 64240, length 0
\t0x0000:  0201 0a00 0001 0015 5df4 0302 0800 4500
[00]0004.0300::2026-01-08 15:00:46.000000000 [Microsoft-Windows-PktMon] Component 5, Type Filter, Name vfpext.sys, Microsoft Azure VFP Switch Extension
"""


def test_a_log_in_utf_16_is_read_as_well() -> None:
    """An exec shows it with a zero beside each character."""
    wide = PKTMON.encode("utf-16").decode(errors="replace")
    assert read_pktmon(wide).frames == read_pktmon(PKTMON).frames


def test_a_drop_is_told_with_component_reason_and_location() -> None:
    """What the switch's extension dropped bears its name, Microsoft's reason and the place in its code."""
    (dropped,) = read_pktmon(SWITCH).frames
    assert (dropped.interface, dropped.edge) == ("vfpext.sys (5)", Edge.UNKNOWN)
    assert dropped.drop == "UnicastNoDestination (0xE0006063)"
    assert dropped.ethernet
    assert not read_pktmon(SWITCH).unread


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "DropReason INET: checksum is invalid , DropLocation 0xE0004501",
            "INET: checksum is invalid (0xE0004501)",
        ),
        ("DropReason Port unreachable", "Port unreachable"),
        (
            "DropReason A reason of tomorrow , DropLocation 0xE000FFFF",
            "A reason of tomorrow (0xE000FFFF)",
        ),
        ("DropReason 4711 , DropLocation 0xE000A001", "4711 (0xE000A001)"),
        ("", "no reason stated"),
    ],
    ids=["as published", "without a place", "an unknown reason", "a number", "none"],
)
def test_whatever_a_reason_is_it_is_shown_as_it_is_printed(reason: str, told: str) -> None:
    """No list of reasons is kept: what a later Windows adds is shown in its own words."""
    fields = f"DropReason UnicastNoDestination , DropLocation 0xE0006063{'' if reason else ', '}"
    (dropped,) = read_pktmon(SWITCH.replace(fields, reason)).frames
    assert dropped.drop == told


def test_a_drop_in_another_language_is_a_drop() -> None:
    """The word before the fields is translated, as published logs show; the fields are not."""
    (dropped,) = read_pktmon(SWITCH.replace("Drop: PktGroupId", "丢弃: PktGroupId")).frames
    assert dropped.drop == "UnicastNoDestination (0xE0006063)"


def test_the_address_of_a_card_tells_which_way_a_frame_goes_there() -> None:
    """At a Pod's card a frame to the card's address is handed to the Pod, and one from it comes from there."""
    text = PKTMON.replace("MAC Address = F0-B4-D2-5A-D3-E2", "MAC Address = 40-EC-99-B9-17-25")
    assert read_pktmon(text).frames[2].direction is Direction.IN
    stranger = PKTMON.replace("MAC Address = F0-B4-D2-5A-D3-E2", "MAC Address = 02-00-00-00-00-01")
    assert read_pktmon(stranger).frames[2].direction is Direction.UNKNOWN


def test_lines_that_nobody_knows_are_shown() -> None:
    """The first few lines that are neither heads nor bytes nor known words are kept."""
    text = PKTMON + "\n".join(f"Strange{number}" for number in range(9))
    assert read_pktmon(text).unread == ("Strange0", "Strange1", "Strange2")
    assert read_tcpdump("tcpdump: x\nwhat is this\n").unread == ("what is this",)


def test_more_frames_than_are_read_are_told() -> None:
    """A text without end is read up to a bound, and says so."""
    one = "1.5 eth0  In  IP 10.0.0.1 > 10.0.0.2: ICMP\n\t0x0000:  4500\n"
    assert not read_tcpdump(one * 5).cut
    read = read_tcpdump(one * (FRAMES + 5))
    assert read.cut
    assert len(read.frames) == FRAMES
    log = PKTMON.splitlines()[1] + "\n\t0x0000:  4500\n"
    assert read_pktmon(log * (FRAMES + 5)).cut


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ("12 packets captured\n12 packets received by filter\n0 packets dropped by kernel\n", 0),
        ("12 packets captured\n19 packets received by filter\n7 packets dropped by kernel\n", 7),
        ("7 packets dropped by kernel\n1 packet dropped by interface\n", 8),
        ("\t0x0000:  7 packets dropped by kernel\n", 0),
    ],
)
def test_packets_that_tcpdump_lost_are_counted(said: str, lost: int) -> None:
    """Its last lines say so; what a packet holds does not."""
    read = read_tcpdump(f"1.5 eth0  In  IP 10.0.0.1 > 10.0.0.2: ICMP\n\t0x0000:  4500\n{said}")
    assert (read.lost, len(read.frames)) == (lost, 1)


@pytest.mark.parametrize("read", [read_tcpdump, read_pktmon])
@pytest.mark.parametrize(
    "line", ["x\n", "Component 1, Type ", "00:00:00.1 ", "\t0x0000: ", "1.5 eth0 In IP "]
)
def test_a_text_without_end_is_read_within_bounds(
    line: str, read: Callable[[str], Printed]
) -> None:
    """Megabytes that a node prints to do harm are left behind after so many lines, and so much of a line."""
    size = 4 * (LINES + 1) if line == "x\n" else 8 * 1024 * 1024
    began = time.process_time()
    found = read(line * (size // len(line)))
    assert time.process_time() - began < SOON
    assert found.cut is (line == "x\n")


@pytest.mark.parametrize("read", [read_tcpdump, read_pktmon])
@given(text=st.text(max_size=400))
def test_no_text_breaks_a_reader(read: object, text: str) -> None:
    """Whatever a node prints, a reader returns."""
    assert callable(read)
    assert len(read(text).unread) <= 3


@given(
    cut=st.integers(0, len(PKTMON)), put=st.text(alphabet="0x:abcdefPktDrop ,\n\t9", max_size=30)
)
def test_a_log_with_a_hole_is_read_around_it(cut: int, put: str) -> None:
    """A log that was cut, or into which something was put, gives what is left of its frames."""
    text = PKTMON[:cut] + put + PKTMON[cut + 40 :]
    frames = read_pktmon(text).frames
    assert all(frame.data for frame in frames)
    assert len(read_pktmon(PKTMON[:cut]).frames) <= 3


def test_a_capture_file_holds_packets_from_their_ip_header_on() -> None:
    """Ethernet headers are left out, frames without IP too; times and lengths are those of the frames."""
    frames = [
        Frame(time=10.25, data=b"\x45abc", ethernet=False),
        Frame(time=11.0, data=b"\0" * 12 + b"\x08\x00" + b"\x45xyz"),
        Frame(time=12.0, data=b"\0" * 12 + b"\x08\x06" + b"arp"),
    ]
    content = pcap(frames)
    assert struct.unpack("<IHHiIII", content[:24]) == (0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    assert struct.unpack("<IIII", content[24:40]) == (10, 250000, 4, 4)
    assert content[40:44] == b"\x45abc"
    assert content[60:] == b"\x45xyz"
