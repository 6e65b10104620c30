"""The node controller's actions when a kubelet stops reporting, and when it reports again.

After ``monitorNodeHealth`` and ``MarkPodsNotReady`` of ``k8s.io/kubernetes/pkg/controller/nodelifecycle``:
conditions become ``Unknown``, the node is tainted as unreachable, and its Pods are no longer Ready, so that Services
leave them out. Pods are not evicted. The fault that silences a kubelet calls it after the grace period.
"""

from nettests.lab.client import Client, Json, pod_path
from nettests.lab.client.events import timestamp

UNREACHABLE = "node.kubernetes.io/unreachable"
_REASON, _MESSAGE = "NodeStatusUnknown", "Kubelet stopped posting node status."
_NODES = "/api/v1/nodes"


async def mark_lost(client: Client, name: str) -> None:
    """Mark a node whose kubelet does not report as unreachable, and its Pods as not Ready."""
    now = timestamp()
    node = await client.get(f"{_NODES}/{name}")
    conditions = [_unknown(condition, now) for condition in node["status"]["conditions"]]
    await client.patch(f"{_NODES}/{name}/status", {"status": {"conditions": conditions}})
    taint = {"key": UNREACHABLE, "timeAdded": now}
    taints = [*_others(node), {**taint, "effect": "NoSchedule"}, {**taint, "effect": "NoExecute"}]
    await client.patch(f"{_NODES}/{name}", {"spec": {"taints": taints}})
    pods = await client.get("/api/v1/pods", fieldSelector=f"spec.nodeName={name}")
    for pod in pods["items"]:
        conditions = [
            _unready(condition, now) for condition in pod["status"].get("conditions") or ()
        ]
        body = {"status": {"conditions": conditions}}
        await client.patch(f"{pod_path(pod)}/status", body)


async def mark_found(client: Client, name: str) -> None:
    """Remove the taints of a node whose kubelet reports again; the kubelet itself writes the status."""
    node = await client.get(f"{_NODES}/{name}")
    await client.patch(f"{_NODES}/{name}", {"spec": {"taints": _others(node) or None}})


def _unknown(condition: Json, now: str) -> Json:
    changed = {"lastTransitionTime": now} if condition["status"] != "Unknown" else {}
    return {**condition, **changed, "status": "Unknown", "reason": _REASON, "message": _MESSAGE}


def _unready(condition: Json, now: str) -> Json:
    if condition["type"] != "Ready" or condition["status"] == "False":
        return condition
    return {**condition, "status": "False", "lastTransitionTime": now}


def _others(node: Json) -> list[Json]:
    return [taint for taint in node["spec"].get("taints") or () if taint["key"] != UNREACHABLE]
