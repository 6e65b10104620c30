"""What Jobs want of the lab: one Pod that ends, and a condition that says how."""

from typing import Any

import pytest

from nettests.lab.controllers.jobs import reconcile_job

Json = dict[str, Any]
NOW = "2026-11-25T02:17:00Z"


def job(**given: Any) -> Json:
    """Return a Job."""
    spec = {"backoffLimit": 0, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}}  # fmt: skip
    status = given.pop("status", {})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "ns", "uid": "u"}, "spec": {**spec, **given}, "status": status}  # fmt: skip


def pods(*phases: str) -> list[Json]:
    """Return its Pods in these phases."""
    (made,) = reconcile_job(job(), [], NOW).create
    return [{**made, "status": {"phase": phase}} for phase in phases]


def test_a_job_gets_one_pod() -> None:
    """Of its template, owned by it, and no second one while it lives."""
    (made,) = reconcile_job(job(), [], NOW).create
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Job"
    assert made["metadata"]["generateName"] == "j-"
    for phase in ("Pending", "Running"):
        changes = reconcile_job(job(), pods(phase), NOW)
        assert (changes.create, changes.status["active"]) == ((), 1)


def test_a_pod_that_succeeds_completes_it() -> None:
    """With the time, and for good."""
    status = reconcile_job(job(), pods("Succeeded"), NOW).status
    assert (status["succeeded"], status["active"], status["completionTime"]) == (1, 0, NOW)
    assert status["conditions"][0]["type"] == "Complete"
    done = reconcile_job(job(status=status), [], NOW)
    assert (done.create, done.status) == ((), {})


@pytest.mark.parametrize(("limit", "again"), [(0, False), (1, True)])
def test_a_pod_that_fails_is_tried_again_up_to_the_limit(limit: int, *, again: bool) -> None:
    """Beyond it the Job has failed."""
    changes = reconcile_job(job(backoffLimit=limit), pods("Failed"), NOW)
    assert bool(changes.create) is again
    if not again:
        assert changes.status["conditions"][0]["reason"] == "BackoffLimitExceeded"


def test_a_suspended_job_makes_no_pod() -> None:
    """Nor does it end."""
    changes = reconcile_job(job(suspend=True), [], NOW)
    assert (changes.create, "conditions" in changes.status) == ((), False)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_switched_mechanism_counts_no_pod_that_ended(phase: str) -> None:
    """The Job is never over, and no second Pod is made."""
    changes = reconcile_job(job(), pods(phase), NOW, counted=False)
    assert (changes.create, changes.status) == ((), {"startTime": NOW})
    assert reconcile_job(job(), pods("Running"), NOW, counted=False).status["active"] == 1
