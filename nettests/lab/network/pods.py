"""Pods of one node: namespaces with one routed link each, addressed from the node's pod CIDR.

Common to both systems. A pod's link is routed, not bridged (/32 on both sides), so every packet
passes the connection tracking of the namespace that the link is attached to: the node's own on Linux,
the switch's on Windows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_network

from nettests.lab.interfaces import PodNetwork, PortMapping
from nettests.lab.network import addressing
from nettests.lab.network.namespace import NetworkNamespace, make_namespace
from nettests.lab.network.netlink import End, Netlink, anywhere, await_carrier, configure
from nettests.lab.topology import Address, Ipam, NodeSpec, Profile

_UNASKED = int(IPv6Address("fd00:dead::"))
"""Unique local addresses; the IPv4 range of the node's Pods tells nodes apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IPv6Range:
    """The network of the pods' IPv6 addresses on a node, and its gateway."""

    network: IPv6Network
    gateway: IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPorts:
    """How pods of a node are attached: to which namespace, with which gateway and settings."""

    node: NodeSpec
    attached_to: NetworkNamespace
    gateway: Address
    ipv6: IPv6Range | None
    gateway_on_port: bool
    """Whether the node's end of each link has the gateway address, as with the ptp plugin."""
    mtu: int
    settings: Mapping[str, int]
    ipam: Ipam = Ipam.HOST_LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    namespace: NetworkNamespace
    address: Address
    ipv6: IPv6Address | None
    port: str
    mappings: tuple[PortMapping, ...]

    @property
    def addresses(self) -> tuple[Address, ...]:
        return (self.address,) if self.ipv6 is None else (self.address, self.ipv6)


class Pods:
    """The pods of one node. Methods run on the worker thread."""

    def __init__(self, ports: PodPorts) -> None:
        self._ports = ports
        self._pool = addressing.pod_addresses(ports.node, ports.ipam)
        self._pods: dict[str, _Pod] = {}

    def attach(
        self, uid: str, mappings: Sequence[PortMapping] = (), wanted: Address | None = None
    ) -> PodNetwork:
        """Create the pod's namespace and link; the same ``uid`` returns the same network."""
        pod = self._pods.get(uid)
        if pod is None:
            pod = self._pods[uid] = self._make(uid, tuple(mappings), wanted)
        return PodNetwork(
            namespace=pod.namespace, address=pod.address, ipv6=pod.ipv6, gateway=self._ports.gateway
        )

    def detach(self, uid: str) -> None:
        """Remove the pod's link and release its namespace."""
        pod = self._pods.pop(uid, None)
        if pod is None:
            return
        with configure(self._ports.attached_to) as links:
            links.delete(pod.port)
        pod.namespace.close()
        self._pool.give_back(pod.address)

    def namespaces(self) -> Mapping[str, NetworkNamespace]:
        """Return the namespaces by pod ``uid``."""
        return {uid: pod.namespace for uid, pod in self._pods.items()}

    def addresses(self) -> Mapping[str, tuple[Address, ...]]:
        """Return the pods' addresses by pod ``uid``, the primary family's first."""
        return {uid: pod.addresses for uid, pod in self._pods.items()}

    def mappings(self) -> tuple[tuple[Address, PortMapping], ...]:
        """Return the host ports of all pods, once for each address of the pod."""
        return tuple(
            (address, mapping)
            for pod in self._pods.values()
            for address in pod.addresses
            for mapping in pod.mappings
        )

    def ports(self) -> Mapping[Address, str]:
        """Return the link that leads to each of the pods' addresses."""
        return {address: pod.port for pod in self._pods.values() for address in pod.addresses}

    def close(self) -> None:
        """Release all namespaces."""
        for pod in self._pods.values():
            pod.namespace.close()
        self._pods.clear()

    def _make(self, uid: str, mappings: tuple[PortMapping, ...], wanted: Address | None) -> _Pod:
        address = self._pool.take(wanted)
        port = "pod-{2}-{3}".format(*address.packed)
        pod = _Pod(
            namespace=make_namespace(f"{self._ports.node.name}/{uid}", dict(self._ports.settings)),
            address=address,
            ipv6=self._second(address),
            port=port,
            mappings=mappings,
        )
        self._connect(pod)
        return pod

    def _second(self, address: Address) -> IPv6Address | None:
        second = self._ports.ipv6
        if second is None:
            return None
        return second.network[int(address) - int(self._ports.node.pod_cidr.network_address)]

    def _connect(self, pod: _Pod) -> None:
        ports = self._ports
        near = End(namespace=ports.attached_to, name=pod.port, mac=addressing.GATEWAY_MAC)
        far = End(
            namespace=pod.namespace, name="eth0", mac=addressing.mac(ports.node.os, pod.address)
        )
        with configure(ports.attached_to) as links:
            links.veth(near, far, ports.mtu)
            for address, gateway in self._ways(pod):
                if ports.gateway_on_port:
                    links.address(pod.port, gateway)
                lead_to(links, pod.port, address, far.mac)
        connect_to_gateway(pod.namespace, self._ways(pod))
        await_carrier(near)

    def _ways(self, pod: _Pod) -> list[tuple[Address, Address]]:
        ways: list[tuple[Address, Address]] = [(pod.address, self._ports.gateway)]
        if pod.ipv6 is not None and self._ports.ipv6 is not None:
            ways.append((pod.ipv6, self._ports.ipv6.gateway))
        return ways


def lead_to(links: Netlink, port: str, address: Address, mac: str) -> None:
    """Route an address to the far end of a routed link, which has this MAC."""
    links.neighbours(port, [(address, mac)])
    links.route(ip_network(address), port)


def connect_to_gateway(
    namespace: NetworkNamespace, ways: Iterable[tuple[Address, Address]]
) -> None:
    """Configure the far end of a routed link: address and default route of each family."""
    with configure(namespace) as links:
        links.up("eth0")
        for address, gateway in ways:
            links.address("eth0", address)
            links.neighbours("eth0", [(gateway, addressing.GATEWAY_MAC)])
            links.route(anywhere(address), "eth0", via=gateway)


def ipv6_range(node: NodeSpec, profile: Profile) -> IPv6Range | None:
    """Return the range of IPv6 addresses for pods of ``node``; ``None`` in a single-stack cluster."""
    return None if node.ipv6 is None else _range(node, profile, node.ipv6.pod_cidr)


def unasked_range(node: NodeSpec, profile: Profile) -> IPv6Range:
    """Return the range of IPv6 addresses for pods of ``node`` in a cluster without IPv6."""
    second = IPv6Network((_UNASKED + (int(node.pod_cidr.network_address) << 64), 64))
    return _range(node, profile, second)


def _range(node: NodeSpec, profile: Profile, network: IPv6Network) -> IPv6Range:
    offset = int(addressing.pod_gateway(node, profile.cni)) - int(node.pod_cidr.network_address)
    return IPv6Range(network=network, gateway=network[offset])


def other_nodes(nodes: Iterable[NodeSpec], excluded: NodeSpec) -> list[NodeSpec]:
    """Return all nodes except ``excluded``."""
    return [node for node in nodes if node.name != excluded.name]
