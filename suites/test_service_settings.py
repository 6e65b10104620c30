"""Services by their settings: client affinity, and the source address that backends see."""

from nettests.model.expectation import Source
from nettests.model.words import (
    CheckClass,
    Distribution,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import Matrix, ServiceSettings, flow

AFFINITY = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Session affinity",
)
SOURCE_IP = Source(
    document="Kubernetes documentation, Using Source IP",
    section="Source IP for Services with Type=ClusterIP",
)
PROTOCOLS = Source(
    document="Kubernetes documentation, Protocols for Services",
    section="SCTP",
    address="https://kubernetes.io/docs/reference/networking/service-protocols/",
)
DSR = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Load balancing and Services",
)


@flow(
    "session-affinity",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    question=Question.DISTRIBUTE,
    distribution=Distribution.ONE_BACKEND,
    facts=("aff-clientip-hns",),
    sources=(AFFINITY,),
)
def test_session_affinity() -> None:
    """All connections of one client reach the same backend of a Service with ClientIP affinity."""


@flow(
    "affinity-timeout",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.DISTRIBUTE,
    distribution=Distribution.SEVERAL_BACKENDS,
    service=ServiceSettings(label="forgetful", session_affinity=True, affinity_seconds=1),
    pause=1.5,
    check_class=CheckClass.COSTLY,
    facts=("aff-timeout",),
    sources=(AFFINITY,),
)
def test_affinity_timeout() -> None:
    """A client that returns after the time-out of its affinity may reach another backend."""


@flow(
    "service-beside-sctp",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    service=ServiceSettings(label="sctp", sctp=True),
    check_class=CheckClass.COSTLY,
    alike="pod-to-service-clusterip",
    facts=("svc-sctp",),
    sources=(PROTOCOLS,),
)
def test_service_beside_sctp() -> None:
    """A Service that also has an SCTP port answers at its other ports."""


@flow(
    "dsr-source-address",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    each_family=True,
    source_seen=SourceSeen.CLIENT_POD,
    facts=("dsr-source-ip-clusterip", "dsr-source-ip-non-dsr"),
    sources=(SOURCE_IP, DSR),
)
def test_dsr_source_address() -> None:
    """Behind a ClusterIP the backend sees the client pod's own address."""


@flow(
    "node-to-service-source-address",
    source=VantageKind.NODE,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    source_seen=SourceSeen.CLIENT_NODE,
    facts=("node-svc-vip-docs", "node-svc-vip-dsr-host-rules"),
    sources=(SOURCE_IP,),
)
def test_node_to_service_source_address() -> None:
    """Behind a ClusterIP a backend on another node sees the address of the node that connects."""
