"""The Job or CronJob itself, with what its Pod mounts. Pure.

The Pod meets the Pod Security level ``restricted``. Kubernetes never retries it: an aborted run may have left
objects, and the next run reports them.
"""

from collections.abc import Iterator
from typing import Any

from nettests.job.identity import labels
from nettests.job.wanted import Role, Wanted
from nettests.model.labels import OS_LABEL

Object = dict[str, Any]

CONTAINER = "nettests"
RESULTS_FOLDER = "/results"
FILES_FOLDER = "/etc/nettests"
RESULTS_VOLUME = "results"
USER = 65532
"""As the image has it; not root, which the level ``restricted`` wants to see in the Pod itself."""
KEPT_SECONDS = 86400
"""How long Kubernetes keeps a Job that has ended: its log is the only place of a report without a claim."""
KEPT_JOBS = 3
"""Of a CronJob, of those that ended well and of the others."""
GRACE_SECONDS = 180
"""From SIGTERM on: a run removes what it created."""
WEBHOOK_VARIABLE = "NETTESTS_WEBHOOK"
WEBHOOK_KEY = "url"
OPTION_OF_FILE = {
    "cluster-profile.yaml": "--cluster-profile",
    "baseline.yaml": "--baseline",
}
"""By which option ``nettests run`` is given a file that is mounted."""


def workload(wanted: Wanted) -> list[Object]:
    """Return the Job or CronJob, after the ConfigMap and the claim that its Pod mounts."""
    return [*_mounted(wanted), _cron_job(wanted) if wanted.schedule else _job(wanted)]


def _mounted(wanted: Wanted) -> Iterator[Object]:
    if wanted.files:
        yield {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata(wanted),
            "data": dict(wanted.files),
        }
    if wanted.claim_size:
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {**_metadata(wanted), "name": wanted.claim},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": wanted.claim_size}},
            },
        }


def _job(wanted: Wanted) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(wanted),
        "spec": {**_job_spec(wanted), "ttlSecondsAfterFinished": KEPT_SECONDS},
    }


def _cron_job(wanted: Wanted) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": _metadata(wanted),
        "spec": {
            "schedule": wanted.schedule,
            "concurrencyPolicy": "Forbid",
            # A nightly run whose start was missed for longer is not started by day.
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": KEPT_JOBS,
            "failedJobsHistoryLimit": KEPT_JOBS,
            "jobTemplate": {
                "metadata": {"labels": labels(wanted)},
                "spec": _job_spec(wanted),
            },
        },
    }


def _job_spec(wanted: Wanted) -> Object:
    return {
        "backoffLimit": 0,
        "activeDeadlineSeconds": int(wanted.deadline),
        "template": {"metadata": {"labels": labels(wanted)}, "spec": _pod_spec(wanted)},
    }


def _pod_spec(wanted: Wanted) -> Object:
    results: Object = {"emptyDir": {}}
    if wanted.claim:
        results = {"persistentVolumeClaim": {"claimName": wanted.claim}}
    volumes: list[Object] = [
        {"name": RESULTS_VOLUME, **results},
        {"name": "tmp", "emptyDir": {}},
    ]
    if wanted.files:
        volumes.append({"name": "files", "configMap": {"name": wanted.name}})
    secrets = {"imagePullSecrets": [{"name": wanted.pull_secret}]} if wanted.pull_secret else {}
    return {
        "restartPolicy": "Never",
        "serviceAccountName": wanted.name,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "nodeSelector": {OS_LABEL: "linux"},
        **secrets,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(wanted)],
        "volumes": volumes,
    }


def _container(wanted: Wanted) -> Object:
    mounts: list[Object] = [
        {"name": RESULTS_VOLUME, "mountPath": RESULTS_FOLDER},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - of the container alone
    ]
    if wanted.files:
        mounts.append({"name": "files", "mountPath": FILES_FOLDER, "readOnly": True})
    environment: list[Object] = []
    if wanted.webhook_secret:
        reference = {"name": wanted.webhook_secret, "key": WEBHOOK_KEY}
        environment = [{"name": WEBHOOK_VARIABLE, "valueFrom": {"secretKeyRef": reference}}]
    return {
        "name": CONTAINER,
        "image": wanted.image,
        "command": ["nettests"],
        "args": run_arguments(wanted),
        **({"env": environment} if environment else {}),
        "resources": {
            "requests": {"cpu": "250m", "memory": "512Mi"},
            "limits": {"memory": "2Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def run_arguments(wanted: Wanted) -> list[str]:
    """Return the words after ``nettests``; the user's own come last."""
    place = [f"--namespace={wanted.namespace}"] if wanted.role is Role.NAMESPACED else []
    files = [f"{OPTION_OF_FILE[name]}={FILES_FOLDER}/{name}" for name, _ in wanted.files]
    archive = [] if wanted.claim else ["--archive=-"]
    return [
        "run",
        f"--report-dir={RESULTS_FOLDER}",
        *archive,
        *place,
        *files,
        *wanted.arguments,
    ]


def _metadata(wanted: Wanted) -> Object:
    return {"name": wanted.name, "namespace": wanted.namespace, "labels": labels(wanted)}
