"""The defaults of workloads, Jobs included, as ``SetDefaults_…`` and a Job's strategy set them. Pure.

Read by ``kinds``, which registers them; what a workload may not be is said in ``validation``.
"""

from typing import Any

from nettests.lab.apiserver import pod_defaults

Json = dict[str, Any]

_BATCH = "batch.kubernetes.io/"


def _fill_template(item: Json, restart: str = "Always") -> None:
    """Set the defaults of a template; where no policy is the default one, the empty one is refused later."""
    spec = item.setdefault("spec", {})
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    template.setdefault("spec", {}).setdefault("restartPolicy", restart)
    pod_defaults.fill_template(template.setdefault("spec", {}))


def fill_deployment(item: Json) -> None:
    """Set the defaults of a Deployment."""
    _fill_template(item)
    spec = item["spec"]
    spec.setdefault("replicas", 1)
    rolling = spec.setdefault("strategy", {"type": "RollingUpdate"})
    if rolling.setdefault("type", "RollingUpdate") == "RollingUpdate":
        limits = rolling.setdefault("rollingUpdate", {})
        limits.setdefault("maxUnavailable", "25%")
        limits.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def fill_daemon_set(item: Json) -> None:
    """Set the defaults of a DaemonSet."""
    _fill_template(item)
    spec = item["spec"]
    strategy = spec.setdefault("updateStrategy", {"type": "RollingUpdate"})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        limits = strategy.setdefault("rollingUpdate", {})
        limits.setdefault("maxUnavailable", 1)
        limits.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def fill_replica_set(item: Json) -> None:
    """Set the defaults of a ReplicaSet."""
    _fill_template(item)
    item["spec"].setdefault("replicas", 1)


def fill_stateful_set(item: Json) -> None:
    """Set the defaults of a StatefulSet."""
    _fill_template(item)
    spec = item["spec"]
    spec.setdefault("replicas", 1)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {"type": "RollingUpdate"})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def fill_job(item: Json) -> None:
    """Set the defaults of a Job, with the selector and labels that its strategy makes of its uid and name."""
    spec, metadata = item.setdefault("spec", {}), item["metadata"]
    _fill_template(item, restart="")
    spec.setdefault("parallelism", 1)
    spec.setdefault("completions", 1)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "TerminatingOrFailed")
    uid, name = metadata["uid"], metadata.get("name", "")
    job_labels = {"controller-uid": uid, "job-name": name}
    labels = spec["template"]["metadata"].get("labels") or {}
    marks = {**job_labels, **{f"{_BATCH}{key}": value for key, value in job_labels.items()}}
    spec["template"]["metadata"]["labels"] = {**labels, **marks}
    spec.setdefault("selector", {"matchLabels": {f"{_BATCH}controller-uid": uid}})


def fill_cron_job(item: Json) -> None:
    """Set the defaults of a CronJob."""
    spec = item.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job = spec.setdefault("jobTemplate", {})
    _fill_template(job, restart="")


def fill_claim(item: Json) -> None:
    """Set the default of a PersistentVolumeClaim."""
    item.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
