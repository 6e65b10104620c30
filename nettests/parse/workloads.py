"""Read the record of a workload: whether its Pods were created and started, and its status.

``start`` reads a single Pod. A Pod that the API server or a quota rejects says nothing about the
workload. Also used by ``probes.workloads``, to know when waiting longer shows nothing more.
"""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from nettests.model.json_text import Object, read_json
from nettests.model.labels import REVISION
from nettests.model.observation import Raw
from nettests.model.pod_problem import status_reasons
from nettests.model.words import Outcome
from nettests.model.workload import APART, ROLLS_OUT, Workload
from nettests.parse import start
from nettests.parse.reading import Reading, one_line, probe_failed

_REFUSED = "FailedCreate"
"""The reason in an event, or in a Deployment's condition, for a rejected Pod."""


def settled(pods: Sequence[Object], kind: Workload, how: str, says: str) -> bool:
    """Whether waiting longer shows nothing more about a workload's Pods: those of a Job have to end."""
    if how == APART:
        decided = [pod for pod in pods if start.started(pod) or _kept_away(pod, says)]
        return len(decided) == len(pods) > 1
    return bool(pods) and all(start.settled(pod, ()) for pod in pods) and not _unended(pods, kind)


def serves(pods: Sequence[Object]) -> bool:
    """Whether one of these Pods is Ready and not being deleted."""
    return any(start.started(pod) and not _leaves(pod) for pod in pods)


def replaced(pods: Sequence[Object], revision: str) -> bool:
    """Whether all Pods not being deleted are Ready and of this template ``revision``."""
    stay = _staying(pods)
    return bool(stay) and all(_revision(pod) == revision and start.started(pod) for pod in stay)


def failing(pods: Sequence[Object]) -> list[Object]:
    """Return the Pods that did not start and are not being deleted."""
    return [pod for pod in _staying(pods) if not start.started(pod)]


def status_lacks(kind: Workload, workload: Mapping[str, Any]) -> str:
    """Return what a workload's status lacks for its Pods to be as specified; empty if nothing."""
    status, spec = workload.get("status") or {}, workload.get("spec") or {}
    generation = (workload.get("metadata") or {}).get("generation", 0)
    if (observed := status.get("observedGeneration", generation)) < generation:
        return f"of generation {observed}, and its spec is generation {generation}"
    match kind:
        case Workload.DAEMON_SET:
            # sample: {"desiredNumberScheduled": 1, "numberReady": 1, "numberMisscheduled": 0, …}
            ready, wanted = status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
            return "" if ready == wanted > 0 else f"{ready} of {wanted} Pods Ready"
        case Workload.DEPLOYMENT | Workload.STATEFUL_SET:
            # sample: {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, …}
            wanted = spec.get("replicas", 1)
            ready = min(status.get("readyReplicas", 0), status.get("updatedReplicas", 0))
            return "" if ready >= wanted else f"{ready} of {wanted} Pods of its template Ready"
        case Workload.JOB:
            # sample: {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True", …}], …}
            listed = status.get("conditions") or ()
            done = any(
                condition["type"] == "Complete" and condition["status"] == "True"
                for condition in listed
            )
            return (
                "" if done else f"{status.get('succeeded', 0)} succeeded, and no condition Complete"
            )
        case Workload.CRON_JOB:
            return "" if status.get("lastScheduleTime") else "no lastScheduleTime"
        case _:
            assert_never(kind)


def read(raw: Raw) -> Reading:
    """Read a workload's record; ``context`` holds ``kind`` and the case's ``then`` and ``says``."""
    record, kind, how = read_json(raw.stdout), Workload(raw.context["kind"]), raw.context["then"]
    pods: list[Object] = record["pods"]
    if not pods:
        return _refused(record, kind) or _deviates(
            f"the {kind.value} made no Pod in {record['seconds']:.0f} s"
        )
    if how == APART:
        return _apart(pods, record, raw)
    if failed := failing(pods):
        return start.not_started(failed[0]["status"], record["events"], raw)
    if how == ROLLS_OUT:
        return _rolled_out(record, kind)
    if unended := _unended(pods, kind):
        return probe_failed(f"{_named(unended)} started, and its program has not ended yet")
    lacking = status_lacks(kind, record["own"])
    if lacking:
        return _deviates(f"its Pod started, but the {kind.value}'s status tells {lacking}")
    return _conforms(f"the {kind.value} made {_named(pods)}, and its status tells so")


def _unended(pods: Sequence[Object], kind: Workload) -> list[Object]:
    """Return the Pods that a Job waits for; a CronJob's status tells of the start alone."""
    return [pod for pod in pods if kind is Workload.JOB and pod["status"].get("phase") == "Running"]


def _refused(record: Object, kind: Workload) -> Reading | None:
    """Return the reading of a rejected Pod, if events or a Deployment's conditions name one."""
    # sample: {"type": "Warning", "reason": "FailedCreate", "message": "Error creating: pods \"x-\" is forbidden: …"}
    # sample: {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "pods \"x-\" is …"}
    conditions = (record["own"].get("status") or {}).get("conditions") or ()
    notices = (*record["said"], *conditions)
    refused = [notice["message"] for notice in notices if notice.get("reason") == _REFUSED]
    return (
        probe_failed(f"a Pod of the {kind.value} was refused: {refused[-1]}") if refused else None
    )


def _apart(pods: Sequence[Object], record: Object, raw: Raw) -> Reading:
    says = raw.context["says"]
    started = [pod for pod in pods if start.started(pod)]
    pending = [pod for pod in pods if _kept_away(pod, says)]
    if len(started) > 1:
        return _deviates(
            f"{_named(started)} started on one node, though they keep away from each other"
        )
    if not started:
        return start.not_started(pods[0]["status"], record["events"], raw)
    if not pending:
        other = next((pod for pod in pods if pod not in started), None)
        why = "; ".join(status_reasons(other["status"])) if other else "it was not made"
        return probe_failed(f"one Pod started, and it is not known why the other did not: {why}")
    why = "; ".join(status_reasons(pending[0]["status"]))
    return _conforms(f"{_named(started)} started, and {_named(pending)} stays pending: {why}")


def _rolled_out(record: Object, kind: Workload) -> Reading:
    if not record["rolled"]:
        shown = ", ".join(
            f"{_name(pod)} ({_revision(pod) or 'the first'})" for pod in record["pods"]
        )
        return _refused(record, kind) or _deviates(
            f"its template was changed, and Pods were not replaced in time: {shown}"
        )
    if record["gap"]:
        return _deviates("its template was changed, and for a while no Pod of it was Ready")
    lacking = status_lacks(kind, record["own"])
    if lacking:
        return _deviates(f"its Pod was replaced, but the {kind.value}'s status tells {lacking}")
    return _conforms(
        f"{record['first']} was replaced by {_named(_staying(record['pods']))}; one was always Ready"
    )


def _kept_away(pod: Object, says: str) -> bool:
    return any(says in text for text in status_reasons(pod["status"]))


def _staying(pods: Sequence[Object]) -> list[Object]:
    return [pod for pod in pods if not _leaves(pod)]


def _leaves(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _revision(pod: Object) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(REVISION, ""))


def _name(pod: Object) -> str:
    return str(pod["metadata"]["name"])


def _named(pods: Sequence[Object]) -> str:
    return ", ".join(map(_name, pods))


def _deviates(text: str) -> Reading:
    return Reading(outcome=Outcome.DEVIATES, detail=one_line(text))


def _conforms(text: str) -> Reading:
    return Reading(outcome=Outcome.CONFORMS, detail=one_line(text))
