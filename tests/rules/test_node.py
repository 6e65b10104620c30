"""The rules about labels, taints and roles of nodes."""

import json

import pytest

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
