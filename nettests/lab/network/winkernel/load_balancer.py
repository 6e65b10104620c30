"""The load balancers of one Windows node: what HNS has to program, and what its switch does with it. Values.

``proxier`` decides which there are, from Services and endpoints; ``switch_rules`` renders them, and ``hns`` shows
them. How a policy becomes packets is not said here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

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
"""Kinds of which a Service may have several, one for each address."""

SWITCHED = frozenset({"tcp", "udp"})
"""What a switch translates; of SCTP, HNS keeps the object (protocol 132) and nothing comes of it."""


class Flag(StrEnum):
    """What kube-proxy requires of a load balancer, by hcsshim's names."""

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
    """HNS endpoints with the addresses meant: in kube-proxy's order, one twice where it has two ports."""
    source: Source
    source_vip: Address | None = None
    """What kube-proxy names as source, whether it is used or not."""
    flags: frozenset[Flag] = frozenset()
    own_ports: tuple[tuple[Address, int], ...] = ()
    """Backends that are dialled at ports of their own instead, as no HNS load balancer does."""
    by_client: bool = False
    """Distribute by source address only (session affinity)."""
    forgets: int | None = None
    """Seconds after which a client may get another backend; ``None`` where a hash decides for good."""
    allowed: tuple[Network, ...] = ()
    """Allowed clients; all if empty."""
    preserved: bool = False
    """The destination is left as it is: a backend gets the packet addressed to the frontend."""

    @property
    def name(self) -> str:
        """The policy's name, unique on a node."""
        several = self.kind in OUTER
        return f"{self.kind}/{self.service}" + (f"/{self.vip}" if several else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """One address, protocol and port of a Service port, as clients dial it."""

    address: Address
    protocol: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What kube-proxy knows of its node and of the HNS network there, in one family."""

    name: str
    address: Address
    zone: str = ""
    source_vip: Address | None = None
    remote_subnets: tuple[tuple[Network, Address], ...] = ()
    """Pod ranges of the other nodes with those nodes' addresses (RemoteSubnetRoute)."""
    pod_cidr: Network | None = None
    """The node's pod range; its addresses count as endpoints of HNS, beside ``endpoints``."""
    endpoints: Mapping[Address, str] = field(default_factory=dict)
    """Local endpoints of HNS by their addresses; one with two addresses is one endpoint."""

    def endpoint_at(self, address: Address) -> str | None:
        """Return the local endpoint that has the address."""
        if self.pod_cidr is not None and address in self.pod_cidr:
            return self.endpoints.get(address, str(address))
        return self.endpoints.get(address)

    def is_outside(self, address: Address) -> bool:
        """Whether a backend is a node or lies outside the overlay: then the node's address is the source."""
        behind = any(address in subnet for subnet, _ in self.remote_subnets)
        return not behind or any(address == provider for _, provider in self.remote_subnets)


@dataclass(slots=True)
class Rewriting:
    """Whether a node's switch rewrites sources even where HNS was told to keep them; shared by its families."""

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
    """Return the addresses of Services without any backend, where the switch refuses them.

    AntreaProxy does, as kube-proxy on Linux; a policy of kernelspace mode is simply missing. A Service
    whose policy leaves no local backend is not among them: its traffic is dropped everywhere.
    """
    if not switch_features(node, profile).refuse_empty:
        return ()
    refused: list[Frontend] = []
    for service in table:
        protocol = service.protocol.lower()
        if service.backends or protocol not in SWITCHED:
            continue
        refused.extend(
            Frontend(address=address, protocol=protocol, port=service.port)
            for address in (service.cluster_ip, *service.outer_addresses)
        )
        if service.node_port is not None:
            refused.append(
                Frontend(address=node.address, protocol=protocol, port=service.node_port)
            )
    return tuple(refused)


def with_host_rules(
    balancers: Iterable[LoadBalancer], node: NodeSpec, features: SwitchFeatures
) -> tuple[LoadBalancer, ...]:
    """Return the load balancers with what VFP derives of each ClusterIP for the host's own port."""
    return tuple(
        each for balancer in balancers for each in with_host_rule(balancer, node, features)
    )


def with_host_rule(
    balancer: LoadBalancer, node: NodeSpec, features: SwitchFeatures
) -> tuple[LoadBalancer, ...]:
    """Return a load balancer, and what VFP derives of it if it is that of a ClusterIP."""
    if not features.host_rules or balancer.kind != CLUSTER_IP:
        return (balancer,)
    source = Source.NODE if balancer.source_vip in {None, node.address} else Source.VIP
    return balancer, replace(balancer, kind=HOST_RULE, ports=(Port.HOST,), source=source)
