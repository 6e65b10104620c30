"""A Linux node: one namespace with its network card, Flannel's routes and kube-proxy's rules.

Pods hang on routed links of the host's namespace; other nodes' pods are reached by host routes
(host-gw) or through ``flannel.1`` (vxlan).
"""

from ipaddress import IPv4Network

from nettests.lab.network import addressing, conntrack, nft
from nettests.lab.network.kube_proxy_rules import TABLE, flannel_table, kube_proxy_table
from nettests.lab.network.namespace import NetworkNamespace, Worker, make_namespace
from nettests.lab.network.netlink import ANY, Netlink, configure
from nettests.lab.network.node import Node
from nettests.lab.network.overlay import connect_pod_networks, pod_mtu, vxlan_device
from nettests.lab.network.pods import PodPorts, Pods, other_nodes
from nettests.lab.network.tables import Table, render
from nettests.lab.network.underlay import Underlay
from nettests.lab.topology import NodeSpec, Plugin, Profile, ServiceTable

_DEVICE = "flannel.1"


class LinuxServices:
    """kube-proxy in nftables mode on one node. On the worker thread only."""

    def __init__(self, node: NodeSpec, host: NetworkNamespace, cluster_cidr: IPv4Network) -> None:
        self._node = node
        self._host = host
        self._cluster_cidr = cluster_cidr
        self._services: ServiceTable = ()
        self._rules = nft.LoadedTable(host, Table(name=TABLE))

    def program(self, services: ServiceTable) -> None:
        """Bring the rules in force to ``services``, then forget the flows that the change ends."""
        self._rules.change_to(
            kube_proxy_table(services, node=self._node, cluster_cidr=self._cluster_cidr)
        )
        gone = conntrack.removed_udp_flows(self._services, services, self._node.address)
        added = conntrack.added_frontends(self._services, services, self._node.address)
        self._services = services
        conntrack.forget_removed(self._host.fd, gone)
        conntrack.forget_untranslated(self._host.fd, added)


def build_linux_node(node: NodeSpec, profile: Profile, underlay: Underlay, worker: Worker) -> Node:
    """Make a Linux node's namespace and wire it. On the worker thread only."""
    overlay = profile.cni.backend == "vxlan"
    host = make_namespace(f"{node.name}/host", {"ipv4/ip_forward": 1})
    underlay.plug(host, "eth0", node.address)
    with configure(host) as links:
        links.address("eth0", node.address, profile.node_network.prefixlen)
        links.route(ANY, "eth0", via=underlay.gateway_address)
        links.unreachable(node.pod_cidr)
        _reach_other_pods(links, node, profile, overlay=overlay)
    masquerade = flannel_table(cluster_cidr=profile.cluster_cidr, pod_cidr=node.pod_cidr)
    nft.load(host.fd, render(masquerade))
    pods = Pods(
        PodPorts(
            node=node,
            attached_to=host,
            gateway=addressing.pod_gateway(node, profile.cni),
            gateway_on_port=profile.cni.plugin is not Plugin.AZURE,
            mtu=pod_mtu(profile),
            settings={},
        )
    )
    services = LinuxServices(node, host, profile.cluster_cidr)
    return Node(
        spec=node,
        host=host,
        switch=None,
        source_vip=None,
        pods=pods,
        program=services.program,
        worker=worker,
    )


def _reach_other_pods(links: Netlink, node: NodeSpec, profile: Profile, *, overlay: bool) -> None:
    others = other_nodes(profile.nodes, node)
    if not overlay:
        for other in others:
            links.route(other.pod_cidr, "eth0", via=other.address)
        return
    links.vxlan(vxlan_device(_DEVICE, node, profile))
    links.address(_DEVICE, addressing.vtep(node))
    links.up(_DEVICE)
    connect_pod_networks(links, _DEVICE, others)
