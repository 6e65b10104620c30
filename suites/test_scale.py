"""Scale: many connections of one pod, many Services besides the existing ones, and the number at which something fails.

Costly: thousands of connections, hundreds of Services (``scale`` of the cluster profile). No other check runs meanwhile.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Outcome, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Crowd, Matrix, ServiceSettings, flow

VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)
LARGE = Source(
    document="kubernetes/community, sig-scalability",
    section="Kubernetes scalability thresholds: Services",
    address="https://github.com/kubernetes/community/blob/master/sig-scalability/configs-and-limits/thresholds.md",
)
PORTS = Source(
    document="Microsoft, Troubleshoot port exhaustion issues",
    section="Default dynamic port range for TCP/IP",
    address="https://learn.microsoft.com/windows/client-management/troubleshoot-tcpip-port-exhaust",
)
LEFT_BEHIND = Source(
    document="kubernetes/kubernetes issue 137530",
    section="HNS policies that are left when a Service's endpoints go",
    address="https://github.com/kubernetes/kubernetes/issues/137530",
)


@flow(
    "many-connections",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.FLOWS,
    check_class=CheckClass.COSTLY,
    alike="pod-to-service-clusterip",
    facts=("flow-pod-clusterip", "win-dynamic-ports"),
    sources=(VIRTUAL_IPS, PORTS),
)
def test_many_connections() -> None:
    """A pod opens as many connections in a row through a Service as the cluster profile says, and each is answered."""


@flow(
    "many-connections-outside",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.SOURCES,
    protocols=(Protocol.TCP,),
    question=Question.FLOWS,
    check_class=CheckClass.COSTLY,
    alike="pod-to-external-ip",
    facts=("flow-pod-external-ip", "win-dynamic-ports"),
    sources=(PORTS,),
)
def test_many_connections_outside() -> None:
    """A pod opens as many connections in a row to one address outside the cluster, and each is answered."""


@flow(
    "many-services",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.OWN_POOL,
    protocols=(Protocol.TCP,),
    question=Question.SCALE,
    service=ServiceSettings(label="served", crowd=Crowd.SERVED),
    check_class=CheckClass.COSTLY,
    alike="pod-to-service-clusterip",
    facts=("svc-max-count-port-exhaustion", "dsr-port-exhaustion-fix"),
    sources=(VIRTUAL_IPS, LARGE),
)
def test_many_services() -> None:
    """Every node serves the last of as many Services as the cluster profile says, and those created before it."""


@flow(
    "service-beside-many",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.OWN_POOL,
    protocols=(Protocol.TCP,),
    question=Question.SCALE,
    service=ServiceSettings(label="beside", crowd=Crowd.BESIDE),
    check_class=CheckClass.COSTLY,
    alike="pod-to-service-clusterip",
    facts=("svc-max-count-port-exhaustion",),
    sources=(VIRTUAL_IPS,),
)
def test_service_beside_many() -> None:
    """A Service answers on every node while many others are created and removed."""


@flow(
    "many-services-removed",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.OWN_POOL,
    protocols=(Protocol.TCP,),
    question=Question.SCALE,
    outcome=Outcome.CONFORMS,
    service=ServiceSettings(label="removed", crowd=Crowd.REMOVED),
    check_class=CheckClass.COSTLY,
    alike="pod-to-service-clusterip",
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS, LEFT_BEHIND),
)
def test_many_services_removed() -> None:
    """After many Services were removed, no node keeps anything of them."""
