"""Named faults of packets by their size, and by when and in which order they come.

Values. On the shared labs ``win-1`` and ``linux-1`` query, and all four nodes answer.
"""

from itertools import combinations

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, NAMES, OVERLAY, UNPROVEN, crossing

_ORDER = "TCP puts its segments in order again, and no check is judged by its throughput"
_NODES = ("linux-1", "linux-2", "win-1", "win-2")
_PAIRS = tuple(combinations(_NODES, 2))
_LARGE = (
    Checks(flow="payload-*", node="win-1"),
    Checks(flow="payload-*", service="*-windows-1-1"),
    Checks(flow="payload-pod-to-pod", node="win-1"),
    Checks(flow="path-mtu", node="win-1"),
    Checks(flow="icmp-packet-*", node="win-1"),
)
"""What sends packets of full size between win-1 and the others."""

SIZE_AND_TIME_FAULTS = (
    NamedFault(
        name="large-packets-lost",
        summary="packets of more than 1400 bytes are lost between win-1 and the others, without a word",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("packet-loss", node="win-1", larger_than=1400),
        must=(
            Checks(flow="path-mtu", node="win-1", placement="other-node"),
            Checks(flow="payload-pod-to-pod", node="win-1", protocol="tcp", placement="other-node"),
            Checks(flow="payload-pod-to-pod", node="win-1", protocol="udp", placement="other-node"),
            Checks(flow="payload-pod-to-service", node="win-1", placement="other-node"),
            Checks(flow="payload-nodeport-from-pod", node="win-1"),
        ),
        may=_LARGE,
        names=("packets above 1,400 bytes", "win-1", "mtu of 1,400"),
    ),
    NamedFault(
        name="small-mtu",
        summary="win-1's network card carries 1400 bytes, and its Pods are told by ICMP",
        profiles=(BRIDGE,),
        injections=inject("small-mtu", node="win-1", bytes=1400),
        must=(Checks(flow="icmp-packet-at-mtu", node="win-1", placement="other-node"),),
        may=_LARGE,
        names=("large packets|packets above 1,40", "win-1"),
    ),
    NamedFault(
        name="large-segments-lost",
        summary="TCP packets of more than 1400 bytes are lost between win-1 and the other nodes",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", node="win-1", protocol="tcp", larger_than=1400),
        must=(Checks(flow="payload-pod-to-pod", node="win-1", protocol="tcp"),),
        may=_LARGE,
        names=("large tcp packets", "win-1"),
    ),
    NamedFault(
        name="connections-late-everywhere",
        summary="TCP between any two nodes takes 0.6 s more each way, on all paths alike",
        profiles=(BRIDGE,),
        injections=tuple(
            injection
            for pair in _PAIRS
            for injection in (
                *inject(
                    "packet-delay", source=pair[0], target=pair[1], protocol="tcp", seconds=0.6
                ),
                *inject(
                    "packet-delay", source=pair[1], target=pair[0], protocol="tcp", seconds=0.6
                ),
            )
        ),
        must=(
            Checks(flow="pod-to-pod-ip", protocol="tcp", placement="other-node"),
            Checks(flow="pod-to-service-clusterip", protocol="tcp", placement="other-node"),
        ),
        may=(Checks(protocol="tcp"), *NAMES, *UNPROVEN),
        names=("answered only after", "tcp|between nodes"),
    ),
    NamedFault(
        name="packets-late",
        summary="TCP between win-1 and the other nodes takes 1.5 s more each way",
        profiles=(BRIDGE,),
        injections=inject("packet-delay", node="win-1", protocol="tcp", seconds=1.5),
        must=(Checks(flow="pod-to-pod-ip", node="win-1", protocol="tcp"),),
        may=crossing("win-1"),
        names=("win-1|tcp",),
    ),
    NamedFault(
        name="packets-slow",
        summary="packets between win-1 and the other nodes take 0.2 to 0.4 s more each way",
        profiles=(BRIDGE,),
        injections=inject("packet-delay", node="win-1", seconds=0.2, jitter=0.2),
        must=(Checks(flow="pod-to-*", node="win-1", protocol="tcp"),),
        may=crossing("win-1"),
        names=("answered only after|lost now and then", "win-1"),
    ),
    NamedFault(
        name="packets-reordered",
        summary="one packet of three between win-1 and the other nodes is overtaken",
        profiles=(BRIDGE,),
        injections=inject("packet-reordering", node="win-1", every=3),
        may=crossing("win-1"),
        blind=_ORDER,
    ),
)
