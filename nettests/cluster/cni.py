"""Read the network plugin: which one, its backend, overlay settings, and each node's driver.

Pure. The plugin is known by its DaemonSets; Flannel's settings by its own ConfigMap and node
annotations. Another plugin's driver is unknown unless the cluster profile states it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nettests.model.facts import CniFacts, Fact, known, unknown
from nettests.model.profile import StatedFacts
from nettests.model.words import OS

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
FLANNEL_DRIVERS = {"host-gw": "l2bridge", "vxlan": "overlay"}
"""Flannel's backends on Windows and the HNS network that they make (flannel, pkg/backend)."""
STATED = "cluster profile"


def flannel_network(config_map: Object | None) -> Object:
    """Return Flannel's ``net-conf.json``; empty if there is none or it is no JSON object."""
    text = ((config_map or {}).get("data") or {}).get("net-conf.json", "")
    try:
        loaded = json.loads(text)
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def facts_of(
    daemon_sets: Sequence[Object], flannel: Object | None, flannel_origin: str, stated: StatedFacts
) -> CniFacts:
    """Return the plugin's facts; what the profile states overrides what was read."""
    network = flannel_network(flannel).get("Backend") or {}
    plugin = known(stated.cni_plugin, STATED) if stated.cni_plugin else _plugin(daemon_sets)
    backend: Fact[str]
    if stated.cni_backend:
        backend = known(stated.cni_backend, STATED)
    elif network.get("Type"):
        backend = known(str(network["Type"]), flannel_origin)
    else:
        backend = unknown(f"{flannel_origin} does not name a backend")
    return CniFacts(
        plugin=plugin,
        backend=backend,
        vni=_number(network, "VNI", flannel_origin),
        vxlan_port=_number(network, "Port", flannel_origin),
    )


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
    if backend in FLANNEL_DRIVERS:
        return known(FLANNEL_DRIVERS[backend], f"{origin}: {backend}")
    return unknown(
        f"the HNS network type of {cni.plugin.value or 'an unknown plugin'} cannot be read "
        "from the API; state facts.cni.driver in the cluster profile"
    )


def _plugin(daemon_sets: Sequence[Object]) -> Fact[str]:
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
    return known(int(value), origin) if value else unknown(f"{origin} does not say {key}")
