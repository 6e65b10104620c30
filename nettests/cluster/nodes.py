"""Read Node objects: OS, build, runtime, addresses, stable node pools, and which nodes are tested.

Pure. A node pool names a group of nodes of one OS in an order that upgrades do not change
(``windows-1``); the cluster profile can pin it. Nodes that are being removed are left out; users
choose nodes by names, comma-separated, or by a selector as for ``kubectl get nodes -l``:
``pool=win``, ``pool!=win``, ``pool``, comma-separated.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nettests.cluster import hybrid_overlay
from nettests.cluster.networks import address_of
from nettests.errors import ClusterError, ManifestError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import (
    ALL,
    SAMPLE,
    Address,
    Fact,
    FleetScope,
    Network,
    Taint,
    known,
    unknown,
)
from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.labels import HOSTNAME_LABEL, OS_LABEL, POOL_LABEL, WINDOWS_BUILD_LABEL
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.windows_programs import host_process
from nettests.model.words import OS
from nettests.plan.images import probe_image, why_not_served

POOL_LABELS = (
    *(POOL_LABEL, "kubernetes.azure.com/agentpool", "agentpool", "eks.amazonaws.com/nodegroup"),
    *("alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool"),
    *("cluster.x-k8s.io/deployment-name", "kops.k8s.io/instancegroup"),
)
"""Labels by which platforms name a group of nodes; the first one that a node has is its pool."""

PLATFORM_LABELS = {
    "kubernetes.azure.com/": "aks",
    "eks.amazonaws.com/": "eks",
    "alpha.eksctl.io/": "eks",
    "cloud.google.com/gke-": "gke",
    "node.openshift.io/os_id": "openshift",
}
"""Prefixes of labels that only one managed service, distribution, or its tool uses."""
PLATFORM_VERSIONS = {"-eks-": "eks", "-gke.": "gke", "+rke2r": "rke2"}
"""Parts of kubelet versions of these builds: nodes that join by hand may have no label. Windows
nodes of RKE2 may run Kubernetes' own build."""
ZONE_LABEL = "topology.kubernetes.io/zone"
KUBELET_PORT = 10250


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node's pool and its ordinal in that pool, from 1."""

    pool: str
    member: int


def name_of(node: Object) -> str:
    """Return the node's name."""
    return str(node["metadata"]["name"])


def hostname_of(node: Object) -> str:
    """Return the hostname label, which pins Pods to the node; it may differ from the name."""
    return _labels(node).get(HOSTNAME_LABEL, "")


def platform_of(nodes: Sequence[Object]) -> Fact[str]:
    """Return the nodes' managed service or distribution, by labels and builds, or ``other``."""
    for node in nodes:
        for label in _labels(node):
            for beginning, platform in PLATFORM_LABELS.items():
                if label.startswith(beginning):
                    return known(platform, f"label {label} of node {name_of(node)}")
        version = _info(node).get("kubeletVersion", "")
        for part, platform in PLATFORM_VERSIONS.items():
            if part in version:
                return known(platform, f"kubelet {version} of node {name_of(node)}")
    shown = ", ".join((*PLATFORM_LABELS, *PLATFORM_VERSIONS))
    return known("other", f"no node has a label or a version with {shown}")


def zone_of(node: Object) -> Fact[str]:
    """Return the node's zone, by its label."""
    zone = _labels(node).get(ZONE_LABEL)
    return known(zone, f"label {ZONE_LABEL}") if zone else unknown(f"no label {ZONE_LABEL}")


def steering_classes(listed: Sequence[Object], reason: str) -> Fact[tuple[str, ...]]:
    """Return the RuntimeClasses with a node selector or tolerations; ``reason``: why not read."""
    if reason:
        return unknown(reason)
    steering = [name_of(item) for item in listed if any((item.get("scheduling") or {}).values())]
    return known(tuple(sorted(steering)), f"{len(listed)} RuntimeClasses")


def os_of(node: Object) -> OS | None:
    """Return the node's OS, or ``None`` if it is not supported."""
    text = _info(node).get("operatingSystem") or _labels(node).get(OS_LABEL, "")
    return OS(text) if text in set(OS) else None


def build_of(node: Object) -> Fact[WindowsBuild]:
    """Return the Windows build: with patch level from nodeInfo, else from the build label."""
    if os_of(node) is not OS.WINDOWS:
        return unknown("not a Windows node")
    kernel = _info(node).get("kernelVersion", "")
    label = _labels(node).get(WINDOWS_BUILD_LABEL, "")
    for text, origin in (
        (kernel, "nodeInfo.kernelVersion"),
        (label, f"label {WINDOWS_BUILD_LABEL}"),
    ):
        try:
            return known(WindowsBuild.parse(text), origin)
        except ValueError:
            continue
    return unknown(f"neither kernelVersion {kernel!r} nor a build label says it")


def kubelet_of(node: Object) -> Fact[KubernetesVersion]:
    """Return the kubelet's version."""
    text = _info(node).get("kubeletVersion", "")
    try:
        return known(KubernetesVersion.parse(text), "nodeInfo.kubeletVersion")
    except ValueError:
        return unknown(f"nodeInfo.kubeletVersion is {text!r}")


def runtime_of(node: Object) -> Fact[str]:
    """Return the container runtime as nodeInfo spells it: ``containerd://1.7.20``."""
    text = _info(node).get("containerRuntimeVersion", "")
    return known(text, "nodeInfo.containerRuntimeVersion") if text else unknown("nodeInfo is empty")


def host_process_of(node: Object) -> Fact[bool]:
    """Return whether HostProcess containers can run: kubelet 1.23 and containerd 1.6, or later."""
    if os_of(node) is not OS.WINDOWS:
        return unknown("HostProcess containers exist on Windows only")
    return host_process(kubelet_of(node).value, runtime_of(node).value or "")


def addresses_of(node: Object) -> tuple[Address, ...]:
    """Return the node's valid addresses, internal ones first."""
    listed = node.get("status", {}).get("addresses", [])
    addresses = [
        address
        for kind in ("InternalIP", "ExternalIP")
        for item in listed
        if item.get("type") == kind and (address := address_of(item.get("address"))) is not None
    ]
    return tuple(dict.fromkeys(addresses))


def pod_cidrs_of(node: Object) -> tuple[Network, ...]:
    """Return the node's Pod CIDRs; empty if only the network plugin knows them."""
    spec = node.get("spec", {})
    texts = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    try:
        return tuple(
            ipaddress.ip_network(text) for text in texts or hybrid_overlay.subnets_of(node)
        )
    except ValueError:
        return ()


def kubelet_port_of(node: Object) -> int:
    """Return the kubelet's port, by default 10250."""
    endpoints = node.get("status", {}).get("daemonEndpoints", {})
    return int(endpoints.get("kubeletEndpoint", {}).get("Port") or KUBELET_PORT)


def ready(node: Object) -> bool:
    """Whether the Ready condition is True."""
    return any(
        item.get("type") == "Ready" and item.get("status") == "True"
        for item in node.get("status", {}).get("conditions", [])
    )


def schedulable(node: Object) -> bool:
    """Whether the node is not cordoned."""
    return not node.get("spec", {}).get("unschedulable", False)


def of_own_network(pods: Iterable[Object]) -> Iterator[str]:
    """Yield the names of Pods with an address in the pod network that have not ended."""
    for pod in pods:
        spec = pod.get("spec", {})
        options = (spec.get("securityContext") or {}).get("windowsOptions") or {}
        on_host = spec.get("hostNetwork") or options.get("hostProcess")
        if not on_host and pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}:
            yield f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"


def left_out(node: Object, profile: ClusterProfile) -> str:
    """Return why a run does not use a schedulable node, or nothing."""
    os, build = os_of(node), build_of(node).value
    labels = _labels(node)
    wanted = profile.pods.node_selector
    lacking = [f"{key}={value}" for key, value in wanted.items() if labels.get(key) != value]
    if name_of(node) in profile.excluded_nodes:
        return "excluded by --exclude-node"
    if virtual := _virtual(node):
        return f"a virtual node ({virtual})"
    if lacking:
        return f"without {', '.join(lacking)}, which the cluster profile selects"
    if os is None:
        return "of an unknown operating system"
    if going := [taint.key for taint in taints_of(node) if taint.key in LEAVING]:
        return f"being drained and removed (taint {going[0]})"
    unserved = why_not_served(probe_image(profile.images, os, build), os, build)
    return f"not served: {unserved}" if unserved else ""


VIRTUAL_LABELS = {"type": "virtual-kubelet", "eks.amazonaws.com/compute-type": "fargate"}
VIRTUAL_TAINTS = ("virtual-kubelet.io/provider", "azure.com/aci")


def _virtual(node: Object) -> str:
    """Return what shows that a node is virtual, without a host network, or nothing."""
    labels = _labels(node)
    by_label = [
        f"{key}={value}" for key, value in VIRTUAL_LABELS.items() if labels.get(key) == value
    ]
    by_taint = [taint.key for taint in taints_of(node) if taint.key in VIRTUAL_TAINTS]
    known_by = [
        *(f"label {label}" for label in by_label),
        *(f"taint {taint}" for taint in by_taint),
    ]
    return ", ".join(known_by)


def taints_of(node: Object) -> tuple[Taint, ...]:
    """Return the node's taints."""
    return tuple(
        Taint(key=item["key"], value=item.get("value") or "", effect=item["effect"])
        for item in node.get("spec", {}).get("taints") or []
        if item.get("key") and item.get("effect")
    )


def places(nodes: Sequence[Object], pinned: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """Return each node's pool and member ordinal.

    Pinned node pools come first and keep the profile's order of nodes. The other nodes of an OS are
    grouped by the platform's pool label, in the order of the labels, so that a pool keeps its name
    when its build is upgraded; without labels, Windows nodes are grouped by build, oldest first.
    """
    placed = _pinned(nodes, pinned)
    for os in OS:
        rest = [node for node in nodes if os_of(node) is os and name_of(node) not in placed]
        groups = grouped((_group(node), name_of(node)) for node in rest)
        pool_names = {place.pool for place in placed.values()}
        ordinals = (n for n in range(1, 10_000) if f"{os}-{n}" not in pool_names)
        for _, names in sorted(groups.items()):
            pool = f"{os}-{next(ordinals)}"
            for member, name in enumerate(sorted(names), 1):
                placed[name] = Place(pool=pool, member=member)
    return placed


def _pinned(nodes: Sequence[Object], pinned: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    systems = {name_of(node): os_of(node) for node in nodes}
    placed: dict[str, Place] = {}
    for pool, names in pinned.items():
        for member, name in enumerate(names, 1):
            if name not in systems:
                raise ClusterError(
                    f"the cluster profile pins node {name!r} to node pool {pool}, but no such node exists",
                    hint=f"the nodes are {', '.join(sorted(systems))}",
                )
            if name in placed:
                raise ClusterError(
                    f"the cluster profile pins node {name!r} to {placed[name].pool} and to {pool}",
                    hint="a node is in one node pool",
                )
            if systems[name] is None or not pool.startswith(f"{systems[name]}-"):
                raise ClusterError(
                    f"the cluster profile pins node {name!r} ({systems[name]}) to node pool {pool}",
                    hint="the name of a node pool begins with the OS of its nodes",
                )
            placed[name] = Place(pool=pool, member=member)
    return placed


def _group(node: Object) -> tuple[str, int]:
    labels = _labels(node)
    pool = next((labels[key] for key in POOL_LABELS if labels.get(key)), None)
    if pool is not None:
        return (pool, 0)
    build = build_of(node).value
    return ("", build.build if build else 0)


def _info(node: Object) -> dict[str, str]:
    return dict(node.get("status", {}).get("nodeInfo", {}))


def _labels(node: Object) -> dict[str, str]:
    return dict(node["metadata"].get("labels") or {})


# samples: pool=win, kubernetes.io/os!=linux, example.com/canary
_PART = re.compile(r"([A-Za-z0-9][A-Za-z0-9./_-]*)(?:(=|==|!=)([A-Za-z0-9._-]*))?")
LEAVING = (
    *("ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"),
    *("node.cloudprovider.kubernetes.io/shutdown", "node.kubernetes.io/out-of-service"),
)
"""Taints of nodes that autoscalers or clouds drain and remove. Sources: the cluster autoscaler's
FAQ, Karpenter's "Disruption", "Well-Known Labels, Annotations and Taints"."""


def scope_of(nodes: Sequence[Object], chosen: str, excluded: Iterable[str] = ()) -> FleetScope:
    """Return the scope of a run; ``ManifestError`` if the selection is invalid or names no node."""
    labels = {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in nodes}
    for name in excluded:
        if name not in labels:
            raise ManifestError(
                f"--exclude-node: the cluster has no node {name!r}", hint=_near(name, labels)
            )
    if chosen in {ALL, SAMPLE}:
        return FleetScope(chosen=chosen)
    words = [word.strip() for word in chosen.split(",")]
    if labels.keys() >= {*words}:
        return FleetScope(chosen=chosen, nodes=tuple(name for name in labels if name in words))
    parts = [_PART.fullmatch(word) for word in words]
    if not all(parts):
        raise ManifestError(
            f"the nodes of the fleet cannot be chosen by {chosen!r}",
            hint=f"write {ALL}, {SAMPLE}, names of nodes, or a label selector such as pool=win or kubernetes.io/os!=linux",
        )
    for part in sorted(filter(None, parts), key=lambda part: part[1] in labels):
        if not part[2] and not any(part[1] in of_node for of_node in labels.values()):
            named = part[1] in labels
            raise ManifestError(
                f"--nodes={chosen}: {part[1]} is {'a node' if named else 'no node'}, and no node has such a label",
                hint="name nodes, or labels, not both" if named else _near(part[1], labels),
            )
    matching = (
        name for name, of in labels.items() if all(_holds(part, of) for part in parts if part)
    )
    return FleetScope(chosen=chosen, nodes=tuple(matching))


def _near(name: str, names: Iterable[str]) -> str:
    return nearest(name, names, what="nodes", most=3)


def _holds(part: re.Match[str], labels: Mapping[str, str]) -> bool:
    key, operator, value = part.groups()
    if operator is None:
        return key in labels
    return (labels.get(key) != value) if operator == "!=" else (labels.get(key) == value)
