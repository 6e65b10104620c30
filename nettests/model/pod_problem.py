"""Why a Pod does not start, in one line: the most specific part of its status and events. Pure.

What kubectl shows first is seldom the cause: ``ImagePullBackOff`` without the registry's answer,
``CrashLoopBackOff`` without the exit code, a sandbox name reserved since the failed attempt. Used
while a run waits for Pods (``cluster.wait``), pulls images (``probes.pulling``), reads a check's
own Pod (``parse.start``) and follows its Job (``job.state``); next: ``judge.distrust``.

Sources: Kubernetes, pkg/kubelet/events/event.go and pkg/kubelet/images/image_manager.go (the
back-off message has the cause since 1.32); containerd, internal/cri/server/sandbox_run.go;
microsoft/hcsshim.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from nettests.model.json_text import Object
from nettests.model.visible import cut
from nettests.model.windows_programs import exit_code_in_words
from nettests.resources import lines_of

LENGTH = 300
"""Characters of a problem, which must fit on one line; the journal keeps an event's whole text."""
SANDBOX = "FailedCreatePodSandBox"
"""Event of a Pod whose sandbox, and so its network, was not created; its status hides it."""
STARTING = frozenset({"ContainerCreating", "PodInitializing"})
"""Reasons of a waiting container before anything failed, and while the sandbox fails."""
QUIET = STARTING | {"Completed", ""}
PULLS = frozenset({"ErrImagePull", "ImagePullBackOff"})
_PATTERNS: Mapping[str, list[str]] = {
    key: [
        line.partition(": ")[2]
        for line in lines_of("nettests.model", "pod_problem.txt")
        if line.startswith(key)
    ]
    for key in ("image", "wrapper")
}
_NOT_OF_THIS_NODE = re.compile("|".join(_PATTERNS["image"]))
"""Errors of images, also the sandbox's, without a manifest for this node: retrying is pointless."""
_PROGRESS = frozenset({"Pulling", "Pulled", "Created", "Started"})
"""Events of a Pod with a working sandbox."""
_SEVERAL = 2
_PATIENCE = timedelta(minutes=3)
"""How long a startup probe may fail: a busy node takes over a minute to copy and scan a program."""
_TELL_LITTLE = (
    re.compile(r"^FailedCreatePodSandBox: (?:failed to reserve sandbox name|context deadline exceeded$)|^Unhealthy: "),
    re.compile(r"^BackOff: |^Failed: Error: \w+$|^FailedToRetrieveImagePullSecret: |^DNSConfigForming: |^FailedScheduling: "),
)  # fmt: skip
"""Warnings that only follow from others or give no reason; the latter rank below the former."""
_WRAPPERS = re.compile("|".join(_PATTERNS["wrapper"]), re.IGNORECASE)
"""Text that kubelets and runtimes wrap around an error."""
# samples: sandbox container "5cc1", hcs::CreateComputeSystem 6968702e67e4:, a container's or sandbox's 64 digits anywhere
_IDS = re.compile(
    r'(?<=CreateComputeSystem) [0-9a-f]+(?=:)|(?<=CreateProcess) [0-9a-f]+(?=:)|(?<=sandbox) "[0-9a-f]+"'
    r'|(?<=sandbox container) "[0-9a-f]+"|\b[0-9a-f]{32,64}(?:_\w+)?\b'
)
# samples: Back-off pulling image "a:1", Back-off pulling image "a:1": ErrImagePull: rpc error: code = NotFound desc = …
_BACK_OFF = re.compile(r'Back-off pulling image "(?P<image>[^"]*)"(?:: (?:\w+: )?(?P<cause>.+))?', re.DOTALL)  # fmt: skip


def problem_of(pod: Object, events: Sequence[Object] = ()) -> str:
    """Return, in one line for people, why a pod is not Ready."""
    status = pod.get("status", {})
    # sample: {"phase": "Failed", "reason": "PodOSNotSupported", "message": "Pod was rejected: Failed to …"}
    if status.get("reason"):
        return _shortened(f"{status['reason']}: {plain(status.get('message') or '')}")
    for container, why in _failing_containers(status, events):
        return _shortened(f"{container}: {why}")
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        why = scheduled.get("message") or scheduled.get("reason", "")
        return _shortened(f"not scheduled: {why.partition(' preemption: ')[0]}")
    warnings = telling(events)
    if is_unacknowledged(pod):
        because = f" ({warnings[0]})" if warnings else ""
        return _shortened(f"the kubelet of {pod['spec']['nodeName']} does not act on it{because}")
    if warnings:
        return _shortened(warnings[0])
    why = last_ending(pod) or status.get("message") or "no reason given"
    return _shortened(f"phase {status.get('phase')}: {why}")


def reason_of(pod: Object) -> str:
    """Return the short reason why a Pod, or an init container, is not Ready; may be empty."""
    for _, container in _containers(pod.get("status", {})):
        reason = ((container.get("state") or {}).get("waiting") or {}).get("reason") or ""
        if reason not in QUIET:
            return str(reason)
    scheduled = condition(pod, "PodScheduled")
    return str(scheduled.get("reason", "")) if scheduled.get("status") == "False" else ""


def status_reasons(status: Object, events: Sequence[Object] = ()) -> Iterator[str]:
    """Yield each reason why a Pod did not start, from its status; causes of pulls from events."""
    if status.get("reason"):
        yield f"{status['reason']}: {status.get('message', '')}"
    for name, text in _failing_containers(status, events):
        yield f"{name.removeprefix('container ')}: {text}"
    for label, container in _containers(status):
        running = "running" in (container.get("state") or {}) and not container.get("ready")
        if running and not label.startswith("init "):
            yield f"{container['name']}: runs, but is not Ready"
    # sample: {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 …"}
    scheduled = condition({"status": status}, "PodScheduled")
    if scheduled.get("status") == "False":
        yield f"{scheduled.get('reason', '')}: {scheduled.get('message', '')}"


def telling(events: Sequence[Object]) -> list[str]:
    """Return reasons and plain texts of warnings, the most specific first, then the newest."""
    # sample: {"type": "Warning", "reason": "Failed", "message": "Error: container has runAsNonRoot …"}
    newest_first = list(reversed(events))
    newest_first.sort(key=_moment, reverse=True)
    warnings = [
        f"{event.get('reason') or 'event'}: {plain(event['message'])}"
        for event in newest_first
        if event.get("type") == "Warning" and event.get("message")
    ]
    return sorted(warnings, key=_how_little)


def is_hopeless(events: Sequence[Object]) -> bool:
    """Whether a Pod's events repeat that it gets no sandbox, or an image does not fit its node.

    Or that its startup probe has failed for minutes: nothing listens, or no process can start.
    """
    if _startup_fails(events):
        return True
    failures = [event for event in events if _is_final(event)]
    since = max(map(_moment, failures), default="")
    recovered = any(event.get("reason") in _PROGRESS and _moment(event) > since for event in events)
    return sum(map(_times, failures)) >= _SEVERAL and not recovered


def _startup_fails(events: Sequence[Object]) -> bool:
    # samples: Startup probe failed: …, Startup probe errored: rpc error: …; a kubelet sends 25 of a kind, then one in five minutes
    failed = [
        event
        for event in events
        if event.get("reason") == "Unhealthy" and event.get("message", "").startswith("Startup ")
    ]
    times = [moment for event in failed if (moment := _time(event.get("firstTimestamp")))]
    latest = [moment for event in failed if (moment := _time(_moment(event)))]
    return bool(times and latest) and max(latest) - min(times) >= _PATIENCE


def _time(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_unacknowledged(pod: Object) -> bool:
    """Whether a Pod's kubelet has not set ``status.startTime``, as it does right after binding."""
    return bool(pod.get("spec", {}).get("nodeName")) and not pod.get("status", {}).get("startTime")


def condition(pod: Object, kind: str) -> Object:
    """Return a condition of the Pod; empty if it has none of that kind."""
    conditions = pod.get("status", {}).get("conditions") or []
    return next((item for item in conditions if item["type"] == kind), {})


def plain(text: str) -> str:
    """Strip wrappers and sandbox ids from a kubelet's or runtime's text."""
    while (unwrapped := _WRAPPERS.sub("", text)) != text:
        text = unwrapped
    return " ".join(_IDS.sub("", text).split())


def _containers(status: Object) -> Iterator[tuple[str, Object]]:
    for field, label in (("initContainerStatuses", "init container"), ("containerStatuses", "container")):  # fmt: skip
        for container in status.get(field) or ():
            yield f"{label} {container.get('name', '')}", container


def _failing_containers(status: Object, events: Sequence[Object]) -> Iterator[tuple[str, str]]:
    for label, container in _containers(status):
        state, ended = container.get("state") or {}, _end_of(container)
        # sample: {"waiting": {"reason": "CreateContainerConfigError", "message": "container has …"}}
        waiting = state.get("waiting") or {}
        reason, message = waiting.get("reason") or "", waiting.get("message") or ""
        if reason in PULLS:
            yield label, f"{reason}: {_pull_error(message, container, events)}"
        elif reason not in QUIET:
            yield label, f"{reason}: {_ending(ended) if ended else plain(message)}"
        elif "running" not in state and ended.get("reason", "Completed") not in QUIET:
            yield label, _ending(ended)


def _end_of(container: Object) -> Object:
    """Return how a container ended, now or before its last restart; empty if it has not."""
    # sample: {"terminated": {"exitCode": 128, "reason": "StartError", "message": "failed to …"}}
    states = (container.get("state") or {}, container.get("lastState") or {})
    return next((state["terminated"] for state in states if state.get("terminated")), {})


def last_ending(pod: Object) -> str:
    """Return how the container of a restarted Pod last ended, with exit code and output."""
    ends = [end for _, container in _containers(pod["status"]) if (end := _end_of(container))]
    return _shortened(_ending(ends[-1])) if ends else ""


def _ending(ended: Object) -> str:
    words = f"{ended.get('reason') or 'ended'}, exit code {exit_code_in_words(ended.get('exitCode', 0))}"  # fmt: skip
    return f"{words}: {plain(ended['message'])}" if ended.get("message") else words


def _pull_error(message: str, container: Object, events: Sequence[Object]) -> str:
    """Return why an image was not pulled, from the end of the back-off or the kubelet's event."""
    back_off = _BACK_OFF.match(message)
    if message and back_off is None:
        return plain(message)
    if back_off and back_off["cause"]:
        return plain(back_off["cause"])
    image = f'"{back_off["image"] if back_off else container.get("image", "")}"'
    # sample: Failed to pull image "a:1": rpc error: code = Unknown desc = Error response from daemon: no matching …
    failed = [
        event["message"]
        for event in sorted(events, key=_moment)
        if event.get("message", "").startswith("Failed to pull image ")
    ]
    of_it = [text for text in failed if image in text] or failed
    return plain(of_it[-1] if of_it else message)


def _how_little(warning: str) -> int:
    return next((rank for rank, text in enumerate(_TELL_LITTLE, 1) if text.search(warning)), 0)


def _is_final(event: Object) -> bool:
    if event.get("type") != "Warning":
        return False
    reason, text = event.get("reason"), plain(event.get("message") or "")
    if reason == SANDBOX:  # a sandbox whose name is reserved may still be created
        return _how_little(f"{SANDBOX}: {text}") == 0
    return reason == "Failed" and _NOT_OF_THIS_NODE.search(text) is not None


def _times(event: Object) -> int:
    return int(event.get("count") or (event.get("series") or {}).get("count") or 1)


def _moment(event: Object) -> str:
    series = event.get("series") or {}
    times = (event.get("lastTimestamp"), series.get("lastObservedTime"), event.get("eventTime"))
    return next((str(time) for time in times if time), "")


def _shortened(text: str) -> str:
    return cut(" ".join(text.split()), LENGTH)
