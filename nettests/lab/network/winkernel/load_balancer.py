"""The load balancers of one Windows node, as values.

``proxier`` makes them of Services and endpoints, ``switch_rules`` renders them as rules, and ``hns`` shows them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from nettests.lab.network.services import Frontend, frontends
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.topology import Address, Network, NodeSpec, Profile, ServiceTable


class Port(StrEnum):
    """A kind of switch port, by the interface names in the switch's namespace."""

    POD = "pod-*"
    HOST = "host"
    UPLINK = "uplink"


class Source(Enum):
    """Which source address a backend sees."""

    KEPT = "the client's"
    NODE = "the node's"
    VIP = "kube-proxy's source VIP"


CLUSTER_IP, HOST_RULE, NODE_PORT = "ClusterIP", "LB_HOST", "NodePort"
INGRESS, EXTERNAL_IP = "LoadBalancer", "ExternalIP"
OUTER = frozenset({INGRESS, EXTERNAL_IP})
"""Kinds of which a Service port may have several, one for each address."""

SWITCHED = frozenset({"tcp", "udp"})
"""Protocols that a switch translates; for SCTP, HNS has an object (protocol 132) without effect."""


class Flag(StrEnum):
    """Flags that kube-proxy sets on a load balancer, by hcsshim's names."""

    DSR = "DSR"
    IPV6 = "IPv6"
    LOCAL_ROUTED_VIP = "LocalRoutedVIP"
    VIP_EXTERNAL_IP = "VipExternalIP"
    USE_MUX = "UseMUX"
    PRESERVE_DIP = "PreserveDIP"
    SOURCE_IP = "SourceIP"
    """Not a flag but a distribution, which older builds ignore."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancer:
    """One HNS load balancer: frontend, backends, and the ports it is programmed on."""

    service: str
    kind: str
    ports: tuple[Port, ...]
    vip: Address
    protocol: str
    external_port: int
    internal_port: int
    backends: tuple[Address, ...]
    references: tuple[tuple[str, Address], ...] = ()
    """Ids of HNS endpoints with their addresses, in kube-proxy's order; twice for two ports."""
    source: Source
    source_vip: Address | None = None
    """The source VIP that kube-proxy states, whether it is used or not."""
    flags: frozenset[Flag] = frozenset()
    own_ports: tuple[tuple[Address, int], ...] = ()
    """Ports of backends that differ from ``internal_port``; HNS load balancers have none."""
    by_client: bool = False
    """Distribute by source address only (session affinity)."""
    forgets: int | None = None
    """Seconds after which a client may get another backend; ``None`` if a hash decides."""
    allowed: tuple[Network, ...] = ()
    """Networks of allowed clients; all if empty."""
    preserved: bool = False
    """The destination is kept: the backend gets packets addressed to the frontend."""

    @property
    def name(self) -> str:
        """The policy's name, unique on a node."""
        several = self.kind in OUTER
        return f"{self.kind}/{self.service}" + (f"/{self.vip}" if several else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What kube-proxy sees of its node and of the HNS network there, in one family."""

    name: str
    address: Address
    zone: str = ""
    source_vip: Address | None = None
    remote_subnets: tuple[tuple[Network, Address], ...] = ()
    """Pod CIDRs of the other nodes with those nodes' addresses (RemoteSubnetRoute)."""
    pod_cidr: Network | None = None
    """The node's pod CIDR; its addresses count as HNS endpoints, beside ``endpoints``."""
    endpoints: Mapping[Address, str] = field(default_factory=dict)
    """Ids of local HNS endpoints by address; a dual-stack endpoint appears twice."""

    def endpoint_at(self, address: Address) -> str | None:
        """Return the id of the local endpoint with the address, or ``None``."""
        if self.pod_cidr is not None and address in self.pod_cidr:
            return self.endpoints.get(address, str(address))
        return self.endpoints.get(address)

    def is_outside(self, address: Address) -> bool:
        """Whether a backend is a node or outside the overlay: then the node's address is the source."""
        behind = any(address in subnet for subnet, _ in self.remote_subnets)
        return not behind or any(address == provider for _, provider in self.remote_subnets)


@dataclass(slots=True)
class Rewriting:
    """Whether a node's switch rewrites sources despite DSR; shared by its families."""

    always: bool = False

    def applied(self, balancers: Iterable[LoadBalancer]) -> tuple[LoadBalancer, ...]:
        """Return the load balancers as the switch applies them."""
        return tuple(
            replace(balancer, source=Source.VIP if balancer.source_vip else Source.NODE)
            if self.always and balancer.source is Source.KEPT
            else balancer
            for balancer in balancers
        )


def refused_frontends(
    table: ServiceTable, node: NodeSpec, profile: Profile
) -> tuple[Frontend, ...]:
    """Return the frontends of Services without any backend, if the switch refuses these.

    AntreaProxy does, like kube-proxy on Linux; in kernelspace mode there is simply no policy. Services
    whose traffic policy leaves no local backend are not included: every proxy drops their packets.
    """
    if not switch_features(node, profile).refuse_empty:
        return ()
    return tuple(
        replace(frontend, protocol=frontend.protocol.lower())
        for service in table
        if not service.backends and service.protocol.lower() in SWITCHED
        for frontend in frontends(service, node.address)
    )


def with_host_rule(
    balancer: LoadBalancer, node: NodeSpec, features: SwitchFeatures
) -> tuple[LoadBalancer, ...]:
    """Return a load balancer, and the host's rule that VFP derives from it if it is a ClusterIP's."""
    if not features.host_rules or balancer.kind != CLUSTER_IP:
        return (balancer,)
    source = Source.NODE if balancer.source_vip in {None, node.address} else Source.VIP
    return balancer, replace(balancer, kind=HOST_RULE, ports=(Port.HOST,), source=source)
