"""Named faults that no server notices: packets on the wire differ from what servers report. Values.

Of class ``packets``: only captures show them.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, OVERLAY, UNPROVEN

_PACKETS = ("packets",)
_SENT = (
    Checks(flow="witnessed-pod-to-pod", source="win-1"),
    Checks(flow="witnessed-service", source="win-1"),
)

WITNESS_FAULTS = (
    NamedFault(
        name="sources-disguised",
        summary="on the wire win-1's Pods have other addresses, and the nodes that they reach put theirs back",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("sources-disguised", node="win-1"),
        enable=_PACKETS,
        must=_SENT,
        names=("win-1", "wire|capture"),
    ),
    NamedFault(
        name="network-id-disguised",
        summary="on the wire win-1's VXLAN has another network id, and the nodes that it reaches put the right one back",
        profiles=(OVERLAY,),
        injections=inject("network-id-disguised", node="win-1"),
        enable=_PACKETS,
        must=_SENT,
        # Replies leave it in its tunnels, too.
        may=(
            Checks(flow="witnessed-pod-to-pod", target="win-1"),
            Checks(flow="witnessed-service", target="win-1"),
        ),
        names=("win-1", "wire|capture"),
    ),
    NamedFault(
        name="macs-kept",
        summary="packets of win-1's Pods leave it with the Pods' own MAC addresses instead of the node's",
        profiles=(BRIDGE,),
        injections=inject("macs-kept", node="win-1"),
        enable=_PACKETS,
        must=_SENT,
        names=("win-1", "wire|capture"),
    ),
    NamedFault(
        name="kept-destination-hides-client",
        summary="what preserve-destination leads to a Pod of a Windows node comes from the node's address",
        profiles=(BRIDGE,),
        mechanisms=("preserved-sources=off",),
        enable=(*_PACKETS, "exposed"),
        must=(Checks(flow="witnessed-preserve-destination", source="win-1"),),
        names=("win-1|windows", "wire|capture"),
    ),
    NamedFault(
        name="vxlan-taken-below",
        summary="the network below the nodes takes datagrams to UDP 4789 for its own, as vSphere may",
        profiles=(OVERLAY,),
        mechanisms=("underlay-vxlan=on",),
        enable=_PACKETS,
        must=(Checks(flow="witnessed-pod-to-pod", placement="other-node"),),
        may=(
            Checks(placement="other-node"),
            Checks(placement="nowhere"),
            Checks(placement="outside"),
            Checks(flow="*nodeport*"),
            Checks(flow="pod-to-service-*"),  # of backends that nobody elsewhere reaches
            *UNPROVEN,
        ),
        names=("between nodes|other nodes|wire|capture",),
    ),
)
