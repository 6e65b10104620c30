"""Jobs, CronJobs and claims on this API server, through the official client."""

from pathlib import Path
from typing import Any

import pytest
from kubernetes import config
from kubernetes.client import ApiException, BatchV1Api, CoreV1Api

from tests.lab.apiserver.conftest import Running

POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}


@pytest.fixture
def batch(served: Running, tmp_path: Path) -> BatchV1Api:
    """The client of batch/v1."""
    return BatchV1Api(config.new_client_from_config(str(served.kubeconfig(tmp_path / "k"))))


def job(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "j"}, "spec": {"template": {"spec": dict(POD)}, **spec}}


def refused(call: Any, *arguments: Any) -> str:
    """The API server's words."""
    with pytest.raises(ApiException) as error:
        call(*arguments)
    assert error.value.status == 422
    return str(error.value.body)


def test_a_job_gets_its_selector_and_its_pods_labels(batch: BatchV1Api) -> None:
    """By its uid and name, under the old keys and the new ones; and the defaults of batch/v1."""
    made = batch.create_namespaced_job("default", job())
    labels = made.spec.template.metadata.labels
    uid = made.metadata.uid
    assert made.spec.selector.match_labels == {"batch.kubernetes.io/controller-uid": uid}
    assert labels == {
        "controller-uid": uid,
        "job-name": "j",
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
    }
    assert (made.spec.backoff_limit, made.spec.completions, made.spec.parallelism) == (6, 1, 1)


@pytest.mark.parametrize("policy", [None, "Always"])
def test_a_pod_that_never_ends_is_no_job(batch: BatchV1Api, policy: str | None) -> None:
    """The default of a Pod is refused for a Job, stated or not."""
    spec = {**POD, "restartPolicy": policy} if policy else {"containers": POD["containers"]}
    text = refused(batch.create_namespaced_job, "default", job(template={"spec": spec}))
    assert "spec.template.spec.restartPolicy" in text
    assert "OnFailure" in text


def test_the_template_of_a_job_does_not_change(batch: BatchV1Api) -> None:
    """Who wants another one makes another Job; its other fields change."""
    made = batch.create_namespaced_job("default", job())
    made.spec.template.spec.containers[0].image = "other"
    text = refused(batch.replace_namespaced_job, "j", "default", made)
    assert "spec.template" in text
    assert "field is immutable" in text
    assert batch.patch_namespaced_job("j", "default", {"spec": {"suspend": True}}).spec.suspend


@pytest.mark.parametrize(
    ("name", "schedule", "said"),
    [
        ("c" * 53, "17 2 * * *", "must be no more than 52 characters"),
        ("c", "17 2 * *", "expected exactly 5 fields, found 4"),
        ("c", "", "spec.schedule"),
    ],
)
def test_a_cron_job_that_cannot_run_is_refused(batch: BatchV1Api, name: str, schedule: str, said: str) -> None:  # fmt: skip
    """By the length of its Jobs' names, and by its schedule."""
    item = {"metadata": {"name": name}, "spec": {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}}}  # fmt: skip
    assert said in refused(batch.create_namespaced_cron_job, "default", item)


def test_a_claim_waits_to_be_bound(batch: BatchV1Api) -> None:
    """For ever: no volume is here; one without a size or a mode is refused."""
    core = CoreV1Api(batch.api_client)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = core.create_namespaced_persistent_volume_claim("default", {"metadata": {"name": "r"}, "spec": spec})  # fmt: skip
    assert made.status.phase == "Pending"
    for lacking in spec:
        item = {"metadata": {"name": "s"}, "spec": {k: v for k, v in spec.items() if k != lacking}}
        assert lacking in refused(core.create_namespaced_persistent_volume_claim, "default", item)
