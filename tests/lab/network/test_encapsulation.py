"""What is on the wire between nodes: VXLAN on overlay with the profile's VNI and port, plain otherwise."""

from dataclasses import replace

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    VIP,
    WIN_A,
    WIN_B,
    WS2022,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

PORT = "to-172-30-0-12"
"""The wire's port that leads to WIN_A."""
REMOTE = {"windows": WIN_B, "linux": LINUX}


def _on_the_wire(lab: Laboratory, port: int, address: str) -> list[Ether]:
    request = Ask(source="client", address=address, port=port)
    return [Ether(frame) for frame in lab.capture("underlay", PORT, request)]


def _lab(start_lab: StartLab, driver: Driver, node: str, *, dsr: bool = False) -> Laboratory:
    lab = start_lab(profile(driver, dsr=dsr, release=WS2022))
    lab.attach(WIN_A, "client")
    server = lab.attach(node, "server")
    lab.program(service(backend(server, node)))
    return lab


@pytest.mark.parametrize("system", REMOTE)
@pytest.mark.parametrize(("dsr", "inner_source"), [(False, "10.244.2.2"), (True, "10.244.2.3")])
def test_overlay_service_flow_is_encapsulated(
    start_lab: StartLab, system: str, dsr: bool, inner_source: str
) -> None:
    """Outside: node to node, UDP 4789, VNI 4096. Inside: source VIP, or the pod's address with DSR."""
    lab = _lab(start_lab, Driver.OVERLAY, REMOTE[system], dsr=dsr)
    frames = _on_the_wire(lab, 80, VIP)
    outer = [frame for frame in frames if VXLAN in frame]
    first = next(frame for frame in outer if frame[IP].src == NODE_ADDRESS[WIN_A])
    assert first[IP].dst == NODE_ADDRESS[REMOTE[system]]
    assert first[UDP].dport == 4789
    assert first[VXLAN].vni == 4096
    inner = first[VXLAN].payload[IP]
    assert inner.src == inner_source
    assert inner[TCP].dport == 8080
    assert len(outer) == len(frames)


def test_a_virtualisation_may_take_the_port_of_vxlan(start_lab: StartLab) -> None:
    """The mechanism ``underlay-vxlan``: Pods of other nodes are lost, and what needs no tunnel is not."""
    for driver, answered in ((Driver.OVERLAY, False), (Driver.L2BRIDGE, True)):
        lab = start_lab(replace(profile(driver), mechanisms=(("underlay-vxlan", 1),)))
        lab.attach(WIN_A, "client")
        remote, own = lab.attach(WIN_B, "server"), lab.attach(WIN_A, "own")
        assert (lab.request("client", remote, 8080) != "timed out") is answered
        assert lab.request("client", own, 8080).startswith("own sees")


@pytest.mark.parametrize(("dsr", "source"), [(False, NODE_ADDRESS[WIN_A]), (True, "10.244.2.3")])
def test_l2bridge_service_flow_is_plain(start_lab: StartLab, dsr: bool, source: str) -> None:
    """l2bridge: routed with the host's MAC, source rewritten to the node unless DSR is on."""
    lab = _lab(start_lab, Driver.L2BRIDGE, WIN_B, dsr=dsr)
    frames = _on_the_wire(lab, 80, VIP)
    first = next(frame for frame in frames if frame[IP].dst == "10.244.3.3")
    assert first[IP].src == source
    assert first[TCP].dport == 8080
    assert first.src == "00:15:5d:1e:00:0c"
    assert not any(VXLAN in frame for frame in frames)


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_no_cluster_ip_is_ever_on_the_wire(start_lab: StartLab, driver: Driver) -> None:
    """A VIP is translated where the client is; between nodes it does not exist."""
    lab = _lab(start_lab, driver, WIN_B)
    for frame in _on_the_wire(lab, 80, VIP):
        inner = frame[VXLAN].payload if VXLAN in frame else frame
        assert VIP not in {inner[IP].src, inner[IP].dst}


def test_a_windows_node_sends_remote_pod_traffic_unencapsulated(start_lab: StartLab) -> None:
    """Overlay: the host's packet to a remote pod leaves bare and dies at the gateway."""
    lab = _lab(start_lab, Driver.OVERLAY, WIN_B)
    request = Ask(source=WIN_A, address="10.244.3.3")
    frames = [Ether(frame) for frame in lab.capture("gateway", "eth0", request)]
    assert {(frame[IP].src, frame[IP].dst) for frame in frames} == {
        (NODE_ADDRESS[WIN_A], "10.244.3.3")
    }


def test_lost_pings_leave_with_the_pods_own_address(start_lab: StartLab) -> None:
    """l2bridge: an echo request goes out untranslated, and its answer has no way back."""
    lab = _lab(start_lab, Driver.L2BRIDGE, WIN_B)
    request = Ask(source="client", address="198.51.100.10", protocol="icmp")
    frames = [Ether(frame) for frame in lab.capture("outside-server", "eth0", request)]
    pairs = {(frame[IP].src, frame[IP].dst) for frame in frames if IP in frame}
    assert ("10.244.2.3", "198.51.100.10") in pairs
    assert ("198.51.100.10", "10.244.2.3") in pairs
