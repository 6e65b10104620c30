"""Read the network plugin: its backend and overlay settings, and each node's driver.

Pure. ``plugins`` recognises the plugin; the backend is in its ConfigMap or its DaemonSet's
variables; the driver follows from the backend, a node annotation, the managed service, or a plugin
with only one type of network. Everything else is unknown unless the cluster profile states it.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from nettests.cluster import hybrid_overlay, plugin_settings
from nettests.cluster.plugins import FLANNEL_BACKEND, NOT_READ, PluginObjects, plugin_of
from nettests.cluster.shapes import data_of
from nettests.model import network_drivers
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import STATED, CniFacts, Fact, known, unknown
from nettests.model.json_text import Object, read_json
from nettests.model.words import OS

T = TypeVar("T")

AZURE_NETWORK = "kubernetes.azure.com/podnetwork-type"
"""A label of AKS nodes with their kind of Pod network: ``overlay``, ``vnet`` …"""
FLANNEL_DATA = "flannel.alpha.coreos.com/backend-data"
FLANNEL_KEY = "net-conf.json"
HYBRID_OVERLAY = "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac"
"""An annotation of Windows nodes by OVN-Kubernetes, whose network is an overlay there."""
CALICO_TUNNEL = "projectcalico.org/IPv4VXLANTunnelAddr"
"""An annotation by Calico on nodes that have a VXLAN device."""


def flannel_network(config_map: Object | None) -> Object:
    """Return Flannel's ``net-conf.json``, empty if it is missing or no JSON object."""
    try:
        loaded = read_json(data_of(config_map).get(FLANNEL_KEY, ""))
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def flannel_config_map(config_maps: Mapping[str, Object]) -> tuple[str, Object]:
    """Return the name and object of the first ConfigMap with Flannel's file."""
    having = ((name, item) for name, item in config_maps.items() if FLANNEL_KEY in data_of(item))
    return next(having, ("kube-flannel/kube-flannel-cfg", {}))


def facts_of(objects: PluginObjects, stated: StatedFacts) -> CniFacts:
    """Return the plugin's facts; facts stated in the cluster profile override them."""
    plugin = known(stated.cni_plugin, STATED) if stated.cni_plugin else plugin_of(objects)
    backend = known(stated.cni_backend, STATED) if stated.cni_backend else _backend(plugin, objects)
    network_id, port = _vxlan(plugin.value, objects)
    return CniFacts(
        plugin=plugin,
        backend=backend,
        vni=network_id,
        vxlan_port=port,
        mtu=_stated(stated.cni_mtu, "facts.cni.mtu"),
        nat_exceptions=_stated(stated.cni_nat_exceptions, "facts.cni.natExceptions"),
        nat_outgoing=_nat_outgoing(plugin.value, objects.ip_pools),
        loopback_dsr=known(stated.cni_loopback_dsr, STATED)
        if stated.cni_loopback_dsr is not None
        else plugin_settings.loopback_dsr_of(plugin.value, objects.config_maps),
    )


def _backend(plugin: Fact[str], objects: PluginObjects) -> Fact[str]:
    match plugin.value:
        case None | "flannel":
            return _flannel_backend(objects)
        case "azure-cni":
            return _azure_backend(objects.nodes)
        case hybrid_overlay.PLUGIN:
            return hybrid_overlay.backend_of(objects)
        case "calico":
            return plugin_settings.calico_backend(objects)
        case "antrea":
            return plugin_settings.antrea_backend(objects.config_maps)
        case other:
            return unknown(f"no object of {other} that is read names a backend")


def _flannel_backend(objects: PluginObjects) -> Fact[str]:
    """Return Flannel's backend from its ConfigMap, or from annotations if all nodes agree."""
    name, config_map = flannel_config_map(objects.config_maps)
    kind = _backend_of(config_map).get("Type")
    if isinstance(kind, str) and kind:
        return known(kind, f"ConfigMap {name}")
    annotated = {
        backend: str(node["metadata"]["name"])
        for node in objects.nodes
        if (backend := (node["metadata"].get("annotations") or {}).get(FLANNEL_BACKEND))
    }
    if len(annotated) == 1:
        ((backend, node_name),) = annotated.items()
        return known(backend, f"annotation {FLANNEL_BACKEND} of {node_name}")
    return unknown(f"ConfigMap {name} does not name a backend, and nodes' annotations do not agree")


def _backend_of(config_map: Object) -> Object:
    named = flannel_network(config_map).get("Backend")
    return named if isinstance(named, dict) else {}


def _azure_backend(nodes: Sequence[Object]) -> Fact[str]:
    """Return the kind of Pod network in AKS's node label; other installations have none."""
    for node in nodes:
        kind = (node["metadata"].get("labels") or {}).get(AZURE_NETWORK)
        if kind:
            return known(str(kind), f"label {AZURE_NETWORK} of node {node['metadata']['name']}")
    return unknown(f"no node has the label {AZURE_NETWORK}")


def _vxlan(plugin: str | None, objects: PluginObjects) -> tuple[Fact[int], Fact[int]]:
    if plugin == hybrid_overlay.PLUGIN:
        return hybrid_overlay.network_id_of(objects), hybrid_overlay.port_of(objects)
    name, config_map = flannel_config_map(objects.config_maps)
    origin, network = f"ConfigMap {name}", _backend_of(config_map)
    port = _number(network, "Port", origin)
    if plugin == "calico":
        return plugin_settings.calico_network_id(objects), port
    network_id = _number(network, "VNI", origin)
    return (network_id if network_id.known else _annotated_id(objects, network_id)), port


def _annotated_id(objects: PluginObjects, before: Fact[int]) -> Fact[int]:
    """Return the network id that flanneld writes on its nodes since release 0.14."""
    # sample: flannel.alpha.coreos.com/backend-data: {"VNI":4096,"VtepMAC":"00:15:5d:a1:d1:75"}
    for node in objects.nodes:
        try:
            data = read_json((node["metadata"].get("annotations") or {}).get(FLANNEL_DATA, ""))
        except ValueError:
            continue
        network_id = data.get("VNI") if isinstance(data, dict) else None
        if isinstance(network_id, int):
            return known(network_id, f"annotation {FLANNEL_DATA} of {node['metadata']['name']}")
    return before


def _nat_outgoing(plugin: str | None, pools: Sequence[Object]) -> Fact[bool]:
    """Return whether Calico's enabled pools use the node's address outside, if they agree."""
    wanted = {
        bool(spec.get("natOutgoing"))
        for pool in pools
        if not (spec := pool.get("spec") or {}).get("disabled")
    }
    if plugin != "calico" or len(wanted) != 1:
        return unknown("no IP pools of Calico that agree in natOutgoing were read")
    return known(wanted.pop(), "natOutgoing of Calico's IP pools")


def _stated(value: T | None, key: str) -> Fact[T]:
    """Return a setting in files of the nodes, which the API does not show."""
    if value is None:
        return unknown(f"the API does not tell it; state {key} in the cluster profile")
    return known(value, STATED)


def driver_of(
    os: OS,
    annotations: Mapping[str, str],
    cni: CniFacts,
    stated: StatedFacts,
    platform: Fact[str] = NOT_READ,
) -> Fact[str]:
    """Return the driver (the type of HNS network) of a node."""
    if os is not OS.WINDOWS:
        return unknown("a driver is a matter of Windows nodes")
    if stated.cni_driver:
        return known(stated.cni_driver, STATED)
    annotated = annotations.get(FLANNEL_BACKEND)
    backend = (
        Fact(annotated, f"node annotation {FLANNEL_BACKEND}")
        if annotated and cni.plugin.value in {None, "flannel"}
        else cni.backend
    )
    driver = network_drivers.by_backend(cni.plugin, backend)
    if driver is not None:
        return driver
    if HYBRID_OVERLAY in annotations:
        return known("overlay", f"node annotation {HYBRID_OVERLAY}")
    if cni.plugin.value == "calico" and CALICO_TUNNEL in annotations:
        return known("overlay", f"node annotation {CALICO_TUNNEL}")
    return network_drivers.by_plugin(cni.plugin, platform)


def _number(network: Object, key: str, origin: str) -> Fact[int]:
    value = network.get(key)
    if not value:
        return unknown(f"{origin} does not say {key}")
    try:
        return known(int(value), origin)
    except (TypeError, ValueError, OverflowError):
        return unknown(f"{origin} says {key} {str(value)[:40]!r}, which is not a number")
