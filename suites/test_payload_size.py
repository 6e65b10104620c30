"""Payloads of real sizes between Pods: to Pods, through Services and NodePorts, over TCP and UDP.

Over TCP 64 KiB and 1 MiB, in either direction; over UDP what one packet of the Pods' MTU holds. Small packets may pass
where large ones are lost, and most other checks send only a few bytes.
"""

from nettests.model.expectation import Source
from nettests.model.words import Protocol, TargetKind, VantageKind
from nettests.plan import ONE_MIB, SIXTY_FOUR_KIB, Backing, Matrix, Members, flow

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)
NODEPORT = Source(document="Kubernetes documentation, Service", section="type: NodePort")


@flow(
    "payload-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    members=Members.EACH_PAIR,
    payload=SIXTY_FOUR_KIB,
    facts=("flow-pod-pod-ip-same-node", "flow-pod-pod-ip-cross-node", "tcp-udp-all"),
    sources=(NETWORK_MODEL,),
)
def test_payload_pod_to_pod() -> None:
    """A pod exchanges 64 KiB over TCP, and full-size datagrams over UDP, with a pod on any node."""


@flow(
    "payload-pod-to-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    payload=SIXTY_FOUR_KIB,
    facts=("flow-pod-clusterip", "tcp-udp-all"),
    sources=(VIRTUAL_IPS,),
)
def test_payload_pod_to_service() -> None:
    """A pod exchanges 64 KiB over TCP, and full-size datagrams over UDP, with a Service by ClusterIP."""


@flow(
    "payload-nodeport-from-pod",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    backing=Backing.LOCAL,
    payload=SIXTY_FOUR_KIB,
    facts=("nodeport-external", "nodeport-udp"),
    sources=(NODEPORT,),
)
def test_payload_nodeport_from_pod() -> None:
    """A pod exchanges 64 KiB over TCP, and full-size datagrams over UDP, with a NodePort of another node."""


@flow(
    "payload-1mib-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    payload=ONE_MIB,
    facts=("flow-pod-pod-ip-same-node", "flow-pod-pod-ip-cross-node"),
    sources=(NETWORK_MODEL,),
)
def test_payload_1mib_pod_to_pod() -> None:
    """A pod exchanges 1 MiB over TCP with a pod on any node."""


@flow(
    "payload-1mib-pod-to-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    payload=ONE_MIB,
    facts=("flow-pod-clusterip",),
    sources=(VIRTUAL_IPS,),
)
def test_payload_1mib_pod_to_service() -> None:
    """A pod exchanges 1 MiB over TCP with a Service whose backend runs on another node."""
