"""Services by their backends: hairpin, no endpoints, host network, named and mixed target ports."""

from nettests.model.dns_names import SERVICE_FQDN
from nettests.model.expectation import Source
from nettests.model.words import (
    Distribution,
    Outcome,
    Protocol,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import Backing, ByHand, Matrix, Members, NameForm, ServiceSettings, flow

SERVICE = Source(
    document="Kubernetes documentation, Service",
    section="Defining a Service",
    address="https://kubernetes.io/docs/concepts/services-networking/service/",
)
HEADLESS = Source(document="Kubernetes documentation, Service", section="Headless Services")
EXTERNAL_NAME = Source(document="Kubernetes documentation, Service", section="type: ExternalName")
DEBUG = Source(
    document="Kubernetes documentation, Debug Services",
    section="Edge case: A Pod fails to reach itself via the Service IP",
    address="https://kubernetes.io/docs/tasks/debug/debug-application/debug-service/",
)
REJECTED = Source(
    document="Kubernetes e2e tests, test/e2e/network/service.go",
    section="should be rejected when no endpoints exist",
)
MASQUERADE = Source(
    document="kubernetes/kubernetes, pkg/proxy/nftables/proxier.go", section="hairpin masquerade"
)
UNREADY = Source(
    document="Kubernetes API reference, Service v1", section="spec.publishNotReadyAddresses"
)
BALANCED = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Proxy modes",
)
WITHOUT_SELECTOR = Source(
    document="Kubernetes documentation, Service", section="Services without selectors"
)
HINTS = Source(
    document="Kubernetes documentation, Topology Aware Routing",
    section="kube-proxy",
    address="https://kubernetes.io/docs/concepts/services-networking/topology-aware-routing/#implementation-kube-proxy",
)
TERMINATING = Source(
    document="KEP-1669, Proxy Terminating Endpoints",
    section='Example: all endpoints terminating and traffic policy is "Cluster"',
    address="https://github.com/kubernetes/enhancements/tree/master/keps/sig-network/1669-proxy-terminating-endpoints",
)
HAIRPIN = ServiceSettings(label="hairpin", behind="probe")
NO_ENDPOINTS = ServiceSettings(label="no-endpoints", type="NodePort", no_endpoints=True)


@flow(
    "service-hairpin",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    service=HAIRPIN,
    facts=("svc-hairpin-nondsr", "svc-hairpin-dsr"),
    sources=(DEBUG,),
)
def test_service_hairpin() -> None:
    """A pod reaches itself through the ClusterIP of a Service that it backs."""


@flow(
    "service-hairpin-source",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    service=HAIRPIN,
    source_seen=SourceSeen.CLIENT_NODE,
    facts=("svc-hairpin-nondsr", "svc-hairpin-dsr"),
    sources=(MASQUERADE,),
)
def test_service_hairpin_source() -> None:
    """A pod that reaches itself through its Service sees its node's address instead of its own."""


@flow(
    "service-no-endpoints",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NO_ENDPOINTS,
    service=NO_ENDPOINTS,
    outcome=Outcome.REFUSED,
    facts=("svc-no-endpoints",),
    sources=(REJECTED,),
)
def test_service_no_endpoints() -> None:
    """A pod is refused at the ClusterIP of a Service without endpoints."""


@flow(
    "nodeport-no-endpoints",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    backing=Backing.NOWHERE,
    protocols=(Protocol.TCP,),
    service=NO_ENDPOINTS,
    outcome=Outcome.REFUSED,
    facts=("svc-no-endpoints",),
    sources=(REJECTED,),
)
def test_nodeport_no_endpoints() -> None:
    """A client outside the cluster is refused at the NodePort of a Service without endpoints."""


@flow(
    "service-unready-backend",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="published", behind="unready", publish_not_ready=True),
    facts=("svc-publish-not-ready",),
    sources=(UNREADY,),
)
def test_service_unready_backend() -> None:
    """A Service with publishNotReadyAddresses leads to a backend that is not Ready."""


@flow(
    "service-host-process-backend",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="on-host", behind="node"),
    facts=("svc-hostprocess-backend-same-node",),
    sources=(SERVICE,),
)
def test_service_host_process_backend() -> None:
    """A pod reaches a Service whose backend is a pod in a host's network, on any node."""


@flow(
    "service-distribution",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.DISTRIBUTE,
    distribution=Distribution.SEVERAL_BACKENDS,
    facts=("svc-distribution-5tuple",),
    sources=(BALANCED,),
)
def test_service_distribution() -> None:
    """Many connections of one client are spread over the backends of a Service without affinity."""


@flow(
    "service-named-port",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="named", named_ports=True),
    facts=("svc-types",),
    sources=(SERVICE,),
)
def test_service_named_port() -> None:
    """A pod reaches each port of a Service whose target ports are the names of its backend's ports."""


@flow(
    "service-headless",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_FQDN,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    names=(NameForm(template=SERVICE_FQDN, resolvers=(Resolver.NSLOOKUP,)),),
    service=ServiceSettings(label="headless", headless=True),
    facts=("svc-headless-env",),
    sources=(HEADLESS,),
)
def test_service_headless() -> None:
    """The name of a headless Service leads to its backend's own address and port."""


@flow(
    "service-external-name",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_FQDN,
    matrix=Matrix.SOURCES,
    protocols=(Protocol.TCP,),
    names=(NameForm(template=SERVICE_FQDN, resolvers=(Resolver.NSLOOKUP,)),),
    service=ServiceSettings(label="external-name", type="ExternalName", external_name=True),
    facts=("svc-types",),
    sources=(EXTERNAL_NAME,),
)
def test_service_external_name() -> None:
    """The name of an ExternalName Service leads a pod to the host outside that it stands for."""


@flow(
    "service-without-selector",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    service=ServiceSettings(label="by-hand", by_hand=ByHand.PLAIN),
    facts=("kp-endpointslice",),
    sources=(WITHOUT_SELECTOR,),
)
def test_service_without_selector() -> None:
    """A pod reaches a Service without selector, whose EndpointSlice was made by hand."""


@flow(
    "service-two-target-ports",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.DISTRIBUTE,
    distribution=Distribution.SEVERAL_BACKENDS,
    service=ServiceSettings(label="mixed-target-ports", by_hand=ByHand.MIXED_TARGET_PORTS),
    facts=("svc-single-targetport", "kp-endpointslice"),
    sources=(SERVICE,),
)
def test_service_two_target_ports() -> None:
    """Backends with different target ports for the same Service port all answer."""


@flow(
    "service-topology-hints",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.POOLS,
    protocols=(Protocol.TCP,),
    question=Question.DISTRIBUTE,
    distribution=Distribution.ONE_BACKEND,
    service=ServiceSettings(label="hinted", by_hand=ByHand.HINTED),
    facts=("svc-topology-hints",),
    sources=(HINTS,),
)
def test_service_topology_hints() -> None:
    """Only those backends of a Service answer a client that are hinted for the zone of its node."""


@flow(
    "service-terminating-backends",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    service=ServiceSettings(label="terminating", by_hand=ByHand.TERMINATING),
    facts=("svc-terminating-lb",),
    sources=(TERMINATING,),
)
def test_service_terminating_backends() -> None:
    """When all backends of a Service are terminating but still serve, they answer its clients."""
