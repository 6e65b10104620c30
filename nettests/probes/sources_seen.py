"""The addresses that a server may see of a node itself, when a process on it is the source. Pure.

``addresses`` and ``origin`` compare them with what a server reports.
"""

from nettests.model.facts import Address, NodeFacts
from nettests.model.words import OS


def seen_of(node: NodeFacts) -> tuple[Address, ...]:
    """Return the addresses that a server may see when the node itself is the source.

    They include the node's own, and on Linux the first two of its pod CIDR, which the pod bridge (``.1``) and
    Flannel's VXLAN interface (``.0``) hold; a pod never gets them. On Windows Antrea's gateway port has
    the first one.
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
