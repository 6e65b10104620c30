"""Read settings of plugins other than Flannel: backend, and whether they replace kube-proxy.

Pure. The recognised plugin decides which objects ``snapshot`` fetches. What they do not say is
unknown with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.cluster import hybrid_overlay, policies
from nettests.cluster.plugins import CALICO_BACKEND, PluginObjects, origin_of
from nettests.cluster.shapes import data_of
from nettests.errors import ManifestError
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import Object, read_json
from nettests.model.permission import OF_CALICO
from nettests.model.words import OS
from nettests.model.yaml_text import plain_yaml

CONFIG_MAPS = {
    policies.AMAZON: (policies.AMAZON_SETTINGS,),
    "antrea": ("kube-system/antrea-windows-config", "kube-system/antrea-config"),
    "calico": ("kube-system/calico-windows-config", "calico-system/calico-windows-config"),
    hybrid_overlay.PLUGIN: hybrid_overlay.CONFIG_MAPS,
}
"""ConfigMaps by plugin that need not be referred to by a DaemonSet, Windows nodes' first."""
PERMISSIONS = {"calico": OF_CALICO}
"""The permissions for rules about a plugin's own objects."""
FLANNEL_ON_WINDOWS = (
    "kube-flannel/kube-flannel-windows-cfg",
    "kube-system/kube-flannel-windows-cfg",
)
"""The ConfigMaps of Flannel's plugin on Windows nodes in sig-windows-tools' manifests."""
LOOPBACK_DSR = "loopbackDSR"

MAY_REPLACE = "antrea"
"""The plugin that may serve Services on Windows nodes instead of kube-proxy."""
ANTREA_KEY = "antrea-agent.conf"
ANTREA_TUNNEL = "geneve"
ANTREA_ENCAPSULATED = {"encap", "hybrid", ""}

CALICO_NETWORK_IDS = ("VXLAN_VNI", "FELIX_VXLANVNI")
_BGP, BGP_ON_WINDOWS = "bird", "windows-bgp"
"""Calico's BGP backends on Linux and on Windows."""
_NEVER = "Never"


def calico_backend(objects: PluginObjects) -> Fact[str]:
    """Return Calico's backend on Windows nodes: ``vxlan``, ``windows-bgp``, ``none`` …

    It is in Calico's DaemonSet or ConfigMap for Windows; with its operator, and on RKE2, which runs
    it without a Pod, it follows the Linux nodes (rancher/rke2, pkg/windows/calico.go).
    """
    linux: Fact[str] | None = None
    for item in objects.of_plugin("calico"):
        backend = objects.variables(item).get(CALICO_BACKEND)
        if backend:
            read = known(backend, f"{origin_of(item)}: {CALICO_BACKEND}")
            if "windows" in item["metadata"]["name"]:
                return read
            linux = linux or read
    for name, item in objects.config_maps.items():
        # sample of calico-windows-vxlan.yaml: CALICO_NETWORKING_BACKEND: "vxlan"
        if backend := data_of(item).get(CALICO_BACKEND, "").strip():
            return known(backend, f"ConfigMap {name}")
    return _calico_by_linux(linux, objects.ip_pools)


def _calico_by_linux(linux: Fact[str] | None, pools: Sequence[Object]) -> Fact[str]:
    """Return the backend by that of Linux nodes, and with BGP by pools: Windows has no IP-in-IP."""
    modes = {
        mode
        for pool in pools
        for key in ("vxlanMode", "ipipMode")
        if (mode := (pool.get("spec") or {}).get(key) or _NEVER)
        if not (pool.get("spec") or {}).get("disabled")
    }
    if linux is None:
        return unknown(
            f"neither a DaemonSet nor a ConfigMap of calico that was read says {CALICO_BACKEND}"
        )
    if linux.value != _BGP:
        return linux
    if modes == {_NEVER}:
        return known(BGP_ON_WINDOWS, f"{linux.origin}={_BGP}, and no IP pool encapsulates")
    return unknown(f"{linux.origin}={_BGP} does not say what Windows nodes use")


def calico_network_id(objects: PluginObjects) -> Fact[int]:
    """Return the network id of Calico's VXLAN in its DaemonSets."""
    for item in objects.of_plugin("calico"):
        variables = objects.variables(item)
        for name in CALICO_NETWORK_IDS:
            if (text := variables.get(name, "")).isdecimal():
                return known(int(text), f"{origin_of(item)}: {name}")
    return unknown(f"no DaemonSet of calico says {' or '.join(CALICO_NETWORK_IDS)}")


def antrea_backend(config_maps: Mapping[str, Object]) -> Fact[str]:
    """Return Antrea's encapsulation: ``geneve``, ``vxlan`` …, or a mode without one."""
    for name, agent in _antrea_agents(config_maps):
        # sample: trafficEncapMode: encap
        mode = str(agent.get("trafficEncapMode") or "").lower()
        tunnel = str(agent.get("tunnelType") or ANTREA_TUNNEL)
        return known(tunnel if mode in ANTREA_ENCAPSULATED else mode, f"ConfigMap {name}")
    return unknown(f"no ConfigMap of antrea that was read has {ANTREA_KEY}")


def _antrea_agents(config_maps: Mapping[str, Object]) -> Iterator[tuple[str, Object]]:
    """Yield the configurations of Antrea's agents, Windows' first; names may have hashes."""
    windows_first = sorted(config_maps.items(), key=lambda item: "windows" not in item[0])
    for name, item in windows_first:
        text = data_of(item).get(ANTREA_KEY)
        if text is None:
            continue
        try:
            loaded = plain_yaml(text)
        except ManifestError:
            continue
        if loaded is None or isinstance(loaded, dict):
            yield name, loaded or {}


def loopback_dsr_of(plugin: str | None, config_maps: Mapping[str, Object]) -> Fact[bool]:
    """Return whether Flannel passes ``loopbackDSR`` to the plugin that it calls (default: off).

    Other plugins configure it on their nodes.
    """
    if plugin != "flannel":
        return unknown(
            f"no object tells the option of {plugin or 'an unknown plugin'}; "
            "state facts.cni.loopbackDSR in the cluster profile"
        )
    for name in FLANNEL_ON_WINDOWS:
        data = data_of(config_maps.get(name))
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
    """Return the configuration that Flannel's plugin passes on; empty if the text is invalid."""
    # sample: {"type": "flannel", "delegate": {"type": "sdnbridge", "optionalFlags": {"loopbackDSR": true}}}
    try:
        loaded = read_json(str(text))
    except ValueError:
        return {}
    delegate = loaded.get("delegate") if isinstance(loaded, dict) else None
    return delegate if isinstance(delegate, dict) else {}


def _has_option(delegate: Object) -> bool:
    """Whether it is set: in ``optionalFlags`` for Microsoft's plugins, at the top for others."""
    flags = delegate.get("optionalFlags")
    settings = flags if isinstance(flags, dict) else {}
    return delegate.get(LOOPBACK_DSR) is True or settings.get(LOOPBACK_DSR) is True


def serves_services(plugin: Fact[str], os: OS, config_maps: Mapping[str, Object]) -> str:
    """Return why the plugin replaces kube-proxy for all Services on nodes of an OS, or nothing.

    Antrea with ``proxyAll``, without which it serves only Pods; OVN-Kubernetes on its Linux nodes.
    """
    if plugin.value == hybrid_overlay.PLUGIN and os is OS.LINUX:
        return f"{plugin.origin}: OVN serves Services"
    if plugin.value != MAY_REPLACE or os is not OS.WINDOWS:
        return ""
    for name, agent in _antrea_agents(config_maps):
        proxy = agent.get("antreaProxy")
        if isinstance(proxy, dict) and proxy.get("enable", True) and proxy.get("proxyAll"):
            return f"ConfigMap {name}: antreaProxy.proxyAll"
    return ""
