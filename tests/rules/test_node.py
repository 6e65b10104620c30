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


@pytest.mark.parametrize(
    ("status", "cordoned", "conforms"),
    [
        ("True", False, True),
        ("False", False, False),
        ("Unknown", False, False),
        ("False", True, True),
    ],
)
def test_a_node_that_is_not_ready_has_to_be_cordoned(
    status: str, cordoned: bool, conforms: bool
) -> None:
    """Nothing is probed on a node that is not Ready: it is red itself, and named, unless it was taken out."""
    healthy, other = node(), node()
    for each, state in ((healthy, "True"), (other, status)):
        each["status"]["conditions"] = [{"type": "Ready", "status": state}]
    other["metadata"]["name"] = "win-2"
    other["spec"]["unschedulable"] = cordoned
    finding = found("nodes-ready", {"nodes": json.dumps({"items": [healthy, other]})})
    assert finding.conforms is conforms
    assert ("win-2 not Ready" in finding.detail) is not conforms


@pytest.mark.parametrize(
    ("name", "ready", "conforms"),
    [
        ("kube-proxy-windows", 2, True),
        ("kube-proxy-windows", 1, False),
        ("calico-node-windows", 1, False),
        ("azure-cns-win", 0, False),
        ("aws-node-termination-handler", 1, True),
        ("node-exporter", 1, True),
    ],
)
def test_agents_run_on_all_of_their_nodes(name: str, ready: int, conforms: bool) -> None:
    """A Service proxy or a plugin that is missing on a node is found; other people's DaemonSets are their own business."""
    sets = [
        {
            "metadata": {"name": each, "namespace": "kube-system"},
            "status": {"desiredNumberScheduled": 2, "numberReady": count},
        }
        for each, count in (("kube-flannel-ds", 2), (name, ready))
    ]
    finding = found("agents-ready", {"daemon-sets": json.dumps({"items": sets})})
    assert finding.conforms is conforms
    assert conforms or f"kube-system/{name} is Ready on {ready} of 2 nodes" in finding.detail


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
