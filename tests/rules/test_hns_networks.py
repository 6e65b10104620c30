"""The rules about HNS' network, on what Get-HnsNetwork shows."""

import json

import pytest

from nettests.rules import NothingThereError, UnreadableError
from tests.rules.made import found, log, pods

# One object is no array in PowerShell, and values are two blanks from their names.
NETWORK = """
{
    "CurrentEndpointCount":  2,
    "ID":  "D4A2B9B1-93C2-5E0B-8D7C-3C0B4B0C9B59",
    "ManagementIP":  "172.30.0.13",
    "Name":  "cbr0",
    "Policies":  [

                 ],
    "Subnets":  [
                    {
                        "AddressPrefix":  "10.244.3.0/24",
                        "GatewayAddress":  "10.244.3.1"
                    }
                ],
    "Type":  "L2Bridge"
}
"""
CBR0 = {"hns-networks": NETWORK, "node-pods": pods(), "kube-proxy-log": log(network_name="cbr0")}


@pytest.mark.parametrize(("name", "conforms"), [("cbr0", True), ("CBR0", True), ("vxlan0", False)])
def test_the_network_of_kube_proxy_exists(name: str, conforms: bool) -> None:
    """Names of HNS networks know no case."""
    readings = {**CBR0, "kube-proxy-log": log(network_name=name)}
    assert found("hns-network", readings).conforms is conforms


def test_a_node_without_hns_networks_deviates() -> None:
    """No network was made: the list is empty, which is not to print nothing."""
    assert not found("hns-network", {**CBR0, "hns-networks": "[]\r\n"}).conforms
    with pytest.raises(UnreadableError, match="not even an empty one"):
        found("hns-network", {**CBR0, "hns-networks": "\r\n"})


@pytest.mark.parametrize(("driver", "conforms"), [("l2bridge", True), ("overlay", False)])
def test_the_networks_type_is_the_driver(driver: str, conforms: bool) -> None:
    """HNS' L2Bridge is the documents' l2bridge."""
    assert found("hns-network-type", CBR0, driver=driver).conforms is conforms


def test_the_type_of_a_missing_network_cannot_be_read() -> None:
    """That it is missing is another rule's finding."""
    with pytest.raises(UnreadableError):
        found("hns-network-type", {**CBR0, "kube-proxy-log": log(network_name="vxlan0")})


@pytest.mark.parametrize(("cidr", "conforms"), [("10.244.3.0/24", True), ("10.244.9.0/24", False)])
def test_the_networks_subnet_is_the_nodes(cidr: str, conforms: bool) -> None:
    """A node that rejoined has another subnet than the network of before."""
    assert found("hns-network-subnet", CBR0, **{"node-pod-cidrs": cidr}).conforms is conforms


@pytest.mark.parametrize(
    ("addresses", "conforms"),
    [("172.30.0.13", True), ("172.30.0.13,fd00::d", True), ("10.0.2.15", False)],
)
def test_the_network_is_on_the_adapter_with_the_nodes_address(
    addresses: str, *, conforms: bool
) -> None:
    """On a node with several adapters a plugin may choose another one than the kubelet (rke2#3533)."""
    assert found("hns-network-adapter", CBR0, **{"node-addresses": addresses}).conforms is conforms


def test_the_second_schema_shows_no_adapters_address() -> None:
    """What HNS does not show is no finding."""
    network = {"Name": "cbr0", "Type": "L2Bridge", "SchemaVersion": {"Major": 2}}
    with pytest.raises(NothingThereError, match="second schema"):
        found("hns-network-adapter", {**CBR0, "hns-networks": json.dumps([network])})


def overlay(vni: int, port: int | None) -> dict[str, str]:
    """Return the HNS networks of an overlay node."""
    network = {
        "Name": "vxlan0",
        "Type": "Overlay",
        "Policies": [{"Type": "VxlanPort", "Port": port}] if port else [],
        "Subnets": [
            {"AddressPrefix": "10.244.3.0/24", "Policies": [{"Type": "VSID", "VSID": vni}]}
        ],
    }
    return {"hns-networks": json.dumps([{"Name": "nat", "Type": "NAT"}, network])}


@pytest.mark.parametrize(
    ("vni", "port", "any_overlay", "hybrid"),
    [
        (4096, 4789, True, False),
        (4097, None, True, True),
        (1, 4789, False, False),
        (4097, 8472, False, True),
    ],
)
def test_overlays_have_documented_network_ids(
    vni: int, port: int | None, any_overlay: bool, hybrid: bool
) -> None:
    """HNS takes ids from 4096 on and one port; the hybrid overlay has one id alone."""
    assert found("overlay-network-id", overlay(vni, port)).conforms is any_overlay
    assert found("hybrid-overlay-id", overlay(vni, port)).conforms is hybrid


def test_a_node_without_overlay_shows_no_network_id() -> None:
    """A network of another type is no evidence."""
    with pytest.raises(UnreadableError, match="type Overlay"):
        found("overlay-network-id", {"hns-networks": NETWORK})
