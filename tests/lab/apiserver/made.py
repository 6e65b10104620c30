"""Objects as kubelets write them: nodes, conditions, container statuses. Pure, but for times and ids."""

import uuid
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

KNOWN_IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"


def now() -> str:
    """Return the time as objects carry it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_object(name: str, address: str) -> Json:
    """Return a Node as a kubelet registers it."""
    conditions = [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", heartbeat=True),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", heartbeat=True),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", heartbeat=True),
        condition("Ready", "True", "KubeletReady", heartbeat=True),
    ]
    resources = {
        "cpu": "2",
        "ephemeral-storage": "264212084Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "24684096Ki",
        "pods": "60",
    }
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    annotations = {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"podCIDR": f"10.244.{name[1]}.0/24"},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": conditions,
            "addresses": [
                {"type": "InternalIP", "address": address},
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": uuid.uuid4().hex,
                "systemUUID": uuid.uuid4().hex,
                "bootID": str(uuid.uuid4()),
                "kernelVersion": "6.1.0",
                "osImage": "Debian GNU/Linux 12 (bookworm)",
                "containerRuntimeVersion": "containerd://2.1.9",
                "kubeletVersion": "v1.36.2",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
            "images": [{"names": [KNOWN_IMAGE], "sizeBytes": 206367587}],
            "runtimeHandlers": [
                {
                    "name": "",
                    "features": {"recursiveReadOnlyMounts": True, "userNamespaces": False},
                }
            ],
            "features": {"supplementalGroupsPolicy": True},
            "declaredFeatures": ["ExtendWebSocketsToKubelet"],
        },
    }


def condition(
    kind: str, status: str, reason: str = "", message: str = "", *, heartbeat: bool = False
) -> Json:
    made: Json = {"type": kind, "status": status, "lastTransitionTime": now()}
    if heartbeat:
        return {
            **made,
            "lastHeartbeatTime": now(),
            "reason": reason,
            "message": message or reason,
        }
    made |= {"lastProbeTime": None, "observedGeneration": 1}
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def pod_conditions(ready: str, reason: str, message: str) -> list[Json]:
    """Return the five conditions a kubelet reports."""
    return [
        condition("PodReadyToStartContainers", "True"),
        condition("Initialized", "True"),
        condition("Ready", ready, reason, message),
        condition("ContainersReady", ready, reason, message),
        condition("PodScheduled", "True"),
    ]


def container_status(pod: Json, state: Json, last: Json | None = None, restarts: int = 0) -> Json:
    container = pod["spec"]["containers"][0]
    runs = "waiting" not in state
    mounts = [
        {**mount, "recursiveReadOnly": "Disabled"} for mount in container.get("volumeMounts") or ()
    ]
    status: Json = {
        "name": container["name"],
        "state": state,
        "lastState": last or {},
        "ready": "running" in state,
        "restartCount": restarts,
        "image": container["image"],
        "imageID": f"sha256:{'1' * 64}" if runs else "",
        "started": "running" in state,
        "volumeMounts": mounts,
    }
    if runs:
        status |= {
            "containerID": f"containerd://{uuid.uuid4().hex * 2}",
            "resources": {},
            "user": {"linux": {"uid": 0, "gid": 0, "supplementalGroups": [0]}},
        }
    return status
