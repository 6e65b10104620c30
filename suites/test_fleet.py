"""The fleet sweep: every node that takes part, as a source and as a target; each node or pair is a member of one check."""

from nettests.model.dns_names import KUBERNETES_FQDN
from nettests.model.expectation import Source
from nettests.model.words import (
    Distribution,
    Protocol,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import SIXTY_FOUR_KIB, Matrix, NameForm, flow, pods

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
NODEPORT = Source(document="Kubernetes documentation, Service", section="type: NodePort")
DEBUGGING = Source(
    document="Kubernetes documentation, Debugging DNS Resolution",
    section="Are DNS endpoints exposed?",
)
AFFINITY = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Session affinity",
)
NAMES = Source(document="Kubernetes documentation, DNS for Services and Pods", section="Services")
READINESS = Source(
    document="Kubernetes documentation, Pod Lifecycle",
    section="Pod network readiness",
    address="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-has-network",
)


@flow(
    "fleet-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.FLEET_PAIRS,
    alike="pod-to-pod-ip",
    facts=("flow-pod-pod-ip-same-node", "flow-pod-pod-ip-cross-node"),
    sources=(NETWORK_MODEL, NETWORKING),
)
def test_fleet_pod_to_pod() -> None:
    """Pods of every node reach Pods of every other node and of their own."""


@flow(
    "fleet-pod-source-address",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.FLEET_RING,
    alike="pod-to-pod-ip",
    source_seen=SourceSeen.CLIENT_POD,
    facts=("flow-pod-pod-ip-cross-node",),
    sources=(NETWORK_MODEL, NETWORKING),
)
def test_fleet_pod_source_address() -> None:
    """A Pod on another node sees the Pods of every node under their own addresses."""


@flow(
    "fleet-pod-to-node",
    source=VantageKind.POD,
    target=TargetKind.NODE_IP,
    matrix=Matrix.FLEET_HOSTS,
    alike="pod-to-node",
    facts=("flow-pod-other-node",),
    sources=(NETWORKING,),
)
def test_fleet_pod_to_node() -> None:
    """Every node answers Pods of another node at its own address."""


@flow(
    "fleet-node-to-pod",
    source=VantageKind.NODE,
    target=TargetKind.POD_IP,
    matrix=Matrix.FLEET_HOSTS,
    alike="node-to-pod",
    facts=("flow-node-remote-pod-l2bridge", "flow-node-remote-pod-overlay"),
    sources=(NETWORKING,),
)
def test_fleet_node_to_pod() -> None:
    """Every node reaches Pods of another node."""


@flow(
    "fleet-pod-to-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.FLEET_SERVICES,
    alike="pod-to-service-clusterip",
    facts=("flow-pod-clusterip",),
    sources=(NETWORKING,),
)
def test_fleet_pod_to_service() -> None:
    """Pods of every node reach Services by ClusterIP, with a backend of either system."""


@flow(
    "fleet-dns",
    source=VantageKind.POD,
    target=TargetKind.DNS_SERVICE,
    matrix=Matrix.FLEET_CLUSTER,
    question=Question.RESOLVE,
    names=(NameForm(template=f"{KUBERNETES_FQDN}.", resolvers=(Resolver.NSLOOKUP,)),),
    alike="dns-via-service",
    facts=("dns-udp-via-vip",),
    sources=(DEBUGGING,),
)
def test_fleet_dns() -> None:
    """The cluster's DNS answers Pods of every node at its Service's address, over TCP and over UDP."""


@flow(
    "fleet-external",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.FLEET_OUTSIDE,
    alike="pod-to-external-ip",
    facts=("flow-pod-external-ip",),
    sources=(NETWORKING,),
)
def test_fleet_external() -> None:
    """Pods of every node reach an address outside the cluster."""


@flow(
    "fleet-nodeport",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.FLEET_NODE_PORTS,
    alike="nodeport-from-pod-other-node",
    facts=("nodeport-external", "nodeport-udp"),
    sources=(NODEPORT,),
)
def test_fleet_nodeport() -> None:
    """Pods of other nodes reach a NodePort at every node."""


@flow(
    "fleet-nodeport-own",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.FLEET_OWN,
    alike="nodeport-from-pod-own-node",
    facts=("nodeport-from-pod-own-node",),
    sources=(NODEPORT,),
)
def test_fleet_nodeport_own() -> None:
    """Pods of every node reach a NodePort at their own node."""


@flow(
    "fleet-service-name",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_PQDN,
    matrix=Matrix.FLEET_OWN_POOL,
    protocols=(Protocol.TCP,),
    names=(NameForm(template="{service}"),),
    alike="pod-to-service-pqdn",
    facts=("flow-pod-svc-pqdn", "dns-short-same-ns"),
    sources=(NETWORKING, NAMES),
)
def test_fleet_service_name() -> None:
    """Pods of every node reach a Service by its name alone: their resolver knows the DNS server and the search list."""


@flow(
    "fleet-session-affinity",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.FLEET_POOL,
    protocols=(Protocol.TCP,),
    question=Question.DISTRIBUTE,
    distribution=Distribution.ONE_BACKEND,
    alike="session-affinity",
    facts=("aff-clientip-hns",),
    sources=(AFFINITY,),
)
def test_fleet_session_affinity() -> None:
    """All connections of a client on any node reach the same backend of a Service with ClientIP affinity."""


@flow(
    "fleet-payload",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.FLEET_PEERS,
    payload=SIXTY_FOUR_KIB,
    alike="payload-pod-to-pod",
    facts=("flow-pod-pod-ip-cross-node", "tcp-udp-all"),
    sources=(NETWORK_MODEL,),
)
def test_fleet_payload() -> None:
    """Pods of every node exchange 64 KiB over TCP, and full-size datagrams over UDP, with Pods of other nodes."""


@flow(
    "fleet-path-loss",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.FLEET_ONCE,
    question=Question.LOSS,
    alike="path-loss",
    facts=("flow-pod-pod-ip-cross-node", "tcp-udp-all"),
    sources=(NETWORK_MODEL,),
)
def test_fleet_path_loss() -> None:
    """Between Pods of every node and one other, and over TCP between all nodes if there are few, no more is lost than Ethernet may lose."""


@flow(
    "fleet-new-pod",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.FLEET_RING,
    question=Question.START,
    cases=(pods.reaching("each-path"),),
    alike="new-pod-first-packets",
    facts=("pod-network-before-containers", "flow-post-start-delay"),
    sources=(READINESS,),
)
def test_fleet_new_pod() -> None:
    """A new Pod on any node reaches another node's Pod, a ClusterIP and a Service by its name within its first second."""
