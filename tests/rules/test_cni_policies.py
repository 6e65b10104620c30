"""The rules about policies in CNI files: what they except and route, and the schema that they are written in."""

import json
from typing import Any

import pytest

from nettests.rules import NothingThereError
from tests.rules.made import configuration, found, node

FLANNEL = {"driver": "l2bridge", "plugin": "flannel"}
CLUSTER = ["10.244.0.0/16", "10.96.0.0/12"]


@pytest.mark.parametrize("key", ["Value", "Settings"])
@pytest.mark.parametrize(
    ("exceptions", "conforms"),
    [
        (["10.244.0.0/16", "10.96.0.0/12"], True),
        (["10.0.0.0/8"], True),
        (["10.244.0.0/16"], False),
        ([], False),
    ],
)
def test_the_configuration_excepts_pods_and_services(
    key: str, exceptions: list[str], conforms: bool
) -> None:
    """Both plugins' manners of writing it are read."""
    text = configuration(key, exceptions, "10.96.0.0/12")
    assert found("cni-exceptions", {"cni-configuration": text}).conforms is conforms


@pytest.mark.parametrize(
    ("nodes", "facts", "conforms"),
    [
        (["172.30.0.0/24"], FLANNEL, True),
        (["172.30.0.10/31", "172.30.0.12/32", "172.30.0.13/32"], FLANNEL, True),
        (["172.30.0.13/32"], FLANNEL, False),
        ([], FLANNEL, False),
        ([], {**FLANNEL, "plugin": "sdnbridge"}, False),
        ([], {**FLANNEL, "driver": "overlay"}, True),
        ([], {**FLANNEL, "plugin": "calico"}, True),
    ],
)
def test_nodes_are_excepted_where_the_documents_say_so(
    nodes: list[str], facts: dict[str, str], conforms: bool
) -> None:
    """The l2bridge sample has the management subnet and the overlay one has not; Calico's pools leave it out."""
    text = configuration("Value", [*CLUSTER, *nodes], "10.96.0.0/12")
    finding = found("cni-exceptions", {"cni-configuration": text}, **facts)
    assert finding.conforms is conforms
    assert conforms or "lacks 172.30.0.10/31" in finding.detail


@pytest.mark.parametrize(
    ("entry", "management", "conforms"),
    [
        ("0.0.0.0/0", "172.30.0.13/32", False),
        ("0.0.0.0/0", "131.107.0.4/32", False),
        ("203.0.112.0/20", "172.30.0.13/32", False),
        ("172.0.0.0/6", "172.30.0.13/32", False),
        ("2000::/3", "172.30.0.13/32", False),
        ("131.107.0.0/16", "131.107.0.4/32", True),
        ("131.107.0.0/16", "172.30.0.13/32", False),
        ("192.168.0.0/16", "172.30.0.13/32", True),
        ("168.63.129.16/32", "172.30.0.13/32", True),
        ("fd00::/8", "172.30.0.13/32", True),
    ],
)
def test_no_outside_address_is_excepted(entry: str, management: str, conforms: bool) -> None:
    """An address of the internet is not run with a Pod's own; sites' private networks and the nodes' may be."""
    text = configuration("Value", [*CLUSTER, entry], "10.96.0.0/12")
    facts = {"management-addresses": management}
    finding = found("cni-exceptions", {"cni-configuration": text}, **facts)
    assert finding.conforms is conforms
    assert conforms or f"where {entry} holds outside addresses" in finding.detail


def test_a_service_network_of_public_addresses_may_be_excepted_wholly() -> None:
    """Microsoft's sample has 11.0.0.0/8, and a cluster may use a part of it."""
    text = configuration("Value", ["10.244.0.0/16", "11.0.0.0/8"], "11.0.0.0/8")
    facts = {"service-cidrs": "11.0.0.0/16"}
    assert found("cni-exceptions", {"cni-configuration": text}, **facts).conforms


@pytest.mark.parametrize(
    ("driver", "management", "conforms"),
    [
        ("l2bridge", "10.96.3.4/32", True),
        ("l2bridge", "172.30.0.13/32", False),
        ("overlay", "172.30.0.13/32", True),
    ],
)
def test_on_l2bridge_the_nodes_own_address_is_routed_too(
    driver: str, management: str, conforms: bool
) -> None:
    """Without the policy a Pod's packet to its own node leaves on the wire."""
    text = configuration("Value", [], "10.96.0.0/12")
    facts = {"driver": driver, "management-address": management}
    assert found("cni-routes", {"cni-configuration": text}, **facts).conforms is conforms


@pytest.mark.parametrize("key", ["Value", "Settings"])
@pytest.mark.parametrize(
    ("route", "encap", "conforms"),
    [("10.96.0.0/12", True, True), ("10.96.0.0/12", False, False), ("10.97.0.0/16", True, False)],
)
def test_service_addresses_are_routed_to_the_host(
    key: str, route: str, encap: bool, conforms: bool
) -> None:
    """A ROUTE policy with NeedEncap covers the Service network."""
    text = configuration(key, [], route, encap=encap)
    assert found("cni-routes", {"cni-configuration": text}).conforms is conforms


@pytest.mark.parametrize(
    ("kernel", "given", "conforms"),
    [
        ("10.0.17763.1431", True, False),
        ("10.0.17763.1432", True, True),
        ("10.0.17763.1", False, True),
    ],
)
def test_loopback_dsr_needs_an_hns_with_dsr(kernel: str, given: bool, conforms: bool) -> None:
    """On older updates the plugin refuses the option, and no pod starts."""
    text = json.dumps({"name": "cbr0", "delegate": {"loopbackDSR": given}})
    readings = {"cni-configuration": text, "node": json.dumps(node(kernel))}
    assert found("loopback-dsr-update", readings).conforms is conforms


FIRST = {"Type": "OutBoundNAT", "ExceptionList": ["10.244.0.0/16"]}
SECOND = {"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.244.0.0/16"]}}
UNREAD = {"Type": "ACL", "Settings": {"Action": "Allow"}}
ROUTE = {"Type": "SDNROUTE", "Settings": {"DestinationPrefix": "", "NeedEncap": True}}


def flannel(plugin: str, *policies: dict[str, Any], **delegate: Any) -> str:
    """Return Flannel's configuration, which hands on to ``plugin`` with these policies."""
    key = "AdditionalArgs" if plugin.startswith("sdn") else "policies"
    listed = [{"Name": "EndpointPolicy", "Value": one} for one in policies]
    return json.dumps(
        {
            "cniVersion": "0.3.0",
            "name": "cbr0",
            "type": "flannel",
            "delegate": {"type": plugin, key: listed, **delegate},
        }
    )


@pytest.mark.parametrize(
    ("text", "runtime", "wrong"),
    [
        (flannel("sdnbridge", SECOND, ROUTE), "containerd", ""),
        (flannel("sdnoverlay", SECOND, UNREAD), "containerd", ""),
        (flannel("sdnoverlay.exe", FIRST), "containerd", "sdnoverlay with OutBoundNAT without"),
        (flannel("win-bridge", FIRST), "containerd", "win-bridge without apiVersion: 2"),
        (flannel("win-bridge", SECOND, apiVersion=2), "containerd", ""),
        (flannel("win-overlay", SECOND, ApiVersion=2), "containerd", ""),
        (flannel("win-bridge", FIRST, apiVersion=2), "containerd", "OutBoundNAT without Settings"),
        (flannel("win-bridge", FIRST), "docker", ""),
        (flannel("win-overlay", SECOND), "docker", "which HNS' first schema does not know"),
        (flannel("win-bridge", SECOND, apiVersion=2), "docker", "Docker does not attach"),
        (flannel("sdnbridge"), "containerd", ""),
    ],
)
def test_policies_are_in_the_schema_that_the_plugin_speaks(
    text: str, runtime: str, wrong: str
) -> None:
    """Docker's nodes have the first, containerd's the second; what does not fit is named with its plugin."""
    said = found("policy-form", {"cni-configuration": text}, runtime=f"{runtime}://1.7.20")
    assert said.conforms is (not wrong), said.detail
    assert wrong in said.detail


def test_lists_of_plugins_are_read_too() -> None:
    """A list may call one of them without Flannel."""
    plugin = {"type": "sdnbridge", "AdditionalArgs": [{"Name": "EndpointPolicy", "Value": FIRST}]}
    text = json.dumps({"cniVersion": "0.3.0", "name": "net", "plugins": [plugin]})
    said = found("policy-form", {"cni-configuration": text}, runtime="containerd://1.7.20")
    assert "sdnbridge with OutBoundNAT without Settings" in said.detail


def test_other_plugins_are_nobodys_matter() -> None:
    """Azure's and Calico's write for themselves, whatever spelling they like."""
    plugin = {"type": "azure-vnet", "AdditionalArgs": [{"Name": "EndpointPolicy", "Value": FIRST}]}
    text = json.dumps({"cniVersion": "0.3.0", "name": "azure", "plugins": [plugin]})
    with pytest.raises(NothingThereError):
        found("policy-form", {"cni-configuration": text}, runtime="containerd://1.7.20")
