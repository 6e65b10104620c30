"""NodePorts answer on every node, from the node itself, from other nodes and from outside."""

from nettests.model.expectation import Source
from nettests.model.verdict import Judgement
from nettests.model.words import TargetKind, VantageKind
from nettests.plan import Matrix, flow

NODEPORT = Source(document="Kubernetes documentation, Service", section="type: NodePort")


@flow(
    "nodeport-from-local-node",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OWN_NODE,
    facts=("nodeport-local-from-node",),
    sources=(NODEPORT,),
)
def test_nodeport_from_local_node(verdict: Judgement) -> None:
    """A node reaches a NodePort at its own address, wherever the backend runs."""
    assert verdict.accepted, verdict.message


@flow(
    "nodeport-from-other-node",
    source=VantageKind.NODE,
    target=TargetKind.NODEPORT,
    matrix=Matrix.OTHER_NODES,
    facts=("nodeport-external", "nodeport-udp", "svc-types"),
    sources=(NODEPORT,),
)
def test_nodeport_from_other_node(verdict: Judgement) -> None:
    """A node reaches a NodePort at another node's address, wherever the backend runs."""
    assert verdict.accepted, verdict.message


@flow(
    "nodeport-from-external",
    source=VantageKind.EXTERNAL,
    target=TargetKind.NODEPORT,
    matrix=Matrix.NODES,
    facts=("nodeport-external", "svc-types"),
    sources=(NODEPORT,),
)
def test_nodeport_from_external(verdict: Judgement) -> None:
    """A client outside the cluster reaches a NodePort at any node, wherever the backend runs."""
    assert verdict.accepted, verdict.message
