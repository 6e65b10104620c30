"""Recognise the network plugin: the one that provides the pod network, not policy engines. Pure.

By DaemonSets, their containers and images; Calico's variables say if it is a policy engine only.
Without a DaemonSet: by annotations of nodes, and by what a managed service installs. Ambiguous
results are unknown, with what was seen. ``cni`` reads the plugin's settings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nettests.cluster.shapes import containers_of, pod_spec_of, variables_of
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import Object
from nettests.resources import lines_of

DAEMON_SETS = dict(line.split(" ") for line in lines_of("nettests.cluster", "daemon_sets.txt"))
"""Prefixes of the names of DaemonSets and of their containers, and the plugin."""
OTHERS = ("aws-node-termination-handler", "cilium-envoy", "cilium-operator")
"""DaemonSets with a plugin's prefix that do not belong to it."""
POWERED_BY_CILIUM = {"azure-cni", "cilium"}
"""Azure CNI with Cilium's data plane: Azure assigns addresses; there is no agent for Windows."""

FLANNEL_BACKEND = "flannel.alpha.coreos.com/backend-type"
"""flanneld's annotation of its node, even in k3s, where it has no DaemonSet."""
CALICO_BACKEND = "CALICO_NETWORKING_BACKEND"
_NONE = "none"
_INTERFACES, _CALICO_INTERFACES = "FELIX_INTERFACEPREFIX", "cali"
_PLUGIN_TYPE = "CNI_PLUGIN_TYPE"
PLUGIN_TYPES = {"AzureVNET": "azure-cni", "AmazonVPC": "aws-vpc-cni", "GKE": "sdnbridge"}
"""Plugins for which Calico is the policy engine (tigera/operator, pkg/render/windows.go)."""
_AZURE_ENGINE = "azure-npm"
BY_PLATFORM = {"aks": "azure-cni", "gke": "sdnbridge"}
"""A managed service's plugin on Windows nodes, without a DaemonSet: AKS has no kubenet with Windows
nodes (Microsoft, "Windows Server containers on AKS FAQ"), GKE's nodes call sdnbridge
(kubernetes/kubernetes, cluster/gce/windows/k8s-node-setup.psm1)."""


NOT_READ: Fact[str] = Fact(None, "it was not read")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginObjects:
    """The objects that show a plugin and its settings; ``reason``: why DaemonSets are missing."""

    nodes: Sequence[Object] = ()
    daemon_sets: Sequence[Object] = ()
    config_maps: Mapping[str, Object] = field(default_factory=dict)
    """By ``namespace/name``, those that DaemonSets refer to first."""
    ip_pools: Sequence[Object] = ()
    """Calico's."""
    platform: Fact[str] = NOT_READ
    reason: str = ""

    def of_plugin(self, plugin: str) -> Iterator[Object]:
        """Yield the DaemonSets of a plugin, those for Windows nodes first."""
        mine = [item for item in self.daemon_sets if plugin in plugins_in(item)]
        return iter(sorted(mine, key=lambda item: "windows" not in item["metadata"]["name"]))

    def variables(self, daemon_set: Object) -> dict[str, str]:
        """Return the variables of a DaemonSet's containers with a readable value."""
        namespace = daemon_set["metadata"].get("namespace", "")
        given = variables_of(pod_spec_of(daemon_set), namespace, self.config_maps)
        return {name: value for name, value in given if value}


def origin_of(daemon_set: Object) -> str:
    """Return a DaemonSet's name for people."""
    metadata = daemon_set["metadata"]
    return f"DaemonSet {metadata.get('namespace', '')}/{metadata['name']}"


def plugin_of(objects: PluginObjects) -> Fact[str]:
    """Return the plugin of the pod network; unknown if nothing or several things show one."""
    plugins: dict[str, str] = {}
    engines: list[Object] = []
    for item in objects.daemon_sets:
        for plugin in plugins_in(item):
            if plugin == "calico" and _enforces_only(item, objects):
                engines.append(item)
            else:
                plugins.setdefault(plugin, origin_of(item))
    if engines:  # the other OS's DaemonSet may not say it
        plugins.pop("calico", None)
    beside = f", and Calico enforces policies ({origin_of(engines[0])})" if engines else ""
    if len(plugins) == 1:
        ((plugin, origin),) = plugins.items()
        return known(plugin, f"{origin}{beside}")
    if plugins.keys() == POWERED_BY_CILIUM:
        both = " and ".join(sorted(plugins.values()))
        return known("cilium", f"{both}: Azure CNI powered by Cilium")
    if plugins:
        return unknown(f"several network plugins run: {', '.join(sorted(plugins.values()))}")
    return _by_engines(engines, objects) or _by_nodes(objects, beside)


def plugins_in(item: Object) -> set[str]:
    """Return the plugins that a DaemonSet runs, by its name, its containers and their images."""
    name = item["metadata"]["name"]
    if name.startswith(OTHERS):
        return set()
    containers = containers_of(pod_spec_of(item))
    # samples: rke2-canal with containers calico-node and kube-flannel; quay.io/calico/node:v3.29.1
    names = [name, *(container.get("name", "") for container in containers)]
    by_name = {
        plugin
        for beginning, plugin in DAEMON_SETS.items()
        if any(each.startswith(beginning) for each in names)
    }
    images = " ".join(container.get("image", "") for container in containers)
    by_image = {plugin for image, plugin in _IMAGES.items() if image in images}
    return by_name | by_image


_IMAGES = {
    "flannel/flannel:": "flannel",
    "flannel-io/flannel:": "flannel",
    "rancher/hardened-flannel:": "flannel",
    "calico/node:": "calico",
    "amazon-k8s-cni:": "aws-vpc-cni",
}
"""Parts of images that show the plugin of a DaemonSet with any name."""


def _enforces_only(item: Object, objects: PluginObjects) -> bool:
    """Whether Calico is a policy engine only: no backend, with Flannel, or others' interfaces."""
    variables = objects.variables(item)
    interfaces = variables.get(_INTERFACES, _CALICO_INTERFACES)
    return (
        variables.get(CALICO_BACKEND) == _NONE
        or variables.get(_PLUGIN_TYPE) in PLUGIN_TYPES
        or "flannel" in plugins_in(item)
        or not interfaces.startswith(_CALICO_INTERFACES)
    )


def _by_engines(engines: Sequence[Object], objects: PluginObjects) -> Fact[str] | None:
    """Return the plugin that Calico's operator runs beside, or that Azure's policy engine needs."""
    for item in engines:
        kind = objects.variables(item).get(_PLUGIN_TYPE, "")
        if kind in PLUGIN_TYPES:
            return known(PLUGIN_TYPES[kind], f"{origin_of(item)}: {_PLUGIN_TYPE}={kind}")
    for item in objects.daemon_sets:
        if item["metadata"]["name"].startswith(_AZURE_ENGINE):
            return known("azure-cni", f"{origin_of(item)}, the policy engine of Azure CNI")
    return None


def _by_nodes(objects: PluginObjects, beside: str) -> Fact[str]:
    for node in objects.nodes:
        if FLANNEL_BACKEND in (node["metadata"].get("annotations") or {}):
            return known("flannel", f"annotation {FLANNEL_BACKEND} of {node['metadata']['name']}")
    if objects.reason:
        return unknown(f"DaemonSets cannot be listed: {objects.reason}")
    platform = objects.platform
    if platform.value in BY_PLATFORM and _without_ranges(platform.value, objects.nodes):
        why = f"{platform.origin}, and no DaemonSet of another plugin{beside}"
        return known(BY_PLATFORM[platform.value], why)
    return unknown(f"no DaemonSet of a known network plugin was found{beside}")


def _without_ranges(platform: str, nodes: Sequence[Object]) -> bool:
    """Whether the platform's plugin follows: Windows nodes, or AKS without kubenet's ranges."""
    infos = [(node.get("status") or {}).get("nodeInfo") or {} for node in nodes]
    if any(info.get("operatingSystem") == "windows" for info in infos):
        return True
    return platform == "aks" and not any((node.get("spec") or {}).get("podCIDR") for node in nodes)
