"""Traffic policies: internal and external Local, and the source address behind a NodePort."""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Protocol, SourceSeen, TargetKind, VantageKind
from nettests.plan import Backing, Matrix, ServiceSettings, flow

EXTERNAL = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="External traffic policy",
    address="https://kubernetes.io/docs/reference/networking/virtual-ips/",
)
INTERNAL = Source(
    document="Kubernetes documentation, Service Internal Traffic Policy",
    section="How it works",
    address="https://kubernetes.io/docs/concepts/services-networking/service-traffic-policy/",
)
SOURCE_IP = Source(
    document="Kubernetes documentation, Using Source IP",
    section="Source IP for Services with Type=NodePort",
    address="https://kubernetes.io/docs/tutorials/services/source-ip/",
)
EXTERNAL_LOCAL = ServiceSettings(
    label="etp-local", type="NodePort", external_traffic_policy="Local"
)
INTERNAL_LOCAL = ServiceSettings(label="itp-local", internal_traffic_policy="Local")


@flow(
    "nodeport-source-address",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    protocols=(Protocol.TCP,),
    source_seen=SourceSeen.TARGET_NODE,
    facts=("dsr-nodeport-cluster-never",),
    sources=(SOURCE_IP,),
)
def test_nodeport_source_address() -> None:
    """Behind a NodePort the backend sees the address of the node whose NodePort a client outside uses."""


@flow(
    "nodeport-from-pod-source-address",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    protocols=(Protocol.TCP,),
    source_seen=SourceSeen.TARGET_NODE,
    facts=("dsr-nodeport-cluster-never",),
    sources=(SOURCE_IP,),
)
def test_nodeport_from_pod_source_address() -> None:
    """Behind a NodePort the backend sees the address of the node whose NodePort a pod of another node uses."""


@flow(
    "nodeport-from-node-source-address",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OWN_NODE,
    backing=Backing.ELSEWHERE,
    protocols=(Protocol.TCP,),
    source_seen=SourceSeen.CLIENT_NODE,
    facts=("nodeport-local-from-node",),
    sources=(SOURCE_IP,),
)
def test_nodeport_from_node_source_address() -> None:
    """Behind a NodePort a backend on another node sees the address of the node that connects to its own address."""


@flow(
    "etp-local-client-address",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    backing=Backing.LOCAL,
    protocols=(Protocol.TCP,),
    service=EXTERNAL_LOCAL,
    source_seen=SourceSeen.EXTERNAL_CLIENT,
    facts=("etp-local-supported", "etp-local-old", "etp-local-non-dsr-docs"),
    sources=(EXTERNAL, SOURCE_IP),
)
def test_etp_local_client_address() -> None:
    """With externalTrafficPolicy Local a backend on the target node sees the outside client's address."""


@flow(
    "etp-local-no-local-backend",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    backing=Backing.ELSEWHERE,
    protocols=(Protocol.TCP,),
    service=EXTERNAL_LOCAL,
    outcome=Outcome.TIMED_OUT,
    facts=("etp-local-supported", "etp-local-old", "etp-local-non-dsr-docs"),
    sources=(EXTERNAL, SOURCE_IP),
)
def test_etp_local_no_local_backend() -> None:
    """With externalTrafficPolicy Local a node without a local backend does not answer clients outside the cluster."""


@flow(
    "etp-local-clusterip",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    service=EXTERNAL_LOCAL,
    facts=("svc-clusterip-missing-etp-local",),
    sources=(EXTERNAL,),
)
def test_etp_local_clusterip() -> None:
    """With externalTrafficPolicy Local every pod still reaches the ClusterIP: backends on other nodes answer."""


@flow(
    "itp-local-own-node",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    service=INTERNAL_LOCAL,
    facts=("itp-local",),
    sources=(INTERNAL,),
)
def test_itp_local_own_node() -> None:
    """With internalTrafficPolicy Local a pod reaches a Service with a backend on its own node."""


@flow(
    "itp-local-no-local-backend",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    service=INTERNAL_LOCAL,
    outcome=Outcome.TIMED_OUT,
    facts=("itp-local",),
    sources=(INTERNAL,),
)
def test_itp_local_no_local_backend() -> None:
    """With internalTrafficPolicy Local a Service with backends only on other nodes does not answer a pod."""
