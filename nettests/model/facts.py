"""Facts of a cluster, frozen, each with where it was read or why it is unknown.

Written by ``cluster.discover`` (and completed by the cluster profile), read by ``plan`` and
``expect``. A fact that could not be read is never guessed: it is unknown, with a reason.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Generic, TypeVar, assert_never

from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import OS, Family, Protocol

T = TypeVar("T")
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
STATED = "cluster profile"
"""Origin of facts that the user states."""
EVERY_ADDRESS: tuple[Network, ...] = (IPv4Network("0.0.0.0/0"), IPv6Network("::/0"))


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """One fact: its value and where it was read, or no value and the reason why not.

    ``origin`` is prose for people: ``"ConfigMap kube-system/kube-flannel-cfg"``, ``"cluster profile"``.
    """

    value: T | None
    origin: str

    @property
    def known(self) -> bool:
        """Whether the fact has a value."""
        return self.value is not None


def known(value: T, origin: str) -> Fact[T]:
    """Return a fact with its value and where it was read."""
    return Fact(value, origin)


def unknown(reason: str) -> Fact[T]:
    """Return a fact that could not be read, with the reason."""
    return Fact(None, reason)


GATE = "ProxyTerminatingEndpoints"
_GATE_IS_ON = VersionRange.parse(">=1.26", KubernetesVersion)
_NOT_NAMED = f" does not name {GATE}"


def gate_by_default(version: KubernetesVersion, where: str) -> Fact[bool]:
    """Return the state of kube-proxy's gate if its settings, read at ``where``, do not name it: on from 1.26 on (KEP-1669)."""
    on = _GATE_IS_ON.holds(version)
    return known(on, f"{where}{_NOT_NAMED}, which is {'on' if on else 'off'} by default")


def gate_in(gates: str, where: str, version: KubernetesVersion | None) -> Fact[bool] | None:
    """Return the gate as ``gates``, read at ``where``, set it, else its default; ``None`` if that is not known."""
    # sample: IPv6DualStack=true,ProxyTerminatingEndpoints=true
    match = re.search(rf"\b{GATE}=(true|false)\b", gates)
    if match is not None:
        return known(match[1] == "true", where)
    return gate_by_default(version, where) if version is not None else None


def gate_after(upgrade: KubernetesVersion, before: Fact[bool]) -> Fact[bool]:
    """Return the gate's state in another version: the same if it is set or unknown, else that version's default."""
    where, default, _ = before.origin.partition(_NOT_NAMED)
    return gate_by_default(upgrade, where) if before.known and default else before


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A node taint."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeProxyFacts:
    """kube-proxy's settings on one node.

    ``mode`` is spelled as ``--proxy-mode`` spells it; ``none`` means that no kube-proxy runs.
    ``dsr`` and ``source_vip`` exist on Windows only; they are unknown with a reason on Linux.
    """

    version: Fact[KubernetesVersion]
    mode: Fact[str]
    dsr: Fact[bool]
    source_vip: Fact[Address]
    localhost_node_ports: Fact[bool] = Fact(None, "it was not read")
    """Whether it serves NodePorts at the node's loopback address, as Linux iptables mode does."""
    terminating: Fact[bool] = Fact(None, "it was not read")
    """Whether it uses terminating endpoints if no others are left (ProxyTerminatingEndpoints)."""
    as_pod: Fact[bool] = Fact(None, "it was not read")
    """Whether kube-proxy is a Pod on the node; otherwise it is a host service or absent."""

    @property
    def replaced(self) -> bool:
        """Whether something other than kube-proxy serves Services."""
        return self.mode.value == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """One node.

    ``role`` is the node's group, stable across upgrades: the OS plus an ordinal among that OS's node
    groups (``windows-1``); ``member`` is the node's ordinal in it, from 1.
    """

    name: str
    os: OS
    pool: str
    member: int
    build: Fact[WindowsBuild]
    os_image: str
    kernel: str
    architecture: str
    kubelet: Fact[KubernetesVersion]
    runtime: Fact[str]
    addresses: tuple[Address, ...]
    pod_cidrs: tuple[Network, ...]
    kubelet_port: int
    ready: bool
    schedulable: bool
    taints: tuple[Taint, ...]
    kube_proxy: KubeProxyFacts
    cni_driver: Fact[str]
    host_process: Fact[bool]
    hostname: str = ""
    """The label ``kubernetes.io/hostname``, by which Pods are pinned; usually the node's name."""
    left_out: str = ""
    """Why the run excludes a Ready and schedulable node; empty if it uses it."""
    firewall: Fact[bool] = Fact(None, "the API does not tell it")
    """Whether the Windows firewall is on; its stealth filter drops the RST and ICMP of closed ports."""
    dns_suffixes: Fact[tuple[str, ...]] = Fact(None, "the API does not tell it")
    """The suffixes that nslookup appends to names in a Windows Pod of the node; ``{namespace}`` is the Pod's."""
    empty: Fact[bool] = Fact(None, "only of cordoned Windows nodes it is read")
    """Whether the node is cordoned and has no Pod with an address of its own."""
    policies: Fact[bool] = Fact(None, "it was not read")
    """Whether an agent turns NetworkPolicies into rules on the node."""
    zone: Fact[str] = Fact(None, "it was not read")
    """The node's zone (``topology.kubernetes.io/zone``), used by kube-proxy for topology hints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CniFacts:
    """The network plugin (``flannel``, ``calico`` …), with overlay settings where they apply.

    A node's own driver (``l2bridge``, ``overlay`` …) is on ``NodeFacts.cni_driver``.
    """

    plugin: Fact[str]
    backend: Fact[str]
    vni: Fact[int]
    vxlan_port: Fact[int]
    mtu: Fact[int] = Fact(None, "it was not read")
    """The largest IP packet in bytes that leaves a Pod unfragmented."""
    nat_exceptions: Fact[tuple[Network, ...]] = Fact(None, "it was not read")
    """Destinations excluded from ``OutBoundNAT`` of Windows Pods (``ExceptionList``)."""
    nat_outgoing: Fact[bool] = Fact(None, "it was not read")
    """Whether Calico's IP pools use source NAT for external traffic (``natOutgoing``)."""
    loopback_dsr: Fact[bool] = Fact(None, "it was not read")
    """Whether the plugin sets ``loopbackDSR``: DSR for traffic from a Pod to itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalTarget:
    """A server outside the cluster that the user declared; nothing else outside is contacted.

    ``tcp_port`` answers HTTP. With ``reports_client_address`` its ``/clientip`` answers like
    agnhost's ``netexec``, ``udp_port`` answers the datagram ``clientip``, and nothing in between
    translates node addresses.
    """

    address: Address | None = None
    name: str | None = None
    tcp_port: int | None = None
    udp_port: int | None = None
    reports_client_address: bool = False

    def port(self, protocol: Protocol) -> int | None:
        """Return its port for ``protocol``, if it has one."""
        match protocol:
            case Protocol.TCP:
                return self.tcp_port
            case Protocol.UDP:
                return self.udp_port
            case Protocol.ICMP:
                return None
            case _:
                assert_never(protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingService:
    """An existing Service by ``namespace/name``: its ClusterIP and a TCP port with endpoints.

    ``own`` Services are the API server's and cluster DNS, which every Pod may reach.
    """

    name: str
    address: Address
    port: int
    own: bool = False


ALL, SAMPLE = "all", "sample"
"""Which nodes are tested: all usable ones, or two of each node pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetScope:
    """Which nodes are tested, as the user chose: ``all``, ``sample``, names or a label selector.

    ``nodes`` are named or matched by the selector. ``seed`` selects node pairs of a large fleet: it
    is derived from the run and part of the facts, so that the same facts give the same plan.
    """

    chosen: str = ALL
    nodes: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How many connections and Services the ``costly`` checks create to look for a limit.

    Part of the facts, so that the same facts give the same plan.
    """

    flows: int = 2000
    """An eighth of Windows' 16,384 default ports, so few that no document rules them out."""
    services: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Everything that plans and conditions may depend on."""

    server_version: KubernetesVersion
    server_git_version: str
    context: str
    nodes: tuple[NodeFacts, ...]
    cni: CniFacts
    pod_cidrs: Fact[tuple[Network, ...]]
    service_cidrs: Fact[tuple[Network, ...]]
    families: tuple[Family, ...]
    dns_address: Fact[Address]
    cluster_domain: Fact[str]
    external_target: ExternalTarget | None
    external_vantage: str
    """``none`` (default), ``proxy`` or ``direct``."""
    external_udp: bool = False
    """Whether the external vantage sends datagrams too, directly or through a proxy."""
    namespace: str = ""
    """The existing namespace that a run uses; empty if the run creates its own."""
    pod_security: Fact[str] = Fact("privileged", "a namespace of the run's own")
    """The level of Pod Security that the run's namespace enforces."""
    privileged: Fact[bool] = Fact(None, "it was not run")
    """Whether the API server accepts privileged and HostProcess containers
    (``--allow-privileged``); if not, ``origin`` quotes its message."""
    denied: tuple[str, ...] = ()
    """Denied permissions, spelled as ``Permission`` does; empty if nothing needed is denied."""
    pod_records: Fact[bool] = Fact(None, "it was not read")
    """Whether the cluster's DNS answers ``10-244-1-5.<namespace>.pod.<domain>``."""
    dns_pods: Fact[tuple[Address, ...]] = Fact(None, "they were not read")
    """The addresses of the cluster DNS Pods."""
    kubernetes_address: Fact[Address] = Fact(None, "it was not read")
    """The ClusterIP of the Service ``kubernetes`` in namespace ``default``."""
    existing_services: Fact[tuple[ExistingService, ...]] = Fact(None, "they were not read")
    """Services that every node dials besides the run's: the cluster's own, and a few others."""
    runtime_classes: Fact[tuple[str, ...]] = Fact(None, "they were not read")
    """The RuntimeClasses with scheduling constraints, by name."""
    platform: Fact[str] = Fact(None, "it was not read")
    """The managed service according to node labels: ``aks``, ``eks``, ``gke``, else ``other``."""
    fleet: FleetScope = FleetScope()
    """Which nodes are tested, and the seed for node pairs of a large cluster."""
    scale: Scale = Scale()
    """How many connections and Services are created to look for a limit."""

    def from_outside(self, protocol: Protocol) -> bool:
        """Whether there is an external vantage that carries ``protocol``."""
        match protocol:
            case Protocol.TCP:
                return self.external_vantage != "none"
            case Protocol.UDP:
                return self.external_udp
            case Protocol.ICMP:
                return False
            case _:
                assert_never(protocol)

    def node(self, name: str) -> NodeFacts:
        """Return the node of that name; ``KeyError`` when there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)
