"""New Pods: whether their network is ready when their first container starts, for each kind of path.

Each check creates a Pod whose containers send from their first moment on and log the results; the log is read when
they have ended. The controls are a plain Pod on the same node, and a Pod of the run that reaches the same server.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Question, TargetKind, VantageKind
from nettests.plan import Matrix, flow, pods

READINESS = Source(
    document="Kubernetes documentation, Pod Lifecycle",
    section="Pod network readiness",
    address="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-has-network",
)
RETRANSMISSION = Source(
    document="RFC 6298, Computing TCP's Retransmission Timer",
    section="2.1",
    address="https://www.rfc-editor.org/rfc/rfc6298",
)


@flow(
    "new-pod-first-packets",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.ELSEWHERE,
    question=Question.START,
    cases=(pods.reaching("each-path"),),
    facts=("pod-network-before-containers", "flow-post-start-delay"),
    sources=(READINESS, RETRANSMISSION),
)
def test_new_pod_first_packets() -> None:
    """A new Pod reaches a Pod of another node, a ClusterIP and a Service by its name within its first second."""


@flow(
    "new-pods-at-once",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.ANOTHER,
    question=Question.START,
    cases=(pods.reaching("thirty", pods=30),),
    check_class=CheckClass.COSTLY,
    alike="new-pod-first-packets",
    facts=("pod-network-before-containers",),
    sources=(READINESS, RETRANSMISSION),
)
def test_new_pods_at_once() -> None:
    """Each of thirty Pods created at once on a node pool's nodes reaches a Pod, a ClusterIP and a name within a second."""
