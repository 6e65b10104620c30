"""A Windows node: a switch with rules on its ports, to which host and pods are attached as peers.

The switch's namespace is HNS and VFP, the host's namespace is Windows itself. That they are two is
what makes the documented limitations come about: the host's packets pass the switch by the host's
own port, where no ClusterIP rule sits. The node's address belongs to the host; on the wire the
switch answers for it with the host's MAC (l2bridge rewrites MACs).
"""

from ipaddress import IPv4Address, IPv4Network

from nettests.lab.network import addressing, conntrack, nft
from nettests.lab.network.hns import NodeHns
from nettests.lab.network.load_balancers import (
    LoadBalancer,
    Port,
    Source,
    load_balancers,
    refused_frontends,
)
from nettests.lab.network.namespace import NetworkNamespace, Worker, make_namespace
from nettests.lab.network.netlink import ANY, End, Netlink, configure, host
from nettests.lab.network.node import Node
from nettests.lab.network.overlay import connect_pod_networks, pod_mtu, vxlan_device
from nettests.lab.network.pods import PodPorts, Pods, connect_to_gateway, other_nodes
from nettests.lab.network.portals import Portals
from nettests.lab.network.switch_rules import (
    ENCAPSULATE,
    TO_FABRIC,
    load_balancers_table,
    ports_table,
    stealth_table,
)
from nettests.lab.network.tables import Table, render
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.network.underlay import MTU, Underlay
from nettests.lab.topology import NodeSpec, Profile, ServiceTable

_TTL = {"ipv4/ip_default_ttl": 128}
_DEVICE = "vxlan"
_VXLAN_TABLE = 100
_SWITCH_TABLE = 101
_FABRIC_TABLE = 102
_NODE_PORTS = (30000, 32767)
_TCP, _UDP = 6, 17


class WindowsServices:
    """kube-proxy in kernelspace mode on one node. On the worker thread only."""

    def __init__(self, node: NodeSpec, profile: Profile, switch: NetworkNamespace) -> None:
        self._node = node
        self._profile = profile
        self._switch = switch
        self._services: ServiceTable = ()
        self.policies: tuple[LoadBalancer, ...] = ()
        """The load balancers in force."""
        self._rules = nft.LoadedTable(switch, Table(name="hns"))

    def program(self, services: ServiceTable) -> None:
        """Bring the switch's policies to ``services``; flows to a backend go on as they are."""
        policies = load_balancers(services, self._node, self._profile)
        self._rules.change_to(
            load_balancers_table(
                policies,
                node_address=self._node.address,
                source_vip=addressing.source_vip(self._node, self._profile.cni),
                loopback=self._loopback(policies),
                refused=refused_frontends(services, self._node, self._profile),
            )
        )
        self.policies = policies
        added = conntrack.added_frontends(self._services, services, self._node.address)
        self._services = services
        conntrack.forget_untranslated(self._switch.fd, added)

    def _loopback(self, policies: tuple[LoadBalancer, ...]) -> list[IPv4Address]:
        """Local pods whose DSR flows to themselves the CNI plugin's loopbackDSR makes work."""
        if not switch_features(self._node, self._profile).loopback_dsr:
            return []
        direct = (policy for policy in policies if policy.source is Source.KEPT)
        local = {
            backend
            for policy in direct
            for backend in policy.backends
            if backend in self._node.pod_cidr
        }
        return sorted(local)


class HostAddresses:
    """kube-proxy in userspace mode: every ClusterIP is an address of the host. On the worker thread only."""

    def __init__(self, machine: NetworkNamespace) -> None:
        self._machine = machine
        self._held: frozenset[IPv4Address] = frozenset()

    def program(self, services: ServiceTable) -> None:
        """Give the host the addresses of ``services``, and take those of others."""
        wanted = frozenset(service.cluster_ip for service in services)
        with configure(self._machine) as links:
            for address in sorted(self._held - wanted):
                links.drop_address("lo", address)
            for address in sorted(wanted - self._held):
                links.address("lo", address)
        self._held = wanted


def build_windows_node(
    node: NodeSpec, profile: Profile, underlay: Underlay, worker: Worker
) -> Node:
    """Make a Windows node's host and switch and wire them. On the worker thread only."""
    features = switch_features(node, profile)
    accept = {"ipv4/conf/all/accept_local": int(features.local_routed_vip)}
    machine = make_namespace(f"{node.name}/host", {**_TTL, **accept})
    switch = make_namespace(f"{node.name}/switch", {"ipv4/ip_forward": 1})
    underlay.plug(switch, Port.UPLINK, node.address)
    _connect_host(node, machine, switch)
    with configure(switch) as links:
        links.route(profile.node_network, Port.UPLINK)
        links.route(ANY, Port.UPLINK, via=underlay.gateway_address)
    if features.overlay:
        _build_overlay(node, profile, machine, switch)
    else:
        with configure(switch) as links:
            for other in other_nodes(profile.nodes, node):
                links.route(other.pod_cidr, Port.UPLINK, via=other.address)
    if features.tunnel:
        _build_tunnel(node, switch, underlay)
    if features.user_mode:
        with configure(switch) as links:
            links.route(profile.service_cidr, Port.HOST, via=node.address)
    if features.local_routed_vip:
        with configure(machine) as links:
            _route_own_node_ports(links, node)
    if features.stealth:
        nft.load(machine.fd, render(stealth_table()))
    nft.load(switch.fd, _ports_ruleset(node, profile, features))
    pods = Pods(_pod_ports(node, profile, switch))
    services = WindowsServices(node, profile, switch)
    own = HostAddresses(machine)
    return Node(
        spec=node,
        host=machine,
        switch=switch,
        source_vip=addressing.source_vip(node, profile.cni),
        pods=pods,
        program=own.program if features.user_mode else services.program,
        worker=worker,
        hns=NodeHns(
            node=node,
            profile=profile,
            exceptions=nat_exceptions(profile),
            pods=pods.addresses,
            policies=lambda: services.policies,
        ),
        portals=Portals(machine) if features.user_mode else None,
    )


def _connect_host(node: NodeSpec, machine: NetworkNamespace, switch: NetworkNamespace) -> None:
    mac = addressing.mac(node.os, node.address)
    with configure(switch) as links:
        near = End(namespace=switch, name=Port.HOST, mac=addressing.GATEWAY_MAC)
        links.veth(near, End(namespace=machine, name="eth0", mac=mac), MTU)
        links.neighbour(Port.HOST, node.address, mac)
        links.route(host(node.address), Port.HOST)
    connect_to_gateway(machine, node.address, addressing.POINT_TO_POINT)


def _build_tunnel(node: NodeSpec, switch: NetworkNamespace, underlay: Underlay) -> None:
    """L2tunnel: what pods send goes to the fabric, which knows where every pod is."""
    with configure(switch) as links:
        links.blackhole(node.pod_cidr)
        links.route(ANY, Port.UPLINK, via=underlay.gateway_address, table=_FABRIC_TABLE)
        links.route_marked(TO_FABRIC, _FABRIC_TABLE)


def _build_overlay(
    node: NodeSpec, profile: Profile, machine: NetworkNamespace, switch: NetworkNamespace
) -> None:
    """Encapsulation ends in the switch; outer packets are the host's, so they carry its address.

    The routes sit in a table of their own: the host's packets never see it, which is why a Windows
    node does not reach remote pods over the overlay.
    """
    with configure(machine) as links:
        links.vxlan(vxlan_device(_DEVICE, node, profile), into=switch)
    with configure(switch) as links:
        links.up(_DEVICE)
        connect_pod_networks(links, _DEVICE, other_nodes(profile.nodes, node), table=_VXLAN_TABLE)
        links.route_marked(ENCAPSULATE, _VXLAN_TABLE)


def _route_own_node_ports(links: Netlink, node: NodeSpec) -> None:
    """LocalRoutedVIP: what the host sends to a NodePort of its own address visits the switch.

    The kernel would deliver it at once; the packet comes back with the host's own address as source.
    """
    links.route(ANY, "eth0", via=addressing.POINT_TO_POINT, table=_SWITCH_TABLE)
    links.demote_local_table()
    for protocol in (_TCP, _UDP):
        links.route_own_ports(node.address, protocol, _NODE_PORTS, _SWITCH_TABLE)


def nat_exceptions(profile: Profile) -> tuple[IPv4Network, ...]:
    """OutBoundNAT's exceptions: without an overlay the nodes' network too, since it can route back."""
    nodes = () if profile.cni.backend == "vxlan" else (profile.node_network,)
    own = (profile.cluster_cidr, profile.service_cidr, *nodes)
    return (*own, *profile.cni.nat_exceptions)


def _ports_ruleset(node: NodeSpec, profile: Profile, features: SwitchFeatures) -> str:
    table = ports_table(
        node_address=node.address,
        pod_cidr=node.pod_cidr,
        service_cidr=profile.service_cidr,
        exceptions=nat_exceptions(profile),
        features=features,
        pods_elsewhere=[other.pod_cidr for other in other_nodes(profile.nodes, node)],
    )
    return render(table)


def _pod_ports(node: NodeSpec, profile: Profile, switch: NetworkNamespace) -> PodPorts:
    return PodPorts(
        node=node,
        attached_to=switch,
        gateway=addressing.pod_gateway(node, profile.cni),
        gateway_on_port=False,
        mtu=pod_mtu(profile),
        settings=_TTL,
    )
