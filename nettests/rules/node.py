"""Rules about nodes by their API objects: labels, taints, version skew, supported builds, updates.

Sources: "Guide for running Windows containers in Kubernetes" (labels, taints, the control plane);
Kubernetes' version-skew policy; the tables of "Windows containers in Kubernetes" and its
predecessors, the plugins' own projects (supported builds); KEP-5100, Microsoft's pages on updates,
Calico's requirements for Windows nodes (updates). A build that is in no table is not judged:
vendors and upstream's tests run Windows Server 2025 and the annual channel.
"""

import re

from nettests.model.json_text import Object
from nettests.model.labels import CONTROL_PLANE_LABEL, WINDOWS_BUILD_LABEL
from nettests.model.permission import GET_NODE, LIST_NODES
from nettests.model.versions import KubernetesVersion, WindowsBuild, minors_behind, minors_beside
from nettests.model.windows_programs import CMD, node_argv
from nettests.resources import lines_of
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.kube_proxy import PROXY_LOG, proxy_of
from nettests.rules.pods import PODS
from nettests.rules.readings import ApiObjects, Request, ToolOutput
from nettests.rules.reduction import KEPT
from nettests.rules.subjects import CALICO, DSR, KUBE_PROXY_POD, OVERLAY, WINDOWS

CONTROL_PLANE_ROLES = (CONTROL_PLANE_LABEL, "node-role.kubernetes.io/master")
NODE = ApiObjects(
    name="node",
    request=lambda _facts, node: Request(path=f"/api/v1/nodes/{node.name if node else ''}"),
    permission=GET_NODE,
    keep=reduction.one_object(KEPT["node"]),
)
NODES = ApiObjects(
    name="nodes",
    request=lambda _facts, _node: Request(path="/api/v1/nodes"),
    permission=LIST_NODES,
    keep=reduction.items(KEPT["node"]),
)


@rule(about=(), reads=(NODE,))
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


@rule(about=(), reads=(NODE,))
def windows_taint(evidence: Evidence) -> Finding:
    """Windows nodes have the taint recommended by the documents, which keeps Linux Pods away."""
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


@rule(about=(WINDOWS,), reads=(NODES,))
def control_plane_on_linux(evidence: Evidence) -> Finding:
    """Windows nodes are workers only; a managed control plane shows no node."""
    nodes = evidence.items(NODES)
    if not nodes:
        raise NothingThereError("the API server lists no node")
    planes = sorted(
        f"{node['metadata']['name']} on {_system(node)}" for node in nodes if _is_plane(node)
    )
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


def _system(node: Object) -> str:
    return str(node["status"]["nodeInfo"].get("operatingSystem", ""))


SUPPORTED = {
    int(build): (int(first), int(last) if last.isdigit() else None)
    for build, first, last in map(str.split, lines_of("nettests.rules", "builds.txt"))
}
"""First and last minor release of Kubernetes 1 whose documents list a build; ``None``: current."""
RUNTIMES = {"containerd": KubernetesVersion(1, 4), "docker": KubernetesVersion(19, 3)}
"""First releases that documents accept on Windows: containerd required, Docker recommended."""
WITHOUT_AGENT = {
    "cilium": "cilium/cilium issues 31873 and 34929; Microsoft, Azure CNI powered by Cilium, Limitations",
    "weave": "weaveworks/weave issues 976 and 3194",
    "kube-router": "cloudnativelabs/kube-router issue 231",
    "kubenet": "Microsoft, Networking concepts for applications in AKS, Compare network models",
}
"""Plugins without Windows support, with sources. Only a profile can set kubenet."""


@rule(about=(), reads=(NODE,))
def build_supported(evidence: Evidence) -> Finding:
    """The documents of the kubelet's release list the node's Windows build."""
    info = evidence.object(NODE)["status"]["nodeInfo"]
    build = WindowsBuild.parse(str(info.get("kernelVersion", ""))).build
    kubelet = KubernetesVersion.parse(str(info.get("kubeletVersion", "")))
    if build not in SUPPORTED:
        raise NothingThereError(f"no table of Kubernetes' documents names build {build}")
    first, last = SUPPORTED[build]
    span = f"1.{first} or later" if last is None else f"1.{first} to 1.{last}"
    return finding(
        kubelet.minor >= first and (last is None or kubelet.minor <= last),
        f"build {build} with kubelet {kubelet}",
        f"Kubernetes {span} on build {build}",
        of=1,
    )


@rule(about=(), reads=(NODE,))
def runtime_version(evidence: Evidence) -> Finding:
    """The container runtime is a release that runs Windows Pods."""
    info = evidence.object(NODE)["status"]["nodeInfo"]
    # samples: containerd://1.7.20, docker://19.3.14
    name, _, text = str(info.get("containerRuntimeVersion", "")).partition("://")
    if not name:
        raise UnreadableError("nodeInfo.containerRuntimeVersion is empty")
    if name not in RUNTIMES:
        raise NothingThereError(f"no document names a release of {name} for Windows")
    release, needed = KubernetesVersion.parse(text), RUNTIMES[name]
    return finding(
        release >= needed, f"{name} {release}", f"{needed} or later on Windows nodes", of=1
    )


@rule(about=(), reads=(NODE,))
def plugin_for_windows(evidence: Evidence) -> Finding:
    """The network plugin supports Windows: without its agent, no Pod on the node has a network."""
    plugin = evidence.facts.get("plugin")
    if plugin is None:
        raise NothingThereError("the network plugin is not known")
    if evidence.object(NODE)["status"]["nodeInfo"].get("operatingSystem") != "windows":
        raise NothingThereError("the node does not say that it runs Windows")
    return finding(
        plugin not in WITHOUT_AGENT,
        f"the plugin {plugin}",
        f"one that has an agent for Windows, which {', '.join(WITHOUT_AGENT)} have not",
        of=1,
    )


FIRST_OVERLAY = WindowsBuild(17763, 379)
"""KB4489899, of March 2019."""
FIRST_DSR = WindowsBuild(17763, 1432)
"""KB4571748, August 2020 (8C), named by Kubernetes and Calico; Microsoft once named 8B."""
BROKEN = WindowsBuild(20348, 2582)
"""KB5040437, of July 2024."""
MENDED = WindowsBuild(20348, 2762)
"""KB5044281, of October 2024, announced as the fix."""
FIRST_CALICO = {
    17763: WindowsBuild(17763, 1432),
    20348: WindowsBuild(20348, 169),
}
VERSION = ToolOutput(
    name="windows-version", words=node_argv(*CMD, "ver"), keep=reduction.lines(r"10\.0\.\d{5}\.\d+")
)


@rule(about=(), reads=(NODE, VERSION))
def running_build(evidence: Evidence) -> Finding:
    """The build in the API is the one that runs: rules about updates rely on it."""
    text = evidence.text(VERSION)
    # sample: Microsoft Windows [Version 10.0.17763.1339]
    match = re.search(r"10\.0\.\d{5}\.\d+", text)
    if match is None:
        raise UnreadableError(f"ver names no build: {text!r}")
    kernel = str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"])
    return finding(
        match[0] == kernel, match[0], f"what nodeInfo.kernelVersion says, {kernel}", of=1
    )


@rule(about=(), reads=(NODE,))
def update_not_broken(evidence: Evidence) -> Finding:
    """Windows Server 2022's update of July 2024 broke container networking; October's fixed it."""
    build = build_of(evidence)
    demanded = f"no build from {BROKEN} (KB5040437) to below {MENDED} (KB5044281)"
    return finding(not BROKEN <= build < MENDED, str(build), demanded, of=1)


@rule(about=(OVERLAY,), reads=(NODE,))
def overlay_update(evidence: Evidence) -> Finding:
    """Overlay networks need KB4489899 on Windows Server 2019."""
    build = build_of(evidence)
    return finding(
        build >= FIRST_OVERLAY, str(build), f"{FIRST_OVERLAY} (KB4489899) or later", of=1
    )


@rule(about=(DSR,), reads=(NODE,))
def dsr_update(evidence: Evidence) -> Finding:
    """DSR needs support in HNS: on Windows Server 2019 an update of August 2020."""
    build = build_of(evidence)
    return finding(build >= FIRST_DSR, str(build), f"{FIRST_DSR} (KB4571748) or later", of=1)


@rule(about=(CALICO,), reads=(NODE,))
def calico_build(evidence: Evidence) -> Finding:
    """Calico needs an update of Windows Server 2019 and one of Windows Server 2022."""
    build = build_of(evidence)
    needed = FIRST_CALICO.get(build.build, FIRST_CALICO[17763])
    return finding(build >= needed, str(build), f"{needed} or later for Calico", of=1)


def build_of(evidence: Evidence) -> WindowsBuild:
    """Return the node's build; a rule about updates needs its patch level."""
    build = WindowsBuild.parse(str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"]))
    if not build.patch_known:
        raise UnreadableError(f"the patch level of build {build} is not known")
    return build


@rule(about=(KUBE_PROXY_POD,), reads=(PODS, PROXY_LOG))
def kube_proxy_skew(evidence: Evidence) -> Finding:
    """kube-proxy follows the version-skew policy with the API server and the node's kubelet."""
    version = proxy_of(evidence).version
    behind = _skew(version, evidence.version("server"), "kube-proxy")
    if not behind.conforms:
        return behind
    kubelet = evidence.version("kubelet")
    most = minors_beside(version)
    return finding(
        version.major == kubelet.major and abs(version.minor - kubelet.minor) <= most,
        f"kube-proxy {version} beside kubelet {kubelet} and API server {evidence.version('server')}",
        f"a version at most {most} minors older or newer than the kubelet's, and one that may stand beside the "
        "API server's",
        of=1,
    )


@rule(about=(), reads=(NODE,))
def kubelet_skew(evidence: Evidence) -> Finding:
    """The kubelet follows the version-skew policy."""
    text = str(evidence.object(NODE)["status"]["nodeInfo"].get("kubeletVersion", ""))
    return _skew(KubernetesVersion.parse(text), evidence.version("server"), "kubelet")


def _skew(version: KubernetesVersion, server: KubernetesVersion, who: str) -> Finding:
    """Require a version no newer than the API server, and few minors older (``minors_behind``)."""
    most = minors_behind(server)
    behind = server.minor - version.minor
    return finding(
        version.major == server.major and 0 <= behind <= most,
        f"{who} {version} beside API server {server}",
        f"a version at most {most} minors older than the API server's and not newer",
        of=1,
    )
