"""The rules about endpoints of Pods, on what Get-HnsEndpoint shows beside the Pods of the node."""

import json
from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.rules import NothingThereError, UnreadableError
from tests.rules.made import (
    found,
    log,
    pods,
)

NAT = {"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16", "10.96.0.0/12"]}


def pod(name: str, address: str, **spec: Any) -> Object:
    """Return a running Pod."""
    return {
        "metadata": {"name": name, "namespace": "demo"},
        "spec": spec,
        "status": {"phase": "Running", "podIP": address},
    }


def endpoint(address: str, network: str = "cbr0", **fields: Any) -> Object:
    """Return an endpoint as Get-HnsEndpoint shows it."""
    return {
        "IPAddress": address,
        "Policies": [NAT, {"Type": "L2Driver"}],
        "VirtualNetworkName": network,
        **fields,
    }


def node(running: list[Object], endpoints: list[Object]) -> dict[str, str]:
    """Return the readings of a node with these Pods beside kube-proxy, and these endpoints."""
    listed = json.loads(pods())["items"] + running
    return {
        "node-pods": json.dumps({"items": listed}),
        "node-pods-after": json.dumps({"items": listed}),
        "kube-proxy-log": log(network_name="cbr0"),
        "hns-endpoints": json.dumps(endpoints),
    }


@pytest.mark.parametrize(
    ("endpoints", "conforms"),
    [
        ([endpoint("10.244.3.5")], True),
        ([endpoint("10.244.3.5", "nat")], False),
        ([], False),
        ([endpoint("10.244.3.5", IsRemoteEndpoint=True)], False),
    ],
)
def test_every_pod_has_an_endpoint_on_kube_proxys_network(
    endpoints: list[Object], conforms: bool
) -> None:
    """Remote endpoints are records of other nodes' pods; kube-proxy looks at no other network."""
    readings = node([pod("web", "10.244.3.5")], endpoints)
    assert found("pod-endpoints", readings).conforms is conforms


def test_pods_of_the_host_need_no_endpoint() -> None:
    """HostProcess Pods have the node's address; one that is going is not looked for."""
    leaving = pod("old", "10.244.3.8")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    running = [pod("agent", "172.30.0.13", hostNetwork=True), leaving, pod("web", "10.244.3.5")]
    assert found("pod-endpoints", node(running, [endpoint("10.244.3.5")])).conforms


def test_a_pod_that_is_gone_after_the_look_needs_no_endpoint() -> None:
    """Pods of other checks come and go while a node is read."""
    readings = node([pod("web", "10.244.3.5"), pod("gone", "10.244.3.6")], [endpoint("10.244.3.5")])
    readings["node-pods-after"] = node([pod("web", "10.244.3.5")], [])["node-pods"]
    assert found("pod-endpoints", readings).conforms


@pytest.mark.parametrize("rule", ["pod-endpoints", "outbound-nat"])
def test_a_node_without_pods_shows_nothing(rule: str) -> None:
    """Nothing to look at is no success."""
    with pytest.raises(UnreadableError):
        found(rule, node([], []))


@pytest.mark.parametrize(
    ("policies", "conforms"),
    [
        ([NAT], True),
        ([{"Type": "OutBoundNAT", "Settings": {"Exceptions": NAT["ExceptionList"]}}], True),
        ([{"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16"]}], False),
        ([{"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16", "10.96.0.0/24"]}], False),
        ([{"Type": "L2Driver"}], False),
        (NAT, True),
    ],
)
def test_outbound_nat_excepts_pods_and_services(policies: Any, conforms: bool) -> None:
    """Both networks lie wholly in exceptions, by either name of the property."""
    endpoints = [endpoint("10.244.3.5", Policies=policies)]
    readings = node([pod("web", "10.244.3.5")], endpoints)
    finding = found("outbound-nat", readings)
    assert finding.conforms is conforms
    assert conforms or "demo/web" in finding.detail


@pytest.mark.parametrize(
    ("entry", "driver", "told"),
    [
        ("172.30.0.0/24", "l2bridge", ""),
        ("192.168.0.0/16", "l2bridge", "lacks 172.30.0.10/31, 172.30.0.12/31"),
        ("0.0.0.0/0", "l2bridge", "excepts 0.0.0.0/0"),
        ("0.0.0.0/0", "overlay", "excepts 0.0.0.0/0"),
        ("192.168.0.0/16", "overlay", ""),
    ],
)
def test_outbound_nat_excepts_nodes_on_l2bridge_and_no_outside_address(
    entry: str, driver: str, told: str
) -> None:
    """What is missing and what is too much are both named, with the Pod."""
    policy = {"Type": "OutBoundNAT", "ExceptionList": [*NAT["ExceptionList"], entry]}
    readings = node([pod("web", "10.244.3.5")], [endpoint("10.244.3.5", Policies=[policy])])
    finding = found("outbound-nat", readings, driver=driver, plugin="flannel")
    assert finding.conforms is not bool(told)
    assert not told or f"demo/web {told};" in finding.detail


@pytest.mark.parametrize(
    ("plugin", "entry", "conforms"),
    [
        ("ovn-kubernetes", "10.96.0.0/16", True),
        ("ovn-kubernetes", "10.244.0.0/16", False),
        ("azure-cni", "10.244.0.0/16", True),
        ("azure-cni", "10.96.0.0/16", False),
        ("aws-vpc-cni", "10.244.0.0/16", False),
    ],
)
def test_outbound_nat_excepts_what_a_plugins_own_installer_does(
    plugin: str, entry: str, conforms: bool
) -> None:
    """OpenShift's operator excepts Services alone, AKS Pods alone; of all others both are demanded."""
    policy = {"Type": "OutBoundNAT", "ExceptionList": [entry]}
    readings = node([pod("web", "10.244.3.5")], [endpoint("10.244.3.5", Policies=[policy])])
    assert found("outbound-nat", readings, plugin=plugin).conforms is conforms


@pytest.mark.parametrize(("network", "conforms"), [("cbr0", True), ("nat", False)])
def test_no_pod_is_on_a_nat_network(network: str, conforms: bool) -> None:
    """The runtime's default network is there, but for nobody."""
    readings = node([pod("web", "10.244.3.5")], [endpoint("10.244.3.5", network)])
    both = [{"Name": "nat", "Type": "NAT"}, {"Name": "cbr0", "Type": "L2Bridge"}]
    assert found("nat-unused", {**readings, "hns-networks": json.dumps(both)}).conforms is conforms


@pytest.mark.parametrize(
    ("driver", "gateway", "conforms"),
    [
        ("l2bridge", "10.244.3.2", True),
        ("l2bridge", "10.244.3.1", False),
        ("overlay", "10.244.3.1", True),
        ("overlay", "10.244.4.1", False),
    ],
)
def test_pods_have_their_plugins_gateway(driver: str, gateway: str, conforms: bool) -> None:
    """win-bridge's is an endpoint of the host, win-overlay's the subnet's own."""
    running = [pod("web", "10.244.3.4")]
    texts = node(running, [endpoint("10.244.3.4", GatewayAddress=gateway)])
    assert found("pod-gateway", texts, driver=driver).conforms is conforms


@pytest.mark.parametrize(
    ("driver", "running"), [("l2tunnel", [pod("web", "10.244.3.4")]), ("overlay", [])]
)
def test_no_documented_gateway_is_no_finding(driver: str, running: list[Object]) -> None:
    """Of other drivers, and of nodes without Pods, nothing is demanded."""
    texts = node(running, [endpoint("10.244.3.4", GatewayAddress="10.244.3.1")])
    with pytest.raises(UnreadableError):
        found("pod-gateway", texts, driver=driver)


OWN = "demo.svc.cluster.local,svc.cluster.local,cluster.local"


@pytest.mark.parametrize(
    ("servers", "suffixes", "told"),
    [
        ("10.96.0.10", OWN, ""),
        ("10.96.0.10", "demo.svc.cluster.local", ""),
        ("198.51.100.1,10.96.0.10", OWN, ""),
        ("198.51.100.1", OWN, "demo/web with 198.51.100.1"),
        ("10.96.0.10", "svc.cluster.local", "demo/web with the suffix svc.cluster.local"),
        ("10.96.0.10", "demo.svc.corp", "demo/web with the suffix demo.svc.corp"),
        ("10.96.0.10", "", "demo/web with the suffix (none)"),
    ],
)
def test_pods_have_the_clusters_dns_and_their_namespaces_suffix(
    servers: str, suffixes: str, told: str
) -> None:
    """One suffix or several: the namespace's is the first."""
    texts = node(
        [pod("web", "10.244.3.5", dnsPolicy="ClusterFirst")],
        [endpoint("10.244.3.5", DNSServerList=servers, DNSSuffix=suffixes)],
    )
    finding = found("pod-dns-settings", texts)
    assert finding.conforms is (not told)
    assert told in finding.detail


def test_a_pod_without_dns_settings_beside_one_that_has_them_deviates() -> None:
    """HNS shows them of the node's endpoints: of the one that has none, the plugin gave none."""
    texts = node(
        [
            pod("web", "10.244.3.5", dnsPolicy="ClusterFirst"),
            pod("bare", "10.244.3.6", dnsPolicy="ClusterFirst"),
        ],
        [
            endpoint("10.244.3.5", DNSServerList="10.96.0.10", DNSSuffix=OWN),
            endpoint("10.244.3.6", DNSServerList=""),
        ],
    )
    finding = found("pod-dns-settings", texts)
    assert not finding.conforms
    assert "demo/bare with none" in finding.detail


def test_pods_of_another_dns_policy_are_left_out() -> None:
    """They were not to get the cluster's DNS."""
    own = endpoint("10.244.3.5", DNSServerList="198.51.100.1")
    with pytest.raises(NothingThereError):
        found("pod-dns-settings", node([pod("web", "10.244.3.5", dnsPolicy="Default")], [own]))


def test_endpoints_none_of_which_has_dns_settings_deviate() -> None:
    """A plugin without the capability dns gives none to any Pod: that is what the rule looks for."""
    bare = [endpoint("10.244.3.5"), endpoint("10.244.3.6")]
    pods = [pod(f"web-{n}", f"10.244.3.{n}", dnsPolicy="ClusterFirst") for n in (5, 6)]
    said = found("pod-dns-settings", node(pods, bare))
    assert not said.conforms
    assert "demo/web-5 with none, demo/web-6 with none" in said.detail


def test_a_nat_network_is_known_in_any_spelling() -> None:
    """HNS echoes the type as whoever made the network wrote it."""
    texts = {
        **node([pod("web", "10.244.3.5")], [endpoint("10.244.3.5", "nat")]),
        "hns-networks": json.dumps([{"Name": "nat", "Type": "nat"}]),
    }
    assert not found("nat-unused", texts).conforms


AZURE = {"type": "azure-vnet", "AdditionalArgs": [{"Name": "EndpointPolicy", "Value": NAT}]}


@pytest.mark.parametrize(
    ("facts", "configuration", "switched_off"),
    [
        ({"plugin": "azure-cni"}, None, True),
        ({"plugin": "azure-cni"}, {"type": "azure-vnet"}, True),
        ({"plugin": "azure-cni"}, AZURE, False),
        ({"plugin": "calico", "nat": "off"}, None, True),
        ({"plugin": "calico"}, None, False),
        ({"plugin": "flannel"}, {"type": "sdnbridge"}, False),
    ],
)
def test_outbound_nat_may_be_switched_off(
    facts: dict[str, str], configuration: Object | None, switched_off: bool
) -> None:
    """AKS offers that for a node pool, Calico for a pool of addresses; elsewhere a Pod without it lacks something."""
    readings = node([pod("web", "10.244.3.5")], [endpoint("10.244.3.5", Policies=[])])
    if configuration is not None:
        readings["cni-configuration"] = json.dumps(configuration)
    if switched_off:
        with pytest.raises(NothingThereError):
            found("outbound-nat", readings, **facts)
    else:
        assert "has no OutBoundNAT" in found("outbound-nat", readings, **facts).detail
