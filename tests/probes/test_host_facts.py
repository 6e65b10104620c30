"""Which nodes are requested their kube-proxy's mode, from where, and what is written down of it."""

import ipaddress
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from nettests.model.channel import ChannelError, ExecAnswer
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, known
from nettests.model.words import OS, Family
from nettests.probes.deployment import Deployment
from nettests.probes.host_facts import command, read_host_facts
from nettests.probes.sending import Probe
from tests.probes.made import FACTS, deployed

NODES = ("node-linux-1-1", "node-windows-1-1")


@dataclass
class Node:
    """A channel to a node on which kube-proxy answers, or that fails."""

    answer: ExecAnswer | None = field(
        default_factory=lambda: ExecAnswer(exit_code=0, stdout="ipvs", stderr="")
    )
    probed: list[tuple[str, ...]] = field(default_factory=list)
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(1))

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        assert timeout > 5
        self.probed.append(tuple(argv))
        if self.answer is None:
            raise ChannelError("the exec lost its exit code")
        return self.answer


@pytest.fixture
def nodes() -> dict[str, Node]:
    """Both node vantages."""
    return {name: Node() for name in NODES}


def read(
    nodes: dict[str, Node], facts: ClusterFacts = FACTS, deployment: Deployment | None = None
) -> dict[str, tuple[str, str | None]]:
    """Return by node what it said, and what went wrong."""
    probes = {name: Probe(name=name, execute=node) for name, node in nodes.items()}
    found = read_host_facts(probes, deployment or deployed(), facts, Timing())
    return {one.node: (one.stdout, one.error) for one in found}


def test_each_node_whose_mode_is_unknown_is_run_once(nodes: dict[str, Node]) -> None:
    """By its own curl, at its own loopback address."""
    assert read(nodes) == {"n1": ("ipvs", None), "w1": ("ipvs", None)}
    assert nodes["node-linux-1-1"].probed == [command(OS.LINUX, Family.IPV4)]
    assert nodes["node-windows-1-1"].probed == [command(OS.WINDOWS, Family.IPV4)]


def test_a_node_whose_mode_is_known_is_not_run(nodes: dict[str, Node]) -> None:
    """Discovery has read it already."""
    knows = replace(FACTS.nodes[0].kube_proxy, mode=known("iptables", "test"))
    facts = replace(FACTS, nodes=(replace(FACTS.nodes[0], kube_proxy=knows), FACTS.nodes[1]))
    assert set(read(nodes, facts)) == {"w1"}
    assert nodes["node-linux-1-1"].probed == []


def test_nodes_without_a_vantage_are_left_alone(nodes: dict[str, Node]) -> None:
    """None is made for it, and one that could not be opened tests nothing."""
    del nodes["node-windows-1-1"]
    assert set(read(nodes)) == {"n1"}


def test_a_vantage_in_the_pod_network_says_nothing_of_its_node(nodes: dict[str, Node]) -> None:
    """Its loopback address is its own; it is not even probed."""
    stands = deployed()
    astray = replace(
        stands.pods["node-windows-1-1"], addresses=(ipaddress.ip_address("10.244.3.9"),)
    )
    found = read(nodes, deployment=replace(stands, pods={**stands.pods, astray.name: astray}))
    assert "runs in the pod network (10.244.3.9), not on the node" in (found["w1"][1] or "")
    assert nodes["node-windows-1-1"].probed == []


def test_a_channel_that_fails_is_written_down(nodes: dict[str, Node]) -> None:
    """The other node's answer stands."""
    nodes["node-linux-1-1"].answer = None
    assert read(nodes) == {"n1": ("", "the exec lost its exit code"), "w1": ("ipvs", None)}


def test_a_cluster_of_ipv6_binds_metrics_there() -> None:
    """The default of ``metricsBindAddress`` follows the family of ``bindAddress``."""
    assert command(OS.LINUX, Family.IPV6)[-1] == "http://[::1]:10249/proxyMode"
