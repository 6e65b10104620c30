"""The addresses that servers may see when the client is a process on a node itself. Pure.

``addresses`` and ``origin`` compare them with what a server reports.
"""

from nettests.model.facts import Address, NodeFacts
from nettests.model.words import OS


def seen_of(node: NodeFacts) -> tuple[Address, ...]:
    """Return the source addresses that a server may see for the node itself.

    They are the node's own, and on Linux the first two of its pod CIDR: the pod bridge's (``.1``)
    and that of Flannel's VXLAN interface (``.0``), which no pod gets. On Windows, Antrea's gateway
    has ``.1``.
    """
    if node.os is not OS.LINUX:
        return node.addresses + _gateway_port(node)
    return node.addresses + tuple(
        network.network_address + offset for network in node.pod_cidrs for offset in (1, 0)
    )


def _gateway_port(node: NodeFacts) -> tuple[Address, ...]:
    if node.cni_driver.value != "transparent":
        return ()
    return tuple(network.network_address + 1 for network in node.pod_cidrs)
