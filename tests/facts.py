"""Facts of the lab profiles as discovery reads them, for tables of expectations: ``cluster_facts``.

Two Linux nodes and, but for ``linux``, two Windows nodes or one of each build (of ``fleet`` four); every fact that a condition may probe is known.
"""

from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import Any

from nettests.model.facts import (
    ClusterFacts,
    CniFacts,
    ExternalTarget,
    Fact,
    KubeProxyFacts,
    Network,
    NodeFacts,
    gate_by_default,
    known,
    unknown,
)
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS, Family

ORIGIN = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What distinguishes one profile from another."""

    kubernetes: str
    backend: str
    build: str | None = None
    """Of both Windows nodes."""
    builds: tuple[str, ...] = ()
    """Of one Windows node each or more, every build in a node pool of its own."""
    of_each: int = 1
    """How many nodes each of ``builds`` has."""
    linux: int = 2
    empty: bool = False
    """Whether a third Windows node is cordoned and holds no Pod of its network."""
    plugin: str = "flannel"
    driver: str = "l2bridge"
    mode: str = "kernelspace"
    dsr: bool = False
    source_vip: bool = False
    loopback_dsr: bool = False
    platform: str = "other"
    families: tuple[Family, ...] = (Family.IPV4,)
    exceptions: tuple[str, ...] = ()
    """OutBoundNAT's, where the plugin does not write the usual ones."""

    @property
    def tunnels(self) -> bool:
        """Whether Pods' packets are encapsulated between nodes."""
        return self.backend in {"vxlan", "geneve", "hybrid-overlay"}

    @property
    def vni(self) -> int | None:
        """The network id that objects tell."""
        return {"vxlan": 4096, "hybrid-overlay": 4097}.get(self.backend)


_OVERLAY_WITH_DSR = Shape(
    kubernetes="1.34.2",
    backend="vxlan",
    build="20348.3207",
    driver="overlay",
    dsr=True,
    source_vip=True,
    loopback_dsr=True,
)
_ANTREA = Shape(
    kubernetes="1.34.2",
    plugin="antrea",
    backend="vxlan",
    build="20348.3207",
    driver="transparent",
    mode="none",
)

PROFILES = {
    "linux": Shape(kubernetes="1.36.2", backend="host-gw"),
    "win2019-l2bridge": Shape(kubernetes="1.24.17", backend="host-gw", build="17763.1339"),
    "win2022-l2bridge-dsr": Shape(
        kubernetes="1.33.5", backend="host-gw", build="20348.3207", dsr=True, loopback_dsr=True
    ),
    "win2019-overlay": Shape(
        kubernetes="1.24.17", backend="vxlan", build="17763.1217", driver="overlay", source_vip=True
    ),
    "win2022-overlay-dsr": _OVERLAY_WITH_DSR,
    "win2022-overlay-services": _OVERLAY_WITH_DSR,
    "azure-l2tunnel": Shape(
        kubernetes="1.33.5",
        plugin="azure-cni",
        backend="vnet",
        build="20348.3207",
        driver="l2tunnel",
    ),
    "antrea-transparent": _ANTREA,
    "calico-overlay-dsr": replace(
        _OVERLAY_WITH_DSR,
        kubernetes="1.36.2",
        plugin="calico",
        build=None,
        builds=("20348.3207", "26100.4061"),
    ),
    "antrea-geneve": replace(_ANTREA, backend="geneve"),
    "azure-overlay-23h2": Shape(
        kubernetes="1.33.5",
        plugin="azure-cni",
        backend="overlay",
        build="25398.1486",
        dsr=True,
        loopback_dsr=True,
        platform="aks",
        exceptions=("10.244.0.0/16",),
    ),
    "calico-bgp-l2bridge": Shape(
        kubernetes="1.34.2",
        plugin="calico",
        backend="windows-bgp",
        build="20348.3207",
        dsr=True,
        loopback_dsr=True,
    ),
    "eks-vpc-bridge": Shape(
        kubernetes="1.33.5",
        plugin="aws-vpc-cni",
        backend="vpc",
        build="20348.3207",
        platform="eks",
    ),
    "hns-ipam-l2bridge": Shape(
        kubernetes="1.33.5", plugin="sdnbridge", backend="routes", build="20348.3207", empty=True
    ),
    "ovn-hybrid-overlay": Shape(
        kubernetes="1.33.5",
        plugin="ovn-kubernetes",
        backend="hybrid-overlay",
        build="20348.3207",
        driver="overlay",
        dsr=True,
        source_vip=True,
        exceptions=("10.96.0.0/16",),
    ),
    "userspace-l2bridge": Shape(
        kubernetes="1.25.16", backend="host-gw", build="20348.1607", mode="userspace"
    ),
    "win2022-l2bridge-dualstack": Shape(
        kubernetes="1.36.2",
        plugin="sdnbridge",
        backend="routes",
        build="20348.3207",
        families=(Family.IPV4, Family.IPV6),
    ),
    "mixed-builds": Shape(
        kubernetes="1.33.5",
        backend="host-gw",
        builds=("17763.1339", "20348.3207", "26100.4061"),
    ),
    "fleet": Shape(
        kubernetes="1.33.5",
        backend="host-gw",
        builds=("17763.1339", "20348.3207"),
        of_each=4,
        linux=4,
    ),
}


def cluster_facts(profile: str | Shape) -> ClusterFacts:
    """Return the facts of a profile by its name, or of a shape of one's own."""
    shape = PROFILES[profile] if isinstance(profile, str) else profile
    version = KubernetesVersion.parse(shape.kubernetes)
    nodes = [_linux(version, member) for member in range(1, shape.linux + 1)]
    if shape.build:
        nodes += [_windows(version, shape, shape.build, 1, member) for member in (1, 2)]
    if shape.build and shape.empty:
        third = _windows(version, shape, shape.build, 1, 3)
        nodes.append(replace(third, schedulable=False, empty=known(value=True, origin=ORIGIN)))
    nodes += [
        _windows(version, shape, build, pool, member)
        for pool, build in enumerate(shape.builds, 1)
        for member in range(1, shape.of_each + 1)
    ]
    return ClusterFacts(
        server_version=version,
        server_git_version=f"v{version}",
        context="test",
        nodes=tuple(replace(node, policies=_policies(shape, node.os)) for node in nodes),
        cni=CniFacts(
            plugin=known(shape.plugin, ORIGIN),
            backend=known(shape.backend, ORIGIN),
            vni=unknown("host-gw") if shape.vni is None else known(shape.vni, ORIGIN),
            vxlan_port=unknown("host-gw") if shape.vni is None else known(4789, ORIGIN),
            mtu=known(1450 if shape.tunnels else 1500, ORIGIN),
            nat_exceptions=_exceptions(shape),
            loopback_dsr=unknown("Antrea has no such option")
            if shape.driver == "transparent"
            else known(shape.loopback_dsr, ORIGIN),
        ),
        pod_cidrs=known((ip_network("10.244.0.0/16"),), ORIGIN),
        service_cidrs=known((ip_network("10.96.0.0/16"),), ORIGIN),
        families=shape.families,
        dns_address=known(ip_address("10.96.0.10"), ORIGIN),
        cluster_domain=known("cluster.local", ORIGIN),
        external_target=ExternalTarget(
            address=ip_address("198.51.100.10"),
            name="server.outside.test",
            tcp_port=80,
            udp_port=8081,
        ),
        external_vantage="proxy",
        dns_pods=known((ip_address("10.244.1.2"),), ORIGIN),
        kubernetes_address=known(ip_address("10.96.0.1"), ORIGIN),
        platform=known(shape.platform, ORIGIN),
    )


def _policies(shape: Shape, os: OS) -> Fact[bool]:
    """Return whether the plugin has an agent for NetworkPolicies on nodes of an OS."""
    agents = {"calico": (*OS,), "antrea": (*OS,), "ovn-kubernetes": (OS.LINUX,)}
    return known(os in agents.get(shape.plugin, ()), ORIGIN)


def _exceptions(shape: Shape) -> Fact[tuple[Network, ...]]:
    """Return OutBoundNAT's exceptions as plugins write them: no route leads back to overlays."""
    if shape.driver == "transparent":
        return unknown("Antrea has no OutBoundNAT")
    nodes = () if shape.tunnels else ("172.30.0.0/24",)
    texts = shape.exceptions or ("10.244.0.0/16", "10.96.0.0/16", *nodes)
    return known(tuple(ip_network(text) for text in texts), ORIGIN)


def with_windows(facts: ClusterFacts, **changes: Any) -> ClusterFacts:
    """Return the facts with fields of every Windows node replaced; ``kube_proxy`` takes a dict."""
    proxy = changes.pop("kube_proxy", {})

    def changed(node: NodeFacts) -> NodeFacts:
        if node.os is not OS.WINDOWS:
            return node
        return replace(node, kube_proxy=replace(node.kube_proxy, **proxy), **changes)

    return replace(facts, nodes=tuple(changed(node) for node in facts.nodes))


def with_linux_proxy(facts: ClusterFacts, **proxy: Fact[Any]) -> ClusterFacts:
    """Return the facts with settings of kube-proxy on Linux nodes replaced."""
    nodes = [
        node
        if node.os is OS.WINDOWS
        else replace(node, kube_proxy=replace(node.kube_proxy, **proxy))
        for node in facts.nodes
    ]
    return replace(facts, nodes=tuple(nodes))


def _linux(version: KubernetesVersion, member: int) -> NodeFacts:
    nothing: Fact[Any] = unknown("a matter of Windows")
    return _node(
        OS.LINUX,
        f"linux-{member}",
        member,
        version,
        pool=1,
        number=member,
        build=nothing,
        proxy=KubeProxyFacts(
            version=known(version, ORIGIN),
            mode=known("nftables", ORIGIN),
            dsr=nothing,
            source_vip=nothing,
            localhost_node_ports=known(value=True, origin=ORIGIN),
            terminating=gate_by_default(version, ORIGIN),
        ),
        driver=nothing,
        host_process=nothing,
    )


def _windows(
    version: KubernetesVersion, shape: Shape, build: str, pool: int, member: int
) -> NodeFacts:
    number = shape.linux + (pool - 1) * shape.of_each + member
    vip: Fact[Any] = unknown("l2bridge has none")
    if shape.source_vip:
        vip = known(ip_address(f"10.244.{number}.2"), ORIGIN)
    return _node(
        OS.WINDOWS,
        f"win-{number - shape.linux}",
        member,
        version,
        pool=pool,
        number=number,
        build=known(WindowsBuild.parse(build), "nodeInfo.kernelVersion"),
        proxy=KubeProxyFacts(
            version=known(version, ORIGIN),
            mode=known(shape.mode, ORIGIN),
            dsr=unknown("no kube-proxy runs")
            if shape.mode == "none"
            else known(shape.dsr, "kube-proxy's log"),
            source_vip=vip,
        ),
        driver=known(shape.driver, ORIGIN),
        host_process=known(True, ORIGIN),
    )


def _node(
    os: OS,
    name: str,
    member: int,
    version: KubernetesVersion,
    *,
    pool: int,
    number: int,
    build: Fact[WindowsBuild],
    proxy: KubeProxyFacts,
    driver: Fact[str],
    host_process: Fact[bool],
) -> NodeFacts:
    return NodeFacts(
        name=name,
        os=os,
        pool=f"{os.value}-{pool}",
        member=member,
        build=build,
        os_image="",
        kernel="",
        architecture="amd64",
        kubelet=known(version, "nodeInfo.kubeletVersion"),
        runtime=known("containerd://1.7.20", "nodeInfo.containerRuntimeVersion"),
        addresses=(ip_address(f"172.30.0.{10 + number}"),),
        pod_cidrs=(ip_network(f"10.244.{number}.0/24"),),
        kubelet_port=10250,
        ready=True,
        schedulable=True,
        taints=(),
        kube_proxy=proxy,
        cni_driver=driver,
        host_process=host_process,
        firewall=unknown("a matter of Windows")
        if os is OS.LINUX
        else known(value=True, origin=ORIGIN),
        zone=known("zone-1", ORIGIN),
    )
