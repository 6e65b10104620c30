"""GENEVE between nodes: what leaves a node has its header, whatever size and protocol, and what arrives is understood."""

import pytest
from scapy.contrib.geneve import GENEVE
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from nettests.lab.network.overlay import geneve_table
from nettests.lab.network.tables import render
from nettests.lab.topology import profiles
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask

PROFILE = profiles.load("antrea-geneve")
WINDOWS, OTHER, LINUX = "win-1", "win-2", "linux-1"


def test_each_direction_writes_what_the_other_reads() -> None:
    """VXLAN's flag becomes GENEVE's type of payload when a packet leaves, and comes back when it arrives."""
    text = render(geneve_table())
    assert "udp dport 6081 @th,64,32 0x08000000 @th,64,32 set 0x00006558" in text
    assert "udp dport 6081 @th,64,32 0x00006558 @th,64,32 set 0x08000000" in text


@pytest.mark.parametrize("protocol", ["tcp", "udp", "icmp"])
def test_pods_of_other_nodes_are_reached_in_geneve(start_lab: StartLab, protocol: str) -> None:
    """Between Windows and Linux nodes every frame to a pod elsewhere is GENEVE from node to node, and none is VXLAN."""
    lab = start_lab(PROFILE)
    lab.attach(WINDOWS, "client")
    targets = {node: lab.attach(node, f"on-{node}") for node in (OTHER, LINUX)}
    for node, address in targets.items():
        request = Ask(source="client", address=address, protocol=protocol)
        port = "to-" + str(PROFILE.node(node).address).replace(".", "-")
        frames = [Ether(frame) for frame in lab.capture("underlay", port, request)]
        outer = [frame for frame in frames if UDP in frame and frame[UDP].dport == 6081]
        ends = {str(PROFILE.node(name).address) for name in (WINDOWS, node)}
        assert {frame[IP].src for frame in outer} == ends
        inner = [GENEVE(bytes(frame[UDP].payload)) for frame in outer]
        assert {(one.proto, one.optionlen, one.vni) for one in inner} == {
            (0x6558, 0, PROFILE.cni.vni)
        }
        assert address in {one[IP].dst for one in inner}
        assert len(outer) == len(frames)
