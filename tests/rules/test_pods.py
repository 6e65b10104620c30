"""Settings on nodes of dual-stack clusters: rules demand the families that Pods there have."""

import json
from typing import Any

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, log, pods

IPV4, BOTH = ("10.244.3.5",), ("10.244.3.5", "fd00:10:244:3::5")
CLUSTER4, CLUSTER6 = (
    ["10.244.0.0/16", "10.96.0.0/16", "172.30.0.13/32"],
    ["fd00:10:244::/56", "fd00:10:96::/112"],
)
FACTS = {
    "driver": "l2bridge",
    "pod-cidrs": "10.244.0.0/16,fd00:10:244::/56",
    "service-cidrs": "10.96.0.0/16,fd00:10:96::/112",
    "node-pod-cidrs": "10.244.3.0/24,fd00:10:244:3::/64",
    "management-address": "172.30.0.13/32",
    "management-addresses": "172.30.0.13/32",
}
RULES = ["hns-network-subnet", "outbound-nat", "cni-exceptions", "cni-routes"]


def policy(kind: str, **settings: Any) -> dict[str, Any]:
    """Return an endpoint's policy."""
    return {"Type": kind, **settings}


def readings(networks: list[str], subnets: list[str], *addresses: str) -> dict[str, str]:
    """Return a node whose settings hold these networks, with a Pod of these addresses, if any."""
    listed = json.loads(pods())["items"]
    if addresses:
        status = {
            "phase": "Running",
            "podIP": addresses[0],
            "podIPs": [{"ip": address} for address in addresses],
        }
        metadata = {"name": "probe", "namespace": "demo"}
        listed.append({"metadata": metadata, "spec": {"containers": [{}]}, "status": status})
    nat = policy("OutBoundNAT", ExceptionList=networks)
    routes = [policy("ROUTE", DestinationPrefix=one, NeedEncap=True) for one in networks]
    written = [{"Name": "EndpointPolicy", "Value": one} for one in (nat, *routes)]
    endpoint = {"IPAddress": "10.244.3.5", "VirtualNetworkName": "cbr0", "Policies": [nat]}
    network = {"Name": "cbr0", "Subnets": [{"AddressPrefix": one} for one in subnets]}
    return {
        "node-pods": json.dumps({"items": listed}),
        "kube-proxy-log": log(network_name="cbr0"),
        "hns-networks": json.dumps(network),
        "hns-endpoints": json.dumps(endpoint),
        "cni-configuration": json.dumps(
            {"name": "cbr0", "type": "flannel", "delegate": {"policies": written}}
        ),
    }


@pytest.mark.parametrize("rule", RULES)
def test_settings_of_ipv4_serve_pods_that_have_nothing_else(rule: str) -> None:
    """Where Pods have IPv4 alone nothing is to be excepted, routed or given in IPv6."""
    assert found(rule, readings(CLUSTER4, ["10.244.3.0/24"], *IPV4), **FACTS).conforms


@pytest.mark.parametrize("rule", RULES)
def test_pods_of_both_families_need_settings_for_both(rule: str) -> None:
    """A Pod with an IPv6 address is lost without them, and the networks that are missing are named."""
    said = found(rule, readings(CLUSTER4, ["10.244.3.0/24"], *BOTH), **FACTS)
    assert not said.conforms
    assert "fd00:10:" in said.detail
    subnets = ["10.244.3.0/24", "fd00:10:244:3::/64"]
    assert found(rule, readings(CLUSTER4 + CLUSTER6, subnets, *BOTH), **FACTS).conforms


@pytest.mark.parametrize("rule", RULES)
def test_settings_of_the_pods_own_family_are_demanded_all_the_same(rule: str) -> None:
    """That the second family is left out excuses nothing in the first."""
    assert not found(rule, readings(["10.0.0.0/32"], ["10.9.0.0/24"], *IPV4), **FACTS).conforms


@pytest.mark.parametrize("rule", RULES)
def test_without_a_pod_nobody_knows_which_families_are_expected(rule: str) -> None:
    """In a cluster of two families that is unreadable; in a cluster of one there is no question."""
    alone = readings(CLUSTER4, ["10.244.3.0/24"])
    with pytest.raises(UnreadableError):
        found(rule, alone, **FACTS)
    if rule != "outbound-nat":  # which looks at Pods' endpoints in any cluster
        assert found(rule, alone, driver="l2bridge").conforms
