"""NodePorts: every node answers itself, other nodes, pods and clients outside."""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Protocol, TargetKind, VantageKind
from nettests.plan import Backing, Matrix, flow

NODEPORT = Source(document="Kubernetes documentation, Service", section="type: NodePort")
LOOPBACK = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Migrating from iptables mode to nftables",
    address="https://kubernetes.io/docs/reference/networking/virtual-ips/",
)


@flow(
    "nodeport-from-local-node",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OWN_NODE,
    each_family=True,
    facts=("nodeport-local-from-node",),
    sources=(NODEPORT,),
)
def test_nodeport_from_local_node() -> None:
    """A node reaches a NodePort at its own address, wherever the backend runs."""


@flow(
    "nodeport-from-other-node",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    facts=("nodeport-external", "nodeport-udp", "svc-types"),
    sources=(NODEPORT,),
)
def test_nodeport_from_other_node() -> None:
    """A node reaches a NodePort at another node's address, wherever the backend runs."""


@flow(
    "nodeport-at-empty-node",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.EMPTY_NODES,
    protocols=(Protocol.TCP,),
    facts=("nodeport-needs-local-pod",),
    sources=(NODEPORT,),
)
def test_nodeport_at_empty_node() -> None:
    """A pod reaches a NodePort at the address of a Windows node on which no Pod of its network runs."""


@flow(
    "nodeport-from-external",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    facts=("nodeport-external", "svc-types"),
    sources=(NODEPORT,),
)
def test_nodeport_from_external() -> None:
    """A client outside the cluster reaches a NodePort at any node, wherever the backend runs."""


@flow(
    "nodeport-from-pod-own-node",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OWN_NODE,
    facts=("nodeport-from-pod-own-node", "nodeport-udp"),
    sources=(NODEPORT,),
)
def test_nodeport_from_pod_own_node() -> None:
    """A pod reaches a NodePort at its own node's address, wherever the backend runs."""


@flow(
    "nodeport-from-pod-other-node",
    source=VantageKind.POD,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    each_family=True,
    facts=("nodeport-external", "nodeport-udp"),
    sources=(NODEPORT,),
)
def test_nodeport_from_pod_other_node() -> None:
    """A pod reaches a NodePort at another node's address, wherever the backend runs."""


@flow(
    "nodeport-localhost",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT_LOCALHOST,
    matrix=Matrix.OWN_NODE,
    backing=Backing.LOCAL,
    protocols=(Protocol.TCP,),
    outcome=Outcome.REFUSED,
    facts=("nodeport-localhost",),
    sources=(LOOPBACK,),
)
def test_nodeport_localhost() -> None:
    """A node is refused at its loopback address, where NodePorts are not served."""
