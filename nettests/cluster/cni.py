"""Read the network plugin: which one, its backend, overlay settings, and each node's driver.

Pure. The plugin is known by its DaemonSets; its backend by its ConfigMap, and the driver by backend,
node annotation, or the plugin itself where it makes one type of network only. What none of them says is
unknown unless the cluster profile states it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from nettests.cluster import plugin_settings
from nettests.model import network_drivers
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import CniFacts, Fact, known, unknown
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
"""Beginnings of DaemonSet names, and the plugin that they belong to."""

BACKEND_ANNOTATION = "flannel.alpha.coreos.com/backend-type"
HYBRID_OVERLAY = "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac"
"""OVN-Kubernetes writes it on Windows nodes, which run an overlay network (hybrid overlay)."""
STATED = "cluster profile"


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
) -> CniFacts:
    """Return the plugin's facts; what the profile states overrides what was read.

    ``config_maps`` are other plugins', by namespace and name.
    """
    named = flannel_network(flannel).get("Backend")
    network = named if isinstance(named, dict) else {}
    plugin = known(stated.cni_plugin, STATED) if stated.cni_plugin else plugin_of(daemon_sets)
    backend: Fact[str]
    if stated.cni_backend:
        backend = known(stated.cni_backend, STATED)
    elif network.get("Type"):
        backend = known(str(network["Type"]), flannel_origin)
    elif plugin.value in plugin_settings.CONFIG_MAPS:
        backend = plugin_settings.backend_of(plugin.value, config_maps or {}, daemon_sets)
    else:
        backend = unknown(f"{flannel_origin} does not name a backend")
    return CniFacts(
        plugin=plugin,
        backend=backend,
        vni=_number(network, "VNI", flannel_origin)
        if plugin.value != "calico"
        else plugin_settings.network_id_of(plugin.value, daemon_sets),
        vxlan_port=_number(network, "Port", flannel_origin),
        mtu=_stated(stated.cni_mtu, "facts.cni.mtu"),
        nat_exceptions=_stated(stated.cni_nat_exceptions, "facts.cni.natExceptions"),
        loopback_dsr=known(stated.cni_loopback_dsr, STATED)
        if stated.cni_loopback_dsr is not None
        else plugin_settings.loopback_dsr_of(plugin.value, config_maps or {}),
    )


def _stated(value: T | None, key: str) -> Fact[T]:
    """Return what stands in files of the nodes, which the API does not show."""
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
    told = network_drivers.by_backend(cni.plugin, Fact(backend, origin))
    if told is not None:
        return told
    if HYBRID_OVERLAY in annotations:
        return known("overlay", f"node annotation {HYBRID_OVERLAY}")
    return network_drivers.by_plugin(cni.plugin)


def plugin_of(daemon_sets: Sequence[Object]) -> Fact[str]:
    """Return the plugin that DaemonSets name; unknown when none or several do."""
    found: dict[str, str] = {}
    for item in daemon_sets:
        name = item["metadata"]["name"]
        for beginning, plugin in DAEMON_SETS.items():
            if name.startswith(beginning):
                found.setdefault(plugin, f"DaemonSet {item['metadata']['namespace']}/{name}")
    if len(found) == 1:
        ((plugin, origin),) = found.items()
        return known(plugin, origin)
    if found:
        return unknown(f"several network plugins run: {', '.join(sorted(found.values()))}")
    return unknown("no DaemonSet of a known network plugin was found")


def _number(network: Object, key: str, origin: str) -> Fact[int]:
    value = network.get(key)
    if not value:
        return unknown(f"{origin} does not say {key}")
    try:
        return known(int(value), origin)
    except (TypeError, ValueError, OverflowError):
        return unknown(f"{origin} says {key} {str(value)[:40]!r}, which is no number")
