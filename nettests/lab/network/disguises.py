"""Rules that make a node's packets look otherwise on the wire than servers see them. Pure renderers.

``node_faults`` says at which devices they are in force: one where packets leave the node, its reverse where they come in.
"""

from collections.abc import Mapping

from nettests.lab.topology import Address

BITS_TO_VNI = 8 * (8 + 4)
"""From the outer UDP header to the network id of VXLAN and GENEVE: the header itself, then flags."""


def sources(addresses: Mapping[Address, Address]) -> str:
    """Return the rule that replaces source addresses, for each pair the first by the second."""
    pairs = ", ".join(f"{address} : {other}" for address, other in addresses.items())
    matched = ", ".join(map(str, addresses))
    return f"ip saddr {{ {matched} }} ip saddr set ip saddr map {{ {pairs} }}"


def macs(of: Mapping[Address, str]) -> str:
    """Return the rule that gives each address's packets a source MAC address."""
    pairs = ", ".join(f"{address} : {mac}" for address, mac in of.items())
    matched = ", ".join(map(str, of))
    return f"ip saddr {{ {matched} }} ether saddr set ip saddr map {{ {pairs} }}"


def network_id(port: int, old: int, new: int) -> str:
    """Return the rule that gives packets of a tunnel another network id."""
    return f"udp dport {port} @th,{BITS_TO_VNI},24 {old} @th,{BITS_TO_VNI},24 set {new}"
