"""What a Job wants: one Pod that ends, again after a failure up to its limit. Pure.

Beside ``workloads``, whose Pods never end. As far as a Job that runs once needs it: one Pod at a time, no parallelism,
indexes, deadlines, policies or back-off between Pods.
"""

from collections.abc import Iterable

from nettests.lab.client import Json
from nettests.lab.controllers.workloads import Changes, owned_by, pod_of


def reconcile_job(job: Json, pods: Iterable[Json], now: str, *, counted: bool = True) -> Changes:
    """Return the Pod to make, if any, and the status: how many are active and have ended, and whether all is over.

    Where Pods that ended are not ``counted`` a Job is never over.
    """
    owned_pods = owned_by(job, pods)
    phases = [(pod.get("status") or {}).get("phase", "Pending") for pod in owned_pods]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    status = job.get("status") or {}
    over = any(
        condition["type"] in {"Complete", "Failed"} and condition["status"] == "True"
        for condition in status.get("conditions") or ()
    )
    if over:
        return Changes(status={})
    spec = job["spec"]
    new_status: Json = {"startTime": status.get("startTime", now)}
    if not counted and succeeded + failed:
        return Changes(status=new_status)
    if succeeded:
        message = "Reached expected number of succeeded pods"
        new_status |= {"succeeded": succeeded, "completionTime": now}
        new_status |= _condition("Complete", "CompletionsReached", message, now)
        return Changes(status={**new_status, "active": 0, "failed": failed})
    if failed > spec["backoffLimit"]:
        message = "Job has reached the specified backoff limit"
        new_status |= _condition("Failed", "BackoffLimitExceeded", message, now)
        return Changes(status={**new_status, "active": 0, "failed": failed})
    active = len(owned_pods) - failed
    create: tuple[Json, ...] = ()
    if not active and not spec.get("suspend"):
        create = (pod_of(job, "Job", f"{job['metadata']['name']}-"),)
    return Changes(
        create=create, status={**new_status, "active": active + len(create), "failed": failed}
    )


def _condition(kind: str, reason: str, message: str, now: str) -> Json:
    condition = {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": now,
        "lastTransitionTime": now,
    }
    return {"conditions": [condition]}
