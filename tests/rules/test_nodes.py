"""The rules about nodes and overlays that API objects tell."""

import json

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, node

LABEL = "node.kubernetes.io/windows-build"
TAINT = {"key": "os", "value": "windows", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("label", "conforms"), [("10.0.17763", True), ("10.0.20348", False), (None, False)]
)
def test_the_build_label_is_the_builds(label: str | None, conforms: bool) -> None:
    """The label and nodeInfo say the same."""
    labels = {LABEL: label} if label else {}
    texts = {"node": json.dumps(node(labels=labels))}
    assert found("windows-build-label", texts).conforms is conforms


@pytest.mark.parametrize(
    ("taints", "conforms"),
    [
        ([TAINT], True),
        ([{**TAINT, "value": "Win1809"}], True),
        ([{**TAINT, "effect": "PreferNoSchedule"}], False),
        ([], False),
    ],
)
def test_the_taint_of_the_convention(taints: list[dict[str, str]], conforms: bool) -> None:
    """os=windows, or Win1809 as older guides have it, keeps Linux pods away."""
    assert found("windows-taint", {"node": json.dumps(node(taints=taints))}).conforms is conforms


@pytest.mark.parametrize(
    ("rule", "kernel", "conforms"),
    [
        ("update-not-broken", "10.0.20348.2582", False),
        ("update-not-broken", "10.0.20348.2761", False),
        ("update-not-broken", "10.0.20348.2762", True),
        ("update-not-broken", "10.0.20348.2583", False),
        ("overlay-update", "10.0.17763.378", False),
        ("overlay-update", "10.0.17763.379", True),
        ("dsr-update", "10.0.17763.1431", False),
        ("dsr-update", "10.0.17763.1432", True),
        ("dsr-update", "10.0.20348.1", True),
    ],
)
def test_updates_that_a_network_needs(rule: str, kernel: str, conforms: bool) -> None:
    """Each threshold holds exactly."""
    assert found(rule, {"node": json.dumps(node(kernel))}).conforms is conforms


def test_a_build_without_its_patch_level_says_nothing_of_updates() -> None:
    """Unreadable, never good."""
    with pytest.raises(UnreadableError):
        found("dsr-update", {"node": json.dumps(node("10.0.17763"))})


@pytest.mark.parametrize(
    ("kubelet", "conforms"), [("v1.29.4", True), ("v1.25.1", False), ("v1.30.1", False)]
)
def test_the_kubelet_follows_the_version_skew_policy(kubelet: str, conforms: bool) -> None:
    """Never newer than the API server."""
    texts = {"node": json.dumps(node(kubelet=kubelet))}
    assert found("kubelet-skew", texts).conforms is conforms


@pytest.mark.parametrize(("system", "conforms"), [("linux", True), ("windows", False)])
def test_the_control_plane_is_on_linux(system: str, conforms: bool) -> None:
    """A Windows node with the role of a control plane is against the documents."""
    plane = node(labels={"node-role.kubernetes.io/control-plane": ""}, system=system)
    texts = {"nodes": json.dumps({"items": [plane, node()]})}
    assert found("control-plane-on-linux", texts).conforms is conforms


def test_a_managed_control_plane_is_on_no_node() -> None:
    """None of the nodes carries the role: no Windows node does."""
    texts = {"nodes": json.dumps({"items": [node()]})}
    finding = found("control-plane-on-linux", texts)
    assert finding.conforms
    assert "on no node" in finding.detail


@pytest.mark.parametrize(
    ("rule", "backend", "conforms"),
    [
        ("vxlan-network-id", {"VNI": 4096}, True),
        ("vxlan-network-id", {"VNI": 4095}, False),
        ("vxlan-network-id", {}, False),
        ("vxlan-port", {"Port": 4789}, True),
        ("vxlan-port", {"Port": 8472}, False),
        ("vxlan-port", {}, False),
        ("vxlan-options", {}, True),
        ("vxlan-options", {"DirectRouting": True}, False),
        ("vxlan-options", {"GBP": True}, False),
    ],
)
def test_flannels_vxlan_is_what_windows_accepts(
    rule: str, backend: dict[str, object], conforms: bool
) -> None:
    """Linux' defaults, VNI 1 and port 8472, are not."""
    network = json.dumps({"Backend": {"Type": "vxlan", **backend}})
    texts = {"flannel-config": json.dumps({"data": {"net-conf.json": network}})}
    assert found(rule, texts).conforms is conforms
