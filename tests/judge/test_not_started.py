"""What is read from the reason that a Pod of the run never became Ready."""

import pytest

from nettests.judge.advice import STEPS, after_distrust
from nettests.judge.distrust import NotStarted, not_created, not_started
from nettests.judge.refusals import AFTER_REFUSAL

PULL = (
    'container hostname: ImagePullBackOff: Back-off pulling image "registry.k8s.io/agnhost:2.63.0"'
)


@pytest.mark.parametrize(
    ("why", "found"),
    [
        (
            f"pod server-windows-1-1 does not stand: pod server-windows-1-1 is not Ready: {PULL}",
            NotStarted("server-windows-1-1", PULL),
        ),
        (
            "no Pod of this run started on win-1: pod probe-windows-1-1 is not Ready: not scheduled: 0/4 nodes",
            NotStarted("probe-windows-1-1", "not scheduled: 0/4 nodes", of_node=True),
        ),
        ("pod probe-windows-1-1 is not Ready: Pending", NotStarted("probe-windows-1-1", "Pending")),
        ("node win-2 was not Ready while this was probed (NodeStatusUnknown)", None),
        ("exec lost its exit code", None),
    ],
)
def test_the_pod_and_its_reason_are_read(why: str, found: NotStarted | None) -> None:
    """Deployment's words name the Pod; the kubelet's or the scheduler's own words are the reason, whole."""
    assert not_started(why) == found


@pytest.mark.parametrize(
    ("reason", "step"),
    [
        (PULL, "whether the node reaches the registry"),
        ("container p: ImagePullBackOff: no match for platform in manifest: not found", "manifest list"),
        ("FailedCreatePodSandBox: hcs::CreateComputeSystem: The container operating system does not match the host operating system.", "pause image"),
        ("container p: ErrImagePull: unexpected status: 429 Too Many Requests", "limits the number of pulls"),
        ("container p: ErrImagePull: pull access denied, no basic auth credentials", "demands credentials"),
        ("container p: ErrImagePull: hcsshim::ImportLayer failed in Win32: The system cannot find the file specified.", "free disk"),
        ("FailedCreatePodSandBox: hcs::CreateComputeSystem: The paging file is too small", "lacks memory"),
        ("not scheduled: 6 Insufficient vpc.amazonaws.com/PrivateIPv4Address", "addresses that its subnet has left"),
        ("not scheduled: 1 node(s) had untolerated taint {os: windows}", "pods.tolerations"),
        ('FailedCreatePodSandBox: plugin type="azure-vnet" failed (add): timed out locking store', "its network plugin fails"),
        ("FailedCreatePodSandBox: hcs::CreateComputeSystem: The requested operation for attach namespace failed.", "its network plugin fails"),
        ("FailedCreatePodSandBox: context deadline exceeded", "makes no sandbox"),
        ("FailedMount: MountVolume.SetUp failed for volume: not supported by windows", "kubelet's log"),
        ("container p: CrashLoopBackOff: Error, exit code -1073741515 (0xc0000135 STATUS_DLL_NOT_FOUND: …)", "logs --previous"),
        ("init container istio-init: ImagePullBackOff: no match for platform", 'sidecar.istio.io/inject: "false"'),
        ("phase Pending: no reason given", "run again once such Pods start there"),
    ],
)  # fmt: skip
def test_the_step_fits_the_cause(reason: str, step: str) -> None:
    """A Pod that does not start is no probe to repair: where to look depends on what its events say."""
    found = after_distrust(f"pod p is not Ready: {reason}")
    assert "kubectl describe pod p" in found
    assert step in found
    assert ("registry" in found) is ("registry" in step or "limits the number of pulls" in step or "credentials" in step)  # fmt: skip


def test_other_distrust_is_the_probes() -> None:
    """A channel says nothing of Pods."""
    assert after_distrust("exec lost its exit code") == STEPS["distrust"]


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
    refusal = not_created(why)
    assert (refusal.why if refusal else None) == found
    assert (after_distrust(why) == (refusal.next_step if refusal else "")) is (found is not None)


def test_a_refusal_that_nobody_knows_has_a_step_all_the_same() -> None:
    """What may refuse a Pod is listed."""
    assert after_distrust("Pod s-1 was not created: somebody is against it") == AFTER_REFUSAL
