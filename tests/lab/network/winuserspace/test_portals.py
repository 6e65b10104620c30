"""kube-proxy's userspace mode on the wire: who answers, and whom backends see."""

from dataclasses import dataclass

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from nettests.lab.topology import ServicePort, profiles
from tests.lab.network.clusters import backend, service
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

PROFILE = "userspace-l2bridge"
OWN, OTHER, LINUX = "win-1", "win-2", "linux-1"
NODE = {name: str(profiles.load(PROFILE).node(name).address) for name in (OWN, OTHER, LINUX)}
VIP = {"own": "10.96.7.1", "other": "10.96.7.2", "self": "10.96.7.3", "nobody": "10.96.7.4"}
NODE_PORTS = {"own": 30001, "other": 30002, "nobody": 30003}


@dataclass(frozen=True, slots=True)
class World:
    """A lab with a client on one Windows node, and pods behind Services on both."""

    lab: Laboratory
    pods: dict[str, str]

    def request(self, source: str, address: str, port: int = 80, protocol: str = "tcp") -> str:
        """Query, and spell the nodes' addresses by their names."""
        answer = self.lab.request(source, address, port, protocol)
        for name, own in NODE.items():
            answer = answer.replace(f"sees {own}", f"sees {name}")
        return answer

    def services(self, *, protocol: str = "TCP") -> list[ServicePort]:
        """Return the Services of the table."""
        behind = {
            "own": [backend(self.pods["own"], OWN)],
            "other": [backend(self.pods["other"], OTHER)],
            "self": [backend(self.pods["client"], OWN)],
            "nobody": [],
        }
        return [
            service(
                *behind[name], name=name, vip=vip, node_port=NODE_PORTS.get(name), protocol=protocol
            )
            for name, vip in VIP.items()
        ]


@pytest.fixture
def world(start_lab: StartLab) -> World:
    """The shipped profile with its pods and TCP Services."""
    lab = start_lab(profiles.load(PROFILE))
    placed = {"client": OWN, "own": OWN, "other": OTHER, "linux": LINUX}
    made = World(lab, {name: lab.attach(node, name) for name, node in placed.items()})
    lab.program(*made.services())
    return made


def test_backends_see_the_node_that_took_the_connection(world: World) -> None:
    """From pods and from the node itself, by ClusterIP and by NodePort, to pods here and there."""
    for source in ("client", OWN):
        assert world.request(source, VIP["own"]) == f"own sees {OWN}"
        assert world.request(source, VIP["other"]) == f"other sees {OWN}"
        assert world.request(source, NODE[OWN], NODE_PORTS["other"]) == f"other sees {OWN}"
    assert world.request("client", VIP["self"]) == f"client sees {OWN}"
    for source in ("outside-client", "client", OTHER, "linux"):
        assert world.request(source, NODE[OTHER], NODE_PORTS["own"]) == f"own sees {OTHER}"


def test_node_ports_answer_at_the_loopback_address(world: World) -> None:
    """kube-proxy listens on all addresses of the node."""
    assert world.request(OWN, "127.0.0.1", NODE_PORTS["own"]) == f"own sees {OWN}"


def test_without_backends_a_connection_is_taken_and_closed(world: World) -> None:
    """Nobody answers on it; a port of the Service's address that is none of its own is lost."""
    for source, address, port in (
        ("client", VIP["nobody"], 80),
        (OWN, VIP["nobody"], 80),
        ("outside-client", NODE[OWN], NODE_PORTS["nobody"]),
    ):
        assert world.request(source, address, port) == "", source
    assert world.request("client", VIP["own"], 81) == "timed out"


def test_datagrams_are_carried_both_ways(world: World) -> None:
    """UDP Services answer from the address that was queried, at a NodePort too."""
    world.lab.program(*world.services(protocol="UDP"))
    for source in ("client", OWN):
        assert world.request(source, VIP["other"], protocol="udp") == f"other sees {OWN}"
    assert world.request("linux", NODE[OWN], NODE_PORTS["other"], "udp") == f"other sees {OWN}"
    assert world.request("client", VIP["nobody"], protocol="udp") == "timed out"


def test_a_backend_that_refuses_is_passed_over(world: World) -> None:
    """The next one is dialled instead, and the client does not notice."""
    silent = world.lab.attach_bare(OTHER, "silent")
    both = service(backend(silent, OTHER), backend(world.pods["own"], OWN), vip="10.96.7.9")
    world.lab.program(both)
    assert {world.request("client", "10.96.7.9") for _ in range(4)} == {f"own sees {OWN}"}


def test_services_that_go_answer_no_longer_and_are_recreated(world: World) -> None:
    """Their address leaves the host; nothing of them stays open."""
    before = world.lab.open_descriptors()
    world.lab.program()
    assert world.request("client", VIP["own"]) == "timed out"
    assert world.request(OTHER, NODE[OWN], NODE_PORTS["own"]) == "timed out"
    world.lab.program(*world.services())
    assert world.request("client", VIP["own"]) == f"own sees {OWN}"
    assert world.lab.open_descriptors() <= before


def test_a_withheld_service_is_lost_on_that_node_alone(world: World) -> None:
    """The fault acts on this proxy as on the other ones."""
    world.lab.suppress(OWN, "default/own:tcp")
    assert world.request("client", VIP["own"]) == "timed out"
    assert world.request(OTHER, VIP["own"]) == f"own sees {OTHER}"
    world.lab.restore(OWN)
    assert world.request("client", VIP["own"]) == f"own sees {OWN}"


def test_the_wire_between_nodes_carries_the_proxys_own_connection(world: World) -> None:
    """Neither the client's address nor the Service's is ever on it."""
    request = Ask(source="client", address=VIP["other"], port=80)
    frames = [Ether(f) for f in world.lab.capture("underlay", "to-172-30-0-14", request)]
    pairs = {(frame[IP].src, frame[IP].dst) for frame in frames if IP in frame}
    there = (NODE[OWN], world.pods["other"])
    assert pairs == {there, there[::-1]}
