"""Paths between Pods: how large a packet passes, and how much is lost.

The largest packet is found by probing, so no MTU has to be stated; loss is measured by trains of short questions,
with the bounds that their number allows.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
PATH_MTU = Source(document="RFC 1191, Path MTU discovery", section="3. Host specification")
VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)


@flow(
    "path-mtu",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.UDP,),
    question=Question.PATH_MTU,
    facts=("icmp-large-mtu",),
    sources=(PATH_MTU, NETWORK_MODEL),
)
def test_path_mtu() -> None:
    """Packets of every size that Pods' interfaces send in one piece pass between pods on any nodes."""


@flow(
    "path-loss",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.ELSEWHERE,
    members=Members.EACH_PAIR_ONCE,
    question=Question.LOSS,
    facts=("flow-pod-pod-ip-cross-node", "tcp-udp-all"),
    sources=(NETWORK_MODEL,),
)
def test_path_loss() -> None:
    """Between pods on different nodes, no more is lost than Ethernet may lose."""


@flow(
    "connection-loss",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.LOSS,
    check_class=CheckClass.COSTLY,
    facts=("flow-pod-clusterip",),
    sources=(VIRTUAL_IPS,),
)
def test_connection_loss() -> None:
    """Each of many connections from a pod to a Service whose backend runs on another node is answered."""
