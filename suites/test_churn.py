"""Service churn: a Service that was recreated or changed is served by its current backends, not by former ones.

Disruptive: the run deletes and recreates its own Services many times, or changes their endpoints or port names, and
the proxy of every node has to follow. No other check runs meanwhile.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Change, Matrix, ServiceSettings, flow

VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)
SHARED = Source(
    document="kubernetes/kubernetes issue 93229",
    section="one of the multiple services referencing a same endpoint is deleted",
    address="https://github.com/kubernetes/kubernetes/issues/93229",
)
PORT_NAMES = Source(
    document="Kubernetes API reference, Service v1",
    section="spec.ports.name",
    address="https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/",
)
LOAD_BALANCER = Source(
    document="Kubernetes documentation, Service",
    section="type: LoadBalancer",
    address="https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer",
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
    """After a Service was recreated with other backends, and with none, only its last backend answers."""


@flow(
    "nodeport-endpoints-changed",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.POOLS_AT_NODES,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="changed-port", type="NodePort", change=Change.ENDPOINTS),
    check_class=CheckClass.DISRUPTIVE,
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_nodeport_endpoints_changed() -> None:
    """When a NodePort's endpoints change in place, only the current ones answer, at a node that has none of them."""


@flow(
    "service-endpoints-changed",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="changed", change=Change.ENDPOINTS),
    check_class=CheckClass.DISRUPTIVE,
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_service_endpoints_changed() -> None:
    """When a Service's endpoints change in place, to several and to none too, only the current ones answer."""


@flow(
    "loadbalancer-endpoints-changed",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="changed-lb", type="LoadBalancer", change=Change.ENDPOINTS),
    check_class=CheckClass.DISRUPTIVE,
    alike="pod-to-loadbalancer",
    facts=("svc-stale-vip-leak", "svc-lb-ingress-vip"),
    sources=(VIRTUAL_IPS, LOAD_BALANCER),
)
def test_loadbalancer_endpoints_changed() -> None:
    """When the endpoints behind a load balancer's address change in place, only the current ones answer."""


@flow(
    "service-sibling-deleted",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="sibling", change=Change.SIBLING),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("svc-shared-endpoints",),
    sources=(VIRTUAL_IPS, SHARED),
)
def test_service_sibling_deleted() -> None:
    """A Service keeps working while another one over the same endpoints is deleted, which then no longer answers."""


@flow(
    "service-port-renamed",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="renamed", change=Change.PORT_NAME),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS, PORT_NAMES),
)
def test_service_port_renamed() -> None:
    """When a Service's ports are renamed in place, only its current endpoints answer, at the same port numbers."""


@flow(
    "service-pod-replaced",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="replaced", change=Change.POD),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_service_pod_replaced() -> None:
    """When a Service's Pod is replaced by another one at another address, only the new Pod answers."""


@flow(
    "service-pod-same-address",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.CHURN,
    service=ServiceSettings(label="readdressed", change=Change.SAME_ADDRESS),
    check_class=CheckClass.DISRUPTIVE,
    alike="service-endpoints-changed",
    facts=("svc-stale-vip-leak",),
    sources=(VIRTUAL_IPS,),
)
def test_service_pod_same_address() -> None:
    """When a Service's Pod is replaced by another one at the same address, the new Pod answers."""
