"""Pods ping pods, and hosts outside the cluster."""

from nettests.model.expectation import Source
from nettests.model.verdict import Judgement
from nettests.model.words import Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, flow

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)


@flow(
    "icmp-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.ICMP,),
    question=Question.PING,
    needs=("ping",),
    facts=("icmp-pod-pod",),
    sources=(NETWORK_MODEL,),
)
def test_icmp_pod_to_pod(verdict: Judgement) -> None:
    """A pod's ping is answered by a pod on any node."""
    assert verdict.accepted, verdict.message


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
def test_icmp_egress(verdict: Judgement) -> None:
    """A pod's ping is answered by a host outside the cluster."""
    assert verdict.accepted, verdict.message
