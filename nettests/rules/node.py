"""Rules about nodes by their API objects: labels, taints, the control plane.

Source: "Guide for running Windows containers in Kubernetes".
"""

from nettests.model.labels import CONTROL_PLANE_LABEL, WINDOWS_BUILD_LABEL
from nettests.model.permission import GET_NODE, LIST_NODES
from nettests.rules import kept
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.kept import KEEP, Kept
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.rule import rule
from nettests.rules.subjects import WINDOWS

CONTROL_PLANE_ROLES = (CONTROL_PLANE_LABEL, "node-role.kubernetes.io/master")
FIELDS: Kept = {
    "metadata": {
        "name": KEEP,
        "labels": dict.fromkeys((WINDOWS_BUILD_LABEL, *CONTROL_PLANE_ROLES), KEEP),
    },
    "spec": {"taints": {"key": KEEP, "value": KEEP, "effect": KEEP}, "unschedulable": KEEP},
    "status": {
        "conditions": {"type": KEEP, "status": KEEP},
        "nodeInfo": {
            "kernelVersion": KEEP,
            "kubeletVersion": KEEP,
            "operatingSystem": KEEP,
            "containerRuntimeVersion": KEEP,
        },
        "addresses": {"type": KEEP, "address": KEEP},
    },
}
NODE = ApiObjects(
    name="node",
    request=lambda _facts, node: Request(path=f"/api/v1/nodes/{node.name if node else ''}"),
    permission=GET_NODE,
    keep=kept.one_object(FIELDS),
)
NODES = ApiObjects(
    name="nodes",
    request=lambda _facts, _node: Request(path="/api/v1/nodes"),
    permission=LIST_NODES,
    keep=kept.items(FIELDS),
)


@rule(
    "windows-build-label",
    about=(),
    reads=(NODE,),
    remedy="look at the kubelet: it sets the label itself from 1.17 on; RuntimeClasses and "
    "node selectors rely on it",
)
def windows_build_label(evidence: Evidence) -> Finding:
    """The kubelet labels the node with its build."""
    node = evidence.object(NODE)
    kernel = str(node["status"]["nodeInfo"].get("kernelVersion", ""))
    # sample: kernelVersion "10.0.17763.1339", label "10.0.17763"
    expected = ".".join(kernel.split(".")[:3])
    if not expected:
        raise UnreadableError("nodeInfo.kernelVersion is empty")
    label = (node["metadata"].get("labels") or {}).get(WINDOWS_BUILD_LABEL)
    return finding(
        label == expected, f"{WINDOWS_BUILD_LABEL}={label}" if label else "no label", expected, of=1
    )


@rule(
    "windows-taint",
    about=(),
    reads=(NODE,),
    remedy="register the kubelet with --register-with-taints=os=windows:NoSchedule, or keep Linux "
    "pods away with node selectors",
)
def windows_taint(evidence: Evidence) -> Finding:
    """Windows nodes carry the taint that the documents agree on, so that Linux pods stay away."""
    taints = evidence.object(NODE).get("spec", {}).get("taints") or []
    listed = [f"{item['key']}={item.get('value', '')}:{item['effect']}" for item in taints]
    kept_away = any(
        item["key"] == "os"
        and str(item.get("value", "")).lower() in {"windows", "win1809"}
        and item["effect"] in {"NoSchedule", "NoExecute"}
        for item in taints
    )
    return finding(
        kept_away, ", ".join(listed) or "no taint", "os=windows:NoSchedule by convention", of=1
    )


@rule(
    "control-plane-on-linux",
    about=(WINDOWS,),
    reads=(NODES,),
    remedy="move the control plane to Linux nodes; Windows nodes are workers only",
)
def control_plane_on_linux(evidence: Evidence) -> Finding:
    """Windows nodes are workers only; where the control plane is managed, none of its nodes shows."""
    nodes = evidence.items(NODES)
    if not nodes:
        raise NothingThereError("the API server lists no node")
    planes = sorted(f"{_name(node)} on {_system(node)}" for node in nodes if _is_plane(node))
    wrong = [node for node in nodes if _is_plane(node) and _system(node) == "windows"]
    return finding(
        not wrong,
        f"the control plane {', '.join(planes) or 'on no node of the cluster'}",
        "that no Windows node is part of it",
        of=len(nodes),
    )


def _is_plane(node: Object) -> bool:
    labels = node["metadata"].get("labels") or {}
    return any(role in labels for role in CONTROL_PLANE_ROLES)


def _name(node: Object) -> str:
    return str(node["metadata"]["name"])


def _system(node: Object) -> str:
    return str(node["status"]["nodeInfo"].get("operatingSystem", ""))
