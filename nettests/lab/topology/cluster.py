"""The values that describe an emulated cluster: profile, nodes, CNI, kube-proxy, Services.

``profiles`` reads them from profile files; every part of the lab uses them. Pure values.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from nettests.lab.data_files import read_yaml
from nettests.lab.topology.windows_settings import WindowsSettings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class OS(StrEnum):
    """Operating system of an emulated node."""

    LINUX = "linux"
    WINDOWS = "windows"


PRODUCTS: dict[int, str] = read_yaml(__package__, "products.yaml")
"""Builds of Windows that a node may have, with their product names."""


class Driver(StrEnum):
    """The HNS network type of the Windows nodes' pod network."""

    L2BRIDGE = "l2bridge"
    L2TUNNEL = "l2tunnel"
    OVERLAY = "overlay"
    TRANSPARENT = "transparent"


class Plugin(StrEnum):
    """A network plugin that the lab emulates."""

    FLANNEL = "flannel"
    AZURE = "azure"
    ANTREA = "antrea"
    CALICO = "calico"
    SDNBRIDGE = "sdnbridge"
    """Microsoft's own plugin for l2bridge; the only plugin that gives Windows pods both families."""
    OVN_KUBERNETES = "ovn-kubernetes"
    """With its hybrid overlay: Windows nodes have an HNS overlay network, and kube-proxy serves Services."""
    VPC = "aws-vpc-cni"
    """Amazon's, on Windows ``vpc-bridge``."""


class Ipam(StrEnum):
    """The IPAM of Windows pods, if the plugin supports several."""

    HOST_LOCAL = "host-local"
    HNS = "hns"
    """Windows itself, if the CNI configuration names no IPAM."""


GENEVE = "geneve"
"""A backend, and the only encapsulation besides VXLAN."""
GENEVE_PORT = 6081
"""The assigned UDP port (RFC 8926, section 3.3)."""
TUNNELS = frozenset({"vxlan", GENEVE, "hybrid-overlay"})
"""Backends that encapsulate pods' packets to other nodes."""
NATIVE = frozenset({"vnet", "vpc"})
"""Backends that give pods addresses of the nodes' own network."""


class ProxyMode(StrEnum):
    """kube-proxy's ``--proxy-mode`` on Windows nodes; ``none``: no kube-proxy."""

    KERNELSPACE = "kernelspace"
    USERSPACE = "userspace"
    NONE = "none"


LINUX_MODE = "nftables"
"""kube-proxy's mode on Linux nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeIPv6:
    """A node's addresses of the second family."""

    address: IPv6Address
    pod_cidr: IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """One node; ``build`` and ``patch`` (UBR) are set on Windows only."""

    name: str
    os: OS
    address: Address
    pod_cidr: Network
    ipv6: NodeIPv6 | None = None
    """``None`` in a cluster of one family."""
    build: int | None = None
    patch: int | None = None
    runtime: str = "containerd://1.7.20"
    control_plane: bool = False
    taints: tuple[str, ...] = ()
    """``key=value:Effect``."""
    cordoned: bool = False
    """Whether it is registered as unschedulable; then only DaemonSets have pods on it."""
    zone: str = ""
    """The label ``topology.kubernetes.io/zone``, as a cloud's controller writes it; none if empty."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The node's addresses, the primary family's first."""
        second = () if self.ipv6 is None else (str(self.ipv6.address),)
        return (str(self.address), *second)

    @property
    def has_docker(self) -> bool:
        """Whether Docker runs its containers, through dockershim."""
        return self.runtime.startswith("docker://")

    @property
    def windows_release(self) -> tuple[int, int]:
        """``(build, patch)``, to compare with thresholds; ``(0, 0)`` on Linux."""
        return (self.build or 0, self.patch or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cni:
    """The CNI plugin, its backend (``host-gw``, ``vxlan``, ``vnet`` …) and the Windows driver.

    ``loopback_dsr`` lets a pod reach itself through a Service with DSR.
    """

    plugin: Plugin
    backend: str
    driver: Driver
    vni: int = 4096
    vxlan_port: int = 4789
    loopback_dsr: bool = False
    nat_exceptions: tuple[IPv4Network, ...] = ()
    """OutBoundNAT's exceptions beside the cluster's own networks."""
    ipam: Ipam = Ipam.HOST_LOCAL

    @property
    def encapsulates(self) -> bool:
        """Whether pods' packets between nodes are encapsulated."""
        return self.backend in TUNNELS

    @property
    def tunnel_port(self) -> int:
        """The UDP port of the encapsulation."""
        return GENEVE_PORT if self.backend == GENEVE else self.vxlan_port

    @property
    def native(self) -> bool:
        """Whether pods have addresses of the nodes' own network."""
        return self.backend in NATIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeProxy:
    """kube-proxy's settings on Windows nodes; Linux nodes run in nftables mode.

    ``service_on`` names the systems whose nodes have it as a service of their own, without Pods; on Linux nodes
    there is no ConfigMap either then.
    """

    mode: ProxyMode = ProxyMode.KERNELSPACE
    dsr: bool = False
    service_on: frozenset[OS] = frozenset()

    def is_replaced(self, os: OS) -> bool:
        """Whether the network plugin replaces kube-proxy on nodes of a system."""
        return os is OS.WINDOWS and self.mode is ProxyMode.NONE

    def runs_no_pod(self, os: OS) -> bool:
        """Whether nodes of a system have no Pod of kube-proxy."""
        return os in self.service_on or self.is_replaced(os)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the emulation that a user may switch."""

    windows_image_has_ping: bool = True
    windows_firewall: bool = True
    """Whether the firewall of Windows nodes is on, as it is by default."""
    firewall_stated: bool = True
    """Whether the cluster profile states the firewall; otherwise it is discovered on the nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IPv6Networks:
    """The IPv6 networks of a dual-stack cluster; the network outside is IPv4 only."""

    node_network: IPv6Network
    cluster_cidr: IPv6Network
    service_cidr: IPv6Network


IPV6_NETWORKS = IPv6Networks(
    node_network=IPv6Network("fd00:172:30::/64"),
    cluster_cidr=IPv6Network("fd00:10:244::/56"),
    service_cidr=IPv6Network("fd00:10:96::/112"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A whole emulated cluster. Addresses live in namespaces of the lab only.

    ``node_network`` is the underlay; its first address is the gateway. It is ``cluster_cidr`` too where
    pods have addresses of the nodes' network (Azure CNI). ``outside_network`` lies behind
    the gateway; ``outside_server`` is the emulated external host, ``outside_name`` its DNS name.
    """

    name: str
    summary: str
    kubernetes_version: str
    nodes: tuple[NodeSpec, ...]
    cni: Cni
    kube_proxy: KubeProxy = field(default_factory=KubeProxy)
    options: Options = field(default_factory=Options)
    windows: WindowsSettings = field(default_factory=WindowsSettings)
    mechanisms: tuple[tuple[str, int], ...] = ()
    """What the user switched by hand, as ``mechanisms.read`` returns it."""
    node_network: Network = IPv4Network("172.30.0.0/24")
    cluster_cidr: Network = IPv4Network("10.244.0.0/16")
    service_cidr: Network = IPv4Network("10.96.0.0/16")
    ipv6: IPv6Networks | None = None
    """The second family; ``None`` in a cluster of one."""
    dns_address: Address = IPv4Address("10.96.0.10")
    cluster_domain: str = "cluster.local"
    load_balancer_network: IPv4Network = IPv4Network("203.0.113.0/24")
    """The network of LoadBalancer addresses; the gateway routes each to a node."""
    outside_network: IPv4Network = IPv4Network("198.51.100.0/24")
    outside_server: IPv4Address = IPv4Address("198.51.100.10")
    outside_client: IPv4Address = IPv4Address("198.51.100.20")
    outside_name: str = "server.outside.test"
    outside_tcp_port: int = 80
    outside_udp_port: int = 8081

    @property
    def minor(self) -> int:
        """Return ``24`` for Kubernetes ``v1.24.17``."""
        return int(self.kubernetes_version.split(".")[1])

    def mechanism(self, name: str, default: int) -> int:
        """Return a mechanism's value: the user's, else ``default``."""
        return dict(self.mechanisms).get(name, default)

    def node(self, name: str) -> NodeSpec:
        """Return the node of that name; ``KeyError`` when there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def by_family(self) -> "tuple[Profile, ...]":
        """The cluster in each of its families, the primary first.

        Rules are rendered per family, as kube-proxy runs once for each.
        """
        if self.ipv6 is None:
            return (self,)
        nodes = tuple(
            replace(node, address=node.ipv6.address, pod_cidr=node.ipv6.pod_cidr)
            for node in self.nodes
            if node.ipv6 is not None
        )
        second = replace(
            self,
            nodes=nodes,
            node_network=self.ipv6.node_network,
            cluster_cidr=self.ipv6.cluster_cidr,
            service_cidr=self.ipv6.service_cidr,
        )
        return self, second


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """One endpoint of a Service port.

    ``node`` is the node that the endpoint names; ``node_address`` means that ``address`` is a node's own
    (hostNetwork and HostProcess pods; the ``kubernetes`` Service, whose endpoint names no node).
    """

    address: Address
    port: int
    node: str | None = None
    node_address: bool = False
    ready: bool = True
    serving: bool = True
    terminating: bool = False
    zones: tuple[str, ...] = ()
    """``hints.forZones`` of its endpoint."""
    pod: str = field(default="", compare=False)
    """The uid of its Pod. Proxies ignore it: to them another Pod at the same address is the same endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePort:
    """One port of one Service, as kube-proxy sees it."""

    namespace: str
    service: str
    port_name: str
    protocol: str
    """``TCP``, ``UDP`` or ``SCTP``."""
    cluster_ip: Address
    port: int
    target_port: int | None = None
    """``None`` if the Service's target port is a name."""
    node_port: int | None = None
    client_ip_affinity: bool = False
    affinity_timeout: int = 10800
    external_traffic_local: bool = False
    internal_traffic_local: bool = False
    endpoints: tuple[Backend, ...] = ()
    """All endpoints of its slices, whatever their conditions, sorted by address and port as texts."""
    ingress_addresses: tuple[Address, ...] = ()
    """The addresses of its load balancer (``status.loadBalancer``)."""
    external_addresses: tuple[Address, ...] = ()
    """``spec.externalIPs``; like all outer addresses, those of the family of ``cluster_ip``."""
    source_ranges: tuple[Network, ...] = ()
    """``spec.loadBalancerSourceRanges``: clients that may use the ingress addresses; all if empty."""
    preserve_destination: bool = False
    """The annotation ``preserve-destination``."""
    keep_optimised: bool = True
    """Whether the annotation ``winProxyOptimization`` does not switch the optimisation off."""
    health_check_port: int | None = None
    topology_aware: bool = False
    """Whether an annotation requests topology hints."""

    @property
    def key(self) -> str:
        """``namespace/service:port-name``, unique in a cluster and family."""
        return f"{self.namespace}/{self.service}:{self.port_name}"

    @property
    def outer_addresses(self) -> tuple[Address, ...]:
        """All addresses besides the ClusterIP at which ``port`` is served."""
        return tuple(dict.fromkeys((*self.ingress_addresses, *self.external_addresses)))

    @property
    def backends(self) -> tuple[Backend, ...]:
        """The ready endpoints; if there are none, those that serve while terminating."""
        ready = tuple(endpoint for endpoint in self.endpoints if endpoint.ready)
        return ready or tuple(
            endpoint for endpoint in self.endpoints if endpoint.serving and endpoint.terminating
        )


ServiceTable = tuple[ServicePort, ...]
"""All Service ports of a cluster, sorted by ``key``; a dual-stack one appears once for each family."""


def of_family(table: ServiceTable, like: Address) -> ServiceTable:
    """Return the Service ports of the family that an address belongs to."""
    return tuple(port for port in table if port.cluster_ip.version == like.version)
