"""Read the network plugin: its name, backend and overlay settings, and each node's driver.

Pure. The plugin is recognised by its DaemonSets, the backend by its ConfigMap, the driver by the backend, a node
annotation, or the plugin itself if it makes only one type of network. Anything else is unknown unless the cluster
profile states it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from nettests.cluster import hybrid_overlay, plugin_settings
from nettests.model import network_drivers
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import STATED, CniFacts, Fact, known, unknown
from nettests.model.json_text import read_json
from nettests.model.words import OS

T = TypeVar("T")
Object = dict[str, Any]

DAEMON_SETS = {
    "kube-flannel": "flannel",
    "calico-node": "calico",
    "antrea-agent": "antrea",
    "ovnkube-node": "ovn-kubernetes",
    "cilium": "cilium",
    "weave-net": "weave",
    "kube-router": "kube-router",
    "aws-node": "aws-vpc-cni",
    "azure-cns": "azure-cni",
    "azure-npm": "azure-cni",
    "azure-ip-masq-agent": "azure-cni",
}
"""Prefixes of DaemonSet names, and their plugin."""
OTHERS = ("aws-node-termination-handler",)
"""DaemonSets with a plugin's prefix that do not belong to it."""
POWERED_BY_CILIUM = {"azure-cni", "cilium"}
"""Azure CNI with Cilium's data plane: Azure assigns the addresses, and the data plane has no agent for Windows."""
AZURE_NETWORK = "kubernetes.azure.com/podnetwork-type"
"""The label of AKS nodes with their kind of Pod network: ``overlay``, ``vnet`` …"""

BACKEND_ANNOTATION = "flannel.alpha.coreos.com/backend-type"
HYBRID_OVERLAY = "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac"
"""OVN-Kubernetes writes it on Windows nodes, which run an overlay network (hybrid overlay)."""


def flannel_network(config_map: Object | None) -> Object:
    """Return Flannel's ``net-conf.json``; empty if there is none or it is no JSON object."""
    text = str(((config_map or {}).get("data") or {}).get("net-conf.json", ""))
    try:
        loaded = read_json(text)
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def facts_of(
    daemon_sets: Sequence[Object],
    flannel: Object | None,
    flannel_origin: str,
    stated: StatedFacts,
    config_maps: Mapping[str, Object] | None = None,
    *,
    nodes: Sequence[Object] = (),
) -> CniFacts:
    """Return the plugin's facts; facts stated in the cluster profile override them.

    ``config_maps`` are other plugins', by namespace and name; ``nodes`` bear the labels of a cloud's plugin.
    """
    named = flannel_network(flannel).get("Backend")
    network = named if isinstance(named, dict) else {}
    plugin = known(stated.cni_plugin, STATED) if stated.cni_plugin else plugin_of(daemon_sets)
    backend: Fact[str]
    if stated.cni_backend:
        backend = known(stated.cni_backend, STATED)
    elif network.get("Type"):
        backend = known(str(network["Type"]), flannel_origin)
    elif plugin.value == "azure-cni":
        backend = _azure_backend(nodes)
    elif plugin.value == hybrid_overlay.PLUGIN:
        backend = hybrid_overlay.backend_of(config_maps or {})
    elif plugin.value in plugin_settings.CONFIG_MAPS:
        backend = plugin_settings.backend_of(plugin.value, config_maps or {}, daemon_sets)
    else:
        of_flannel = plugin.value in {None, "flannel"}
        where = flannel_origin if of_flannel else f"no object of {plugin.value}"
        backend = unknown(f"{where} {'does not name' if of_flannel else 'names'} a backend")
    return CniFacts(
        plugin=plugin,
        backend=backend,
        vni=_network_id(plugin.value, network, flannel_origin, daemon_sets, config_maps or {}),
        vxlan_port=hybrid_overlay.port_of(config_maps or {})
        if plugin.value == hybrid_overlay.PLUGIN
        else _number(network, "Port", flannel_origin),
        mtu=_stated(stated.cni_mtu, "facts.cni.mtu"),
        nat_exceptions=_stated(stated.cni_nat_exceptions, "facts.cni.natExceptions"),
        loopback_dsr=known(stated.cni_loopback_dsr, STATED)
        if stated.cni_loopback_dsr is not None
        else plugin_settings.loopback_dsr_of(plugin.value, config_maps or {}),
    )


def _azure_backend(nodes: Sequence[Object]) -> Fact[str]:
    """Return the kind of Pod network that AKS writes on its nodes; nodes of other installations have no such label."""
    for node in nodes:
        kind = (node["metadata"].get("labels") or {}).get(AZURE_NETWORK)
        if kind:
            return known(str(kind), f"label {AZURE_NETWORK} of node {node['metadata']['name']}")
    return unknown(f"no node has the label {AZURE_NETWORK}")


def _network_id(
    plugin: str | None,
    flannel: Object,
    flannel_origin: str,
    daemon_sets: Sequence[Object],
    config_maps: Mapping[str, Object],
) -> Fact[int]:
    """Return the network id of the plugin's VXLAN."""
    if plugin == "calico":
        return plugin_settings.network_id_of(plugin, daemon_sets)
    if plugin == hybrid_overlay.PLUGIN:
        return hybrid_overlay.network_id_of(config_maps)
    return _number(flannel, "VNI", flannel_origin)


def _stated(value: T | None, key: str) -> Fact[T]:
    """Return the settings in files of the nodes, which the API does not show."""
    if value is None:
        return unknown(f"the API does not tell it; state {key} in the cluster profile")
    return known(value, STATED)


def driver_of(
    os: OS, annotations: Mapping[str, str], cni: CniFacts, stated: StatedFacts
) -> Fact[str]:
    """Return the driver (type of HNS network) of a node."""
    if os is not OS.WINDOWS:
        return unknown("a driver is a matter of Windows nodes")
    if stated.cni_driver:
        return known(stated.cni_driver, STATED)
    annotated = annotations.get(BACKEND_ANNOTATION)
    backend, origin = (
        (annotated, f"node annotation {BACKEND_ANNOTATION}")
        if annotated
        else (cni.backend.value, cni.backend.origin)
    )
    driver = network_drivers.by_backend(cni.plugin, Fact(backend, origin))
    if driver is not None:
        return driver
    if HYBRID_OVERLAY in annotations:
        return known("overlay", f"node annotation {HYBRID_OVERLAY}")
    return network_drivers.by_plugin(cni.plugin)


def plugin_of(daemon_sets: Sequence[Object]) -> Fact[str]:
    """Return the plugin that DaemonSets name; unknown when none or several do."""
    plugins: dict[str, str] = {}
    for item in daemon_sets:
        name = item["metadata"]["name"]
        if name.startswith(OTHERS):
            continue
        for beginning, plugin in DAEMON_SETS.items():
            if name.startswith(beginning):
                plugins.setdefault(plugin, f"DaemonSet {item['metadata']['namespace']}/{name}")
    if len(plugins) == 1:
        ((plugin, origin),) = plugins.items()
        return known(plugin, origin)
    if plugins.keys() == POWERED_BY_CILIUM:
        both = " and ".join(sorted(plugins.values()))
        return known("cilium", f"{both}: Azure CNI powered by Cilium")
    if plugins:
        return unknown(f"several network plugins run: {', '.join(sorted(plugins.values()))}")
    return unknown("no DaemonSet of a known network plugin was found")


def _number(network: Object, key: str, origin: str) -> Fact[int]:
    value = network.get(key)
    if not value:
        return unknown(f"{origin} does not say {key}")
    try:
        return known(int(value), origin)
    except (TypeError, ValueError, OverflowError):
        return unknown(f"{origin} says {key} {str(value)[:40]!r}, which is no number")
