"""The Node object and Lease of one node, with what real nodes of that kind say of themselves. Pure.

``nodeInfo`` as kubelets report it: Windows product names and ``10.0.<build>.<patch>``, the label
``node.kubernetes.io/windows-build`` (since 1.17); ``kubeProxyVersion`` is empty from 1.33 on
(KEP-4004). The plugin's annotations are written by its daemon on a real node.
"""

import platform
import uuid

from nettests.lab.client import Json
from nettests.lab.client.events import micro_timestamp, timestamp
from nettests.lab.installers import plugin_objects
from nettests.lab.node.images import AGNHOST
from nettests.lab.topology import OS, PRODUCTS, NodeSpec, Plugin, Profile

LEASE_SECONDS = 40
KUBELET_PORT = 10250

_ANNOTATIONS = {
    "node.alpha.kubernetes.io/ttl": "0",
    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
}
_CONDITIONS = (
    "MemoryPressure False KubeletHasSufficientMemory kubelet has sufficient memory available",
    "DiskPressure False KubeletHasNoDiskPressure kubelet has no disk pressure",
    "PIDPressure False KubeletHasSufficientPID kubelet has sufficient PID available",
    "Ready True KubeletReady kubelet is posting ready status",
)
"""Type, status, reason and message of each."""
_NO_PROXY_VERSION_SINCE = 33
_BUILD_LABEL_SINCE = 17
_FEATURES_SINCE = 33
_DECLARED_SINCE = 36


def minor(version: str) -> int:
    """Return ``24`` for ``v1.24.17``."""
    return int(version.split(".")[1])


def node_object(spec: NodeSpec, profile: Profile) -> Json:
    """Return the Node as its kubelet registers it, Ready."""
    google = profile.mechanism("google-labels", 0)  # nodes are to look like Google's managed ones
    node: Json = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": spec.name,
            "labels": {
                **_labels(spec, minor(profile.kubernetes_version)),
                **({"cloud.google.com/gke-nodepool": spec.os.value} if google else {}),
                **plugin_objects.labels(spec, profile),
            },
            "annotations": {**_ANNOTATIONS, **plugin_objects.annotations(spec, profile)},
        },
        "spec": _ranges(spec, profile),
    }
    if spec.taints:
        node["spec"]["taints"] = [_taint(text) for text in spec.taints]
    if spec.cordoned:
        node["spec"]["unschedulable"] = True
    return node


def _ranges(spec: NodeSpec, profile: Profile) -> Json:
    """Return the node's pod range, which the API does not know where a cloud or OVN-Kubernetes gives addresses."""
    if profile.cni.plugin in {Plugin.AZURE, Plugin.VPC, Plugin.OVN_KUBERNETES}:
        return {}
    second = [] if spec.ipv6 is None else [str(spec.ipv6.pod_cidr)]
    return {"podCIDR": str(spec.pod_cidr), "podCIDRs": [str(spec.pod_cidr), *second]}


def node_status(spec: NodeSpec, profile: Profile) -> Json:
    """Return the status that the kubelet reports."""
    resources = {"cpu": "2", "memory": "8388608Ki", "pods": "110"}
    resources["ephemeral-storage"] = "52428800Ki"
    if spec.os is OS.WINDOWS and profile.mechanism("huge-pages", 0):
        resources["hugepages-2Mi"] = "64Mi"
    release = minor(profile.kubernetes_version)
    status: Json = {
        "capacity": resources,
        "allocatable": resources,
        "conditions": _conditions(timestamp()),
        "addresses": [
            *({"type": "InternalIP", "address": address} for address in spec.addresses),
            {"type": "Hostname", "address": spec.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "nodeInfo": _node_info(spec, profile.kubernetes_version),
        "images": [{"names": [f"{AGNHOST}:2.63.0"], "sizeBytes": 206367587}],
    }
    if spec.os is OS.LINUX and release >= _FEATURES_SINCE:
        status["features"] = {"supplementalGroupsPolicy": True}
    if release >= _DECLARED_SINCE:
        status["declaredFeatures"] = ["ExtendWebSocketsToKubelet"]
    return status


def lease_object(spec: NodeSpec) -> Json:
    """Return the node's heartbeat lease, renewed now."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": spec.name, "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": spec.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro_timestamp(),
        },
    }


def _labels(spec: NodeSpec, release: int) -> dict[str, str]:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": spec.os.value,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": spec.os.value,
    }
    if spec.os is OS.WINDOWS and release >= _BUILD_LABEL_SINCE:
        labels["node.kubernetes.io/windows-build"] = f"10.0.{spec.build}"
    if spec.zone:
        labels["topology.kubernetes.io/zone"] = spec.zone
    if spec.control_plane:
        labels["node-role.kubernetes.io/control-plane"] = ""
    return labels


def _taint(text: str) -> Json:
    # os=windows:NoSchedule
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def _conditions(now: str) -> list[Json]:
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    fields = ("type", "status", "reason", "message")
    return [
        {**dict(zip(fields, row.split(maxsplit=3), strict=True)), **times} for row in _CONDITIONS
    ]


def _node_info(spec: NodeSpec, version: str) -> Json:
    identity = uuid.uuid5(uuid.NAMESPACE_DNS, spec.name)
    windows = spec.os is OS.WINDOWS
    return {
        "machineID": spec.name if windows else identity.hex,
        "systemUUID": str(identity).upper() if windows else str(identity),
        "bootID": "9" if windows else str(uuid.uuid4()),
        "kernelVersion": f"10.0.{spec.build}.{spec.patch}" if windows else platform.release(),
        "osImage": PRODUCTS[spec.build or 0] if windows else "Debian GNU/Linux 12 (bookworm)",
        "containerRuntimeVersion": spec.runtime,
        "kubeletVersion": version,
        "kubeProxyVersion": "" if minor(version) >= _NO_PROXY_VERSION_SINCE else version,
        "operatingSystem": spec.os.value,
        "architecture": "amd64",
    }
