"""Whose address a server saw: the client pod's, a node's, kube-proxy's source VIP, or an unknown one.

Used while merging a check's attempts. The addresses to compare with were recorded with each answer (``Raw.context``),
so a journal can be read again without the cluster.
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
"""The first match wins: on one node the client's node is also the target's node."""


def classify_source(
    address: str, context: Mapping[str, str], vantage: VantageKind = VantageKind.POD
) -> SourceSeen:
    """Say whose ``address`` is; a node vantage's own pod has the node's address, so the node wins."""
    for key, seen in _KEYS:
        if key == "client-pod" and vantage is VantageKind.NODE:
            continue
        if same_address(address, context.get(key, "")):
            return seen
    # An outside client's own address is known to nobody here, who may have been translated on the way;
    # what counts is that no part of the cluster put its own in the place.
    inside = context.get("cluster", "")
    if vantage is VantageKind.EXTERNAL and inside and not _within(address, inside):
        return SourceSeen.EXTERNAL_CLIENT
    return SourceSeen.OTHER


def _within(address: str, networks: str) -> bool:
    wanted = ipaddress.ip_address(address)
    return any(wanted in ipaddress.ip_network(part) for part in networks.split(","))


def same_address(address: str, candidates: str) -> bool:
    """Whether ``address`` is one of the comma-separated ``candidates``, however they are written."""
    wanted = ipaddress.ip_address(address)
    listed = (part.strip() for part in candidates.split(","))
    return any(ipaddress.ip_address(part) == wanted for part in listed if part)
