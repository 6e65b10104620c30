"""VXLAN between the nodes' pod networks, as Flannel builds it on both systems, and GENEVE, made from it.

One device per node with the VNI and UDP port of the profile, without learning: each remote pod CIDR is
routed to the remote node's VTEP, whose MAC and outer address are static (as flanneld writes them on
Linux, and HNS's RemoteSubnetRoute policies on Windows).

GENEVE needs no kernel module: nft rewrites the first half of each VXLAN header. Both headers have eight
bytes and the network id at the same offset. In the first half VXLAN has a flag (RFC 7348, section 5), GENEVE
without options the type of its payload, Ethernet (RFC 8926, section 3.4). A node's VXLAN device sends to
GENEVE's port and sees VXLAN headers; packets on the wire, and captures of them, have GENEVE's.
"""

from collections.abc import Iterable

from nettests.lab.network import addressing
from nettests.lab.network.netlink import MAIN_TABLE, Netlink, Vxlan
from nettests.lab.network.tables import Chain, Table
from nettests.lab.network.underlay import MTU
from nettests.lab.topology import NodeSpec, Profile
from nettests.lab.topology.cluster import GENEVE_PORT

_VXLAN = 0x08000000
_ETHERNET = 0x00006558
_FIRST_HALF = "@th,64,32"
_HEADER = 50
"""Bytes that VXLAN adds to each packet; Flannel subtracts them from the pods' MTU."""


def pod_mtu(profile: Profile) -> int:
    """Return the MTU of pods: that of the underlay, less the overlay's headers."""
    return MTU - _HEADER if profile.cni.encapsulates else MTU


def vxlan_device(name: str, node: NodeSpec, profile: Profile) -> Vxlan:
    """Return the VXLAN device of ``node``."""
    return Vxlan(
        name=name,
        vni=profile.cni.vni,
        port=profile.cni.tunnel_port,
        local=node.address,
        mac=addressing.vtep_mac(node),
        mtu=MTU - _HEADER,
    )


def connect_pod_networks(
    links: Netlink, device: str, others: Iterable[NodeSpec], table: int = MAIN_TABLE
) -> None:
    """Route the pod CIDRs of the other nodes through the device, in ``table``."""
    peers = [(node, addressing.vtep(node), addressing.vtep_mac(node)) for node in others]
    links.neighbours(device, ((vtep, mac) for _, vtep, mac in peers))
    links.forwarding_entries(device, ((mac, node.address) for node, _, mac in peers))
    links.routes_through(device, ((node.pod_cidr, vtep) for node, vtep, _ in peers), table=table)


def geneve_table() -> Table:
    """Return the rules that turn VXLAN headers into GENEVE's on output, and back on input."""
    of_tunnels = f"udp dport {GENEVE_PORT} {_FIRST_HALF}"
    return Table(
        name="geneve",
        chains={
            "leaving": Chain(
                hook="type filter hook output priority -150",
                rules=(f"{of_tunnels} {_VXLAN:#010x} {_FIRST_HALF} set {_ETHERNET:#010x}",),
            ),
            "arriving": Chain(
                hook="type filter hook input priority -150",
                rules=(f"{of_tunnels} {_ETHERNET:#010x} {_FIRST_HALF} set {_VXLAN:#010x}",),
            ),
        },
    )
