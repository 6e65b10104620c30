"""Plugin, driver, exceptions and domain as nodes and Pods show them, where no object of the API does."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.facts import ClusterFacts, unknown
from nettests.model.observation import NodeReading
from nettests.parse.host_facts import completed
from nettests.rules import reduced
from nettests.rules.cni_files import CNI
from nettests.rules.dns_suffixes import IN_POD, SEARCH_LIST
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.readings import ToolOutput
from tests.facts import cluster_facts
from tests.rules.made import printed

WHY = "no object tells it"
NAT: dict[str, Any] = {"Name": "nat", "Type": "nat"}
PLACEHOLDER = {
    "Name": "ext",
    "Type": "L2Bridge",
    "Subnets": [{"AddressPrefix": "192.168.255.0/30"}],
}


def network(name: str, kind: str, prefix: str = "10.244.3.0/24") -> dict[str, Any]:
    """Return a network as Get-HnsNetwork shows it."""
    return {"Name": name, "Type": kind, "Subnets": [{"AddressPrefix": prefix}]}


def unread() -> ClusterFacts:
    """Return the facts of a cluster whose objects tell nothing of its network."""
    facts = cluster_facts("win2022-l2bridge-dsr")
    nothing: Any = unknown(WHY)
    nodes = tuple(replace(node, cni_driver=nothing) for node in facts.nodes)
    cni = replace(facts.cni, plugin=nothing, backend=nothing, nat_exceptions=nothing)
    return replace(facts, nodes=nodes, cni=cni, cluster_domain=nothing)


def told(reading: ToolOutput, text: Any, node: str = "win-1", **more: Any) -> NodeReading:
    """Return what a node, or a Pod on it, answered."""
    stdout = text if isinstance(text, str) else json.dumps(text)
    return NodeReading(
        **{
            "node": node,
            "reading": reading.name,
            "probe": f"probe-{node}",
            "command": reading.words,
            "exit_code": 0,
            "stdout": reduced(reading, printed(reading.words, stdout)),
            **more,
        }
    )


@pytest.mark.parametrize(
    ("rows", "plugin", "backend", "driver"),
    [
        ([network("azure", "L2Bridge"), PLACEHOLDER], "azure-cni", None, "l2bridge"),
        ([network("azure", "L2Tunnel"), PLACEHOLDER], "azure-cni", None, "l2tunnel"),
        ([network("vpcbr0a1b2c3d4e5f", "L2Bridge"), NAT], "aws-vpc-cni", None, "l2bridge"),
        ([network("Calico", "Overlay")], "calico", "vxlan", "overlay"),
        ([network("flannel.4096", "Overlay"), NAT], "flannel", "vxlan", "overlay"),
        ([network("cbr0", "L2Bridge")], "flannel", "host-gw", "l2bridge"),
        (network("antrea-hnsnetwork", "Transparent"), "antrea", None, "transparent"),
        ([network("mine", "L2Bridge")], None, None, "l2bridge"),
        ([PLACEHOLDER], None, None, "l2bridge"),
        ([network("a", "L2Bridge"), network("b", "Overlay")], None, None, None),
        ([NAT], None, None, None),
        ([], None, None, None),
    ],
)
def test_the_networks_of_hns_show_plugin_and_driver(
    rows: Any, plugin: str | None, backend: str | None, driver: str | None
) -> None:
    """By names that plugins give them and by their type; Windows' own networks and placeholders carry no Pods."""
    facts = completed(unread(), [told(NETWORKS, rows)])
    assert (facts.cni.plugin.value, facts.cni.backend.value) == (plugin, backend)
    found = facts.node("win-1").cni_driver
    assert found.value == driver
    assert found.known or found.origin.startswith(f"{WHY}; ")


def test_nodes_that_differ_tell_no_plugin_but_each_its_driver() -> None:
    """What is of the whole cluster has to be the same everywhere."""
    readings = [
        told(NETWORKS, [network("azure", "L2Bridge")]),
        told(NETWORKS, [network("Calico", "Overlay")], node="win-2"),
    ]
    facts = completed(unread(), readings)
    assert "win-1, win-2 differ in it: azure-cni, calico" in facts.cni.plugin.origin
    drivers = [facts.node(name).cni_driver.value for name in ("win-1", "win-2")]
    assert drivers == ["l2bridge", "overlay"]


def test_a_node_without_a_vantage_follows_a_plugin_that_others_show() -> None:
    """Only if that plugin makes one type of network."""
    facts = completed(unread(), [told(NETWORKS, [network("vpcbr0a1b2c3d4e5f", "L2Bridge")])])
    assert facts.node("win-2").cni_driver.value == "l2bridge"
    facts = completed(unread(), [told(NETWORKS, [network("azure", "L2Bridge")])])
    assert facts.node("win-2").cni_driver.value is None


def test_a_reading_that_failed_says_why() -> None:
    """An answer that is none leaves the fact unknown, with its own words."""
    failed = told(NETWORKS, "", exit_code=1, stderr="Access is denied.")
    facts = completed(unread(), [failed])
    for fact in (facts.cni.plugin, facts.node("win-1").cni_driver):
        assert (fact.value, "Access is denied." in fact.origin) == (None, True)


@pytest.mark.parametrize(
    ("policies", "exceptions"),
    [
        ([{"Type": "OutBoundNAT", "ExceptionList": ["10.224.0.0/12"]}], ["10.224.0.0/12"]),
        ([{"Type": "ACL"}], ["0.0.0.0/0", "::/0"]),
        ([{"Type": "OutBoundNAT", "ExceptionList": ["everything"]}], None),
    ],
)
def test_azure_s_configuration_tells_the_exceptions_of_outbound_nat(
    policies: list[dict[str, Any]], exceptions: list[str] | None
) -> None:
    """A node pool without outbound NAT has no such policy: its Pods keep their addresses everywhere."""
    arguments = [{"Name": "EndpointPolicy", "Value": policy} for policy in policies]
    plugin = {"type": "azure-vnet", "AdditionalArgs": arguments}
    facts = completed(unread(), [told(CNI, {"name": "azure", "plugins": [plugin]})])
    found = facts.cni.nat_exceptions.value
    assert (None if found is None else list(map(str, found))) == exceptions


@pytest.mark.parametrize(
    ("readings", "domain"),
    [
        (
            [(SEARCH_LIST, "nameserver 10.96.0.10\nsearch a.svc.corp.test svc.corp.test\n")],
            "corp.test",
        ),
        (
            [(IN_POD, "HKEY_X\\Tcpip\\Parameters\n    SearchList    REG_SZ    a.svc.Corp.Test\n")],
            "corp.test",
        ),
        ([(SEARCH_LIST, "search ec2.internal\n")], None),
        (
            [
                (SEARCH_LIST, "search a.svc.corp.test\n"),
                (IN_POD, "HKEY_X\\Tcpip\\Parameters\n    SearchList    REG_SZ    a.svc.b.test\n"),
            ],
            None,
        ),
    ],
)
def test_search_lists_of_pods_show_the_cluster_s_domain(
    readings: list[tuple[ToolOutput, str]], domain: str | None
) -> None:
    """They are what the kubelet gives; Pods that differ in it tell none."""
    answers = [
        told(reading, text, node=f"win-{n}") for n, (reading, text) in enumerate(readings, 1)
    ]
    assert completed(unread(), answers).cluster_domain.value == domain


def test_what_is_known_is_not_read_again() -> None:
    """An answer never overrides an object of the API, nor what the cluster profile states."""
    facts = cluster_facts("win2022-l2bridge-dsr")
    assert completed(facts, [told(NETWORKS, [network("Calico", "Overlay")])]) == facts


@pytest.mark.parametrize(
    ("plugin", "given"),
    [
        ({"type": "azure-vnet", "windowsSettings": {"enableLoopbackDSR": True}}, True),
        ({"type": "azure-vnet"}, False),
        ({"type": "calico", "windows_loopback_DSR": "true"}, True),
        ({"type": "calico", "windows_loopback_DSR": False}, False),
        ({"type": "flannel", "delegate": {"type": "win-overlay", "loopbackDSR": True}}, True),
        ({"type": "sdnbridge", "optionalFlags": {"LoopbackDSR": True}}, True),
        ({"type": "vpc-bridge"}, None),
    ],
)
def test_a_node_tells_whether_its_plugin_uses_dsr_for_what_a_pod_sends_to_itself(
    plugin: dict[str, Any], given: bool | None
) -> None:
    """Each plugin has a name for the option, and it is off where its file has none; of others nothing is known."""
    before = unread()
    cni = replace(before.cni, loopback_dsr=unknown(WHY))
    facts = completed(replace(before, cni=cni), [told(CNI, plugin)])
    assert facts.cni.loopback_dsr.value is given
    assert "win-1" in facts.cni.loopback_dsr.origin or WHY in facts.cni.loopback_dsr.origin
