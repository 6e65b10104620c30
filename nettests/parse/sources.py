"""Classify the address a server saw: client pod, a node, kube-proxy's source VIP, or other.

The addresses to compare with are recorded with each answer (``Raw.context``), so that a journal can
be read again without the cluster.
"""

import ipaddress
from collections.abc import Mapping

from nettests.model.words import SourceSeen, VantageKind

_KEYS = (
    ("client-pod", SourceSeen.CLIENT_POD),
    ("client-node", SourceSeen.CLIENT_NODE),
    ("source-vip", SourceSeen.SOURCE_VIP),
    ("target-node", SourceSeen.TARGET_NODE),
)
"""The first match wins: if both ends are on one node, the client's node comes before the target's."""


def classify_source(
    address: str, context: Mapping[str, str], vantage: VantageKind = VantageKind.POD
) -> SourceSeen:
    """Return whose ``address`` is; a node vantage's pod has its node's, and counts as the node."""
    for key, seen in _KEYS:
        if key == "client-pod" and vantage is VantageKind.NODE:
            continue
        if same_address(address, context.get(key, "")):
            return seen
    # The address of an external client is unknown here, and may have been translated on the way;
    # what counts is that the cluster did not replace it by one of its own.
    inside = context.get("cluster", "")
    if vantage is VantageKind.EXTERNAL and inside and not _within(address, inside):
        return SourceSeen.EXTERNAL_CLIENT
    return SourceSeen.OTHER


def _within(address: str, networks: str) -> bool:
    wanted = ipaddress.ip_address(address)
    return any(wanted in ipaddress.ip_network(part) for part in networks.split(","))


def same_address(address: str, candidates: str) -> bool:
    """Whether ``address`` equals one of the comma-separated ``candidates``, in any notation."""
    wanted = ipaddress.ip_address(address)
    listed = (part.strip() for part in candidates.split(","))
    return any(ipaddress.ip_address(part) == wanted for part in listed if part)
