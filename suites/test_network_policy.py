"""NetworkPolicies: one that denies and one that allows connections from a Pod; other rules are not tested.

Costly: each check creates a Pod and a NetworkPolicy that selects only this Pod, and removes both. It counts only if
another Pod on the same node reaches the same server.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, Outcome, Question, TargetKind, VantageKind
from nettests.plan import Matrix, flow, pods

POLICIES = Source(
    document="Kubernetes documentation, Network Policies",
    section="Prerequisites; The two sorts of pod isolation",
    address="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
)


@flow(
    "network-policy",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.ELSEWHERE,
    question=Question.START,
    cases=(
        pods.bound("denied", pods.DENIED, Outcome.TIMED_OUT),
        pods.bound("allowed", pods.ALLOWED, Outcome.CONNECTED),
    ),
    check_class=CheckClass.COSTLY,
    facts=("cni-netpol",),
    sources=(POLICIES,),
)
def test_network_policy() -> None:
    """A Pod that a NetworkPolicy isolates for egress reaches what the policy names, and nothing else."""
