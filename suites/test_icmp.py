"""ICMP: pods ping pods, nodes, Services and hosts outside the cluster, and nodes ping the outside.

Judged by reply lines only. Packets of the pods' MTU and above must not be fragmented on their way.
"""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)
WINDOWS = Source(document="Kubernetes documentation, Networking on Windows", section="Limitations")
PATH_MTU = Source(document="RFC 1191, Path MTU discovery", section="3. Host specification")


@flow(
    "icmp-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    members=Members.EACH_PAIR,
    each_family=True,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("icmp-pod-pod",),
    sources=(NETWORK_MODEL,),
)
def test_icmp_pod_to_pod() -> None:
    """A pod's ping is answered by a pod on any node."""


@flow(
    "icmp-egress",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.SOURCES,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("icmp-pod-external",),
    sources=(NETWORK_MODEL,),
)
def test_icmp_egress() -> None:
    """A pod's ping is answered by a host outside the cluster."""


@flow(
    "icmp-pod-to-node",
    source=VantageKind.POD,
    target=TargetKind.NODE_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("icmp-pod-exception-dst",),
    sources=(NETWORK_MODEL,),
)
def test_icmp_pod_to_node() -> None:
    """A pod's ping is answered by its own node and by other nodes."""


@flow(
    "icmp-pod-to-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("svc-icmp-vip",),
    sources=(VIRTUAL_IPS,),
)
def test_icmp_pod_to_service() -> None:
    """A pod's ping is answered by a ClusterIP."""


@flow(
    "icmp-node-to-external",
    source=VantageKind.NODE,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.SOURCES,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("icmp-node-external",),
    sources=(WINDOWS,),
)
def test_icmp_node_to_external() -> None:
    """A node's ping is answered by a host outside the cluster."""


@flow(
    "icmp-packet-at-mtu",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    beyond_mtu=0,
    needs=("ping",),
    facts=("icmp-large-mtu",),
    sources=(PATH_MTU,),
)
def test_icmp_packet_at_mtu() -> None:
    """A packet as large as the pods' MTU passes unfragmented between pods on any nodes."""


@flow(
    "icmp-packet-beyond-mtu",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    beyond_mtu=1,
    outcome=Outcome.UNREACHABLE,
    needs=("ping",),
    facts=("icmp-large-mtu",),
    sources=(PATH_MTU,),
)
def test_icmp_packet_beyond_mtu() -> None:
    """A packet larger than the pods' MTU that must not be fragmented is rejected at once, not lost."""
