"""What kube-proxy asks of HNS on one Windows node: Service table in, load-balancer policies out.

Pure. Mirrors ``syncProxyRules`` of ``pkg/proxy/winkernel``: which policies exist for a Service port,
with which backends, on which switch ports, and whose source address the backend will see. How a
policy becomes packets is ``switch_rules``.
"""

from dataclasses import dataclass, replace
from enum import Enum, StrEnum

from nettests.lab.network.hints import within_zone
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.topology import (
    Address,
    Backend,
    Network,
    NodeSpec,
    Profile,
    ServicePort,
    ServiceTable,
)


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


INGRESS, EXTERNAL_IP = "LoadBalancer", "ExternalIP"
OUTER = frozenset({INGRESS, EXTERNAL_IP})
"""Kinds of which a Service may have several, one for each address."""


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
    source: Source
    own_ports: tuple[tuple[Address, int], ...] = ()
    """Backends that are dialled at ports of their own instead, as no HNS load balancer does."""
    by_client: bool = False
    """Distribute by source address only (session affinity)."""
    forgets: int | None = None
    """Seconds after which a client is given a backend anew; ``None`` where a hash knows it for good."""
    allowed: tuple[Network, ...] = ()
    """Who may use it; everybody if empty."""
    preserved: bool = False
    """The destination is left as it is: a backend gets the packet addressed to the frontend."""

    @property
    def name(self) -> str:
        """The policy's name, unique on a node."""
        several = self.kind in OUTER
        return f"{self.kind}/{self.service}" + (f"/{self.vip}" if several else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """What clients dial of one Service port."""

    address: Address
    protocol: str
    port: int


def refused_frontends(
    table: ServiceTable, node: NodeSpec, profile: Profile
) -> tuple[Frontend, ...]:
    """Return the addresses of Services without any backend, where the switch refuses them.

    AntreaProxy does, as kube-proxy on Linux; a policy of kernelspace mode is simply missing. A Service
    whose policy leaves no local backend is not among them: its traffic is dropped everywhere.
    """
    if not switch_features(node, profile).refuse_empty:
        return ()
    found: list[Frontend] = []
    for service in table:
        if service.backends:
            continue
        protocol = service.protocol.lower()
        found.extend(
            Frontend(address=address, protocol=protocol, port=service.port)
            for address in (service.cluster_ip, *service.outer_addresses)
        )
        if service.node_port is not None:
            found.append(Frontend(address=node.address, protocol=protocol, port=service.node_port))
    return tuple(found)


def load_balancers(
    table: ServiceTable, node: NodeSpec, profile: Profile
) -> tuple[LoadBalancer, ...]:
    """Return the policies of all Services, ClusterIP before NodePort for each."""
    features = switch_features(node, profile)
    planner = _Planner(node, profile, features)
    if features.topology_hints:
        table = within_zone(table, node.zone)
    return tuple(policy for service in table for policy in planner.policies(service))


def not_found(
    policies: tuple[LoadBalancer, ...], other_family: tuple[LoadBalancer, ...]
) -> tuple[LoadBalancer, ...]:
    """Return the policies that kube-proxy without ``family_in_key`` makes beside the other family's.

    It looks for them by protocol, ports, VIP and endpoints first. A NodePort has no VIP in that key, and an
    endpoint with two addresses is one endpoint of HNS: that of the other family is found (before 1.36, #136241).
    """
    taken = {(one.service, one.external_port) for one in other_family if one.kind == "NodePort"}
    return tuple(
        policy
        for policy in policies
        if policy.kind != "NodePort" or (policy.service, policy.external_port) not in taken
    )


class _Planner:
    def __init__(self, node: NodeSpec, profile: Profile, features: SwitchFeatures) -> None:
        self._node = node
        self._profile = profile
        self._features = features

    def policies(self, service: ServicePort) -> list[LoadBalancer]:
        second = service.require_dual_stack and service.cluster_ip.version == 6
        if second and not self._features.required_families:
            return []
        if len({backend.address for backend in service.backends}) > self._features.backend_limit:
            return []  # HNS: "invalid number of destinations"; the whole Service stays unprogrammed
        usable = [backend for backend in service.backends if self._has_endpoint(backend)]
        if service.leaving and not self._features.terminating_everywhere:
            # kube-proxy counts terminating endpoints for Services with a balancer's address alone,
            # and then makes no policies for NodePort and externalIPs (winkernel, from 1.27 on).
            if not (self._features.terminating_fallback and service.ingress_addresses):
                return []
            return [*self._cluster_ip(service, usable), *self._ingress(service, usable)]
        return [
            *self._cluster_ip(service, usable),
            *self._node_port(service, usable),
            *self._external_ips(service, usable),
            *self._ingress(service, usable),
        ]

    def _has_endpoint(self, backend: Backend) -> bool:
        """kube-proxy looks up local backends as HNS endpoints, and the node's address is none.

        kubernetes/kubernetes#126795: host-network backends are skipped on their own node.
        """
        own = backend.node_address and backend.node == self._node.name
        return self._features.host_network_backends or not own

    def _local(self, backends: list[Backend]) -> list[Backend]:
        return [backend for backend in backends if backend.node == self._node.name]

    def _cluster_ip(self, service: ServicePort, usable: list[Backend]) -> list[LoadBalancer]:
        local_only = service.internal_traffic_local and self._features.internal_traffic_local
        backends = self._local(usable) if local_only else usable
        if not backends:
            return []  # "not applying any policy": nothing answers, nothing refuses
        rewritten = self._rewritten(backends)
        on_pods = Source.KEPT if self._features.dsr else rewritten
        made = [self._make(service, "ClusterIP", (Port.POD,), backends, on_pods)]
        if self._features.host_rules:
            made.append(self._make(service, "LB_HOST", (Port.HOST,), backends, rewritten))
        return made

    def _node_port(self, service: ServicePort, usable: list[Backend]) -> list[LoadBalancer]:
        backends, source = self._from_outside(service, usable)
        if service.node_port is None or not backends:
            return []
        return [self._make(service, "NodePort", self._outer_ports, backends, source)]

    def _external_ips(self, service: ServicePort, usable: list[Backend]) -> list[LoadBalancer]:
        backends, source = self._from_outside(service, usable)
        if not backends or not self._features.external_ips:
            return []
        return [
            self._make(service, EXTERNAL_IP, self._outer_ports, backends, source, vip=address)
            for address in service.external_addresses
        ]

    def _ingress(self, service: ServicePort, usable: list[Backend]) -> list[LoadBalancer]:
        backends, source = self._from_outside(service, usable)
        preserved = service.preserve_destination and self._features.preserve_destination
        if preserved:
            backends, source = self._local(usable), Source.KEPT
        if not backends or not self._features.load_balancer_addresses:
            return []
        allowed = service.source_ranges if self._features.source_ranges else ()
        return [
            replace(
                self._make(service, INGRESS, self._outer_ports, backends, source, vip=address),
                allowed=allowed,
                preserved=preserved,
            )
            for address in service.ingress_addresses
        ]

    def _from_outside(
        self, service: ServicePort, usable: list[Backend]
    ) -> tuple[list[Backend], Source]:
        """Return who answers clients from outside, and whose address is shown to them."""
        if service.external_traffic_local and self._features.external_traffic_local:
            return self._local(usable), Source.KEPT
        return usable, self._rewritten(usable)

    @property
    def _outer_ports(self) -> tuple[Port, ...]:
        own = (Port.HOST,) if self._features.local_routed_vip else ()
        return (Port.UPLINK, Port.POD, *own)

    def _internal_port(self, backends: list[Backend]) -> int:
        """HNS has one InternalPort for all destinations; which one kube-proxy says depends on its version."""
        place = -1 if self._features.last_internal_port else 0
        return backends[place].port

    def _rewritten(self, backends: list[Backend]) -> Source:
        """Overlay: the source VIP, unless a backend is outside the pod network (wk ``hns.go``)."""
        cluster = self._profile.cluster_cidr
        if self._features.source_vip and all(backend.address in cluster for backend in backends):
            return Source.VIP
        return Source.NODE

    def _make(
        self,
        service: ServicePort,
        kind: str,
        ports: tuple[Port, ...],
        backends: list[Backend],
        source: Source,
        *,
        vip: Address | None = None,
    ) -> LoadBalancer:
        node_port = kind == "NodePort"
        by_client = service.client_ip_affinity and self._features.session_affinity
        learns = by_client and self._features.affinity_timeout
        return LoadBalancer(
            service=service.key,
            kind=kind,
            ports=ports,
            vip=vip or (self._node.address if node_port else service.cluster_ip),
            protocol=service.protocol.lower(),
            external_port=(service.node_port or 0) if node_port else service.port,
            internal_port=self._internal_port(backends),
            own_ports=()
            if self._features.one_internal_port
            else tuple((backend.address, backend.port) for backend in backends),
            backends=tuple(sorted({backend.address for backend in backends}, key=int)),
            source=source,
            by_client=by_client,
            forgets=service.affinity_timeout if learns else None,
        )
