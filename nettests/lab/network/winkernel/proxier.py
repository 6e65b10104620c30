"""kube-proxy in kernelspace mode on one node, in one family: Service table in, HNS load balancers out.

Stateful, without side effects: the result depends on what HNS holds and on the new table. Mirrors
``syncProxyRules`` and ``manageLoadbalancer`` of ``pkg/proxy/winkernel`` (1.36; differences of older versions are
``SwitchFeatures``). ``endpoint_choice`` chooses the backends, ``load_balancer`` has the results.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter

from nettests.lab.network import addressing
from nettests.lab.network.services import PerObject, within_zone
from nettests.lab.network.thresholds import SwitchFeatures
from nettests.lab.network.winkernel import held
from nettests.lab.network.winkernel.endpoint_choice import Choice, choose
from nettests.lab.network.winkernel.load_balancer import (
    CLUSTER_IP,
    EXTERNAL_IP,
    INGRESS,
    NODE_PORT,
    OUTER,
    Flag,
    Host,
    LoadBalancer,
    Port,
    Source,
)
from nettests.lab.topology import Address, Backend, NodeSpec, Profile, ServicePort, ServiceTable

Slot = tuple[str, Address | None]
"""Kind, and the address where a Service may have several of the kind."""
Key = tuple[object, ...]


def host_of(node: NodeSpec, profile: Profile, pods: Iterable[tuple[Address, ...]] = ()) -> Host:
    """Return what kube-proxy sees of a node of the emulated cluster, in the family of ``profile``."""
    return Host(
        name=node.name,
        address=node.address,
        zone=node.zone,
        source_vip=addressing.rewritten_source(node, profile),
        remote_subnets=tuple(
            (other.pod_cidr, other.address) for other in profile.nodes if other.name != node.name
        ),
        pod_cidr=node.pod_cidr,
        endpoints={address: str(pod[0]) for pod in pods for address in pod},
    )


@dataclass(slots=True)
class _ServiceInfo:
    """What kube-proxy remembers of one Service port (its ``serviceInfo``)."""

    service: ServicePort
    internal_port: int
    applied: bool = False
    ids: dict[Slot, int] = field(default_factory=dict)
    remote: frozenset[Address] = frozenset()
    """Addresses of the remote endpoints that its load balancers use."""


class Winkernel:
    """One family's proxier; both of a node share ``hns``.

    Service ports that are the same objects as in the last sync are skipped: in a large cluster few change at a time.
    """

    def __init__(self, features: SwitchFeatures, hns: held.Hns | None = None) -> None:
        self._features = features
        self._hns = hns or held.Hns()
        self._infos: dict[str, _ServiceInfo] = {}
        self._services: Mapping[held.Name, Sequence[ServicePort]] = {}
        self._waiting: set[held.Name] = set()
        """Services whose load balancers HNS refused, or whose endpoints included no backends."""
        self._borrowed: set[Address] = set()
        """Addresses of remote endpoints that stood in for local ones; their reference count never drops to 0."""
        self._listed = held.Listed()
        self._keys = PerObject(self._key)

    def sync(
        self, table: ServiceTable, host: Host, orphaned: held.Orphaned = held.NONE
    ) -> tuple[LoadBalancer, ...]:
        """Bring HNS to ``table``; return all of its load balancers, of both families.

        ``orphaned`` are endpoints of deleted Services whose slices still exist: kube-proxy deletes HNS
        endpoints only with the slices.
        """
        if self._features.topology_hints:
            table = within_zone(table, host.zone)
        host = self._hns.without_lost(host)
        services = held.by_service(table)
        changed = self._take(services)
        gone = self._listed.change_to(services, orphaned, host)
        self._apply_all(table, host, changed | self._waiting)
        self._drop_remote(gone)
        self._hns.lose(gone, host)
        return self._hns.balancers

    def _take(self, services: Mapping[held.Name, Sequence[ServicePort]]) -> set[held.Name]:
        """Take the new Services; return the names of those that were added, changed or removed."""
        before, self._services = self._services, services
        names = {
            name
            for name in before.keys() | services.keys()
            if not held.same(before.get(name, ()), services.get(name, ()))
        }
        unused: set[Address] = set()
        for name in names:
            unused |= self._change(before.get(name, ()), services.get(name, ()))
        self._drop_remote(unused)
        return names

    def _change(self, before: Sequence[ServicePort], after: Sequence[ServicePort]) -> set[Address]:
        """Take the new ports of a Service; return the remote endpoints that it no longer uses.

        A changed Service is recreated with all its ports; a change of endpoints updates all its ports.
        """
        unused: set[Address] = set()
        if _specs(after) != _specs(before):
            for port in before:
                gone = self._infos.pop(port.key)
                self._delete_all(gone)
                unused |= gone.remote
        renewed = _endpoints(before) != _endpoints(after)
        for service in after:
            info = self._infos.get(service.key)
            if info is None:
                target = 0 if self._features.last_internal_port else service.target_port or 0
                self._infos[service.key] = _ServiceInfo(service, target)
                continue
            info.service = service
            if renewed:
                info.applied = False
                if not (self._features.keeps_balancers and service.keep_optimised):
                    self._delete_all(info)
                    unused |= info.remote
                    info.remote = frozenset()
        return unused

    def _apply_all(self, table: ServiceTable, host: Host, names: set[held.Name]) -> None:
        """Create missing load balancers of the Services with these names, in the order of the table."""
        if not names:
            return
        existing = dict(zip(self._keys(self._hns.balancers), self._hns.numbers, strict=True))
        self._waiting = set()
        for service in table:
            name = held.name_of(service)
            if name not in names:
                continue
            info = self._infos[service.key]
            if not info.applied:
                self._choose(info, host, existing)
            if not info.applied and service.endpoints:
                self._waiting.add(name)

    def _choose(self, info: _ServiceInfo, host: Host, existing: dict[Key, int]) -> None:
        """Choose among the endpoints of a Service port, and update its load balancers."""
        old, remote = info.internal_port, self._hns.remote
        chosen = choose(info.service, host, remote, self._features, old)
        info.internal_port, info.remote = chosen.internal_port, chosen.remote
        self._hns.reach(chosen.remote)
        chosen = replace(
            chosen,
            backends=tuple(
                (remote[each.address] if each.address in chosen.remote else number, each)
                for number, each in chosen.backends
            ),
        )
        self._borrowed |= {endpoint.address for endpoint in chosen.borrowed}
        info.applied = self._apply(info, chosen, host, existing)

    def _drop_remote(self, addresses: Iterable[Address]) -> None:
        """Delete remote endpoints that no Service port uses."""
        unused = (set(addresses) & self._hns.remote.keys()) - self._borrowed
        if unused:
            unused -= {address for info in self._infos.values() for address in info.remote}
        for address in unused:
            del self._hns.remote[address]

    def _delete_all(self, info: _ServiceInfo) -> None:
        for number in info.ids.values():
            self._hns.delete(number)
        info.ids.clear()

    def _apply(
        self, info: _ServiceInfo, chosen: Choice, host: Host, existing: dict[Key, int]
    ) -> bool:
        """Create, change or delete each load balancer of a Service port; return whether it is complete.

        If HNS refuses that of the ClusterIP or NodePort, the rest waits for the next sync; those at
        addresses for external clients are independent of each other, and are not retried.
        """
        if not chosen.backends:
            self._delete_all(info)  # "not applying any policy": packets are dropped
            return False
        planned = _Planner(info.service, chosen, host, self._features)
        return all(
            self._manage(info, slot, balancer, available=usable, existing=existing)
            or slot[0] in OUTER
            for slot, balancer, usable in planned.balancers()
        )

    def _manage(
        self,
        info: _ServiceInfo,
        slot: Slot,
        wanted: LoadBalancer,
        *,
        available: bool,
        existing: dict[Key, int],
    ) -> bool:
        number, limit = info.ids.get(slot), self._features.backend_limit
        key = self._key(wanted)
        if self._features.modifies and number is not None and wanted.backends:
            if not available or key in existing:
                return True
            if not self._hns.change(number, wanted, limit):
                return False
            existing[key] = number
            return True
        keeps = self._features.keeps_balancers and info.service.keep_optimised
        if number is not None and keeps and key not in existing:
            self._hns.delete(info.ids.pop(slot))
        if not (wanted.backends and available):
            return True
        created = existing.get(key) or self._hns.create(wanted, limit)
        if created is None:
            return False
        existing[key] = info.ids[slot] = created
        return True

    def _key(self, balancer: LoadBalancer) -> Key:
        """Return the key by which kube-proxy finds an existing load balancer; endpoints listed twice cancel out."""
        ids = [number for number, _ in balancer.references]
        odd = frozenset(number for number in ids if ids.count(number) % 2)
        vip = None if balancer.kind == NODE_PORT else balancer.vip
        family = balancer.vip.version if self._features.family_in_key else None
        return (balancer.protocol, balancer.internal_port, balancer.external_port, vip, odd, family)


class _Planner:
    """The load balancers that one Service port should have, with or without endpoints."""

    def __init__(
        self, service: ServicePort, chosen: Choice, host: Host, features: SwitchFeatures
    ) -> None:
        self._service = service
        self._chosen = chosen
        self._host = host
        self._features = features
        self._outer_local = service.external_traffic_local and features.external_traffic_local
        self._preserved = service.preserve_destination and features.preserve_destination
        self._rewritten = Source.NODE
        if features.source_vip and not chosen.outside:
            self._rewritten = Source.VIP

    def balancers(self) -> Iterator[tuple[Slot, LoadBalancer, bool]]:
        """Yield slot, load balancer and whether it may be created now, the ClusterIP's first."""
        service, features, usable = self._service, self._features, self._chosen.available
        inner_local = service.internal_traffic_local and features.internal_traffic_local
        source = Source.KEPT if features.dsr else self._rewritten
        cluster_ip = self._make(CLUSTER_IP, None, set(), source, here=inner_local)
        yield (CLUSTER_IP, None), cluster_ip, True
        here_only = self._preserved or self._outer_local
        if service.node_port is not None:
            flags = {Flag.VIP_EXTERNAL_IP, Flag.LOCAL_ROUTED_VIP}
            yield (NODE_PORT, None), self._outer(NODE_PORT, None, flags, here=here_only), usable
        for address in service.external_addresses if features.external_ips else ():
            flags, here = {Flag.VIP_EXTERNAL_IP}, self._outer_local
            balancer = self._outer(EXTERNAL_IP, address, flags, here=here)
            yield (EXTERNAL_IP, address), balancer, usable
        for address in service.ingress_addresses if features.load_balancer_addresses else ():
            yield (INGRESS, address), self._ingress(address, here=here_only), True

    def _outer(
        self, kind: str, address: Address | None, flags: set[Flag], *, here: bool
    ) -> LoadBalancer:
        source = Source.KEPT if self._outer_local else self._rewritten
        return self._make(kind, address, flags, source, here=here)

    def _ingress(self, address: Address, *, here: bool) -> LoadBalancer:
        flags = {Flag.VIP_EXTERNAL_IP}
        if self._preserved:
            flags |= {Flag.USE_MUX, Flag.PRESERVE_DIP}
        kept = self._preserved or self._outer_local or self._features.ingress_dsr
        source = Source.KEPT if kept else self._rewritten
        allowed = self._service.source_ranges if self._features.source_ranges else ()
        balancer = self._make(INGRESS, address, flags, source, here=here)
        return replace(balancer, allowed=allowed, preserved=self._preserved)

    def _make(
        self, kind: str, address: Address | None, flags: set[Flag], source: Source, *, here: bool
    ) -> LoadBalancer:
        service, features, host = self._service, self._features, self._host
        backends = self._chosen.local if here else self._chosen.backends
        node_port = kind == NODE_PORT
        outer_ports = (Port.UPLINK, Port.POD, *((Port.HOST,) if features.local_routed_vip else ()))
        by_client = service.client_ip_affinity and features.session_affinity
        named = host.address if self._chosen.outside and host.source_vip else host.source_vip
        implied = (
            (source is Source.KEPT, Flag.DSR),
            (service.client_ip_affinity, Flag.SOURCE_IP),
            (service.cluster_ip.version == 6, Flag.IPV6),
        )
        return LoadBalancer(
            service=service.key,
            kind=kind,
            ports=(Port.POD,) if kind == CLUSTER_IP else outer_ports,
            vip=host.address if node_port else address or service.cluster_ip,
            protocol=service.protocol.lower(),
            external_port=(service.node_port or 0) if node_port else service.port,
            internal_port=self._chosen.internal_port,
            own_ports=()
            if features.one_internal_port
            else tuple((endpoint.address, endpoint.port) for _, endpoint in backends),
            backends=tuple(sorted({endpoint.address for _, endpoint in backends}, key=int)),
            references=tuple((number, endpoint.address) for number, endpoint in backends),
            source=source,
            source_vip=named,
            flags=frozenset(flags | {flag for so, flag in implied if so}),
            by_client=by_client,
            forgets=service.affinity_timeout if by_client and features.affinity_timeout else None,
        )


def _endpoints(ports: Iterable[ServicePort]) -> dict[str, tuple[Backend, ...]]:
    return {port.key: port.endpoints for port in ports}


def _specs(ports: Iterable[ServicePort]) -> dict[str, tuple[object, ...]]:
    """Return the fields of Service ports except endpoints, for a fast comparison: every node makes it."""
    return {port.key: _SPEC(port) for port in ports}


_SPEC = attrgetter(*(field.name for field in fields(ServicePort) if field.name != "endpoints"))
