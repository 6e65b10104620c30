"""Named faults that only a change or an idle connection shows, in classes that a run has to enable. Values."""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, OVERLAY, PROXIES, through_proxy_of

_DISRUPTIVE = ("disruptive", "exposed")

CHANGE_FAULTS = (
    NamedFault(
        name="late-network-of-many-pods",
        summary="new Pods on win-2 have no network for their first 6 s when more than ten came within 10 s",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("late-pod-network", node="win-2", seconds=6, beyond=10),
        enable=("costly",),
        must=(Checks(flow="new-pods-at-once", source="win-2"),),
        names=("New Pods on win-2", "many are made at once"),
    ),
    NamedFault(
        name="endpoints-frozen",
        summary="Services keep the endpoints that they had first, on all nodes",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("endpoints-frozen"),
        enable=_DISRUPTIVE,
        must=(
            Checks(flow="service-endpoints-changed"),
            Checks(flow="nodeport-endpoints-changed"),
            Checks(flow="loadbalancer-endpoints-changed"),
            Checks(flow="service-pod-replaced"),
        ),
        may=PROXIES,
        names=("services that were changed",),
    ),
    NamedFault(
        name="endpoints-frozen-on-second-node",
        summary="Services keep the endpoints that they had first, on win-2 alone, which is no first node of a node pool",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("endpoints-frozen", node="win-2"),
        enable=_DISRUPTIVE,
        must=(
            Checks(flow="service-endpoints-changed", source="win-2"),
            Checks(flow="nodeport-endpoints-changed", target="win-2"),
            Checks(flow="loadbalancer-endpoints-changed", source="win-2"),
            Checks(flow="service-pod-replaced", source="win-2"),
        ),
        may=through_proxy_of("win-2"),
        names=("win-2", "still answered by server-"),
    ),
    NamedFault(
        name="sibling-lost",
        summary="Services lose their rules on win-1 when another one over the same endpoints is deleted",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("shared-endpoints-lost", node="win-1"),
        enable=_DISRUPTIVE,
        must=(Checks(flow="service-sibling-deleted", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("win-1",),
    ),
    NamedFault(
        name="sibling-lost-on-linux",
        summary="Services lose their rules on linux-1 when another one over the same endpoints is deleted",
        profiles=(BRIDGE,),
        injections=inject("shared-endpoints-lost", node="linux-1"),
        enable=_DISRUPTIVE,
        must=(Checks(flow="service-sibling-deleted", source="linux-1"),),
        may=through_proxy_of("linux-1"),
        names=("linux-1",),
    ),
    NamedFault(
        name="readdressed-endpoint-lost",
        summary="Services lose their rules on win-2 when their Pod is replaced by another one at the same address",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("readdressed-endpoints-lost", node="win-2"),
        enable=_DISRUPTIVE,
        must=(Checks(flow="service-pod-same-address", source="win-2"),),
        may=through_proxy_of("win-2"),
        names=("win-2", "after a change"),
    ),
    NamedFault(
        name="renamed-port-lost",
        summary="ports of Services lose their rules on win-1 when they get another name",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("renamed-ports-lost", node="win-1"),
        enable=_DISRUPTIVE,
        must=(Checks(flow="service-port-renamed", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("win-1",),
    ),
    NamedFault(
        name="rules-recreated",
        summary="whenever endpoints of a Service change, linux-1 has no rules of it for 0.3 s",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("rules-recreated", node="linux-1"),
        enable=("disruptive",),
        must=(Checks(flow="service-during-changes", source="linux-1"),),
        names=("linux-1|linux nodes|service-during-changes",),
    ),
    NamedFault(
        name="udp-flows-kept",
        summary="flows of datagrams of linux-1's Pods go on to endpoints that their Service no longer has",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("udp-flows-kept", node="linux-1"),
        enable=("disruptive",),
        # Of Windows nodes the documents leave it open (svc-changes-in-use).
        must=(Checks(flow="udp-flow-after-change", source="linux-1"),),
        names=("linux-1|linux nodes|udp-flow-after-change",),
    ),
    NamedFault(
        name="idle-service-flows-forgotten",
        summary="idle connections of linux-1's Pods to Services are forgotten",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("idle-flows-forgotten", node="linux-1"),
        enable=("costly",),
        # Of Windows nodes that is a known bug (flow-tcp-idle-translated), which no check fails for.
        must=(Checks(flow="pod-to-service-idle", source="linux-1"),),
        # One node of each node pool holds connections: a node cannot be told from all of its system.
        names=("pod-to-service-idle", "linux-1|linux nodes"),
    ),
    NamedFault(
        name="idle-outside-flows-forgotten",
        summary="idle connections of linux-1's Pods to the outside are forgotten",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("idle-outside-flows-forgotten", node="linux-1"),
        enable=("costly",),
        # Of Windows nodes that is a known bug (flow-tcp-idle-translated), which no check fails for.
        must=(Checks(flow="pod-to-external-idle", source="linux-1"),),
        names=("pod-to-external-idle|outside", "linux-1|linux nodes"),
    ),
)
