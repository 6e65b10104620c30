"""GENEVE on the wire, of a kernel that knows VXLAN alone: the first half of each header is rewritten. Pure.

Both headers have eight bytes, and the network id at the same place. What differs is the first half: VXLAN has a
flag there (RFC 7348, section 5), GENEVE without options the type of what it carries, Ethernet (RFC 8926, section
3.4). A node's VXLAN device sends to GENEVE's port and sees its own header; packets on the wire, and captures of
them, have GENEVE's.
"""

from nettests.lab.network.tables import Chain, Table
from nettests.lab.topology.cluster import GENEVE_PORT

_VXLAN = 0x08000000
_ETHERNET = 0x00006558
_FIRST_HALF = "@th,64,32"


def geneve_table() -> Table:
    """Return the rules of the namespace in which packets are encapsulated, before they leave and after they came."""
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
