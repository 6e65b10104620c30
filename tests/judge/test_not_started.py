"""What is read from the reason that a Pod of the run never became Ready."""

import pytest

from nettests.judge.advice import AFTER_DISTRUST, after_distrust
from nettests.judge.not_started import AFTER_REFUSAL, NotStarted, not_created, not_started

PULL = (
    'container hostname: ImagePullBackOff: Back-off pulling image "registry.k8s.io/agnhost:2.63.0"'
)


@pytest.mark.parametrize(
    ("why", "found"),
    [
        (
            f"pod server-windows-1-1 does not stand: pod server-windows-1-1 is not Ready: {PULL}",
            NotStarted("server-windows-1-1", "ImagePullBackOff"),
        ),
        (
            "no Pod of this run started on win-1: pod probe-windows-1-1 is not Ready: Unschedulable: 0/4 nodes",
            NotStarted("probe-windows-1-1", "Unschedulable"),
        ),
        ("pod probe-windows-1-1 is not Ready: Pending", NotStarted("probe-windows-1-1", "Pending")),
        ("node win-2 was not Ready while this was probed (NodeStatusUnknown)", None),
        ("exec lost its exit code", None),
    ],
)
def test_the_pod_and_its_reason_are_read(why: str, found: NotStarted | None) -> None:
    """Deployment's words name the Pod; the kubelet's or the scheduler's word is the reason."""
    assert not_started(why) == found


def test_the_step_is_about_the_pod() -> None:
    """A Pod that does not start is no probe to repair: who pulls its image is told where to look."""
    assert "kubectl describe pod p" in after_distrust(f"pod p is not Ready: {PULL}")
    assert "registry" in after_distrust(f"pod p is not Ready: {PULL}")
    assert "registry" not in after_distrust("pod p is not Ready: Unschedulable: 0/4 nodes")
    assert after_distrust("exec lost its exit code") == AFTER_DISTRUST


QUOTA = (
    'Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 403 Forbidden: pods "s-1" is forbidden: '
    "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"
)
EXCEEDED = QUOTA.partition("403 Forbidden: ")[2]
WEBHOOK = (
    "Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 500 InternalError: Internal error occurred: "
    'failed calling webhook "a.b": connection refused'
)


@pytest.mark.parametrize(
    ("why", "found"),
    [
        (f"pod s-1 does not stand: {QUOTA}", "exceeded quota: small"),
        (WEBHOOK, 'Internal error occurred: failed calling webhook "a.b": connection refused'),
        (
            f"attempt 1: a Pod of the DaemonSet was refused: Error creating: {EXCEEDED}",
            "exceeded quota: small",
        ),
        (f"attempt 1: a Pod of the Deployment was refused: {EXCEEDED}", "exceeded quota: small"),
        ("attempt 1: a Pod of the Job was refused: Error creating: no admission", "no admission"),
        ("pod probe-windows-1-1 is not Ready: Pending", None),
    ],
)
def test_a_refusal_is_told_in_the_words_of_the_api_server(why: str, found: str | None) -> None:
    """Without names of Pods and amounts, which differ from one to the next: one quota is one cause."""
    assert not_created(why) == found
    assert (after_distrust(why) == AFTER_REFUSAL) is (found is not None)
