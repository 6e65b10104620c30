"""What an inspection reads, word for word: requests to the API server and argv of Windows' own tools.

Pure tables. Nothing here changes anything. A node's readings are taken once a run and kept: many rules look
at the same text. The cmdlets belong to the module HostNetworkingService of Windows' container feature.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.permission import (
    GET_NODE,
    LIST_ALL_PODS,
    LIST_ALL_SERVICES,
    LIST_ALL_SLICES,
    LIST_NODES,
    SYSTEM_LOGS,
    Permission,
)

LOG_BYTES = 65_536
"""A component prints its flags first: no more of a log is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A GET request to the API server."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The request as the journal records it."""
        asked = "&".join(f"{key}={value}" for key, value in self.query.items())
        return ("GET", f"{self.path}?{asked}" if asked else self.path)


def _pods_of(node: NodeFacts | None) -> Request:
    name = node.name if node else ""
    return Request(path="/api/v1/pods", query={"fieldSelector": f"spec.nodeName={name}"})


def _of_flannel(facts: ClusterFacts, _node: NodeFacts | None) -> Request:
    """Return the ConfigMap that discovery read; its name is the fact's origin."""
    # sample of an origin: ConfigMap kube-flannel/kube-flannel-cfg
    found = re.fullmatch(r"ConfigMap ([\w.-]+)/([\w.-]+)", facts.cni.backend.origin)
    namespace, name = found.groups() if found else ("kube-flannel", "kube-flannel-cfg")
    return Request(path=f"/api/v1/namespaces/{namespace}/configmaps/{name}")


REQUESTS: Mapping[str, Callable[[ClusterFacts, NodeFacts | None], Request]] = {
    "node": lambda _facts, node: Request(path=f"/api/v1/nodes/{node.name if node else ''}"),
    "nodes": lambda _facts, _node: Request(path="/api/v1/nodes"),
    "node-pods": lambda _facts, node: _pods_of(node),
    "node-pods-after": lambda _facts, node: _pods_of(node),
    "flannel-config": _of_flannel,
    "services": lambda _facts, _node: Request(path="/api/v1/services"),
    "services-after": lambda _facts, _node: Request(path="/api/v1/services"),
    "endpoint-slices": lambda _facts, _node: Request(
        path="/apis/discovery.k8s.io/v1/endpointslices"
    ),
    "endpoint-slices-after": lambda _facts, _node: Request(
        path="/apis/discovery.k8s.io/v1/endpointslices"
    ),
}
"""What the API server is asked, by reading."""

PERMISSIONS: Mapping[str, Permission | None] = {
    "node": GET_NODE,
    "nodes": LIST_NODES,
    "node-pods": LIST_ALL_PODS,
    "node-pods-after": LIST_ALL_PODS,
    "flannel-config": None,  # where it cannot be read the backend is unknown, and its rules are left out
    "services": LIST_ALL_SERVICES,
    "services-after": LIST_ALL_SERVICES,
    "endpoint-slices": LIST_ALL_SLICES,
    "endpoint-slices-after": LIST_ALL_SLICES,
    "kube-proxy-log": SYSTEM_LOGS,
}
"""What each reading needs to be allowed."""

_POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
_CMD = ("cmd.exe", "/c")

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "hns-networks": (*_POWERSHELL, "Get-HnsNetwork | ConvertTo-Json -Depth 5"),
    "hns-endpoints": (*_POWERSHELL, "Get-HnsEndpoint | ConvertTo-Json -Depth 5"),
    "hns-endpoints-beside-policies": (
        *_POWERSHELL,
        "Get-HnsEndpoint | ConvertTo-Json -Depth 5",
    ),
    "hns-policies": (*_POWERSHELL, "Get-HnsPolicyList | ConvertTo-Json -Depth 5"),
    "windows-version": (*_CMD, "ver"),
    "ipconfig": ("ipconfig.exe",),
    "dynamic-ports": ("netsh.exe", "int", "ipv4", "show", "dynamicport", "tcp"),
    "excluded-ports": ("netsh.exe", "int", "ipv4", "show", "excludedportrange", "protocol=tcp"),
    "processes": ("tasklist.exe", "/FO", "CSV", "/NH"),
    "flannel-subnet-file": (*_CMD, "type", r"C:\run\flannel\subnet.env"),
    "cni-configuration": (
        *_CMD,
        "type",
        r"C:\etc\cni\net.d\*.conf*",
        r"C:\k\cni\config\*.conf*",
        r"C:\Program Files\containerd\cni\conf\*.conf*",
        r"C:\k\azurecni\netconf\*.conf*",
        r"C:\etc\kubernetes\cni\config\*.conf*",
        r"C:\ProgramData\Amazon\EKS\cni\config\*.conf*",
    ),
    "win-bridge-about": (*_CMD, r"C:\opt\cni\bin\win-bridge.exe", "2>&1"),
    "win-overlay-about": (*_CMD, r"C:\opt\cni\bin\win-overlay.exe", "2>&1"),
}
"""What a Windows node is asked, by reading: tools that every Windows Server has, in a HostProcess container."""

PROXY_LOG = "kube-proxy-log"
"""The log of the kube-proxy Pod among ``node-pods``."""


def log_of(namespace: str, pod: str, container: str) -> Request:
    """Return the request for the beginning of a container's log."""
    return Request(
        path=f"/api/v1/namespaces/{namespace}/pods/{pod}/log",
        query={"container": container, "limitBytes": str(LOG_BYTES)},
    )
