"""The rules about network plugins and address families that API objects tell."""

import json
from typing import Any

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, node, pods

AGENT = {
    "metadata": {"name": "antrea-agent-windows-abcde"},
    "spec": {"hostNetwork": True, "containers": [{"image": "antrea/antrea-agent-windows:v2.2.0"}]},
}


@pytest.mark.parametrize(
    ("kernel", "conforms"),
    [
        ("10.0.17763.1431", False),
        ("10.0.17763.1432", True),
        ("10.0.20348.168", False),
        ("10.0.20348.169", True),
        ("10.0.26100.1", True),
    ],
)
def test_calico_needs_updates(kernel: str, conforms: bool) -> None:
    """Each build has its own threshold; later builds have none."""
    assert found("calico-build", {"node": json.dumps(node(kernel))}).conforms is conforms


def with_agent(image: str | None) -> str:
    """Return the Pods of a node with kube-proxy, and Antrea's agent of an image."""
    items = json.loads(pods())["items"]
    if image:
        items.append({**AGENT, "spec": {"containers": [{"image": image}]}})
    return json.dumps({"items": items})


def test_antrea_runs_alone() -> None:
    """Without kube-proxy all is well."""
    texts = {"node-pods": json.dumps({"items": [AGENT]})}
    assert found("antrea-alone", texts).conforms


@pytest.mark.parametrize(
    ("image", "conforms"),
    [
        ("antrea/antrea-agent-windows:v2.2.0", False),
        ("docker.io/antrea/antrea-windows:v1.13.0", False),
        ("projects.registry.vmware.com/antrea/antrea-windows:v1.12.1", True),
    ],
)
def test_antrea_before_1_13_may_have_kube_proxy(image: str, conforms: bool) -> None:
    """The image of the agent tells the release."""
    assert found("antrea-alone", {"node-pods": with_agent(image)}).conforms is conforms


def test_kube_proxy_beside_an_unknown_antrea_is_unreadable() -> None:
    """Without a release nothing is demanded and nothing is good."""
    with pytest.raises(UnreadableError, match="the release of antrea"):
        found("antrea-alone", {"node-pods": with_agent(None)})


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
    ("image", "backend", "conforms"),
    [
        ("quay.io/calico/node-windows:v3.29.1", "vxlan", True),
        ("docker.io/calico/windows:v3.16.0", "windows-bgp", True),
        ("calico/windows:v3.15.5", "vxlan", False),
        ("calico/windows:v3.12.0", "none", True),
    ],
)
def test_calico_carries_pods_since_3_16(image: str, backend: str, conforms: bool) -> None:
    """Older releases are policy engines beside another plugin."""
    agent = {
        "metadata": {"name": "calico-node-windows"},
        "spec": {"containers": [{"image": image}]},
    }
    texts = {"node-pods": json.dumps({"items": [agent]})}
    assert found("calico-networking", texts, backend=backend).conforms is conforms


def test_calico_without_a_known_backend_is_unreadable() -> None:
    """Whether it carries Pods is then not known."""
    with pytest.raises(UnreadableError, match="backend"):
        found("calico-networking", {"node-pods": pods()})
