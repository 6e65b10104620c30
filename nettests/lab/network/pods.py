"""Pods of one node: namespaces with one routed link each, addressed from the node's pod CIDR.

Common to both systems. A pod's link is routed, not bridged (/32 on both sides), so every packet
passes the connection tracking of the namespace it is attached to: the node's own on Linux, the
switch on Windows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from nettests.lab.interfaces import PodNetwork
from nettests.lab.network import addressing
from nettests.lab.network.namespace import NetworkNamespace, make_namespace
from nettests.lab.network.netlink import ANY, End, configure, host
from nettests.lab.topology import NodeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPorts:
    """How pods of a node are attached: to which namespace, with which gateway and settings."""

    node: NodeSpec
    attached_to: NetworkNamespace
    gateway: IPv4Address
    gateway_on_port: bool
    """The pod's gateway address sits on the node's end of each link (the ptp plugin's manner)."""
    mtu: int
    settings: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    namespace: NetworkNamespace
    address: IPv4Address
    port: str


class Pods:
    """The pods of one node. Methods run on the worker thread."""

    def __init__(self, ports: PodPorts) -> None:
        self._ports = ports
        self._pool = addressing.pod_addresses(ports.node)
        self._pods: dict[str, _Pod] = {}

    def attach(self, uid: str) -> PodNetwork:
        """Make the pod's namespace and link; the same ``uid`` again returns the same network."""
        pod = self._pods.get(uid)
        if pod is None:
            pod = self._pods[uid] = self._make(uid)
        return PodNetwork(namespace=pod.namespace, address=pod.address, gateway=self._ports.gateway)

    def detach(self, uid: str) -> None:
        """Remove the pod's link and let go of its namespace."""
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

    def addresses(self) -> Mapping[str, IPv4Address]:
        """Return the pods' addresses by pod ``uid``."""
        return {uid: pod.address for uid, pod in self._pods.items()}

    def close(self) -> None:
        """Let go of all namespaces."""
        for pod in self._pods.values():
            pod.namespace.close()
        self._pods.clear()

    def _make(self, uid: str) -> _Pod:
        address = self._pool.take()
        port = "pod-{2}-{3}".format(*address.packed)
        pod = _Pod(
            namespace=make_namespace(f"{self._ports.node.name}/{uid}", dict(self._ports.settings)),
            address=address,
            port=port,
        )
        self._connect(pod)
        return pod

    def _connect(self, pod: _Pod) -> None:
        ports = self._ports
        near = End(namespace=ports.attached_to, name=pod.port, mac=addressing.GATEWAY_MAC)
        far = End(
            namespace=pod.namespace,
            name="eth0",
            mac=addressing.mac(ports.node.os, pod.address),
        )
        with configure(ports.attached_to) as links:
            links.veth(near, far, ports.mtu)
            if ports.gateway_on_port:
                links.address(pod.port, ports.gateway)
            links.neighbour(pod.port, pod.address, far.mac)
            links.route(host(pod.address), pod.port)
        connect_to_gateway(pod.namespace, pod.address, ports.gateway)


def connect_to_gateway(
    namespace: NetworkNamespace, address: IPv4Address, gateway: IPv4Address
) -> None:
    """Configure the far end of a routed link: one address, everything through one gateway."""
    with configure(namespace) as links:
        links.up("eth0")
        links.address("eth0", address)
        links.neighbour("eth0", gateway, addressing.GATEWAY_MAC)
        links.route(ANY, "eth0", via=gateway)


def other_nodes(nodes: Iterable[NodeSpec], own: NodeSpec) -> list[NodeSpec]:
    """Return the nodes but ``own``."""
    return [node for node in nodes if node.name != own.name]
