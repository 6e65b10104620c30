"""Flannel's VXLAN between the nodes' pod networks, for both systems; ``geneve`` gives it another header.

One device per node with the VNI and UDP port of the profile, no learning: each remote pod CIDR is
routed to the remote node's VTEP, whose MAC and outer address are written down (what flanneld does on
Linux, and HNS's RemoteSubnetRoute policies on Windows).
"""

from collections.abc import Iterable

from nettests.lab.network import addressing
from nettests.lab.network.netlink import MAIN_TABLE, Netlink, Vxlan
from nettests.lab.network.underlay import MTU
from nettests.lab.topology import NodeSpec, Profile

HEADER = 50
"""Bytes that VXLAN adds to each packet; Flannel takes them off the pods' MTU."""


def overlay_mtu() -> int:
    """Return the MTU inside the overlay."""
    return MTU - HEADER


def pod_mtu(profile: Profile) -> int:
    """Return the MTU of pods: that of the network below, less the overlay's own headers."""
    return overlay_mtu() if profile.cni.encapsulates else MTU


def vxlan_device(name: str, node: NodeSpec, profile: Profile) -> Vxlan:
    """Return the device of ``node``."""
    return Vxlan(
        name=name,
        vni=profile.cni.vni,
        port=profile.cni.tunnel_port,
        local=node.address,
        mac=addressing.vtep_mac(node),
        mtu=overlay_mtu(),
    )


def connect_pod_networks(
    links: Netlink, device: str, others: Iterable[NodeSpec], table: int = MAIN_TABLE
) -> None:
    """Route the pod CIDRs of the other nodes through the device, in ``table``."""
    peers = [(node, addressing.vtep(node), addressing.vtep_mac(node)) for node in others]
    links.neighbours(device, ((vtep, mac) for _, vtep, mac in peers))
    links.forwarding_entries(device, ((mac, node.address) for node, _, mac in peers))
    links.routes_through(device, ((node.pod_cidr, vtep) for node, vtep, _ in peers), table=table)
