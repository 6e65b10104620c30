"""Idle TCP connections.

Costly: each connection is idle for five minutes, all at the same time.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, ServiceSettings, flow

TCP = Source(
    document="RFC 9293, Transmission Control Protocol (TCP)",
    section="3.8.4 TCP Keep-Alives",
    address="https://www.rfc-editor.org/rfc/rfc9293",
)
NAT = Source(
    document="RFC 5382, NAT Behavioral Requirements for TCP",
    section="5 NAT Session Timeout, REQ-5",
    address="https://www.rfc-editor.org/rfc/rfc5382",
)
CONNTRACK = Source(
    document="Kubernetes, kube-proxy Configuration (v1alpha1)",
    section="KubeProxyConntrackConfiguration, tcpEstablishedTimeout",
    address="https://kubernetes.io/docs/reference/config-api/kube-proxy-config.v1alpha1/",
)

CONNTRACK_OF_LINUX = Source(
    document="Linux kernel documentation, Netfilter Conntrack Sysfs variables",
    section="nf_conntrack_tcp_timeout_established",
    address="https://docs.kernel.org/networking/nf_conntrack-sysctl.html",
)


@flow(
    "pod-to-pod-idle",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-4min",),
    sources=(TCP,),
)
def test_pod_to_pod_idle() -> None:
    """An idle TCP connection to a pod of the same node still works after five minutes."""


@flow(
    "pod-to-pod-idle-other-node",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-4min",),
    sources=(TCP,),
)
def test_pod_to_pod_idle_other_node() -> None:
    """An idle TCP connection to a pod of another node still works after five minutes."""


@flow(
    "pod-to-service-idle",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    service=ServiceSettings(label="idle", idle_ports=True),
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-service",),
    sources=(NAT, CONNTRACK),
)
def test_pod_to_service_idle() -> None:
    """An idle TCP connection to a Service, backed on another node, still works after five minutes."""


@flow(
    "pod-to-external-idle",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.SOURCES,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-outside",),
    sources=(NAT, CONNTRACK_OF_LINUX),
)
def test_pod_to_external_idle() -> None:
    """An idle TCP connection to an address outside the cluster still works after five minutes."""
