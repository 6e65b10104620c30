"""Read settings of network plugins other than Flannel: backend, and whether they replace kube-proxy.

Pure. Which objects are of use depends on the plugin that its DaemonSets name; ``discover`` fetches only
those. What they do not say is unknown with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nettests.cluster import hybrid_overlay
from nettests.errors import ManifestError
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import read_json
from nettests.model.permission import LIST_IP_POOLS
from nettests.model.yaml_text import plain_yaml

Object = dict[str, Any]

CONFIG_MAPS = {
    "antrea": ("kube-system/antrea-windows-config", "kube-system/antrea-config"),
    "calico": ("kube-system/calico-windows-config", "calico-system/calico-windows-config"),
    hybrid_overlay.PLUGIN: hybrid_overlay.CONFIG_MAPS,
}
"""ConfigMaps by plugin, the one of Windows nodes first."""
PERMISSIONS = {"calico": (LIST_IP_POOLS,)}
"""The permissions that rules about a plugin's own objects need."""
FLANNEL_ON_WINDOWS = (
    "kube-flannel/kube-flannel-windows-cfg",
    "kube-system/kube-flannel-windows-cfg",
)
"""The ConfigMaps in which sig-windows-tools' manifests configure Flannel's plugin on Windows nodes."""
LOOPBACK_DSR = "loopbackDSR"

ANTREA_TUNNEL = "geneve"
ANTREA_ENCAPSULATED = {"encap", "hybrid", ""}


CALICO_DAEMON_SETS = "calico-node-windows"
"""Prefix of the names of Calico's DaemonSets on Windows; its operator writes settings only there."""
CALICO_BACKEND = "CALICO_NETWORKING_BACKEND"
CALICO_NETWORK_ID = "VXLAN_VNI"


def backend_of(
    plugin: str, config_maps: Mapping[str, Object], daemon_sets: Sequence[Object] = ()
) -> Fact[str]:
    """Return the backend of Calico or Antrea: ``vxlan``, ``geneve``, ``windows-bgp``, ``none`` …"""
    variable = _calico_variable(CALICO_BACKEND, daemon_sets) if plugin == "calico" else None
    if variable is not None and variable.value:
        return known(variable.value, variable.origin)
    for name in CONFIG_MAPS.get(plugin, ()):
        data = (config_maps.get(name) or {}).get("data") or {}
        backend = _antrea_backend(data) if plugin == "antrea" else _calico_backend(data)
        if backend:
            return known(backend, f"ConfigMap {name}")
    where = " or ".join(CONFIG_MAPS.get(plugin, ())) or "no object"
    return unknown(f"{where} of {plugin} names a backend")


def network_id_of(plugin: str, daemon_sets: Sequence[Object]) -> Fact[int]:
    """Return the network id of Calico's VXLAN, as its DaemonSet on Windows has it."""
    variable = _calico_variable(CALICO_NETWORK_ID, daemon_sets) if plugin == "calico" else None
    if variable is None or not (variable.value or "").isdecimal():
        return unknown(f"no DaemonSet of {plugin} says {CALICO_NETWORK_ID}")
    return known(int(variable.value or 0), variable.origin)


def loopback_dsr_of(plugin: str | None, config_maps: Mapping[str, Object]) -> Fact[bool]:
    """Return whether Flannel passes ``loopbackDSR`` to the plugin that it calls; that plugin's default is off.

    Other plugins configure it on their nodes.
    """
    if plugin != "flannel":
        return unknown(
            f"no object tells the option of {plugin or 'an unknown plugin'}; "
            "state facts.cni.loopbackDSR in the cluster profile"
        )
    for name in FLANNEL_ON_WINDOWS:
        data = (config_maps.get(name) or {}).get("data") or {}
        options = {_has_option(delegate) for text in data.values() if (delegate := _delegate(text))}
        if len(options) == 1:
            return known(options.pop(), f"ConfigMap {name}")
        if options:
            return unknown(f"the configurations in ConfigMap {name} differ in it")
    return unknown(
        f"there is no ConfigMap {' or '.join(FLANNEL_ON_WINDOWS)} with a configuration; "
        "state facts.cni.loopbackDSR in the cluster profile"
    )


def _delegate(text: object) -> Object:
    """Return the configuration that Flannel's plugin passes on; empty if the text is none."""
    # sample: {"type": "flannel", "delegate": {"type": "sdnbridge", "optionalFlags": {"loopbackDSR": true}}}
    try:
        loaded = read_json(str(text))
    except ValueError:
        return {}
    delegate = loaded.get("delegate") if isinstance(loaded, dict) else None
    return delegate if isinstance(delegate, dict) else {}


def _has_option(delegate: Object) -> bool:
    """Whether it is set: among ``optionalFlags`` of Microsoft's plugins, beside the type of others."""
    flags = delegate.get("optionalFlags")
    settings = flags if isinstance(flags, dict) else {}
    return delegate.get(LOOPBACK_DSR) is True or settings.get(LOOPBACK_DSR) is True


def _calico_variable(name: str, daemon_sets: Sequence[Object]) -> Fact[str] | None:
    for item in daemon_sets:
        metadata = item["metadata"]
        if not metadata["name"].startswith(CALICO_DAEMON_SETS):
            continue
        for variable, value in _environment(item):
            if variable == name and value:
                where = f"DaemonSet {metadata['namespace']}/{metadata['name']}"
                return known(value, f"{where}: {name}")
    return None


def _environment(daemon_set: Object) -> Iterator[tuple[str, str]]:
    # sample: {"name": "CALICO_NETWORKING_BACKEND", "value": "vxlan"}
    template = (daemon_set.get("spec") or {}).get("template") or {}
    for container in (template.get("spec") or {}).get("containers") or []:
        for entry in container.get("env") or []:
            yield str(entry.get("name")), str(entry.get("value") or "")


def serves_services(plugin: str | None, config_maps: Mapping[str, Object]) -> str:
    """Return the source that says that the plugin replaces kube-proxy for all Services, or nothing.

    Antrea's ``proxyAll``; without it only pods are served.
    """
    if plugin != "antrea":
        return ""
    for name in CONFIG_MAPS["antrea"]:
        proxy = _antrea_agent((config_maps.get(name) or {}).get("data") or {}).get("antreaProxy")
        if isinstance(proxy, dict) and proxy.get("enable", True) and proxy.get("proxyAll"):
            return f"ConfigMap {name}: antreaProxy.proxyAll"
    return ""


def _antrea_agent(data: Mapping[str, str]) -> Object:
    try:
        loaded = plain_yaml(data.get("antrea-agent.conf", ""))
    except ManifestError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _antrea_backend(data: Mapping[str, str]) -> str:
    if "antrea-agent.conf" not in data:
        return ""
    agent = _antrea_agent(data)
    # sample: trafficEncapMode: encap
    mode = str(agent.get("trafficEncapMode") or "").lower()
    if mode not in ANTREA_ENCAPSULATED:
        return mode
    return str(agent.get("tunnelType") or ANTREA_TUNNEL)


def _calico_backend(data: Mapping[str, str]) -> str:
    # sample of calico-windows-vxlan.yaml: CALICO_NETWORKING_BACKEND: "vxlan"
    return data.get("CALICO_NETWORKING_BACKEND", "").strip()
