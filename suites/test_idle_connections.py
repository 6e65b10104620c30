"""Idle TCP connections.

Costly: each is silent for five minutes, all at the same time.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Protocol, Question, TargetKind, VantageKind
from nettests.plan import Matrix, flow

TCP = Source(
    document="RFC 9293, Transmission Control Protocol (TCP)",
    section="3.8.4 TCP Keep-Alives",
    address="https://www.rfc-editor.org/rfc/rfc9293",
)


@flow(
    "pod-to-pod-idle",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-4min",),
    sources=(TCP,),
)
def test_pod_to_pod_idle() -> None:
    """An idle TCP connection to a pod of the same node still works after five minutes."""


@flow(
    "pod-to-pod-idle-other-node",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.IDLE,
    check_class=CheckClass.COSTLY,
    facts=("flow-tcp-idle-4min",),
    sources=(TCP,),
)
def test_pod_to_pod_idle_other_node() -> None:
    """An idle TCP connection to a pod of another node still works after five minutes."""
