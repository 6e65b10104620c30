"""Named faults that only many connections or many Services show. Values.

Of class ``costly``. That a Windows node without DSR serves hundreds of Services is left open
(``svc-many-without-dsr``), and no check fails for that there: what is late or lacking on an overlay of old builds
shows on Linux nodes.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, OVERLAY

_COSTLY = ("costly",)

SCALE_FAULTS = (
    NamedFault(
        name="ports-run-out",
        summary="of one after the other, connections of win-1's Pods beyond the thousandth are lost",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("ports-run-out", node="win-1", connections=1000),
        enable=_COSTLY,
        must=(
            Checks(flow="many-connections", source="win-1"),
            Checks(flow="many-connections-outside", source="win-1"),
        ),
        names=("win-1|windows", "connections"),
    ),
    NamedFault(
        name="rules-run-out",
        summary="win-1's and linux-2's proxies program 200 Services, and none that is made after them",
        profiles=(BRIDGE, OVERLAY),
        injections=(
            *inject("rules-run-out", node="win-1", services=200),
            *inject("rules-run-out", node="linux-2", services=200),
        ),
        enable=_COSTLY,
        must=(Checks(flow="many-services"),),
        names=("many services", "linux-2|win-1"),
    ),
    NamedFault(
        name="rules-late-of-many-services",
        summary="where there are more than 200 Services, linux-2's proxy needs four minutes for each change",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("slow-rules", node="linux-2", services=200, seconds=240),
        enable=_COSTLY,
        must=(Checks(flow="many-services"),),
        names=("many services", "linux-2"),
    ),
    NamedFault(
        name="removed-services-kept",
        summary="win-1's load balancers of many Services stay when these are removed",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("removed-services-kept", node="win-1", service="many-*"),
        enable=_COSTLY,
        must=(Checks(flow="many-services-removed"),),
        names=("services that were removed", "win-1"),
    ),
)
