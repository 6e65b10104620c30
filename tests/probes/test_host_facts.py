"""Which nodes are to tell of their kube-proxy and their firewall, from where, and what is written down of it."""

import ipaddress
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError, ExecAnswer
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, NodeFacts, known, unknown
from nettests.model.observation import NodeReading
from nettests.model.words import Family
from nettests.probes.deployment import Deployment
from nettests.probes.host_facts import lacking, lacking_facts, read_host_facts
from nettests.probes.sending import Probe
from nettests.rules.dns_suffixes import IN_POD, SEARCH_LIST
from nettests.rules.kube_proxy_on_host import MODE
from tests.probes.made import FACTS, deployed

NODES = ("node-linux-1-1", "node-windows-1-1")
OF_PROXY = ("kube-proxy-mode", "kube-proxy-configz", "kube-proxy-version")


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


def taken(
    probes: dict[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> tuple[NodeReading, ...]:
    """Take all readings that are lacking."""
    return read_host_facts(lacking_facts(probes, deployment, facts), Timing())


def read(
    nodes: dict[str, Node], facts: ClusterFacts = FACTS, deployment: Deployment | None = None
) -> dict[str, tuple[str, str | None]]:
    """Return by node what it said of its mode, and what went wrong."""
    probes = {name: Probe(name=name, execute=node) for name, node in nodes.items()}
    found = taken(probes, deployment or deployed(), facts)
    return {one.node: (one.stdout, one.error) for one in found if one.reading == MODE.name}


def names(node: NodeFacts, facts: ClusterFacts = FACTS) -> tuple[str, ...]:
    """Return what a node is to tell."""
    return tuple(one.name for one in lacking(node, facts))


def with_proxy(node: NodeFacts, **facts: Any) -> NodeFacts:
    """Return a node of whose kube-proxy other facts hold."""
    return replace(node, kube_proxy=replace(node.kube_proxy, **facts))


def test_each_node_whose_mode_is_unknown_is_run_once(nodes: dict[str, Node]) -> None:
    """By its own curl, at its own loopback address."""
    assert read(nodes) == {"n1": ("ipvs", None), "w1": ("ipvs", None)}
    (first, *_) = nodes["node-linux-1-1"].probed
    assert first == ("curl", "-sS", "-m", "5", "http://127.0.0.1:10249/proxyMode")
    assert MODE.words in nodes["node-windows-1-1"].probed
    assert len(nodes["node-windows-1-1"].probed) == len(lacking(FACTS.nodes[1], FACTS))


def test_a_node_whose_settings_are_known_is_not_run(nodes: dict[str, Node]) -> None:
    """Discovery has read them already; a gate that no object names is one of them."""
    stated = with_proxy(FACTS.nodes[0], mode=known("iptables", "test"))
    assert names(stated) == OF_PROXY
    knows = with_proxy(stated, terminating=known(value=True, origin="test"))
    facts = replace(FACTS, nodes=(knows, FACTS.nodes[1]))
    assert set(read(nodes, facts)) == {"w1"}
    assert nodes["node-linux-1-1"].probed == []


def test_a_windows_node_tells_what_a_linux_node_has_not() -> None:
    """Its kube-proxy's command line, and whether its firewall is on."""
    linux, windows = FACTS.nodes
    assert names(linux) == OF_PROXY
    of_windows = ("kube-proxy-command-line", "firewall-profiles", "hns-networks")
    assert names(windows) == (*OF_PROXY, *of_windows)


def test_settings_are_read_where_only_the_mode_is_stated() -> None:
    """DSR decides as much as the mode; where no kube-proxy runs there is nothing to read."""
    stated = with_proxy(
        FACTS.nodes[1], mode=known("kernelspace", "cluster profile"), dsr=unknown("no Pod")
    )
    assert OF_PROXY[0] in names(stated)
    for settled in ({"dsr": known(True, "test")}, {"mode": known("none", "test")}):
        assert not {*OF_PROXY} & {*names(with_proxy(stated, **settled))}


def test_the_network_of_pods_is_read_where_plugin_or_driver_are_unknown() -> None:
    """HNS shows both; what Azure CNI excepts from OutBoundNAT is in its configuration."""
    azure = replace(FACTS, cni=replace(FACTS.cni, plugin=known("azure-cni", "test")))
    windows = replace(FACTS.nodes[1], cni_driver=known("l2bridge", "test"))
    assert "hns-networks" in names(windows)
    assert names(windows, azure)[-1] == "cni-configuration"
    assert "hns-networks" not in names(windows, azure)
    assert not {"hns-networks", "cni-configuration"} & {*names(FACTS.nodes[0], azure)}


def test_the_cluster_s_domain_is_read_once_if_no_object_tells_it(nodes: dict[str, Node]) -> None:
    """In the search list of a Linux Pod; those of Windows are read anyway."""
    names_of_pods = ("probe-linux-1-1", "probe-windows-1-1")
    probes = {name: Probe(name=name, execute=nodes["node-linux-1-1"]) for name in names_of_pods}
    unread = replace(FACTS, cluster_domain=unknown("forbidden"))
    for facts, read_of in ((FACTS, []), (unread, ["probe-linux-1-1"])):
        readings = taken(probes, deployed(), facts)
        assert [each.probe for each in readings if each.reading == SEARCH_LIST.name] == read_of


def test_a_firewall_that_is_stated_is_not_read() -> None:
    """The cluster profile says it."""
    assert "firewall-profiles" not in names(
        replace(FACTS.nodes[1], firewall=known(False, "cluster profile"))
    )


def test_what_is_no_setting_is_not_written_down(nodes: dict[str, Node]) -> None:
    """Of configuration and command line that is kept which rules use: the rest is the node's own business."""
    secret = (
        '{"kubeproxy.config.k8s.io": {"Mode": "ipvs", "ClientConnection": {"Kubeconfig": "hush"}}}'
    )
    nodes["node-linux-1-1"].answer = ExecAnswer(exit_code=0, stdout=secret, stderr="")
    probes = {"node-linux-1-1": Probe(name="node-linux-1-1", execute=nodes["node-linux-1-1"])}
    told = {one.reading: one for one in taken(probes, deployed(), FACTS)}
    assert "hush" not in told["kube-proxy-configz"].stdout
    assert "ipvs" in told["kube-proxy-configz"].stdout


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
    mode = lacking(FACTS.nodes[0], replace(FACTS, families=(Family.IPV6,)))[0]
    assert mode.words[-1] == "http://[::1]:10249/proxyMode"


def test_a_pod_of_each_windows_node_tells_its_dns_suffixes() -> None:
    """Its own registry, once a node; a Linux Pod has a file, and where it is known nobody is run."""
    pods = {name: Node() for name in ("probe-linux-1-1", "probe-windows-1-1")}
    probes = {name: Probe(name=name, execute=pod) for name, pod in pods.items()}

    def told(facts: ClusterFacts) -> list[str]:
        found = taken(probes, deployed(), facts)
        assert all(one.error is None for one in found)
        return [one.node for one in found if one.reading == IN_POD.name]

    assert told(FACTS) == ["w1"]
    assert pods["probe-windows-1-1"].probed == [IN_POD.words]
    assert pods["probe-linux-1-1"].probed == []
    windows = replace(FACTS.nodes[1], dns_suffixes=known((), "test"))
    assert told(replace(FACTS, nodes=(FACTS.nodes[0], windows))) == []
