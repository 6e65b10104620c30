"""A Windows node: a switch with rules on its ports, to which host and pods are attached as peers.

The switch's namespace stands for HNS and VFP, the host's for Windows itself. The documented limitations follow from
this separation: the host's packets enter the switch by the host's own port, which has no ClusterIP rules. The
node's address belongs to the host; on the wire the switch answers for it with the host's MAC (l2bridge rewrites
MACs).
"""

from ipaddress import ip_network
from itertools import chain

from nettests.lab.interfaces import Disk
from nettests.lab.network import addressing, conntrack, nft, overlay, switch_rules
from nettests.lab.network.hns import NodeHns
from nettests.lab.network.host_ports import HostPorts, Mapped, port_mappings_table
from nettests.lab.network.namespace import FORWARDING, NetworkNamespace, Worker, make_namespace
from nettests.lab.network.netlink import ANY, End, Netlink, anywhere, await_carrier, configure
from nettests.lab.network.node import Node
from nettests.lab.network.pods import (
    IPv6Range,
    PodPorts,
    Pods,
    connect_to_gateway,
    ipv6_range,
    lead_to,
    other_nodes,
    unasked_range,
)
from nettests.lab.network.services import PerObject, carried
from nettests.lab.network.tables import Table, render, word
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.network.underlay import MTU, Underlay, gateway_of, settings_for
from nettests.lab.network.winkernel import Hns, Winkernel, host_of
from nettests.lab.network.winkernel.load_balancer import (
    NODE_PORT,
    SWITCHED,
    LoadBalancer,
    Port,
    Rewriting,
    Source,
    refused_frontends,
    with_host_rule,
)
from nettests.lab.network.winuserspace import Portals
from nettests.lab.topology import GENEVE, Address, NodeSpec, Profile, ServiceTable, of_family

_TTL = {"ipv4/ip_default_ttl": 128, "ipv6/conf/default/hop_limit": 128}
VXLAN_DEVICE = "vxlan"
VXLAN_TABLE = 100
"""The routing table of the overlay, for marked packets."""
_SWITCH_TABLE = 101
_FABRIC_TABLE = 102
_NODE_PORTS = (30000, 32767)
_TCP, _UDP = 6, 17


class WindowsServices:
    """kube-proxy in kernelspace mode on one node, in one family. On the worker thread only."""

    def __init__(
        self,
        name: str,
        family: Profile,
        switch: NetworkNamespace,
        pods: Pods,
        *,
        held: Hns,
        rewriting: Rewriting,
    ) -> None:
        self._node = family.node(name)
        self._profile = family
        self._switch = switch
        self._pods = pods
        self._rewriting = rewriting
        self._services: ServiceTable = ()
        self._kept: dict[Address, Address] = {}
        """Destinations that packets keep (``preserve-destination``), each with the local pod that it is routed to."""
        self.policies: tuple[LoadBalancer, ...] = ()
        """The load balancers in force, in this family."""
        self._features = switch_features(self._node, family)
        self._proxy = Winkernel(self._features, held)
        self._with_host_rules = PerObject[LoadBalancer, tuple[LoadBalancer, ...]](
            lambda balancer: with_host_rule(balancer, self._node, self._features)
        )
        self._of_policies = PerObject(switch_rules.policy_rules)
        family_word = word(self._node.address)
        self._rules = nft.LoadedTable(switch, Table(name="hns", family=family_word))

    def program(self, table: ServiceTable) -> None:
        """Bring the switch's policies to ``table``; established flows to a backend continue."""
        services = of_family(table, self._node.address)
        host = host_of(self._node, self._profile, self._pods.addresses().values())
        held = self._proxy.sync(services, host)
        policies = [policy for policy in held if policy.vip.version == self._node.address.version]
        self.policies = tuple(chain.from_iterable(self._with_host_rules(policies)))
        forwards = self._features.empty_node_ports or bool(self._pods.addresses())
        switched = self._rewriting.applied(
            policy
            for policy in self.policies
            if policy.protocol in SWITCHED and (forwards or policy.kind != NODE_PORT)
        )
        self._rules.change_to(
            switch_rules.load_balancers_table(
                switched,
                node_address=self._node.address,
                source_vip=addressing.rewritten_source(self._node, self._profile),
                loopback=self._loopback(switched),
                refused=refused_frontends(services, self._node, self._profile),
                rules=self._of_policies,
            )
        )
        self._route_preserved(switched)
        old, self._services = self._services, services
        conntrack.forget_changes(self._switch.fd, old, services, self._node.address, udp=False)

    def _route_preserved(self, policies: tuple[LoadBalancer, ...]) -> None:
        here = self._pods.ports()
        wanted = {
            policy.vip: backend
            for policy in policies
            if policy.preserved
            for backend in policy.backends[:1]
            if backend in here
        }
        if wanted == self._kept:
            return
        with configure(self._switch) as links:
            for gone in self._kept.keys() - wanted.keys():
                links.forget(ip_network(gone))
            for address, backend in wanted.items():
                links.lead(ip_network(address), here[backend], backend)
        self._kept = wanted

    def _loopback(self, policies: tuple[LoadBalancer, ...]) -> list[Address]:
        """Return the local backends of DSR load balancers, if loopbackDSR lets them reach themselves."""
        if not self._features.loopback_dsr:
            return []
        direct = (policy.backends for policy in policies if policy.source is Source.KEPT)
        backends = set(chain.from_iterable(direct))
        return sorted((each for each in backends if each in self._node.pod_cidr), key=int)


class HostAddresses:
    """kube-proxy in userspace mode: every ClusterIP is an address of the host. On the worker thread only."""

    def __init__(self, machine: NetworkNamespace) -> None:
        self._machine = machine
        self._held: frozenset[Address] = frozenset()

    def program(self, services: ServiceTable) -> None:
        """Give the host the ClusterIPs of ``services``, and remove others; IPv4 only."""
        wanted = frozenset(
            service.cluster_ip for service in services if service.cluster_ip.version == 4
        )
        with configure(self._machine) as links:
            for address in sorted(self._held - wanted, key=int):
                links.drop_address("lo", address)
            for address in sorted(wanted - self._held, key=int):
                links.address("lo", address)
        self._held = wanted


def build_windows_node(
    node: NodeSpec, profile: Profile, underlay: Underlay, worker: Worker
) -> Node:
    """Create a Windows node's host and switch and connect them. On the worker thread only."""
    features = switch_features(node, profile)
    local = features.local_routed_vip or features.local_port_mappings
    accept = {"ipv4/conf/all/accept_local": int(local)}
    settings = settings_for(profile)
    machine = make_namespace(f"{node.name}/host", {**settings, **_TTL, **accept})
    switch = make_namespace(f"{node.name}/switch", {**settings, **FORWARDING})
    underlay.plug(switch, Port.UPLINK, node.address)
    _wire(node, profile, machine, switch)
    pods = _pods(node, profile, switch)
    families = profile.by_family if features.dual_stack else profile.by_family[:1]
    held, rewriting = Hns(), Rewriting()
    services = [
        WindowsServices(node.name, family, switch, pods, held=held, rewriting=rewriting)
        for family in families
    ]
    mapped = [family.node(node.name) for family in families[: 1 + features.port_mappings_ipv6]]
    host_addresses = HostAddresses(machine)

    def program(table: ServiceTable) -> None:
        if features.user_mode:
            host_addresses.program(carried(table))
            return
        for of_one_family in services:
            of_one_family.program(table)

    disk = Disk()
    return Node(
        spec=node,
        disk=disk,
        host=machine,
        switch=switch,
        source_vip=addressing.source_vip(node, profile.cni),
        pods=pods,
        host_ports=[_host_ports(spec, features, machine, switch) for spec in mapped],
        program=program,
        worker=worker,
        hns=NodeHns(
            node=node,
            profile=profile,
            exceptions=[*chain.from_iterable(map(addressing.nat_exceptions, families))],
            pods=pods.addresses,
            policies=lambda: tuple(policy for each in services for policy in each.policies),
            dns=disk.endpoint_dns,
        ),
        portals=Portals(machine) if features.user_mode else None,
        rewriting=rewriting,
    )


def _pods(node: NodeSpec, profile: Profile, switch: NetworkNamespace) -> Pods:
    return Pods(
        PodPorts(
            node=node,
            attached_to=switch,
            gateway=addressing.pod_gateway(node, profile.cni),
            ipv6=_second_range(node, profile),
            gateway_on_port=False,
            mtu=overlay.pod_mtu(profile),
            settings={**settings_for(profile), **_TTL},
            ipam=profile.cni.ipam,
        )
    )


def _wire(
    node: NodeSpec, profile: Profile, machine: NetworkNamespace, switch: NetworkNamespace
) -> None:
    features = switch_features(node, profile)
    _connect_host(node, profile, machine, switch)
    for family in profile.by_family:
        _build_family(family.node(node.name), family, machine, switch)
    if features.overlay:
        _build_overlay(node, profile, machine, switch)
    if profile.cni.backend == GENEVE:
        nft.load(machine.fd, render(overlay.geneve_table()))
    if features.tunnel:  # pods' packets go to the fabric, which routes to every pod
        with configure(switch) as links:
            links.blackhole(node.pod_cidr)
            links.route(ANY, Port.UPLINK, via=gateway_of(profile), table=_FABRIC_TABLE)
            links.route_marked(switch_rules.TO_FABRIC, _FABRIC_TABLE)
    if features.user_mode:
        with configure(switch) as links:
            links.route(profile.service_cidr, Port.HOST, via=node.address)


def _build_family(
    node: NodeSpec, family: Profile, machine: NetworkNamespace, switch: NetworkNamespace
) -> None:
    features = switch_features(node, family)
    with configure(switch) as links:
        links.route(family.node_network, Port.UPLINK)
        links.route(anywhere(node.address), Port.UPLINK, via=gateway_of(family))
        others = () if features.overlay else other_nodes(family.nodes, node)
        links.routes_through(Port.UPLINK, ((other.pod_cidr, other.address) for other in others))
    if features.local_routed_vip or features.local_port_mappings:
        _let_own_ports_visit_the_switch(node, machine)
    if features.local_routed_vip:
        with configure(machine) as links:
            _route_own(links, node, *_NODE_PORTS)
    if features.stealth:
        nft.load(machine.fd, render(switch_rules.stealth_table(node.address)))
    lasting = switch_rules.ports_table(
        node_address=node.address,
        pod_cidr=node.pod_cidr,
        service_cidr=family.service_cidr,
        exceptions=addressing.spared(family),
        features=features,
        pods_elsewhere=[other.pod_cidr for other in other_nodes(family.nodes, node)],
    )
    nft.load(switch.fd, render(lasting))
    if features.flow_ageing:
        nft.load(switch.fd, render(switch_rules.ageing_table(node.pod_cidr)))


def _connect_host(
    node: NodeSpec, profile: Profile, machine: NetworkNamespace, switch: NetworkNamespace
) -> None:
    mac = addressing.mac(node.os, node.address)
    with configure(switch) as links:
        near = End(namespace=switch, name=Port.HOST, mac=addressing.GATEWAY_MAC)
        links.veth(near, End(namespace=machine, name="eth0", mac=mac), MTU)
        addresses = [family.node(node.name).address for family in profile.by_family]
        for address in addresses:
            lead_to(links, Port.HOST, address, mac)
    ways = ((address, addressing.point_to_point(address)) for address in addresses)
    connect_to_gateway(machine, ways)
    await_carrier(near)


def _build_overlay(
    node: NodeSpec, profile: Profile, machine: NetworkNamespace, switch: NetworkNamespace
) -> None:
    """Put the VXLAN device into the switch; its outer packets are the host's, and have its address.

    The routes are in a table of their own, which is not used for the host's packets: that is why a
    Windows node does not reach remote pods over the overlay.
    """
    with configure(machine) as links:
        links.vxlan(overlay.vxlan_device(VXLAN_DEVICE, node, profile), into=switch)
    with configure(switch) as links:
        links.up(VXLAN_DEVICE)
        overlay.connect_pod_networks(
            links, VXLAN_DEVICE, other_nodes(profile.nodes, node), table=VXLAN_TABLE
        )
        links.route_marked(switch_rules.ENCAPSULATE, VXLAN_TABLE)


def _host_ports(
    node: NodeSpec, features: SwitchFeatures, machine: NetworkNamespace, switch: NetworkNamespace
) -> HostPorts:
    local = features.local_port_mappings
    routed: set[int] = set()

    def rendered(mapped: Mapped) -> Table:
        served = mapped if features.port_mappings else ()
        return port_mappings_table(served, node.address, from_host=local)

    def route(mapped: Mapped) -> None:
        wanted = {mapping.host_port for _, mapping in mapped}
        with configure(machine) as links:
            for port in sorted(wanted ^ routed):
                _route_own(links, node, port, port, end=port in routed)
        routed.clear()
        routed.update(wanted)

    routed_too = (route,) if local else ()
    return HostPorts(switch, rendered, *routed_too, like=node.address)


def _let_own_ports_visit_the_switch(node: NodeSpec, machine: NetworkNamespace) -> None:
    """Prepare LocalRoutedVIP: some of the host's packets to its own address go through the switch.

    The kernel would deliver them locally. They come back with the host's own address as source.
    """
    near = addressing.point_to_point(node.address)
    with configure(machine) as links:
        links.route(anywhere(node.address), "eth0", via=near, table=_SWITCH_TABLE)
        links.demote_local_table(node.address)


def _route_own(links: Netlink, node: NodeSpec, first: int, last: int, *, end: bool = False) -> None:
    for protocol in (_TCP, _UDP):
        links.route_own_ports(node.address, protocol, (first, last), _SWITCH_TABLE, end=end)


def _second_range(node: NodeSpec, profile: Profile) -> IPv6Range | None:
    """Return the range of pods' IPv6 addresses: in dual-stack clusters, or if the plugin assigns them anyway.

    In the latter case other nodes have no routes to them.
    """
    if switch_features(node, profile).dual_stack:
        return ipv6_range(node, profile)
    return unasked_range(node, profile) if profile.mechanism("unasked-ipv6", 0) else None
