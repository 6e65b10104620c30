"""A Job with its Pods and events → one phase, with the reason. Pure.

``model.pod_problem`` finds out why a Pod does not start.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from nettests.job.workload import CONTAINER
from nettests.model.json_text import Object
from nettests.model.pod_problem import PULLS, is_hopeless, problem_of

_OF_IMAGES = PULLS | {
    *("RegistryUnavailable", "InvalidImageName", "ErrImageNeverPull"),
}
STUCK = _OF_IMAGES | {
    "ImageInspectError",
    *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
}
"""Reasons of a waiting container that do not heal, or not soon enough."""


class Phase(Enum):
    """How far a Job is."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    BROKEN = "broken"
    """It did not run, or its Pod is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A phase with its reason, if any, and the exit code once it has ended."""

    phase: Phase
    pod: str = ""
    reason: str = ""
    hint: str = ""
    exit_code: int | None = None


def state_of(job: Object, pods: Sequence[Object], events: Iterable[Object]) -> JobState:
    """Return the state of a Job; ``pods`` are its own, ``events`` those of its namespace."""
    all_events = list(events)
    if not pods:
        return _without_pod(job, all_events)
    newest = max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))
    return pod_state(newest, all_events)


def pod_state(pod: Object, events: Iterable[Object]) -> JobState:
    """Return the state of a Pod's only container."""
    name, status = str(pod["metadata"]["name"]), pod.get("status") or {}
    state = _container_state(status)
    if "terminated" in state:
        return _ended(name, state["terminated"] or {})
    if status.get("phase") == "Failed":
        reason = f"{status.get('reason') or 'Failed'}: {status.get('message') or 'no message'}"
        return JobState(phase=Phase.BROKEN, pod=name, reason=f"its Pod {name} failed: {reason}")
    if "running" in state:
        return JobState(phase=Phase.RUNNING, pod=name)
    waiting = state.get("waiting") or {}
    about = [event for event in events if _is_about(event.get("involvedObject") or {}, name)]
    if waiting.get("reason") in STUCK or is_hopeless(about):
        hint = "see `kubectl describe pod`"
        if waiting.get("reason") in _OF_IMAGES:
            hint = "does its node reach that registry, is the name right, and does it take a --pull-secret?"
        why = f"the Pod {name} does not start: {problem_of(pod, about)}"
        return JobState(phase=Phase.BROKEN, pod=name, reason=why, hint=hint)
    return JobState(phase=Phase.WAITING, pod=name, reason=_pending(name, status, waiting))


def untolerated(pod_spec: Object, nodes: Iterable[Object]) -> tuple[str, ...]:
    """Return the taints (as in ``--tolerate``) that keep a Pod off all selected nodes, or none."""
    wanted = (pod_spec.get("nodeSelector") or {}).items()
    suitable = [node for node in nodes if wanted <= (node["metadata"].get("labels") or {}).items()]
    keeping = [[*_keeping(node, pod_spec.get("tolerations") or ())] for node in suitable]
    return (
        tuple(dict.fromkeys(taint for taints in keeping for taint in taints))
        if all(keeping)
        else ()
    )


def _keeping(node: Object, tolerations: Sequence[Object]) -> Iterator[str]:
    for taint in (node.get("spec") or {}).get("taints") or ():
        effect, value = taint["effect"], str(taint.get("value") or "")
        tolerated = any(
            each.get("key") in {None, taint["key"]}
            and each.get("effect") in {None, effect}
            and (each.get("operator") == "Exists" or (each.get("value") or "") == value)
            for each in tolerations
        )
        if not tolerated and effect != "PreferNoSchedule":
            yield f"{taint['key']}{f'={value}' if value else ''}:{effect}"


def claim_of(pod_spec: Object, volume: str) -> str:
    """Return the claim that a Pod mounts as that volume, or nothing."""
    for volume_spec in pod_spec.get("volumes") or ():
        if volume_spec.get("name") == volume:
            return str((volume_spec.get("persistentVolumeClaim") or {}).get("claimName", ""))
    return ""


def _without_pod(job: Object, events: Sequence[Object]) -> JobState:
    name = str(job["metadata"]["name"])
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in {"Failed", "Complete"}:
            why = condition.get("message") or condition.get("reason") or "no reason"
            return JobState(
                phase=Phase.BROKEN,
                reason=f"the Job {name} has ended ({condition['type']}: {why}), and its Pod is gone",
                hint="the log went with it; `nettests job fetch` fetches what a claim keeps",
            )
    if (job.get("spec") or {}).get("suspend"):
        return JobState(
            phase=Phase.BROKEN,
            reason=f"the Job {name} is suspended",
            hint=f'kubectl patch job {name} -p \'{{"spec":{{"suspend":false}}}}\'',
        )
    matching = [
        event
        for event in events
        if event.get("reason") == "FailedCreate"
        and _is_about(event.get("involvedObject") or {}, job)
    ]
    matching.sort(key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""))
    refused = str(matching[-1]["message"]) if matching else ""
    if refused:
        return JobState(
            phase=Phase.BROKEN,
            reason=f"the Pod of Job {name} was refused: {refused}",
            hint="by a quota, Pod Security or a webhook of its namespace",
        )
    return JobState(phase=Phase.WAITING, reason=f"the Job {name} has no Pod yet")


def _ended(pod: str, terminated: Object) -> JobState:
    code = int(terminated.get("exitCode", 1))
    reason, message = str(terminated.get("reason", "")), str(terminated.get("message", ""))
    if reason in {"Completed", "Error", ""}:
        return JobState(phase=Phase.ENDED, pod=pod, exit_code=code)
    hint = ""
    if reason == "OOMKilled":
        hint = "raise resources.limits.memory of its container"
    elif reason in {"StartError", "ContainerCannotRun"}:
        hint = "is it the image of nettests that was named, and not that of its probes?"
    explanation = f"{reason}: {message}" if message else reason
    return JobState(phase=Phase.ENDED, pod=pod, exit_code=code, reason=explanation, hint=hint)


def _pending(pod: str, status: Object, waiting: Object) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return f"the Pod {pod} finds no node: {condition.get('message', 'no message')}"
    return (
        f"the Pod {pod} is starting ({waiting.get('reason') or status.get('phase') or 'Pending'})"
    )


def _container_state(status: Object) -> Object:
    for container in status.get("containerStatuses") or ():
        if container.get("name") == CONTAINER:
            return container.get("state") or {}
    return {}


def _is_about(involved: Object, about: Object | str) -> bool:
    if isinstance(about, str):
        return bool(involved.get("name") == about)
    return bool(involved.get("uid") == about["metadata"].get("uid"))
