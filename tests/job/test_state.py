"""Why a Job says nothing, in one sentence that a person can act on."""

from typing import Any

import pytest

from nettests.job.state import JobState, Phase, claim_of, state_of
from tests.job.made import event, pod

JOB = {"metadata": {"name": "nettests", "uid": "j"}, "spec": {}}


def of(pods: list[Any], *events: Any, job: Any = None) -> JobState:
    """The state of a Job."""
    return state_of(job or JOB, pods, events)


def test_a_run_that_ended_has_its_exit_code() -> None:
    """Whatever it is: that is the run's own word."""
    for code in (0, 1, 6, 7, 8):
        reason = "Completed" if code == 0 else "Error"
        found = of([pod({"terminated": {"exitCode": code, "reason": reason}}, phase="Failed")])
        assert (found.phase, found.exit_code, found.reason) == (Phase.ENDED, code, "")


@pytest.mark.parametrize(
    ("terminated", "said", "hint"),
    [
        ({"exitCode": 137, "reason": "OOMKilled"}, "OOMKilled", "limits.memory"),
        ({"exitCode": 128, "reason": "StartError", "message": 'exec: "nettests": not found'}, 'StartError: exec: "nettests"', "not that of its probes"),
        ({"exitCode": 143, "reason": "DeadlineExceeded"}, "DeadlineExceeded", ""),
    ],
)  # fmt: skip
def test_a_container_that_was_ended_says_by_what(terminated: Any, said: str, hint: str) -> None:
    """Beside its code, which is no verdict of a run then."""
    found = of([pod({"terminated": terminated})])
    assert found.exit_code == terminated["exitCode"]
    assert found.reason.startswith(said)
    assert hint in found.hint


def test_an_image_that_does_not_come_is_told_with_the_registrys_words() -> None:
    """The state says that the kubelet waits; why stands in an event of the same Pod."""
    waiting = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "r.example/n:1"'}
    failed = event("Failed", 'Failed to pull image "r.example/n:1": not found')
    other = event("Failed", "Failed to pull image of somebody else", name="other", uid="o")
    error = event("Failed", "Error: ErrImagePull")
    found = of([pod({"waiting": waiting})], other, failed, error)
    assert found.phase is Phase.BROKEN
    assert found.reason.endswith('does not start: container nettests: ImagePullBackOff: Failed to pull image "r.example/n:1": not found')  # fmt: skip
    assert "--pull-secret" in found.hint
    assert "Back-off pulling" in of([pod({"waiting": waiting})]).reason


@pytest.mark.parametrize("reason", ["InvalidImageName", "CreateContainerConfigError"])
def test_a_container_that_will_not_start_is_not_waited_for(reason: str) -> None:
    """A Secret that is missing, or a name that is none, does not mend itself."""
    found = of([pod({"waiting": {"reason": reason, "message": 'secret "hook" not found'}})])
    assert (found.phase, found.exit_code) == (Phase.BROKEN, None)
    assert 'secret "hook" not found' in found.reason


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing", None])
def test_a_pod_that_starts_is_waited_for(reason: str | None) -> None:
    """It says what it is doing."""
    found = of([pod({"waiting": {"reason": reason}} if reason else None)])
    assert found.phase is Phase.WAITING
    assert (reason or "Pending") in found.reason


def test_a_pod_without_a_node_says_why() -> None:
    """In the scheduler's words; a node may still come."""
    condition = {"type": "PodScheduled", "status": "False", "message": 'persistentvolumeclaim "reports" not found'}  # fmt: skip
    found = of([pod(conditions=[condition])])
    assert (found.phase, "finds no node" in found.reason) == (Phase.WAITING, True)
    assert 'persistentvolumeclaim "reports" not found' in found.reason


def test_a_pod_that_was_evicted_is_broken() -> None:
    """Its container may have no state at all."""
    found = of([pod(phase="Failed", reason="Evicted", message="The node was low on memory.")])
    assert (found.phase, "Evicted: The node was low on memory." in found.reason) == (Phase.BROKEN, True)  # fmt: skip


def test_a_pod_that_was_refused_is_told_by_its_jobs_event() -> None:
    """Pod Security, a quota and webhooks refuse the Pod, and the Job alone hears of it."""
    refused = event("FailedCreate", 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest"', name="nettests", uid="j")  # fmt: skip
    found = of([], refused)
    assert (found.phase, 'violates PodSecurity "restricted:latest"' in found.reason) == (Phase.BROKEN, True)  # fmt: skip
    assert of([], event("FailedCreate", "of another", name="nettests", uid="before")).phase is Phase.WAITING  # fmt: skip


def test_a_job_whose_pod_is_gone_says_how_it_ended() -> None:
    """A deadline deletes the Pod, and the log with it."""
    condition = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline"}  # fmt: skip
    found = of([], job={**JOB, "status": {"conditions": [condition]}})
    assert (found.phase, "longer than specified deadline" in found.reason) == (Phase.BROKEN, True)


def test_a_job_that_is_suspended_does_not_start() -> None:
    """The hint goes on with it."""
    found = of([], job={**JOB, "spec": {"suspend": True}})
    assert (found.phase, "suspended" in found.reason, "false" in found.hint) == (Phase.BROKEN, True, True)  # fmt: skip


def test_the_newest_pod_counts() -> None:
    """Whatever the order in which they are listed."""
    old, new = pod({"terminated": {"exitCode": 1}}), pod({"running": {}})
    new["metadata"] = {**new["metadata"], "name": "later", "creationTimestamp": "2026-11-25T03:00:00Z"}  # fmt: skip
    for pods in ([old, new], [new, old]):
        assert (of(pods).phase, of(pods).pod) == (Phase.RUNNING, "later")


def test_a_sidecar_of_a_mesh_is_not_the_run() -> None:
    """A container that a webhook put beside it neither runs nor ends for it."""
    status: dict[str, Any] = {"containerStatuses": [{"name": "istio-proxy", "state": {"running": {}}}, {"name": "nettests", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}  # fmt: skip
    assert of([pod(**status)]).exit_code == 1


def test_the_claim_is_found_by_its_volume() -> None:
    """Other volumes are none of it."""
    volumes = [{"name": "tmp", "emptyDir": {}}, {"name": "results", "persistentVolumeClaim": {"claimName": "r"}}]  # fmt: skip
    assert claim_of({"volumes": volumes}, "results") == "r"
    assert claim_of({"volumes": volumes[:1]}, "results") == claim_of({}, "results") == ""


def test_a_pod_without_a_sandbox_is_not_waited_for() -> None:
    """Its container is only being created; its events say twice that it will not be."""
    failed = event("FailedCreatePodSandBox", "Failed to create pod sandbox: no HNS network")
    creating = pod({"waiting": {"reason": "ContainerCreating"}})
    assert of([creating], failed).phase is Phase.WAITING
    found = of([creating], failed, failed)
    assert found.phase is Phase.BROKEN
    assert found.reason.endswith("does not start: FailedCreatePodSandBox: no HNS network")
