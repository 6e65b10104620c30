"""The nodes' own network: a switch between nodes, the gateway, and two external hosts.

The gateway forwards between nodes and outside. It has no routes to pods and Services, except to announced
load balancer addresses; other packets to pod and Service networks are dropped silently.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_network

from nettests.lab.network import addressing, nft
from nettests.lab.network.namespace import FORWARDING, IPV6, NetworkNamespace, make_namespace
from nettests.lab.network.netlink import ANY, End, Netlink, anywhere, await_carrier, configure
from nettests.lab.network.tables import Chain, Table, render
from nettests.lab.topology import OS, Address, Profile

MTU = 1500
METADATA = IPv4Address("169.254.169.254")
"""The metadata address of clouds; nothing answers there without the mechanism ``cloud-metadata``."""
_VXLAN = 4789
_BRIDGE = "underlay"
_OUTSIDE_BRIDGE = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Underlay:
    """The namespaces between the nodes and outside, and the MACs on the node network."""

    wire: NetworkNamespace
    gateway: NetworkNamespace
    outside_server: NetworkNamespace
    outside_client: NetworkNamespace
    macs: Mapping[Address, str]
    """MAC of every address on the node network."""

    def namespaces(self) -> tuple[NetworkNamespace, ...]:
        """Return all namespaces."""
        return (self.wire, self.gateway, self.outside_server, self.outside_client)

    def close(self) -> None:
        """Release all namespaces."""
        for namespace in self.namespaces():
            namespace.close()

    def port(self, address: Address) -> str:
        """Return the name of the bridge port that leads to ``address``."""
        return f"to-{str(address).replace('.', '-')}"[:15]

    def join_quietly(self, links: Netlink, device: str) -> None:
        """Make ``device`` a port of the bridge without learning and flooding."""
        links.enslave(device, _BRIDGE)
        links.silence_port(device)
        links.up(device)

    def plug(self, namespace: NetworkNamespace, link: str, address: Address) -> None:
        """Connect the machine at ``address`` to the bridge, and set its neighbours' MACs."""
        port = self.port(address)
        with configure(self.wire) as wire:
            near = End(namespace=self.wire, name=port, mac=addressing.port_mac(address))
            far = End(namespace=namespace, name=link, mac=self.macs[address])
            wire.veth(near, far, MTU)
            wire.enslave(port, _BRIDGE)
        with configure(namespace) as links:
            links.up(link)
            own_mac = self.macs[address]
            others = ((other, mac) for other, mac in self.macs.items() if mac != own_mac)
            links.neighbours(link, others)
        await_carrier(near)


def build_underlay(profile: Profile) -> Underlay:
    """Create bridge, gateway and external hosts. On the worker thread only."""
    underlay = Underlay(
        wire=make_namespace("underlay"),
        gateway=make_namespace("gateway", {**settings_for(profile), **FORWARDING}),
        outside_server=make_namespace("outside-server"),
        outside_client=make_namespace("outside-client"),
        macs=_macs(profile),
    )
    with configure(underlay.wire) as wire:
        wire.bridge(_BRIDGE)
    if profile.mechanism("underlay-vxlan", 0):
        nft.load(underlay.wire.fd, render(_own_overlay()))
    _wire_gateway(underlay, profile)
    _wire_outside(underlay, profile)
    return underlay


def _own_overlay() -> Table:
    """Return the rule of a hypervisor that uses the VXLAN port itself, as vSphere may.

    It drops its machines' datagrams to that port.
    """
    taken = f"ip protocol udp udp dport {_VXLAN} drop"
    chain = Chain(hook="type filter hook forward priority 0", rules=(taken,))
    return Table(name="virtualisation", family="bridge", chains={"overlay": chain})


def settings_for(profile: Profile) -> dict[str, int]:
    """Return the settings of a namespace on the cluster's networks: IPv6 is off unless it is used."""
    used = profile.ipv6 is not None or profile.mechanism("unasked-ipv6", 0)
    return dict(IPV6) if used else {}


def gateway_of(profile: Profile) -> Address:
    """Return the gateway's address, in the family of ``profile``."""
    return profile.node_network[1]


def _macs(profile: Profile) -> dict[Address, str]:
    gateway = addressing.mac(OS.LINUX, gateway_of(profile))
    nodes = {node.name: addressing.mac(node.os, node.address) for node in profile.nodes}
    return {
        address: mac
        for family in profile.by_family
        for address, mac in (
            (gateway_of(family), gateway),
            *((node.address, nodes[node.name]) for node in family.nodes),
        )
    }


def deliver(
    underlay: Underlay, before: Mapping[Address, Address], wanted: Mapping[Address, Address]
) -> None:
    """Route load balancer addresses to nodes instead of as ``before``. On the worker thread only."""
    with configure(underlay.gateway) as gateway:
        for gone in before.keys() - wanted.keys():
            gateway.forget(ip_network(gone))
        for address, node in wanted.items():
            if before.get(address) != node:
                gateway.lead(ip_network(address), "eth0", node)


def _wire_gateway(underlay: Underlay, profile: Profile) -> None:
    underlay.plug(underlay.gateway, "eth0", gateway_of(profile))
    with configure(underlay.gateway) as gateway:
        for family in profile.by_family:
            gateway_address = gateway_of(family)
            gateway.address("eth0", gateway_address, family.node_network.prefixlen)
            nowhere = {family.cluster_cidr, family.service_cidr, anywhere(gateway_address)}
            for unknown in nowhere - {family.node_network}:
                gateway.blackhole(unknown)
        gateway.bridge(_OUTSIDE_BRIDGE)
        gateway.address(
            _OUTSIDE_BRIDGE, profile.outside_network[1], profile.outside_network.prefixlen
        )
    if profile.cluster_cidr == profile.node_network:
        _know_pods(underlay, profile)


def _know_pods(underlay: Underlay, profile: Profile) -> None:
    """Route pod addresses, as the fabric of a cloud's virtual network does, but not from outside.

    Outside, only translated packets get answers.
    """
    with configure(underlay.gateway) as gateway:
        gateway.routes_through("eth0", ((node.pod_cidr, node.address) for node in profile.nodes))
    pods = ", ".join(str(node.pod_cidr) for node in profile.nodes)
    private = f'iifname "{_OUTSIDE_BRIDGE}" ip daddr {{ {pods} }} drop'
    chain = Chain(hook="type filter hook forward priority 0", rules=(private,))
    nft.load(underlay.gateway.fd, render(Table(name="fabric", chains={"private": chain})))


def _wire_outside(underlay: Underlay, profile: Profile) -> None:
    hosts = (
        (underlay.outside_server, "server", profile.outside_server),
        (underlay.outside_client, "client", profile.outside_client),
    )
    for namespace, port, address in hosts:
        with configure(underlay.gateway) as gateway:
            near = End(namespace=underlay.gateway, name=port, mac=addressing.port_mac(address))
            far = End(namespace=namespace, name="eth0", mac=addressing.mac(OS.LINUX, address))
            gateway.veth(near, far, MTU)
            gateway.enslave(port, _OUTSIDE_BRIDGE)
        with configure(namespace) as links:
            links.up("eth0")
            links.address("eth0", address, profile.outside_network.prefixlen)
            links.route(ANY, "eth0", via=profile.outside_network[1])
        await_carrier(near)
    if profile.mechanism("cloud-metadata", 0):
        with configure(underlay.gateway) as gateway:
            gateway.lead(ip_network(METADATA), _OUTSIDE_BRIDGE, profile.outside_server)
        with configure(underlay.outside_server) as links:
            links.address("eth0", METADATA, 32)
