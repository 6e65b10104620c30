"""Which mechanisms a Windows node's switch has: thresholds of build, patch level and kube-proxy version.

Pure. A threshold switches a mechanism of the data plane on; what a probe then observes follows from
the packets. Mechanisms that the user switched by hand (``mechanisms``) override the thresholds. Sources:
hcsshim ``hcn/hcnglobals.go`` (HNS versions), kube-proxy ``pkg/proxy/winkernel``, KEP-5100, Microsoft's
"Common problems" page for KB4571748 and KB5011551.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from nettests.lab.data_files import read_yaml
from nettests.lab.topology import Driver, NodeSpec, Plugin, Profile, ProxyMode

Releases = tuple[tuple[int, ...], ...]
"""The first release with a change, for each minor version; the last applies to all later minors."""

_ROWS = read_yaml(__package__, "thresholds.yaml")
WINDOWS: Mapping[str, tuple[int, ...]] = {
    name: tuple(row) for name, row in _ROWS["windows"].items()
}
PROXY: Mapping[str, tuple[int, ...]] = {
    name: tuple(row) for name, row in _ROWS["kube-proxy"].items()
}
PICKED: Mapping[str, Releases] = {
    name: tuple(map(tuple, rows)) for name, rows in _ROWS["picked"].items()
}
DUAL_STACK_PLUGINS = frozenset({Plugin.SDNBRIDGE})
"""Plugins that give Windows pods both families; win-bridge, which Flannel calls, supports only IPv4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchFeatures:
    """What the virtual switch and kube-proxy of one Windows node can do."""

    overlay: bool
    """Pods' packets to other nodes' pods are encapsulated in the switch."""
    tunnel: bool
    """Pods' packets go to the fabric first, even those to pods of the same node (L2tunnel)."""
    dsr: bool
    source_vip: bool
    """Load balancers rewrite sources to an address in the node's pod CIDR, not to the node's own."""
    loopback_dsr: bool
    session_affinity: bool
    affinity_timeout: bool
    """Clients are remembered for the time-out of their Service's affinity, instead of by a hash."""
    ingress_dsr: bool
    """Load balancer addresses use DSR like the ClusterIP."""
    external_traffic_local: bool
    internal_traffic_local: bool
    host_rules: bool
    """ClusterIP rules are on the host's port too (``LB_HOST_*`` in VFP's ``LB`` layer)."""
    local_routed_vip: bool
    """The node reaches its own NodePorts."""
    empty_node_ports: bool
    """NodePorts are forwarded even if the node's network has no endpoint."""
    port_mappings: bool
    """The network plugin maps host ports to pods."""
    port_mappings_ipv6: bool
    """Host ports are mapped on the node's IPv6 address too, if pods have IPv6 addresses."""
    local_port_mappings: bool
    """The node reaches its own host ports."""
    backend_limit: int
    one_internal_port: bool
    """All backends of a load balancer are dialled at one port."""
    last_internal_port: bool
    """That port is the last backend's, not the first one's."""
    host_network_backends: bool
    """Backends with the node's own address are load-balanced on it too."""
    flow_ageing: bool
    """Idle TCP flows from pod to pod are forgotten."""
    refuse_unserved: bool
    """Packets to a Service that no load balancer translated are refused instead of dropped."""
    refuse_empty: bool
    """Packets to Services without backends are refused."""
    load_balancer_addresses: bool
    """Load balancer addresses have policies."""
    external_ips: bool
    source_ranges: bool
    """``loadBalancerSourceRanges`` are enforced."""
    preserve_destination: bool
    """The annotation ``preserve-destination`` is followed."""
    preserved_sources: bool
    """Packets whose destination is kept keep their source too."""
    terminating_fallback: bool
    """Terminating endpoints serve Services with a load balancer's address if no others are left."""
    skips_unserving: bool
    """Endpoints that do not serve are left out, even if they are published as ready."""
    keeps_balancers: bool
    """A change of endpoints deletes a load balancer only if the new one differs."""
    modifies: bool
    """A change of endpoints modifies a load balancer in place."""
    terminating_everywhere: bool
    """Terminating endpoints serve all Services, as on Linux."""
    own_node_route: bool
    """Pods' packets to their own node are handed to the host, not to the wire."""
    outbound_nat: bool
    outbound_icmp: bool
    host_encapsulates: bool
    """On overlay the host's own packets to remote pods are encapsulated, from the source VIP."""
    stealth: bool
    user_mode: bool
    """kube-proxy listens on Service addresses itself; the switch only hands them to the host."""
    dual_stack: bool
    """Pods have addresses, and Services load balancers, of both families."""
    required_families: bool
    """Load balancers of the second family include Pods of this node."""
    topology_hints: bool
    """kube-proxy uses only the backends that are hinted for its zone."""
    family_in_key: bool
    """kube-proxy does not mistake a NodePort's load balancer of one family for that of the other."""


_USUAL = (
    *("port_mappings_ipv6", "load_balancer_addresses", "external_ips"),
    *("preserved_sources", "own_node_route", "outbound_nat"),
)
"""Features of every switch, unless the user switched them off."""
_OF_OPEN_VSWITCH = (
    *("affinity_timeout", "empty_node_ports", "host_network_backends", "source_ranges"),
    *("terminating_everywhere", "outbound_icmp", "host_encapsulates", "topology_hints"),
)


def switch_features(node: NodeSpec, profile: Profile) -> SwitchFeatures:
    """Return the mechanisms that ``node``'s build and the profile's settings switch on."""
    release, proxy, plugin = node.windows_release, profile.kube_proxy, profile.cni.plugin
    minor, portals = _version(profile)[:2], proxy.mode is ProxyMode.USERSPACE
    switched = profile.cni.driver is Driver.TRANSPARENT
    overlay = switched or profile.cni.driver is Driver.OVERLAY
    since = partial(_has, profile=profile)
    external = release >= WINDOWS["dsr"] and minor >= PROXY["external-traffic-local"]
    both = release >= WINDOWS["dual-stack"] and minor >= PROXY["dual-stack"]
    usual = {
        **dict.fromkeys(_USUAL, True),
        **dict.fromkeys(_OF_OPEN_VSWITCH, switched),
        "dsr": switched or proxy.dsr,
        "loopback_dsr": switched or profile.cni.loopback_dsr,
        "session_affinity": switched or release >= WINDOWS["session-affinity"],
        "external_traffic_local": switched or external,
        "internal_traffic_local": switched or since("internal-traffic-local"),
        "host_rules": switched or (proxy.dsr and release >= WINDOWS["host-rules"]),
        "port_mappings": plugin is not Plugin.ANTREA,
        "local_port_mappings": plugin is Plugin.AZURE and release >= WINDOWS["local-port-mappings"],
        "one_internal_port": not switched,
        "flow_ageing": not switched,
        "refuse_unserved": False,
        "preserve_destination": not switched and release >= WINDOWS["preserve-destination"],
        "terminating_fallback": switched or since("fallback"),
        "stealth": profile.options.windows_firewall,
        "dual_stack": both and plugin in DUAL_STACK_PLUGINS,
        "required_families": since("required-families"),
        "family_in_key": since("family-in-key"),
    }

    def has(name: str, usual: int) -> bool:
        return bool(profile.mechanism(name.replace("_", "-"), usual))

    limit = 1024 if switched or release >= WINDOWS["many-backends"] else 64
    keeps = not switched and minor >= PROXY["keeps-balancers"]
    return SwitchFeatures(
        **{name: has(name, value) for name, value in usual.items()},
        overlay=overlay,
        tunnel=profile.cni.driver is Driver.L2TUNNEL,
        source_vip=has("bridge-source-vip", overlay),
        ingress_dsr=not switched and proxy.dsr and minor < PROXY["ingress-without-dsr"],
        local_routed_vip=has("local-routed-vip", switched or release >= WINDOWS["host-rules"])
        and not portals,
        backend_limit=profile.mechanism("backend-limit", limit),
        last_internal_port=minor >= PROXY["last-internal-port"],
        refuse_empty=switched,
        skips_unserving=not switched and not has("unserving-backends", not since("fallback")),
        keeps_balancers=keeps,
        modifies=keeps and release >= WINDOWS["modifies"],
        user_mode=portals,
    )


def terminating_endpoints(profile: Profile) -> bool:
    """Whether kube-proxy on Linux nodes uses terminating endpoints if no others are left."""
    return _version(profile)[:2] >= PROXY["linux-fallback"]


def _version(profile: Profile) -> tuple[int, ...]:
    # v1.24.17-eks-1
    release = profile.kubernetes_version.removeprefix("v").partition("-")[0]
    return tuple(map(int, release.split(".")))


def _has(change: str, profile: Profile) -> bool:
    """Whether kube-proxy has a change that was cherry-picked to patch releases of several minors."""
    releases, version = PICKED[change], _version(profile)
    same_minor = any(release[:2] == version[:2] and version >= release for release in releases)
    return same_minor or version >= releases[-1]
