"""Services at addresses for clients outside: load balancers, externalIPs, and their health check ports."""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Outcome, Protocol, SourceSeen, TargetKind, VantageKind
from nettests.plan import LOAD_BALANCED, Backing, ByHand, Matrix, Members, ServiceSettings, flow

LOAD_BALANCER = Source(
    document="Kubernetes documentation, Service",
    section="type: LoadBalancer",
    address="https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer",
)
EXTERNAL_IPS = Source(
    document="Kubernetes documentation, Service",
    section="External IPs",
    address="https://kubernetes.io/docs/concepts/services-networking/service/#external-ips",
)
SOURCE_IP = Source(
    document="Kubernetes documentation, Using Source IP",
    section="Source IP for Services with Type=LoadBalancer",
    address="https://kubernetes.io/docs/tutorials/services/source-ip/",
)
SHORT_CIRCUIT = Source(
    document="kubernetes/kubernetes, pkg/proxy/nftables/proxier.go",
    section="Short-circuit external traffic that originates from pods",
)
SOURCE_RANGES = Source(
    document="Kubernetes API reference, Service v1", section="spec.loadBalancerSourceRanges"
)
AFFINITY = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Session affinity",
)
PRESERVED = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Load balancing and Services",
)
HEALTH_CHECK = Source(
    document="Kubernetes API reference, Service v1", section="spec.healthCheckNodePort"
)
TERMINATING = Source(
    document="KEP-1669, Proxy Terminating Endpoints",
    section='Example: all endpoints terminating and traffic policy is "Cluster"',
    address="https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/1669-proxy-terminating-endpoints",
)
LEAVING = ServiceSettings(label="lb-terminating", type="LoadBalancer", by_hand=ByHand.TERMINATING)
LOCAL = ServiceSettings(label="lb-local", type="LoadBalancer", external_traffic_policy="Local")
EXTERNAL = ServiceSettings(label="external-ip", external_ip=True)
NO_ENDPOINTS = ServiceSettings(
    label="lb-nobody", type="LoadBalancer", source_ranges=("192.0.2.255/32",)
)


@flow(
    "pod-to-loadbalancer",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    service=LOAD_BALANCED,
    check_class=CheckClass.EXPOSED,
    facts=("svc-lb-ingress-vip", "svc-types"),
    sources=(LOAD_BALANCER,),
)
def test_pod_to_loadbalancer() -> None:
    """A pod reaches a Service at the address of its load balancer, wherever the backend runs."""


@flow(
    "loadbalancer-source-address",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    service=LOAD_BALANCED,
    source_seen=SourceSeen.CLIENT_NODE,
    check_class=CheckClass.EXPOSED,
    facts=("svc-lb-ingress-vip",),
    sources=(SOURCE_IP,),
)
def test_loadbalancer_source_address() -> None:
    """Behind a load balancer's address the backend sees the client pod's node, because that node serves the address."""


@flow(
    "loadbalancer-from-external",
    source=VantageKind.EXTERNAL,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.FROM_OUTSIDE,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=LOAD_BALANCED,
    check_class=CheckClass.EXPOSED,
    facts=("svc-types",),
    sources=(LOAD_BALANCER,),
)
def test_loadbalancer_from_external() -> None:
    """A client outside the cluster reaches a Service at the address of its load balancer."""


@flow(
    "loadbalancer-local-policy",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    service=LOCAL,
    check_class=CheckClass.EXPOSED,
    facts=("svc-lb-etp-local-from-windows-pod",),
    sources=(SHORT_CIRCUIT,),
)
def test_loadbalancer_local_policy() -> None:
    """With externalTrafficPolicy Local every pod still reaches a load balancer's address: other nodes' backends answer."""


@flow(
    "loadbalancer-source-ranges",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=NO_ENDPOINTS,
    outcome=Outcome.TIMED_OUT,
    check_class=CheckClass.EXPOSED,
    facts=("svc-lb-source-ranges",),
    sources=(SOURCE_RANGES,),
)
def test_loadbalancer_source_ranges() -> None:
    """A pod outside loadBalancerSourceRanges does not reach the load balancer's address."""


@flow(
    "loadbalancer-affinity",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="lb-affinity", type="LoadBalancer", session_affinity=True),
    check_class=CheckClass.EXPOSED,
    facts=("aff-2022-vfp-bug",),
    sources=(AFFINITY,),
)
def test_loadbalancer_affinity() -> None:
    """With session affinity every pod still reaches a load balancer's address."""


@flow(
    "loadbalancer-preserve-destination",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="lb-preserve", type="LoadBalancer", preserve_destination=True),
    check_class=CheckClass.EXPOSED,
    facts=("preserve-dest-annotation",),
    sources=(LOAD_BALANCER, PRESERVED),
)
def test_loadbalancer_preserve_destination() -> None:
    """An ordinary backend answers at the load balancer's address whatever the annotation preserve-destination says."""


@flow(
    "loadbalancer-terminating-backends",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=LEAVING,
    check_class=CheckClass.EXPOSED,
    facts=("svc-terminating-lb",),
    sources=(TERMINATING,),
)
def test_loadbalancer_terminating_backends() -> None:
    """Terminating backends of a Service with a load balancer answer at its ClusterIP when no others are left."""


@flow(
    "service-external-ip",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_EXTERNAL_IP,
    matrix=Matrix.PAIRS,
    service=EXTERNAL,
    check_class=CheckClass.EXPOSED,
    facts=("svc-externalips",),
    sources=(EXTERNAL_IPS,),
)
def test_service_external_ip() -> None:
    """A pod reaches a Service at one of its externalIPs, wherever the backend runs."""


@flow(
    "external-ip-source-address",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_EXTERNAL_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    service=EXTERNAL,
    source_seen=SourceSeen.CLIENT_NODE,
    check_class=CheckClass.EXPOSED,
    facts=("svc-externalips",),
    sources=(EXTERNAL_IPS, SHORT_CIRCUIT),
)
def test_external_ip_source_address() -> None:
    """Behind one of a Service's externalIPs the backend sees the client pod's node, because that node serves the address."""


@flow(
    "health-check-local-backend",
    source=VantageKind.POD,
    target=TargetKind.HEALTH_CHECK_PORT,
    matrix=Matrix.OTHER_NODES,
    backing=Backing.LOCAL,
    protocols=(Protocol.TCP,),
    service=LOCAL,
    outcome=Outcome.HEALTHY,
    check_class=CheckClass.EXPOSED,
    facts=("nodeport-healthcheck",),
    sources=(HEALTH_CHECK,),
)
def test_health_check_local_backend() -> None:
    """A node that has a backend of a Service with externalTrafficPolicy Local reports it at the health check port."""


@flow(
    "health-check-no-local-backend",
    source=VantageKind.POD,
    target=TargetKind.HEALTH_CHECK_PORT,
    matrix=Matrix.OTHER_NODES,
    backing=Backing.ELSEWHERE,
    protocols=(Protocol.TCP,),
    service=LOCAL,
    outcome=Outcome.UNHEALTHY,
    check_class=CheckClass.EXPOSED,
    facts=("nodeport-healthcheck",),
    sources=(HEALTH_CHECK,),
)
def test_health_check_no_local_backend() -> None:
    """A node that has no backend of a Service with externalTrafficPolicy Local reports so at the health check port."""
