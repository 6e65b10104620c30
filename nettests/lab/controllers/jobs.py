"""Reconciliation of Jobs and CronJobs. Pure.

Jobs run one Pod at a time, again after a failure up to a limit; parallelism, indexes, deadlines, policies and back-off
between Pods are not supported. Schedules have five fields of ``*``, ``*/n``, numbers, ranges and lists, in UTC; of missed
times only the last one is made up for. ``concurrencyPolicy`` Forbid and the history limits are supported.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nettests.lab.client import Json
from nettests.lab.client.events import timestamp
from nettests.lab.client.informer import has_condition
from nettests.lab.controllers.workloads import Changes, owned_by, owner_of, pod_of

_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
"""Minute, hour, day, month, day of the week."""
_ALIASES = {"@hourly": "0 * * * *", "@daily": "0 0 * * *"}
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
INSTANTIATE = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def reconcile_job(job: Json, pods: Iterable[Json], now: str, *, counted: bool = True) -> Changes:
    """Return the Pod to create, if any, and the status: counts of Pods, and whether the Job has finished.

    If finished Pods are not ``counted``, a Job never finishes.
    """
    owned_pods = owned_by(job, pods)
    phases = [(pod.get("status") or {}).get("phase", "Pending") for pod in owned_pods]
    succeeded, failed = phases.count("Succeeded"), phases.count("Failed")
    status = job.get("status") or {}
    if _over(job):
        return Changes(status={})
    spec = job["spec"]
    new_status: Json = {"startTime": status.get("startTime", now)}
    if not counted and succeeded + failed:
        return Changes(status=new_status)
    ended: tuple[str, str, str] | None = None
    if succeeded:
        ended = "Complete", "CompletionsReached", "Reached expected number of succeeded pods"
        new_status |= {"succeeded": succeeded, "completionTime": now}
    elif failed > spec["backoffLimit"]:
        ended = "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if ended is not None:
        kind, reason, message = ended
        what = {"type": kind, "status": "True", "reason": reason, "message": message}
        times = {"lastProbeTime": now, "lastTransitionTime": now}
        new_status["conditions"] = [{**what, **times}]
        return Changes(status={**new_status, "active": 0, "failed": failed})
    active = len(owned_pods) - failed
    create: tuple[Json, ...] = ()
    if not active and not spec.get("suspend"):
        create = (pod_of(job, "Job", f"{job['metadata']['name']}-"),)
    new_status |= {"active": active + len(create), "failed": failed}
    return Changes(create=create, status=new_status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The Job to create, if any, those to delete, the CronJob's new status, and the seconds until the next check."""

    create: Json | None
    delete: tuple[Json, ...]
    status: Json
    seconds: float
    problem: str = ""
    """Why the schedule cannot be parsed; empty if it can."""


def reconcile_cron_job(item: Json, jobs: Iterable[Json], now: datetime) -> Due:
    """Return what has to be done for a CronJob at ``now``."""
    owned_jobs = owned_by(item, jobs)
    spec, status = item["spec"], item.get("status") or {}
    since = datetime.fromisoformat(
        status.get("lastScheduleTime") or item["metadata"]["creationTimestamp"]
    )
    problem = ""
    try:
        moment = _last(spec["schedule"], since, now)
    except ValueError as error:
        moment, problem = None, f'unparseable schedule: "{spec["schedule"]}" : {error}'
    active = [job for job in owned_jobs if not _over(job)]
    held = bool(active) and spec.get("concurrencyPolicy") == "Forbid"
    created = None
    names = ("name", "namespace", "uid")
    head = {"apiVersion": "batch/v1", "kind": "Job"}
    listed = [{**head, **{name: job["metadata"][name] for name in names}} for job in active]
    new_status: Json = {"active": listed}
    if moment is not None and not spec.get("suspend") and not held:
        created = _job(item, moment)
        new_status |= {"lastScheduleTime": timestamp(moment)}
    return Due(
        create=created,
        delete=tuple(_surplus(owned_jobs, spec)),
        status=new_status,
        seconds=60 - now.second - now.microsecond / 1e6,
        problem=problem,
    )


def _last(schedule: str, since: datetime, now: datetime) -> datetime | None:
    """Return the last time of a schedule after ``since`` and up to ``now``, within the last day."""
    moment = now.replace(second=0, microsecond=0)
    while moment > max(since, now - _DAY):
        if _matches(schedule, moment):
            return moment
        moment -= _MINUTE
    return None


def _matches(schedule: str, moment: datetime) -> bool:
    texts = _ALIASES.get(schedule, schedule).split()
    values = (moment.minute, moment.hour, moment.day, moment.month, moment.isoweekday() % 7)
    chosen = [
        value in _values(text, *of) for text, value, of in zip(texts, values, _FIELDS, strict=True)
    ]
    days, weekdays = texts[2] != "*", texts[4] != "*"
    by_day = (chosen[2] or chosen[4]) if days and weekdays else (chosen[2] and chosen[4])
    return chosen[0] and chosen[1] and chosen[3] and by_day


def _values(text: str, least: int, most: int) -> set[int]:
    # samples: *    */5    1-5    0,30
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        begin = least if span == "*" else int(first)
        end = most if span == "*" or (step and not last) else int(last or first)
        values |= set(range(begin, end + 1, int(step or 1)))
    return values


def _job(item: Json, moment: datetime) -> Json:
    template = copy.deepcopy(item["spec"]["jobTemplate"])
    metadata = template.get("metadata") or {}
    notes = {**(metadata.get("annotations") or {}), INSTANTIATE: timestamp(moment)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "labels": metadata.get("labels") or {},
            "annotations": notes,
            "name": f"{item['metadata']['name']}-{int(moment.timestamp()) // 60}",
            "namespace": item["metadata"]["namespace"],
            "ownerReferences": [owner_of(item, "CronJob")],
        },
        "spec": template["spec"],
    }


def _surplus(jobs: Sequence[Json], spec: Json) -> Iterable[Json]:
    """Yield the oldest finished Jobs beyond the history limits."""
    for kind, limit in (
        ("Complete", spec.get("successfulJobsHistoryLimit", 3)),
        ("Failed", spec.get("failedJobsHistoryLimit", 1)),
    ):
        ended = sorted(
            (job for job in jobs if has_condition(job, kind)),
            key=lambda job: job["metadata"]["name"],
        )
        yield from ended[: max(len(ended) - int(limit), 0)]


def _over(job: Json) -> bool:
    return any(has_condition(job, kind) for kind in ("Complete", "Failed"))
