"""The rules about address families of nodes and Pods."""

import json
from typing import Any

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, node
from tests.rules.test_cni import flannel, listed, running


def addressed(*addresses: str) -> str:
    """Return a node with these addresses."""
    made = node()
    made["status"]["addresses"] = [
        {"type": "Hostname", "address": "win-1"},
        *({"type": "InternalIP", "address": address} for address in addresses),
    ]
    return json.dumps(made)


@pytest.mark.parametrize(
    ("addresses", "conforms"),
    [(("172.30.0.13",), True), (("fd00::13", "172.30.0.13"), True), (("fd00::13",), False)],
)
def test_a_windows_node_has_ipv4(addresses: tuple[str, ...], conforms: bool) -> None:
    """Both families will do, IPv6 alone will not."""
    assert found("ipv4-address", {"node": addressed(*addresses)}).conforms is conforms


def test_a_node_without_addresses_is_unreadable() -> None:
    """A node that was never registered completely says nothing of families."""
    with pytest.raises(UnreadableError):
        found("ipv4-address", {"node": addressed()})


def pod(*addresses: str, **spec: Any) -> dict[str, Any]:
    """Return a Pod with these addresses."""
    return {
        "metadata": {"name": "web"},
        "spec": spec,
        "status": {"podIPs": [{"ip": address} for address in addresses]},
    }


@pytest.mark.parametrize("rule", ["overlay-pods-ipv4", "calico-pods-ipv4"])
@pytest.mark.parametrize(
    ("listed", "conforms"),
    [
        ([pod("10.244.3.2")], True),
        ([pod("10.244.3.2"), pod("10.244.3.3", "fd00::3")], False),
        ([pod("10.244.3.2"), pod("fd00::13", hostNetwork=True)], True),
    ],
)
def test_pods_have_no_ipv6(rule: str, listed: list[dict[str, Any]], conforms: bool) -> None:
    """One address of the other family is against the documents; the node's own do not count."""
    assert found(rule, {"node-pods": json.dumps({"items": listed})}).conforms is conforms


def test_a_node_without_pods_says_nothing_of_their_families() -> None:
    """Host network Pods alone are no evidence."""
    texts = {"node-pods": json.dumps({"items": [pod("172.30.0.13", hostNetwork=True), pod()]})}
    with pytest.raises(UnreadableError, match="no Pod on the node"):
        found("overlay-pods-ipv4", texts)


@pytest.mark.parametrize(
    ("addresses", "conforms"), [(("10.244.3.4",), True), (("10.244.3.4", "fd00::4"), False)]
)
@pytest.mark.parametrize(
    "delegate", ["win-bridge", "win-overlay", "sdnbridge", "sdnoverlay", "sdnoverlay.exe"]
)
def test_plugins_below_flannel_give_ipv4_only(
    delegate: str, addresses: tuple[str, ...], conforms: bool
) -> None:
    """An IPv6 address beside them came from elsewhere; sig-windows-tools has Flannel call sdnoverlay."""
    texts = {"cni-configuration": flannel(delegate), "node-pods": running(*addresses)}
    said = found("win-bridge-pods-ipv4", texts)
    assert said.conforms is conforms
    assert delegate.removesuffix(".exe") in said.detail


@pytest.mark.parametrize(
    ("plugin", "probed", "conforms"),
    [
        ("sdnbridge", True, True),
        ("sdnbridge", False, False),
        ("sdnoverlay", True, False),
        ("win-bridge", True, False),
    ],
)
def test_only_sdnbridge_may_be_told_to_give_both(plugin: str, probed: bool, conforms: bool) -> None:
    """enableDualStack means something to sdnbridge alone: then an IPv6 address is no deviation."""
    flags = {"enableDualStack": probed}
    text = listed(type="flannel", delegate={"type": plugin, "optionalFlags": flags})
    texts = {"cni-configuration": text, "node-pods": running("10.244.3.4", "fd00::4")}
    assert found("win-bridge-pods-ipv4", texts).conforms is conforms


@pytest.mark.parametrize(
    ("delegate", "addresses"), [("azure-vnet", ("10.244.3.4",)), ("win-bridge", ())]
)
def test_no_pod_and_no_such_plugin_are_no_evidence(
    delegate: str, addresses: tuple[str, ...]
) -> None:
    """The rule speaks of four plugins, and of addresses that were given."""
    texts = {"cni-configuration": flannel(delegate), "node-pods": running(*addresses)}
    with pytest.raises(UnreadableError):
        found("win-bridge-pods-ipv4", texts)
