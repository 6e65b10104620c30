"""A Linux node: one namespace with its network card, Flannel's routes and kube-proxy's rules.

Pods are attached to the host's namespace by routed links; other nodes' pods are reached by host routes
(host-gw) or through ``flannel.1`` (vxlan).
"""

from functools import partial

from nettests.lab.network import addressing, conntrack, nft, overlay
from nettests.lab.network.host_ports import HostPorts, portmap_table
from nettests.lab.network.namespace import (
    FORWARDING,
    LIMITED_ERRORS,
    NetworkNamespace,
    Worker,
    make_namespace,
)
from nettests.lab.network.netlink import Netlink, anywhere, configure
from nettests.lab.network.nftables_proxy import TABLE, PortRules, kube_proxy_table, port_rules
from nettests.lab.network.node import Node
from nettests.lab.network.pods import PodPorts, Pods, ipv6_range, other_nodes
from nettests.lab.network.services import PerObject, carried, without_terminating
from nettests.lab.network.tables import Chain, Table, render, word
from nettests.lab.network.thresholds import terminating_endpoints
from nettests.lab.network.underlay import Underlay, gateway_of, settings_for
from nettests.lab.topology import (
    GENEVE,
    Network,
    NodeSpec,
    Profile,
    ServicePort,
    ServiceTable,
    of_family,
)

VXLAN_DEVICE = "flannel.1"
_MULTICAST = {"ip": "224.0.0.0/4", "ip6": "ff00::/8"}


class LinuxServices:
    """kube-proxy in nftables mode on one node, in one family. On the worker thread only."""

    def __init__(
        self, name: str, host: NetworkNamespace, family: Profile, forgetting: conntrack.Forgetting
    ) -> None:
        self._forgetting = forgetting
        self._node = family.node(name)
        self._host = host
        self._cluster_cidr = family.cluster_cidr
        self._terminating = terminating_endpoints(family)
        self._services: ServiceTable = ()
        self._of_ports = PerObject[ServicePort, PortRules](
            lambda port: port_rules(port, self._node, self._cluster_cidr)
        )
        self._rules = nft.LoadedTable(host, Table(name=TABLE, family=word(self._node.address)))

    def program(self, table: ServiceTable) -> None:
        """Load the rules for ``table``, then delete the conntrack entries that the change makes stale."""
        services = carried(of_family(table, self._node.address))
        if not self._terminating:
            services = without_terminating(services)
        self._rules.change_to(kube_proxy_table(services, node=self._node, rules=self._of_ports))
        old, self._services = self._services, services
        address, udp = self._node.address, self._forgetting.udp
        conntrack.forget_changes(self._host.fd, old, services, address, udp=udp)


def build_linux_node(node: NodeSpec, profile: Profile, underlay: Underlay, worker: Worker) -> Node:
    """Create a Linux node's namespace and connect it. On the worker thread only."""
    # route_localnet, as portmap sets it: packets from loopback addresses may be routed to a pod.
    settings = {
        **settings_for(profile),
        **FORWARDING,
        **LIMITED_ERRORS,
        "ipv4/conf/all/route_localnet": 1,
    }
    host = make_namespace(f"{node.name}/host", settings)
    underlay.plug(host, "eth0", node.address)
    if profile.cni.backend == GENEVE:
        nft.load(host.fd, render(overlay.geneve_table()))
    for family in profile.by_family:
        _build_family(family.node(node.name), family, host)
    pods = Pods(
        PodPorts(
            node=node,
            attached_to=host,
            gateway=addressing.pod_gateway(node, profile.cni),
            ipv6=ipv6_range(node, profile),
            gateway_on_port=not addressing.points_to_node(profile.cni),
            mtu=overlay.pod_mtu(profile),
            settings={**settings_for(profile), **LIMITED_ERRORS},
        )
    )
    forgetting = conntrack.Forgetting()
    services = [LinuxServices(node.name, host, family, forgetting) for family in profile.by_family]

    def program(table: ServiceTable) -> None:
        for of_one_family in services:
            of_one_family.program(table)

    return Node(
        spec=node,
        host=host,
        switch=None,
        source_vip=None,
        pods=pods,
        host_ports=[
            HostPorts(host, partial(portmap_table, node_address=address), like=address)
            for address in (family.node(node.name).address for family in profile.by_family)
        ],
        program=program,
        worker=worker,
        forgetting=forgetting,
    )


def _build_family(node: NodeSpec, profile: Profile, host: NetworkNamespace) -> None:
    with configure(host) as links:
        links.address("eth0", node.address, profile.node_network.prefixlen)
        links.route(anywhere(node.address), "eth0", via=gateway_of(profile))
        links.unreachable(node.pod_cidr)
        _reach_other_pods(links, node, profile)
    masquerade = _masquerade(cluster_cidr=profile.cluster_cidr, pod_cidr=node.pod_cidr)
    nft.load(host.fd, render(masquerade))


def _reach_other_pods(links: Netlink, node: NodeSpec, profile: Profile) -> None:
    others = other_nodes(profile.nodes, node)
    if not profile.cni.encapsulates:
        links.routes_through("eth0", ((other.pod_cidr, other.address) for other in others))
        return
    links.vxlan(overlay.vxlan_device(VXLAN_DEVICE, node, profile))
    links.address(VXLAN_DEVICE, addressing.vtep(node))
    links.up(VXLAN_DEVICE)
    overlay.connect_pod_networks(links, VXLAN_DEVICE, others)


def _masquerade(*, cluster_cidr: Network, pod_cidr: Network) -> Table:
    """Return Flannel's ``--ip-masq`` rules in one family: pods leave with the node's address, ICMP too."""
    ip = word(pod_cidr.network_address)
    rules = (
        f"{ip} saddr {cluster_cidr} {ip} daddr {cluster_cidr} return",
        f"{ip} saddr {cluster_cidr} {ip} daddr != {_MULTICAST[ip]} masquerade fully-random",
        f"{ip} saddr != {cluster_cidr} {ip} daddr {pod_cidr} return",
        f"{ip} saddr != {cluster_cidr} {ip} daddr {cluster_cidr} masquerade fully-random",
    )
    hook = "type nat hook postrouting priority 110"
    return Table(name="flannel", family=ip, chains={"masquerading": Chain(hook=hook, rules=rules)})
