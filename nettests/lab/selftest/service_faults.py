"""Named faults of Service proxies and backends. Values."""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import (
    BRIDGE,
    EVERYWHERE,
    OLD_BRIDGE,
    OVERLAY,
    PROXIES,
    UNPROVEN,
    answering,
    through_proxy_of,
)

_OF_A_PROXY = (
    NamedFault(
        name="rules-missing",
        summary="win-1 has no rules of any Service but the cluster's own",
        profiles=EVERYWHERE,
        injections=inject("service-rules-missing", service="nettests-*/*", node="win-1"),
        must=(
            Checks(flow="pod-to-service-clusterip", source="win-1"),
            Checks(flow="nodeport-from-other-node", target="win-1"),
        ),
        may=through_proxy_of("win-1"),
        names=("proxy of win-1|service-proxy|win-1",),
    ),
    NamedFault(
        name="one-service-missing",
        summary="win-1 has no rules of one Service",
        profiles=(OLD_BRIDGE,),
        injections=inject("service-rules-missing", service="svc-server-windows-1-2", node="win-1"),
        must=(Checks(flow="pod-to-service-clusterip", source="win-1", target="win-2"),),
        may=through_proxy_of("win-1"),
        names=("win-1",),
    ),
    NamedFault(
        name="sctp-service-missing",
        summary="win-1 has no rules of Services that have a port of SCTP, too",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("service-rules-missing", service="sctp-*", node="win-1"),
        enable=("costly",),
        must=(Checks(flow="service-beside-sctp", source="win-1"),),
        may=(Checks(flow="hns-load-balancers", node="win-1"),),
        names=("win-1|service-beside-sctp",),
    ),
    NamedFault(
        name="dns-service-missing",
        summary="win-1 has no rules of the Service of the cluster's DNS",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("service-rules-missing", service="kube-system/kube-dns", node="win-1"),
        must=(
            Checks(flow="hns-load-balancers", node="win-1"),
            Checks(flow="dns-via-service", source="win-1"),
            Checks(flow="pod-to-service-fqdn", source="win-1"),
        ),
        may=(Checks(source="win-1"),),
        names=("dns", "win-1"),
    ),
    NamedFault(
        name="dns-service-stale",
        summary="win-1's rules keep an endpoint of the cluster's DNS whose Pod has gone",
        profiles=(BRIDGE,),
        injections=inject("stale-endpoint", service="kube-system/kube-dns", node="win-1"),
        # Which queries are lost is chance: no check of names is sure to meet the endpoint that has gone.
        must=(Checks(flow="hns-load-balancers", node="win-1"),),
        may=(Checks(source="win-1"),),
        names=("dns|10.96.0.10", "win-1"),
    ),
    NamedFault(
        name="proxy-stopped",
        summary="win-1's Service proxy programs nothing new",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("proxy-stopped", node="win-1"),
        must=(
            Checks(flow="pod-to-service-clusterip", source="win-1"),
            Checks(flow="nodeport-from-other-node", target="win-1"),
        ),
        may=through_proxy_of("win-1"),
        names=("proxy of win-1",),
    ),
    NamedFault(
        name="proxy-stopped-on-linux",
        summary="linux-1's Service proxy programs nothing new",
        profiles=(OLD_BRIDGE,),
        injections=inject("proxy-stopped", node="linux-1"),
        must=(
            Checks(flow="pod-to-service-clusterip", source="linux-1"),
            Checks(flow="nodeport-from-other-node", target="linux-1"),
        ),
        may=through_proxy_of("linux-1"),
        names=("proxy of linux-1",),
    ),
    NamedFault(
        name="slow-rules",
        summary="new rules of Services take 90 s on win-1",
        profiles=(BRIDGE,),
        injections=inject("slow-rules", node="win-1", seconds=90),
        must=(Checks(flow="pod-to-service-clusterip", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("proxy of win-1|win-1",),
    ),
)

_OF_CHOICE = (
    NamedFault(
        name="one-backend",
        summary="all connections to a Service go to one of its backends",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("one-backend"),
        must=(Checks(flow="service-distribution"),),
        may=PROXIES,
        names=("distribut",),
    ),
    NamedFault(
        name="affinity-lost",
        summary="clients of Services with ClientIP affinity do not keep their backends",
        profiles=(BRIDGE,),
        injections=inject("affinity-lost"),
        must=(Checks(flow="session-affinity"),),
        may=(Checks(flow="hns-load-balancers"), Checks(flow="session-affinity")),
        names=("affinity",),
    ),
    NamedFault(
        name="dsr-off",
        summary="win-1's load balancers rewrite sources although HNS was told for DSR",
        profiles=(BRIDGE,),
        injections=inject("dsr-off", node="win-1"),
        must=(Checks(flow="dsr-source-address", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("source address", "win-1"),
    ),
)

_OF_BACKENDS = (
    NamedFault(
        name="stale-endpoint",
        summary="win-1's rules keep an endpoint of each Service whose Pod has gone",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("stale-endpoint", node="win-1"),
        must=(Checks(flow="pod-to-service-clusterip", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("win-1",),
    ),
    NamedFault(
        name="stale-endpoint-on-linux",
        summary="linux-1's rules keep an endpoint of each Service whose Pod has gone",
        profiles=(OLD_BRIDGE,),
        injections=inject("stale-endpoint", node="linux-1"),
        must=(Checks(flow="pod-to-service-clusterip", source="linux-1"),),
        may=through_proxy_of("linux-1"),
        names=("linux-1",),
    ),
    NamedFault(
        name="wrong-target-port",
        summary="win-1's load balancers dial backends at another port than theirs",
        profiles=(BRIDGE,),
        injections=inject("wrong-target-port", node="win-1"),
        must=(Checks(flow="pod-to-service-clusterip", source="win-1"),),
        may=through_proxy_of("win-1"),
        names=("proxy of win-1",),
    ),
    NamedFault(
        name="backend-silent",
        summary="the Pod server-windows-1-2 is Ready and answers nobody",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("pod-silent", pod="server-windows-1-2"),
        must=(
            Checks(flow="pod-to-pod-ip", target="win-2"),
            Checks(flow="pod-to-service-clusterip", target="win-2"),
            Checks(flow="service-distribution"),
        ),
        may=(*answering("win-2"), *UNPROVEN),
        names=("server-windows-1-2",),
    ),
    NamedFault(
        name="backend-half-deaf",
        summary="the Pod server-linux-1-2 loses half of the packets that it is sent",
        profiles=(OLD_BRIDGE,),
        injections=inject("pod-silent", pod="server-linux-1-2", rate=0.5),
        # A single check sends three datagrams, which all arrive one time of eight.
        must=(Checks(flow="*pod-to-pod*", target="linux-2"),),
        may=answering("linux-2"),
        names=("server-linux-1-2|linux-2",),
    ),
)

SERVICE_FAULTS = (*_OF_A_PROXY, *_OF_CHOICE, *_OF_BACKENDS)
