"""Service churn: a Service that was recreated, or changed, is served by its current backends, not by former ones.

Disruptive: Services of the run's own are deleted and recreated many times, or get other endpoints, and the proxy of
every node has to follow. No other check runs meanwhile.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, ServiceSettings, flow

VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)


@flow(
    "service-after-churn",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="churn"),
    check_class=CheckClass.DISRUPTIVE,
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_service_after_churn() -> None:
    """A Service that was recreated with other backends, and with none, is answered by its last backend alone."""


@flow(
    "nodeport-endpoints-changed",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="changed-port", type="NodePort", changed_in_place=True),
    check_class=CheckClass.DISRUPTIVE,
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_nodeport_endpoints_changed() -> None:
    """A NodePort whose endpoints change in place is answered by the present ones alone, at a node that has none of them."""


@flow(
    "service-endpoints-changed",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="changed", changed_in_place=True),
    check_class=CheckClass.DISRUPTIVE,
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_service_endpoints_changed() -> None:
    """A Service whose endpoints change in place, to several and to none too, is answered by its present ones alone."""
