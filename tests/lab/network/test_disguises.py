"""What is disguised on the wire is seen there and nowhere else: servers see Pods as they are, and answer them."""

from ipaddress import IPv4Address

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

from nettests.lab.network.addressing import mac
from nettests.lab.topology import OS, profiles
from tests.lab.network.clusters import LINUX, WIN_A
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask
from tests.lab.network.test_node_faults import ON_LINUX, A, B, cluster


@pytest.mark.parametrize(("node", "caller", "own"), [(WIN_A, "a", A), (LINUX, "linux", ON_LINUX)])
def test_no_server_notices_disguised_sources(
    start_lab: StartLab, node: str, caller: str, own: str
) -> None:
    """Whatever the wire shows, another node's pod sees the pod's own address, and answers it."""
    lab = cluster(start_lab)
    number = lab.fault("node_faults", "disguise_sources", node)
    assert lab.request(caller, B) == f"b sees {own}"
    lab.mend(number)
    assert lab.request(caller, B) == f"b sees {own}"


@pytest.mark.parametrize("name", ["win2019-overlay", "antrea-geneve", "ovn-hybrid-overlay"])
def test_sources_are_disguised_inside_tunnels(start_lab: StartLab, name: str) -> None:
    """Whatever encapsulates: no frame that the node sends to the other one bears the pod's own address."""
    shipped = profiles.load(name)
    lab = start_lab(shipped)
    own, address = lab.attach("win-1", "client"), lab.attach("win-2", "server")
    nodes = [shipped.node(one).address for one in ("win-1", "win-2")]
    port = f"to-{str(nodes[1]).replace('.', '-')}"
    request = Ask(source="client", address=address)

    def bear_it() -> set[bool]:
        frames = [Ether(frame) for frame in lab.capture("underlay", port, request)]
        sent = [frame for frame in frames if IP in frame and frame[IP].src == str(nodes[0])]
        return {IPv4Address(own).packed in bytes(frame) for frame in sent}

    assert bear_it() == {True}
    lab.fault("node_faults", "disguise_sources", "win-1")
    assert bear_it() == {False}
    assert lab.request("client", address) == f"server sees {own}"


def test_a_pods_own_mac_address_is_on_the_wire_alone(start_lab: StartLab) -> None:
    """Behind l2bridge a Pod's packet leaves with its node's MAC address, and with the fault in force with its own."""
    shipped = profiles.load("win2022-l2bridge-dsr")
    lab = start_lab(shipped)
    own, address = lab.attach("win-1", "client"), lab.attach("win-2", "server")
    port = f"to-{str(shipped.node('win-2').address).replace('.', '-')}"
    request = Ask(source="client", address=address)

    def bear_it() -> set[str]:
        frames = [Ether(frame) for frame in lab.capture("underlay", port, request)]
        return {frame.src for frame in frames if IP in frame and frame[IP].src == own}

    (of_node,) = bear_it()
    number = lab.fault("node_faults", "keep_macs", "win-1")
    assert bear_it() == {mac(OS.WINDOWS, IPv4Address(own))} != {of_node}
    assert lab.request("client", address) == f"server sees {own}"
    lab.mend(number)
    assert bear_it() == {of_node}


def test_another_network_id_is_on_the_wire_alone(start_lab: StartLab) -> None:
    """Between the nodes' cards a tunnel has another VNI, and its packets arrive all the same."""
    shipped = profiles.load("win2019-overlay")
    lab = start_lab(shipped)
    own, address = lab.attach("win-1", "client"), lab.attach("win-2", "server")
    nodes = [shipped.node(one).address for one in ("win-1", "win-2")]
    port = f"to-{str(nodes[1]).replace('.', '-')}"
    request = Ask(source="client", address=address)

    def numbers() -> set[int]:
        frames = [Ether(frame) for frame in lab.capture("underlay", port, request)]
        sent = [frame for frame in frames if VXLAN in frame and frame[IP].src == str(nodes[0])]
        return {frame[VXLAN].vni for frame in sent}

    assert numbers() == {shipped.cni.vni}
    lab.fault("node_faults", "disguise_network_id", "win-1", 9999)
    assert numbers() == {9999}
    assert lab.request("client", address) == f"server sees {own}"


@pytest.mark.parametrize(
    ("name", "fault", "arguments", "why"),
    [
        ("win2019-overlay", "keep_macs", ("win-1",), "encapsulated"),
        (
            "win2022-l2bridge-dsr",
            "disguise_network_id",
            ("win-1", 9999),
            "No packets are encapsulated",
        ),
    ],
)
def test_a_disguise_that_a_network_has_not_is_refused(
    start_lab: StartLab, name: str, fault: str, arguments: tuple[object, ...], why: str
) -> None:
    """MAC addresses of Pods are hidden by tunnels, and what has no tunnel has no network id."""
    lab = start_lab(profiles.load(name))
    with pytest.raises(Exception, match=why):
        lab.fault("node_faults", fault, *arguments)
