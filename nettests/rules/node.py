"""Rules about nodes and the cluster that API objects tell: labels, patch levels, versions, overlays.

Sources: "Guide for running Windows containers" (labels, taints), KEP-5100 and Microsoft's pages
(updates), the version-skew policy, Flannel's ``backends.md``.
"""

from nettests.model.json_text import read_json
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.kube_proxy import skew

NODE = "node"
NODES = "nodes"
FLANNEL = "flannel-config"
BUILD_LABEL = "node.kubernetes.io/windows-build"
FIRST_OVERLAY = WindowsBuild(17763, 379)
"""KB4489899, of March 2019."""
FIRST_DSR = WindowsBuild(17763, 1432)
"""KB4571748, of August 2020 (8C), which Kubernetes and Calico name; Microsoft once named the update before it (8B)."""
BROKEN = WindowsBuild(20348, 2582)
"""KB5040437, of July 2024."""
MENDED = WindowsBuild(20348, 2762)
"""KB5044281, of October 2024, announced as the fix."""
CONTROL_PLANE_ROLES = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
FIRST_VNI = 4096
VXLAN_PORT = 4789


def windows_build_label(evidence: Evidence) -> Finding:
    """The kubelet labels the node with its build."""
    node = evidence.object(NODE)
    kernel = str(node["status"]["nodeInfo"].get("kernelVersion", ""))
    # sample: kernelVersion "10.0.17763.1339", label "10.0.17763"
    expected = ".".join(kernel.split(".")[:3])
    if not expected:
        raise UnreadableError("nodeInfo.kernelVersion is empty")
    label = (node["metadata"].get("labels") or {}).get(BUILD_LABEL)
    return finding(
        label == expected, f"{BUILD_LABEL}={label}" if label else "no label", expected, of=1
    )


def windows_taint(evidence: Evidence) -> Finding:
    """Windows nodes carry the taint that the documents agree on, so that Linux pods stay away."""
    taints = evidence.object(NODE).get("spec", {}).get("taints") or []
    found = [f"{item['key']}={item.get('value', '')}:{item['effect']}" for item in taints]
    kept_away = any(
        item["key"] == "os"
        and str(item.get("value", "")).lower() in {"windows", "win1809"}
        and item["effect"] in {"NoSchedule", "NoExecute"}
        for item in taints
    )
    return finding(
        kept_away, ", ".join(found) or "no taint", "os=windows:NoSchedule by convention", of=1
    )


def update_not_broken(evidence: Evidence) -> Finding:
    """The update of July 2024 for Windows Server 2022 broke container networking until that of October."""
    build = build_of(evidence)
    demanded = f"no build from {BROKEN} (KB5040437) to below {MENDED} (KB5044281)"
    return finding(not BROKEN <= build < MENDED, str(build), demanded, of=1)


def overlay_update(evidence: Evidence) -> Finding:
    """Overlay networks need KB4489899 on Windows Server 2019."""
    build = build_of(evidence)
    return finding(
        build >= FIRST_OVERLAY, str(build), f"{FIRST_OVERLAY} (KB4489899) or later", of=1
    )


def dsr_update(evidence: Evidence) -> Finding:
    """DSR needs an HNS that has it: on Windows Server 2019 an update of August 2020."""
    build = build_of(evidence)
    return finding(build >= FIRST_DSR, str(build), f"{FIRST_DSR} (KB4571748) or later", of=1)


def kubelet_skew(evidence: Evidence) -> Finding:
    """The kubelet follows the version-skew policy."""
    text = str(evidence.object(NODE)["status"]["nodeInfo"].get("kubeletVersion", ""))
    return skew(KubernetesVersion.parse(text), evidence.version("server"), "kubelet")


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


def vxlan_network_id(evidence: Evidence) -> Finding:
    """Windows has no VXLAN network below 4096; Linux' default is 1."""
    vni = _backend(evidence).get("VNI", 1)
    return finding(int(vni) >= FIRST_VNI, f"VNI {vni}", f"{FIRST_VNI} or above", of=1)


def vxlan_port(evidence: Evidence) -> Finding:
    """Windows speaks VXLAN on UDP 4789 only; Linux' default is 8472."""
    port = _backend(evidence).get("Port", 8472)
    return finding(int(port) == VXLAN_PORT, f"port {port}", f"port {VXLAN_PORT}", of=1)


def vxlan_options(evidence: Evidence) -> Finding:
    """Flannel on Windows refuses DirectRouting and GBP."""
    given = [name for name in ("DirectRouting", "GBP") if _backend(evidence).get(name)]
    return finding(
        not given, " and ".join(given) or "neither", "neither DirectRouting nor GBP", of=1
    )


def build_of(evidence: Evidence) -> WindowsBuild:
    """Return the node's build; a rule about updates needs its patch level."""
    build = WindowsBuild.parse(str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"]))
    if not build.patch_known:
        raise UnreadableError(f"the patch level of build {build} is not known")
    return build


def _is_plane(node: Object) -> bool:
    labels = node["metadata"].get("labels") or {}
    return any(role in labels for role in CONTROL_PLANE_ROLES)


def _name(node: Object) -> str:
    return str(node["metadata"]["name"])


def _system(node: Object) -> str:
    return str(node["status"]["nodeInfo"].get("operatingSystem", ""))


def _backend(evidence: Evidence) -> Object:
    """Return ``Backend`` of Flannel's ``net-conf.json``."""
    data = evidence.object(FLANNEL).get("data") or {}
    try:
        network = read_json(data.get("net-conf.json", ""))
    except ValueError as error:
        raise UnreadableError("net-conf.json of Flannel's ConfigMap is no JSON") from error
    backend = network.get("Backend")
    if not isinstance(backend, dict):
        raise UnreadableError("net-conf.json of Flannel's ConfigMap names no Backend")
    return backend
