"""Faults between nodes strike the packets that they name, real ones, and no others; ended, nothing stays behind."""

import pytest

from nettests.lab.errors import LabError
from nettests.lab.network.packets import Packets
from nettests.lab.network.wire_faults import GATEWAY, Detour, Path, damaged, twice
from nettests.lab.topology import Driver
from tests.lab.network.clusters import LINUX, NODE_ADDRESS, WIN_A, WIN_B, profile
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask
from tests.needs_lab import NEEDS_TUN

DRIVERS = pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
THERE = Path(source=WIN_A, target=WIN_B)
AROUND = Path(source=WIN_B, both=True)


@pytest.fixture
def lab(start_lab: StartLab, driver: Driver) -> Laboratory:
    """A pod on each node: a, b and linux."""
    lab = start_lab(profile(driver))
    for node, name in ((WIN_A, "a"), (WIN_B, "b"), (LINUX, "linux")):
        lab.attach(node, name)
    return lab


A, B, ON_LINUX = "10.244.2.3", "10.244.3.3", "10.244.1.2"
ANSWERED = {A: f"b sees {B}", B: f"a sees {A}"}


@DRIVERS
def test_all_packets_of_a_node_are_lost(lab: Laboratory) -> None:
    """Nobody reaches the node's pods from elsewhere, nor they anybody, until it is mended."""
    number = lab.fault("wire_faults", "lose", AROUND, Packets(), 1)
    ways = [("a", B), ("b", A), ("linux", B), ("linux", A)]
    answers = lab.send_all(*[Ask(source=source, address=address) for source, address in ways])
    assert answers == ["timed out", "timed out", "timed out", f"a sees {ON_LINUX}"]
    lab.mend(number)
    assert lab.request("a", B) == f"b sees {A}"


@DRIVERS
def test_one_protocol_is_lost(lab: Laboratory) -> None:
    """UDP is lost and TCP passes, or ICMP and not UDP: inside VXLAN packets too, which are UDP themselves."""
    udp = lab.fault("wire_faults", "lose", THERE, Packets(protocol="udp"), 1)
    assert lab.request("a", B, protocol="udp") == "timed out"
    assert lab.request("a", B) == f"b sees {A}"
    assert lab.request("a", B, protocol="icmp").startswith("replied")
    lab.mend(udp)
    lab.fault("wire_faults", "lose", THERE, Packets(protocol="icmp"), 1)
    assert lab.request("a", B, protocol="icmp") == "timed out"
    assert lab.request("a", B, protocol="udp") == f"b sees {A}"


@DRIVERS
def test_one_direction_and_one_port_are_lost(lab: Laboratory) -> None:
    """Requests to that port are lost one way; the other way, and at another port, they are answered."""
    lab.serve("b", 9090)
    lab.fault("wire_faults", "lose", THERE, Packets(protocol="tcp", port="8000-8080"), 1)
    assert lab.request("a", B) == "timed out"
    assert lab.request("b", A) == f"a sees {B}"
    assert lab.request("a", B, 9090) == f"b sees {A}"
    assert lab.request("linux", B) == f"b sees {ON_LINUX}"


@DRIVERS
def test_large_packets_are_lost(lab: Laboratory) -> None:
    """Only what is larger than that, each time: nobody is told."""
    lab.fault("wire_faults", "lose", THERE, Packets(larger_than=1000), 1)
    large = Ask(source="a", address=B, protocol="udp", size=1100)
    assert lab.send_all(large) == ["timed out"]
    assert lab.send_all(large) == ["timed out"]
    assert lab.send_all(Ask(source="a", address=B, protocol="udp", size=900)) == [f"b sees {A}"]


@DRIVERS
def test_a_share_of_packets_is_lost(lab: Laboratory) -> None:
    """Of sixty datagrams to one port half is lost, give or take."""
    lab.fault("wire_faults", "lose", THERE, Packets(protocol="udp", port="8080"), 0.5)
    answers = lab.send_all(*[Ask(source="a", address=B, protocol="udp")] * 60)
    assert 10 < answers.count("timed out") < 50


@NEEDS_TUN
@DRIVERS
def test_packets_that_are_held_back_arrive_in_the_end(lab: Laboratory) -> None:
    """What is held for longer than a client waits is no answer; held for a moment, it is one."""
    long = lab.fault("wire_faults", "hold_back", THERE, Packets(protocol="udp"), Detour(seconds=20))
    assert lab.request("a", B, protocol="udp") == "timed out"
    assert lab.request("a", B) == f"b sees {A}"
    lab.mend(long)
    lab.fault("wire_faults", "hold_back", Path(source=WIN_A), Packets(), Detour(seconds=0.05))
    assert lab.request("a", B, protocol="udp") == f"b sees {A}"
    assert lab.request("a", B) == f"b sees {A}"


@NEEDS_TUN
@DRIVERS
def test_held_packets_are_overtaken(lab: Laboratory) -> None:
    """One of three arrives late, none is lost; mended, they come in their order."""
    number = lab.fault("wire_faults", "hold_back", THERE, Packets(), Detour(seconds=0.3, every=3))
    arrived = lab.arrivals("a", "b", B, 9)
    assert arrived[:6] == [0, 1, 3, 4, 6, 7]
    assert sorted(arrived) == list(range(9))
    lab.mend(number)
    assert lab.arrivals("a", "b", B, 9) == list(range(9))


@NEEDS_TUN
@DRIVERS
def test_a_damaged_datagram_is_dropped_by_its_checksum(lab: Laboratory) -> None:
    """Each frame with a wrong bit is lost at its receiver; one that is sent twice is answered as any other."""
    number = lab.fault(
        "wire_faults", "hold_back", THERE, Packets(protocol="udp"), Detour(change=damaged)
    )
    assert lab.request("a", B, protocol="udp") == "timed out"
    assert lab.request("a", B) == f"b sees {A}"
    lab.mend(number)
    lab.fault("wire_faults", "hold_back", THERE, Packets(), Detour(change=twice))
    assert lab.request("a", B, protocol="udp") == f"b sees {A}"
    assert lab.arrivals("a", "b", B, 4) == [0, 0, 1, 1]


@DRIVERS
def test_flows_are_lost_by_their_ports(lab: Laboratory) -> None:
    """Some of many, each time they are tried, and those from a range of ports; all others pass."""
    number = lab.fault("wire_faults", "lose", THERE, Packets(flows=4), 1)
    asks = [Ask(source="a", address=B, source_port=port) for port in range(20000, 20024)]
    lost = [answer == "timed out" for answer in lab.send_all(*asks)]
    assert 1 <= sum(lost) <= 14
    assert [answer == "timed out" for answer in lab.send_all(*asks)] == lost
    lab.mend(number)
    lab.fault("wire_faults", "lose", THERE, Packets(source_port="20100-20101"), 1)
    asks = [Ask(source="a", address=B, source_port=port) for port in (20099, 20100, 20102)]
    assert [answer == "timed out" for answer in lab.send_all(*asks)] == [False, True, False]


@DRIVERS
def test_fragments_are_lost(lab: Laboratory) -> None:
    """A datagram that needs none arrives; one that is cut does not."""
    lab.fault("wire_faults", "lose", THERE, Packets(fragments=True), 1)
    sizes = (1000, 4000)
    asks = [Ask(source="a", address=B, protocol="udp", size=size) for size in sizes]
    assert lab.send_all(*asks) == [f"b sees {A}", "timed out"]


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE])
def test_a_link_is_narrow_and_packets_are_old(lab: Laboratory) -> None:
    """What exceeds the rate is lost; a packet that may make one hop is not forwarded to a Pod."""
    limit = "limit rate over 10 kbytes/second burst 16 kbytes drop"
    narrow = lab.fault("wire_faults", "strike", THERE, Packets(), limit)
    large = [Ask(source="a", address=B, protocol="udp", size=1400)] * 40
    assert 0 < lab.send_all(*large).count("timed out") < 40
    lab.mend(narrow)
    way = Path(source=WIN_A, target=LINUX)
    lab.fault("wire_faults", "strike", way, Packets(), "ip ttl set 1")
    assert "sees" not in lab.request("a", ON_LINUX)
    assert lab.request("a", B) == f"b sees {A}"


@pytest.mark.parametrize("driver", [Driver.OVERLAY])
def test_another_network_id_parts_a_node_from_the_overlay(lab: Laboratory) -> None:
    """Its pods are out of reach for others, and they for it; nodes reach each other as before."""
    lab.serve(WIN_A, 8080)
    lab.serve(WIN_B, 8080)
    number = lab.fault("wire_faults", "change_network_id", WIN_B, 77)
    ways = [("a", B), ("b", ON_LINUX), ("linux", A)]
    answers = lab.send_all(*[Ask(source=source, address=address) for source, address in ways])
    assert answers == ["timed out", "timed out", f"a sees {ON_LINUX}"]
    assert lab.request(WIN_A, NODE_ADDRESS[WIN_B]) == f"{WIN_B} sees {NODE_ADDRESS[WIN_A]}"
    lab.mend(number)
    assert lab.request("a", B) == f"b sees {A}"


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE])
def test_the_way_out_can_be_lost(lab: Laboratory) -> None:
    """What goes to the gateway is lost; between nodes all passes."""
    lab.serve("outside-server", 80)
    outside = "198.51.100.10"
    number = lab.fault("wire_faults", "lose", Path(source=WIN_A, target=GATEWAY), Packets(), 1)
    assert lab.request("a", outside, 80) == "timed out"
    assert lab.request("a", B) == f"b sees {A}"
    assert lab.request("b", outside, 80).startswith("outside-server sees")
    lab.mend(number)
    assert lab.request("a", outside, 80).startswith("outside-server sees")


@pytest.mark.parametrize(
    "said",
    [{"protocol": "sctp"}, {"port": "0"}, {"port": "9-8"}, {"port": "80", "protocol": "icmp"}],
)
def test_packets_that_cannot_be_are_refused(said: dict[str, str]) -> None:
    """A protocol or a port that is none is an error for people."""
    with pytest.raises(LabError):
        Packets(**said)  # type: ignore[arg-type]
