"""Objects recorded from a real Kubernetes 1.36 API server, and Windows ones in their shape.

Used by the tests of the pure readers; what a test varies is an argument.
"""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from nettests.cluster.plugins import PluginObjects
from nettests.model.json_text import Object

TRANSCRIPT = Path(__file__).parents[1] / "fixtures" / "transcripts" / "api.jsonl"


@cache
def _rows() -> tuple[Object, ...]:
    return tuple(json.loads(line) for line in TRANSCRIPT.read_text("utf-8").splitlines())


def body(note: str) -> Object:
    """Return the body of the recorded answer that carries a note."""
    found = next(row["body"] for row in _rows() if row.get("note") == note)
    return deepcopy(json.loads(found) if isinstance(found, str) else found)


def status_row(status: int) -> tuple[int, Object]:
    """Return the first recorded answer of a status, with its ``Status`` body."""
    for row in _rows():
        if row["kind"] == "http" and f" {status} " in row["status"]:
            return status, deepcopy(row["body"])
    raise KeyError(status)


def linux_node(name: str = "n1", **labels: str) -> Object:
    """Return the recorded Linux node, under another name if wanted."""
    node = body("a Node object")
    node["metadata"]["name"] = name
    node["metadata"]["labels"] |= {"kubernetes.io/hostname": name, **labels}
    return node


def windows_node(
    name: str = "w1",
    *,
    kernel: str = "10.0.17763.1339",
    runtime: str = "containerd://1.7.20",
    kubelet: str = "v1.29.4",
    pod_cidr: str = "10.244.3.0/24",
    address: str = "172.30.0.21",
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
) -> Object:
    """Return a Windows node in the recorded node's shape."""
    node = linux_node(name)
    node["metadata"]["annotations"] |= annotations or {}
    node["metadata"]["labels"] |= {
        "kubernetes.io/os": "windows",
        "node.kubernetes.io/windows-build": kernel.rpartition(".")[0],
        **(labels or {}),
    }
    node["spec"] |= {
        "podCIDR": pod_cidr,
        "podCIDRs": [pod_cidr],
        "taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}],
    }
    node["status"]["addresses"] = [
        {"type": "InternalIP", "address": address},
        {"type": "Hostname", "address": name},
    ]
    node["status"]["nodeInfo"] |= {
        "operatingSystem": "windows",
        "kernelVersion": kernel,
        "osImage": "Windows Server 2019 Datacenter",
        "containerRuntimeVersion": runtime,
        "kubeletVersion": kubelet,
    }
    return node


def config_map(name: str, **data: str) -> Object:
    """Return a ConfigMap of kube-system."""
    return {"metadata": {"name": name, "namespace": "kube-system"}, "data": data}


def plugin_objects(
    *daemon_sets: Object, config_maps: dict[str, Object] | None = None, **more: Any
) -> PluginObjects:
    """Return what a network plugin is recognised and read by."""
    return PluginObjects(daemon_sets=daemon_sets, config_maps=config_maps or {}, **more)


def daemon_set(name: str, namespace: str = "kube-system", **variables: str) -> Object:
    """Return a DaemonSet as far as discovery reads it, with its container's environment."""
    env = [{"name": key, "value": value} for key, value in variables.items()]
    pod = {"containers": [{"name": "node", "env": env}]}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": pod}} if env else {},
    }


def proxy_pod(
    node: str, *arguments: str, image: str = "registry.k8s.io/kube-proxy:v1.29.4"
) -> Object:
    """Return kube-proxy's Pod on a node."""
    return {
        "metadata": {"name": f"kube-proxy-{node}", "namespace": "kube-system"},
        "spec": {
            "nodeName": node,
            "containers": [
                {"name": "kube-proxy", "image": image, "command": list(arguments) or None}
            ],
        },
    }
