"""The table of target kinds: one row for each, and a type error if one is missing.

Similar kinds stand together; each row states only how it differs from the first of its group.
"""

from dataclasses import replace
from functools import cache
from typing import Literal, assert_never

from nettests.model.target_kinds.descriptor import (
    Descriptor,
    Location,
    Naming,
    Owner,
    Proxy,
    ShownBy,
)
from nettests.model.words import TargetKind

_POD = Descriptor(
    owner=Owner.POD,
    location=Location.POD_ADDRESS,
    shown_by=ShownBy.OTHER_VANTAGE,
    noun="Pod",
    holds_pod=True,
)
_CLUSTER_IP = Descriptor(
    owner=Owner.SERVICE,
    location=Location.CLUSTER_IP,
    shown_by=ShownBy.SERVICE_PORT,
    noun="ClusterIP",
    translated=True,
    proxy=Proxy.SOURCE,
    holds_pod=True,
)
_SERVICE_NAME = replace(
    _CLUSTER_IP,
    location=Location.SERVICE_NAME,
    shown_by=ShownBy.FULL_NAME,
    naming=Naming.CLUSTER,
)
_NODE_PORT = Descriptor(
    owner=Owner.NODE_PORT,
    location=Location.NODE_PORT,
    shown_by=ShownBy.OTHER_NODE,
    noun="NodePort",
    translated=True,
    proxy=Proxy.TARGET,
)
_HOST_PORT = Descriptor(
    owner=Owner.HOST_PORT,
    location=Location.HOST_PORT,
    shown_by=ShownBy.POD_ITSELF,
    noun="hostPort",
)
_NODE = Descriptor(
    owner=Owner.NODE,
    location=Location.NODE_ADDRESS,
    shown_by=ShownBy.OTHER_VANTAGE,
    noun="node address",
)
_DNS = Descriptor(
    owner=Owner.CLUSTER,
    location=Location.DNS_SERVICE,
    shown_by=ShownBy.OTHER_VANTAGE,
    noun="",
    heading="cluster DNS by its Service",
    name_server=True,
    proxy=Proxy.SOURCE,
)
_EXTERNAL = Descriptor(
    owner=Owner.OUTSIDE,
    location=Location.EXTERNAL_ADDRESS,
    shown_by=ShownBy.OTHER_VANTAGE,
    noun="external target",
)
_PATHLESS = Descriptor(
    owner=Owner.NOTHING, location=Location.NOWHERE, shown_by=ShownBy.NOTHING, noun=""
)


@cache
def descriptor(kind: TargetKind) -> Descriptor:
    """Return the descriptor of all targets of ``kind``."""
    match kind:
        case (
            TargetKind.POD_IP
            | TargetKind.POD_NAME
            | TargetKind.OWN_IP
            | TargetKind.POD_CLOSED_PORT
            | TargetKind.HEADLESS_NAME
        ):
            return _pod(kind)
        case (
            TargetKind.SERVICE_CLUSTERIP
            | TargetKind.SERVICE_PQDN
            | TargetKind.SERVICE_PARTIAL_NAME
            | TargetKind.SERVICE_FQDN
            | TargetKind.LOADBALANCER
            | TargetKind.SERVICE_EXTERNAL_IP
        ):
            return _service(kind)
        case (
            TargetKind.NODEPORT
            | TargetKind.NODEPORT_LOCALHOST
            | TargetKind.HEALTH_CHECK_PORT
            | TargetKind.HOSTPORT
            | TargetKind.HOSTPORT_BOUND
            | TargetKind.HOSTPORT_LOCALHOST
        ):
            return _port(kind)
        case TargetKind.NODE_IP | TargetKind.NODE_CLOSED_PORT:
            return _node(kind)
        case (
            TargetKind.KUBERNETES_SERVICE
            | TargetKind.EXISTING_SERVICE
            | TargetKind.NO_NAME
            | TargetKind.DNS_SERVICE
            | TargetKind.DNS_POD
        ):
            return _cluster(kind)
        case TargetKind.EXTERNAL_IP | TargetKind.EXTERNAL_NAME:
            return _external(kind)
        case TargetKind.API_SERVER | TargetKind.CONFIGURATION | TargetKind.POD:
            return _pathless(kind)
        case _:
            assert_never(kind)


def _pod(
    kind: Literal[
        TargetKind.POD_IP,
        TargetKind.POD_NAME,
        TargetKind.OWN_IP,
        TargetKind.POD_CLOSED_PORT,
        TargetKind.HEADLESS_NAME,
    ],
) -> Descriptor:
    match kind:
        case TargetKind.POD_IP:
            return _POD
        case TargetKind.POD_NAME:
            return replace(
                _POD, location=Location.POD_NAME, naming=Naming.CLUSTER, awaited_itself=True
            )
        case TargetKind.OWN_IP:
            return replace(_POD, owner=Owner.SOURCE, holds_pod=False)
        case TargetKind.POD_CLOSED_PORT:
            return replace(_POD, location=Location.POD_CLOSED_PORT, shown_by=ShownBy.POD_PORT)
        case TargetKind.HEADLESS_NAME:
            return replace(
                _POD,
                owner=Owner.PODS,
                location=Location.HEADLESS_NAME,
                heading="a headless Service",
                naming=Naming.CLUSTER,
                holds_pod=False,
                awaited_itself=True,
            )


def _service(
    kind: Literal[
        TargetKind.SERVICE_CLUSTERIP,
        TargetKind.SERVICE_PQDN,
        TargetKind.SERVICE_PARTIAL_NAME,
        TargetKind.SERVICE_FQDN,
        TargetKind.LOADBALANCER,
        TargetKind.SERVICE_EXTERNAL_IP,
    ],
) -> Descriptor:
    match kind:
        case TargetKind.SERVICE_CLUSTERIP:
            return _CLUSTER_IP
        case TargetKind.SERVICE_PQDN:
            return _SERVICE_NAME
        case TargetKind.SERVICE_PARTIAL_NAME:
            return replace(_SERVICE_NAME, holds_pod=False)
        case TargetKind.SERVICE_FQDN:
            return replace(_SERVICE_NAME, shown_by=ShownBy.OTHER_VANTAGE)
        case TargetKind.LOADBALANCER:
            return replace(
                _CLUSTER_IP,
                location=Location.LOAD_BALANCER,
                shown_by=ShownBy.OTHER_VANTAGE,
                noun="LoadBalancer",
                holds_pod=False,
                awaited_itself=True,
            )
        case TargetKind.SERVICE_EXTERNAL_IP:
            return replace(
                _CLUSTER_IP,
                location=Location.SERVICE_EXTERNAL_IP,
                shown_by=ShownBy.OTHER_VANTAGE,
                noun="externalIP",
                holds_pod=False,
            )


def _port(
    kind: Literal[
        TargetKind.NODEPORT,
        TargetKind.NODEPORT_LOCALHOST,
        TargetKind.HEALTH_CHECK_PORT,
        TargetKind.HOSTPORT,
        TargetKind.HOSTPORT_BOUND,
        TargetKind.HOSTPORT_LOCALHOST,
    ],
) -> Descriptor:
    match kind:
        case TargetKind.NODEPORT:
            return _NODE_PORT
        case TargetKind.NODEPORT_LOCALHOST:
            # On Windows the node's own stack answers there, whatever its Service proxy does.
            return replace(_NODE_PORT, loopback=True, proxy=Proxy.NONE)
        case TargetKind.HEALTH_CHECK_PORT:
            return replace(
                _NODE_PORT,
                location=Location.HEALTH_CHECK_PORT,
                noun="health check NodePort",
                translated=False,
                awaited_itself=True,
            )
        case TargetKind.HOSTPORT:
            return _HOST_PORT
        case TargetKind.HOSTPORT_BOUND:
            return replace(_HOST_PORT, location=Location.HOST_PORT_BOUND)
        case TargetKind.HOSTPORT_LOCALHOST:
            return replace(_HOST_PORT, location=Location.HOST_PORT_BOUND, loopback=True)


def _node(
    kind: Literal[TargetKind.NODE_IP, TargetKind.NODE_CLOSED_PORT],
) -> Descriptor:
    match kind:
        case TargetKind.NODE_IP:
            return _NODE
        case TargetKind.NODE_CLOSED_PORT:
            return replace(
                _NODE, location=Location.NODE_CLOSED_PORT, shown_by=ShownBy.NODE_LISTENER
            )


def _cluster(
    kind: Literal[
        TargetKind.KUBERNETES_SERVICE,
        TargetKind.EXISTING_SERVICE,
        TargetKind.NO_NAME,
        TargetKind.DNS_SERVICE,
        TargetKind.DNS_POD,
    ],
) -> Descriptor:
    match kind:
        case TargetKind.KUBERNETES_SERVICE:
            return Descriptor(
                owner=Owner.CLUSTER,
                location=Location.KUBERNETES_NAME,
                shown_by=ShownBy.KUBERNETES_NAME,
                noun="",
                heading="a Service of another namespace",
                naming=Naming.CLUSTER,
            )
        case TargetKind.EXISTING_SERVICE:
            return replace(
                _CLUSTER_IP,
                owner=Owner.CLUSTER,
                location=Location.EXISTING_SERVICE,
                shown_by=ShownBy.OTHER_VANTAGE,
                heading="existing Services",
                holds_pod=False,
            )
        case TargetKind.NO_NAME:
            return Descriptor(
                owner=Owner.CLUSTER,
                location=Location.NO_NAME,
                shown_by=ShownBy.KUBERNETES_NAME,
                noun="",
                heading="a name that nothing has",
                naming=Naming.ABSENT,
            )
        case TargetKind.DNS_SERVICE:
            return _DNS
        case TargetKind.DNS_POD:
            return replace(
                _DNS,
                location=Location.DNS_POD,
                heading="cluster DNS by its pod",
                proxy=Proxy.NONE,
            )


def _external(
    kind: Literal[TargetKind.EXTERNAL_IP, TargetKind.EXTERNAL_NAME],
) -> Descriptor:
    match kind:
        case TargetKind.EXTERNAL_IP:
            return _EXTERNAL
        case TargetKind.EXTERNAL_NAME:
            return replace(_EXTERNAL, location=Location.EXTERNAL_NAME, naming=Naming.OUTSIDE)


def _pathless(
    kind: Literal[TargetKind.API_SERVER, TargetKind.CONFIGURATION, TargetKind.POD],
) -> Descriptor:
    match kind:
        case TargetKind.API_SERVER:
            return replace(_PATHLESS, heading="admission")
        case TargetKind.CONFIGURATION:
            return replace(_PATHLESS, heading="configuration")
        case TargetKind.POD:
            return replace(_PATHLESS, owner=Owner.CHECK, heading="a Pod of its own")
