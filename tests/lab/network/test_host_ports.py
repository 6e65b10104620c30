"""Host ports on both systems: who reaches a pod by a port of its node, and whom the pod sees."""

from ipaddress import IPv4Address

import pytest

from nettests.lab.interfaces import PortMapping
from nettests.lab.topology import profiles
from tests.lab.network.clusters import LINUX, NODE_ADDRESS, WIN_A, WIN_B, profile
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory

PORT, BOUND = 19180, 19190
MAPPINGS = (
    PortMapping(protocol="tcp", host_port=PORT, container_port=8080),
    PortMapping(protocol="udp", host_port=PORT, container_port=8080),
    PortMapping(
        protocol="tcp", host_port=BOUND, container_port=8080, host_ip=IPv4Address("127.0.0.1")
    ),
)
OWN = "win-1"
AZURE = "azure-l2tunnel"


@pytest.fixture
def lab(start_lab: StartLab) -> Laboratory:
    """A cluster with a pod of host ports on a Linux and on a Windows node, and one without elsewhere."""
    lab = start_lab(profile())
    for node in (LINUX, WIN_A):
        lab.attach_mapped(node, f"on-{node}", *MAPPINGS)
    return lab


@pytest.mark.parametrize("node", [LINUX, WIN_A])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_others_reach_a_pod_by_its_host_port(lab: Laboratory, node: str, protocol: str) -> None:
    """A pod, another node and a client outside reach it, and the pod sees each under its own address."""
    client = lab.attach_bare(WIN_B, "client")
    told = f"on-{node} sees "
    assert lab.request("client", NODE_ADDRESS[node], PORT, protocol) == told + client
    assert lab.request(WIN_B, NODE_ADDRESS[node], PORT, protocol) == told + NODE_ADDRESS[WIN_B]
    assert lab.request("outside-client", NODE_ADDRESS[node], PORT, protocol).startswith(told)


def test_a_linux_node_reaches_host_ports_of_its_own(lab: Laboratory) -> None:
    """By its own address and by loopback, which the pod never sees as a source."""
    address = NODE_ADDRESS[LINUX]
    assert lab.request(LINUX, address, PORT) == f"on-{LINUX} sees {address}"
    assert lab.request(LINUX, "127.0.0.1", PORT).startswith(f"on-{LINUX} sees 10.244.1.")
    assert lab.request(LINUX, "127.0.0.1", BOUND).startswith(f"on-{LINUX} sees 10.244.1.")
    assert lab.request(WIN_B, address, BOUND) == "refused"


def test_a_windows_node_answers_no_host_port_of_its_own_stack(lab: Laboratory) -> None:
    """Its own packets never reach the switch: silence at its address, refusal at loopback."""
    address = NODE_ADDRESS[WIN_A]
    assert lab.request(WIN_A, address, PORT) == "timed out"
    assert lab.request(WIN_A, "127.0.0.1", BOUND) == "refused"
    assert lab.request(WIN_B, address, BOUND) == "timed out"


def test_a_host_port_goes_with_its_pod(lab: Laboratory) -> None:
    """Once the pod is gone its node's address is closed at that port."""
    lab.detach(WIN_A, f"on-{WIN_A}")
    assert lab.request(WIN_B, NODE_ADDRESS[WIN_A], PORT) == "timed out"


def test_azure_lets_new_nodes_reach_their_own_host_ports(start_lab: StartLab) -> None:
    """NatFlagsLocalRoutedVip: the node's own packets visit the switch, as long as the pod is there."""
    chosen = profiles.load(AZURE)
    lab = start_lab(chosen)
    address = str(chosen.node(OWN).address)
    lab.attach_mapped(OWN, "pod", *MAPPINGS)
    assert lab.request(OWN, address, PORT) == f"pod sees {address}"
    lab.detach(OWN, "pod")
    lab.attach_mapped(OWN, "again", *MAPPINGS)
    assert lab.request(OWN, address, PORT) == f"again sees {address}"


def test_antrea_maps_no_host_port_on_windows(start_lab: StartLab) -> None:
    """Its plugin has no capability for it: the node's address stays closed there."""
    chosen = profiles.load("antrea-transparent")
    lab = start_lab(chosen)
    lab.attach_mapped(OWN, "pod", *MAPPINGS)
    assert lab.request("win-2", str(chosen.node(OWN).address), PORT) == "timed out"
