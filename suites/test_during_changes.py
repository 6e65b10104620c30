"""Services in use while their endpoints change: new connections, and flows that keep their source port.

Disruptive, like all changes of Services (``test_churn`` tests which backends answer afterwards).
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, ServiceSettings, flow

VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
    address="https://kubernetes.io/docs/reference/networking/virtual-ips/",
)
CLEAN_UP = Source(
    document="kubernetes/kubernetes, pkg/proxy/conntrack/cleanup.go at release-1.36",
    section="CleanStaleEntries: UDP flows to endpoints that are no longer there",
    address="https://github.com/kubernetes/kubernetes/blob/release-1.36/pkg/proxy/conntrack/cleanup.go",
)


@flow(
    "service-during-changes",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.DURING,
    service=ServiceSettings(label="during"),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("svc-update-vs-recreate", "kp-win-proxy-optimization"),
    sources=(VIRTUAL_IPS,),
)
def test_service_during_changes() -> None:
    """Every new connection to a Service is answered while its endpoints change in place, six times."""


@flow(
    "udp-flow-after-change",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.UDP,),
    question=Question.DURING,
    service=ServiceSettings(label="kept-flow"),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("udp-conntrack-stale",),
    sources=(VIRTUAL_IPS, CLEAN_UP),
)
def test_udp_flow_after_change() -> None:
    """A UDP flow that keeps its source port moves to a Service's new endpoint when the former one is removed."""
