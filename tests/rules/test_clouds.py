"""The rules about Amazon's plugin, and about the addresses that Calico keeps."""

import json
from typing import Any

import pytest

from nettests.rules import RULES, Evidence, NothingThereError, UnreadableError
from tests.rules.made import FACTS, found

OWN = {"Name": "vpcbr0a1b2c3d4e5f", "Type": "L2Bridge"}


def networks(*rows: dict[str, Any]) -> dict[str, str]:
    """Return what Get-HnsNetwork shows."""
    return {"hns-networks": json.dumps(rows)}


def running(**addresses: str) -> dict[str, str]:
    """Return Pods of a node by their names."""
    items = [
        {
            "metadata": {"name": name.replace("_", "-"), "namespace": "demo"},
            "spec": {"containers": [{}]},
            "status": {"podIPs": [{"ip": one} for one in address.split()]},
        }
        for name, address in addresses.items()
    ]
    return {"node-pods": json.dumps({"items": items})}


@pytest.mark.parametrize(
    ("rows", "conforms"),
    [
        ([OWN], True),
        ([OWN, {"Name": "nat", "Type": "NAT"}], True),
        ([{**OWN, "Type": "Overlay"}], False),
        ([OWN, {"Name": "vpcbr00155d000001", "Type": "L2Bridge"}], False),
        ([{"Name": "cbr0", "Type": "L2Bridge"}], False),
        ([], False),
    ],
)
def test_amazons_plugin_uses_one_interface(rows: list[dict[str, Any]], conforms: bool) -> None:
    """One network of its name, of type L2Bridge; those of others are none of its matter."""
    assert found("vpc-interface", networks(*rows)).conforms is conforms


def test_pods_of_amazons_plugin_have_ipv4_alone() -> None:
    """An IPv6 address deviates, and is named."""
    assert found("vpc-pods-ipv4", running(web="172.30.3.5")).conforms
    said = found("vpc-pods-ipv4", running(web="172.30.3.5 2600:1f14::5"))
    assert not said.conforms
    assert "2600:1f14::5" in said.detail


def test_the_clusters_dns_is_on_no_windows_node() -> None:
    """A Pod of CoreDNS there deviates, and is named; a node without any Pod shows nothing."""
    assert found("vpc-dns-elsewhere", running(web="172.30.3.5")).conforms
    said = found("vpc-dns-elsewhere", running(coredns_5d78c9869d_abcde="172.30.3.6"))
    assert not said.conforms
    assert "coredns-5d78c9869d-abcde" in said.detail
    with pytest.raises(NothingThereError):
        found("vpc-dns-elsewhere", running())


@pytest.mark.parametrize(
    ("settings", "conforms"),
    [
        ({"data": {"enable-windows-ipam": "true"}}, True),
        ({"data": {"enable-windows-ipam": "True"}}, True),
        ({"data": {"enable-windows-ipam": "1"}}, True),
        ({"data": {"enable-windows-ipam": "false"}}, False),
        ({"data": {"enable-windows-ipam": "yes"}}, False),
        ({"data": {"enable-network-policy-controller": "true"}}, False),
        ({}, False),
    ],
)
def test_amazons_controller_gives_windows_nodes_addresses(
    settings: dict[str, Any], *, conforms: bool
) -> None:
    """It reads the switch as Go reads a bool, and takes what it cannot read for false."""
    said = found("vpc-windows-ipam", {"vpc-settings": json.dumps(settings)})
    assert said.conforms is conforms


@pytest.mark.parametrize(
    ("problem", "conforms"),
    [("GET …/amazon-vpc-cni: status 404", False), ("GET …/amazon-vpc-cni: status 500", None)],
)
def test_a_missing_configmap_of_amazons_controller_is_a_switch_that_is_off(
    problem: str, conforms: bool | None
) -> None:
    """What could not be read is not judged."""
    evidence = Evidence(texts={}, problems={"vpc-settings": problem}, facts=FACTS)
    if conforms is None:
        with pytest.raises(UnreadableError):
            RULES["vpc-windows-ipam"].demand(evidence)
    else:
        said = RULES["vpc-windows-ipam"].demand(evidence)
        assert (said.conforms, "in no ConfigMap" in said.detail) == (conforms, True)


BLOCK = {"Name": "Calico", "Type": "L2Bridge", "Subnets": [{"AddressPrefix": "10.244.3.64/26"}]}


@pytest.mark.parametrize(
    ("address", "conforms"),
    [
        ("10.244.3.64", False),
        ("10.244.3.65", False),
        ("10.244.3.66", False),
        ("10.244.3.67", True),
        ("10.244.3.126", True),
        ("10.244.3.127", False),
    ],
)
def test_no_pod_has_an_address_that_calico_keeps(address: str, conforms: bool) -> None:
    """The first three of each block and its last are Windows' own, the network's and the host's endpoint's."""
    said = found("calico-kept-addresses", {**running(web=address), **networks(BLOCK)})
    assert said.conforms is conforms
    assert conforms or address in said.detail


def test_without_a_network_of_calico_there_is_nothing_to_look_at() -> None:
    """As a policy engine beside another plugin it keeps no address, and an address of another network is in no block."""
    texts = {**running(web="10.244.3.5"), **networks({"Name": "cbr0", "Type": "L2Bridge"})}
    with pytest.raises(NothingThereError, match="no network of Calico"):
        found("calico-kept-addresses", texts)
    with pytest.raises(NothingThereError, match="nothing to compare"):
        found("calico-kept-addresses", {**running(web="10.244.9.5"), **networks(BLOCK)})
