"""The rules about the CNI configuration of a Windows node."""

import json
from typing import Any

import pytest

from nettests.rules import NothingThereError, UnreadableError
from tests.rules.made import configuration, found, log, pods

ABOUT = "CNI {} plugin {}\r\nCNI protocol versions supported: {}\r\n"
OLD, NEW = "0.1.0, 0.2.0, 0.3.0", "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0"


def flannel(delegate: str = "win-bridge", version: str | None = "0.3.0") -> str:
    """Return a configuration of Flannel's plugin, which hands on to another."""
    one: dict[str, Any] = {"name": "cbr0", "type": "flannel", "delegate": {"type": delegate}}
    return json.dumps(one if version is None else {"cniVersion": version, **one})


def listed(**plugin: Any) -> str:
    """Return a list of configurations, as Azure's and Calico's are written."""
    return json.dumps({"cniVersion": "0.3.0", "name": "net", "plugins": [plugin]})


def about(plugin: str, release: str, versions: str) -> dict[str, str]:
    """Return what a plugin prints of itself."""
    return {f"{plugin}-about": ABOUT.format(plugin, release, versions)}


@pytest.mark.parametrize("delegate", ["win-bridge", "win-overlay"])
@pytest.mark.parametrize(
    ("version", "release", "supported", "conforms"),
    [
        ("0.3.0", "v0.9.1", OLD, True),
        (None, "v0.9.1", OLD, True),
        ("0.4.0", "v0.9.1", OLD, False),
        ("0.4.0", "v1.0.1", NEW, True),
        ("1.1.0", "v1.0.1", NEW, False),
    ],
)
def test_later_versions_need_a_release_that_takes_them(
    delegate: str, version: str | None, release: str, supported: str, conforms: bool
) -> None:
    """Up to 0.3.0 every release will do; what a release takes it says itself."""
    texts = {
        "cni-configuration": flannel(delegate, version),
        **about(delegate, release, supported),
    }
    assert found("cni-version", texts).conforms is conforms


@pytest.mark.parametrize("text", [None, "The system cannot find the path specified.\r\n"])
def test_a_plugin_that_says_nothing_is_unreadable_where_it_matters(text: str | None) -> None:
    """It may be installed elsewhere; for old versions nobody has to test it."""
    told = {} if text is None else {"win-bridge-about": text}
    with pytest.raises(UnreadableError, match="win-bridge"):
        found("cni-version", {"cni-configuration": flannel(version="0.4.0"), **told})
    assert found("cni-version", {"cni-configuration": flannel(), **told}).conforms


@pytest.mark.parametrize(
    ("version", "conforms"), [("0.1.0", False), ("0.2.0", True), ("1.0.0", True), ("1.1.0", False)]
)
@pytest.mark.parametrize("plugin", ["sdnbridge", "sdnoverlay.exe"])
def test_microsofts_plugins_take_four_versions(plugin: str, version: str, conforms: bool) -> None:
    """The list stands in their source."""
    text = json.dumps({"cniVersion": version, "name": "l2bridge", "type": plugin})
    assert found("cni-version", {"cni-configuration": text}).conforms is conforms


def test_other_plugins_are_nobodys_matter() -> None:
    """Azure's plugin has no documented list of versions, so there is nothing to look at."""
    with pytest.raises(NothingThereError):
        found("cni-version", {"cni-configuration": listed(type="azure-vnet")})


def running(*addresses: str) -> str:
    """Return Pods with these addresses."""
    items = [
        {"metadata": {"name": "web"}, "spec": {}, "status": {"podIPs": [{"ip": address}]}}
        for address in addresses
    ]
    return json.dumps({"items": items})


@pytest.mark.parametrize(
    ("text", "conforms"),
    [
        (flannel(), True),
        (listed(type="azure-vnet", ipam={"type": "azure-vnet-ipam"}), True),
        (listed(type="azure-vnet", ipam={"type": "azure-cns"}), True),
        (listed(type="win-bridge", ipam={"type": "azure-vnet-ipam"}), False),
        (listed(type="calico", ipam={"type": "calico-ipam"}), True),
        (listed(type="sdnbridge"), True),
        (listed(type="sdnbridge", ipam={"type": "dhcp"}), False),
        (listed(type="vpc-bridge"), True),
        (listed(type="vpc-shared-eni.exe"), True),
    ],
)
def test_addresses_come_from_documented_managers(text: str, conforms: bool) -> None:
    """A manager that belongs to one plugin is good with that one alone; none at all is Windows' own."""
    texts = {"cni-configuration": text, "node-pods": running("10.244.3.4")}
    assert found("cni-ipam", texts).conforms is conforms


def test_amazons_plugin_has_its_addresses_from_the_vpc() -> None:
    """Its configuration names no manager, and they are not Windows' own."""
    texts = {"cni-configuration": listed(type="vpc-bridge"), "node-pods": running("10.244.3.4")}
    assert "the VPC resource controller with vpc-bridge" in found("cni-ipam", texts).detail


def test_host_local_stays_in_the_nodes_range() -> None:
    """An address of another node's range is named; with another manager it is good."""
    texts = {"cni-configuration": flannel(), "node-pods": running("10.244.3.4", "10.244.9.4")}
    said = found("cni-ipam", texts)
    assert not said.conforms
    assert "10.244.9.4 outside the node's range" in said.detail
    elsewhere = {**texts, "cni-configuration": listed(type="azure-vnet")}
    assert found("cni-ipam", elsewhere).conforms


@pytest.mark.parametrize(("network", "conforms"), [("cbr0", True), ("vxlan0", False)])
def test_pods_are_attached_to_kube_proxys_network(network: str, conforms: bool) -> None:
    """One of the configurations names it; several are printed one after the other."""
    readings = {
        "cni-configuration": '{"name": "loopback"}\r\n' + configuration("Value", [], "10.0.0.0/8"),
        "node-pods": pods(),
        "kube-proxy-log": log(network_name=network),
    }
    assert found("cni-network", readings).conforms is conforms


@pytest.mark.parametrize("text", ["", "\r\n", "{ broken"])
def test_no_configuration_is_no_finding(text: str) -> None:
    """The folders that are read may be others on this node."""
    with pytest.raises(UnreadableError):
        found("cni-exceptions", {"cni-configuration": text})
