"""Pod status as the kubelet reports it, made from the states of its containers. Pure.

Shapes follow statuses recorded from Kubernetes 1.36 (running, image missing, command failing, run to
completion, hostNetwork); older releases lack the fields that came later. ``ContainerView`` is a
container's state at one moment; conditions keep the time of their last change from the previous
status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nettests.lab.client import Json
from nettests.lab.topology import OS

_CREATING = frozenset({"ContainerCreating", "PodInitializing"})

_READ_ONLY = {"readOnly": True, "recursiveReadOnly": "Disabled"}
_VOLUME_MOUNTS = 31
"""RecursiveReadOnlyMounts is on by default since 1.31."""
_RESOURCES_AND_USER = 33
"""InPlacePodVerticalScaling and SupplementalGroupsPolicy are on by default since 1.33."""
_OBSERVED_GENERATION = 34
"""PodObservedGenerationTracking is on by default since 1.34."""
_POD_RESOURCES = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerView:
    """One container: ``state`` and ``last_state`` are in the API's form."""

    name: str
    image: str
    state: Mapping[str, Json]
    image_id: str = ""
    last_state: Mapping[str, Json] = field(default_factory=dict)
    ready: bool = False
    started: bool = False
    restarts: int = 0
    container_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxView:
    """The pod's sandbox: whether it runs, and the pod's addresses once it has any."""

    host_addresses: tuple[str, ...]
    addresses: tuple[str, ...]
    start_time: str
    running: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why the node refuses the pod: ``PodOSNotSupported``, ``NodeAffinity``."""

    reason: str
    message: str


def phase(pod: Json, containers: Sequence[ContainerView], init: Sequence[ContainerView]) -> str:
    """Return the pod's phase (``getPhase`` of the kubelet)."""
    policy = pod["spec"].get("restartPolicy", "Always")
    if any("terminated" not in view.state for view in init):
        failed = any(_exit_code(view) not in {None, 0} for view in init)
        return "Failed" if failed and policy == "Never" else "Pending"
    if any(_exit_code(view) for view in init) and policy == "Never":
        return "Failed"
    if any("waiting" in view.state and not view.last_state for view in containers):
        return "Pending"
    codes = [_exit_code(view) for view in containers]
    if any(code is None for code in codes):
        return "Running"
    if policy == "Always" and "deletionTimestamp" not in pod["metadata"]:
        return "Running"
    if all(code == 0 for code in codes):
        return "Succeeded"
    finished = policy == "Never" or "deletionTimestamp" in pod["metadata"]
    return "Failed" if finished else "Running"


def pod_status(
    pod: Json,
    sandbox: SandboxView,
    containers: Sequence[ContainerView],
    init: Sequence[ContainerView],
    *,
    minor: int,
    os: OS,
    now: str,
) -> Json:
    """Return the whole status for a merge patch (``None`` removes a field), as of a kubelet 1.``minor``.

    A kubelet reports the pod's address once it has handled a container.
    """
    current = phase(pod, containers, init)
    reasons = [view.state.get("waiting", {}).get("reason") for view in (*init, *containers)]
    addresses = sandbox.addresses if set(reasons) - _CREATING else ()
    status: Json = {
        "phase": current,
        "conditions": _conditions(pod, sandbox, containers, init, current=current, now=now),
        "hostIP": sandbox.host_addresses[0],
        "hostIPs": [{"ip": address} for address in sandbox.host_addresses],
        "podIP": addresses[0] if addresses else None,
        "podIPs": [{"ip": address} for address in addresses] or None,
        "startTime": sandbox.start_time,
        "containerStatuses": _container_statuses(pod, "containers", containers, minor, os),
    }
    if init:
        statuses = _container_statuses(pod, "initContainers", init, minor, os)
        status["initContainerStatuses"] = statuses
    if minor >= _POD_RESOURCES:
        status["resources"] = {}
    if minor >= _OBSERVED_GENERATION:
        _observe(status, pod["metadata"].get("generation"))
    return status


def creating_view(container: Json, reason: str) -> ContainerView:
    """Return the state of a container that has not been created yet."""
    state = {"waiting": {"reason": reason}}
    return ContainerView(name=container["name"], image=container["image"], state=state)


def rejected_status(rejection: Rejection, now: str) -> Json:
    """Return the status of a pod that the node does not admit."""
    return {
        "phase": "Failed",
        "reason": rejection.reason,
        "message": f"Pod was rejected: {rejection.message}",
        "startTime": now,
    }


def _observe(status: Json, generation: int | None) -> None:
    """Set ``observedGeneration`` of the status and of the kubelet's own conditions."""
    if generation is None:
        return
    status["observedGeneration"] = generation
    for condition in status["conditions"]:
        if condition["type"] != "PodScheduled":
            condition["observedGeneration"] = generation


def _container_statuses(
    pod: Json, field: str, views: Sequence[ContainerView], minor: int, os: OS
) -> list[Json]:
    specs = {spec["name"]: spec for spec in pod["spec"].get(field) or ()}
    statuses = []
    for view in views:
        status: Json = {
            "name": view.name,
            "state": dict(view.state),
            "lastState": dict(view.last_state),
            "ready": view.ready,
            "restartCount": view.restarts,
            "image": view.image,
            "imageID": view.image_id,
            "started": view.started,
        }
        if view.container_id:
            status["containerID"] = view.container_id
        mounts = specs.get(view.name, {}).get("volumeMounts")
        if mounts and minor >= _VOLUME_MOUNTS:
            status["volumeMounts"] = [
                {"name": mount["name"], "mountPath": mount["mountPath"]}
                | (_READ_ONLY if mount.get("readOnly") else {})
                for mount in mounts
            ]
        if view.container_id and minor >= _RESOURCES_AND_USER:
            status["resources"] = {}
            if os is OS.LINUX:
                status["user"] = {"linux": {"uid": 0, "gid": 0, "supplementalGroups": [0]}}
        statuses.append(status)
    return statuses


def _exit_code(view: ContainerView) -> int | None:
    terminated = view.state.get("terminated")
    return None if terminated is None else int(terminated["exitCode"])


def _conditions(
    pod: Json,
    sandbox: SandboxView,
    containers: Sequence[ContainerView],
    init: Sequence[ContainerView],
    *,
    current: str,
    now: str,
) -> list[Json]:
    before = {c["type"]: c for c in pod.get("status", {}).get("conditions") or ()}
    finished = current in {"Succeeded", "Failed"}
    unready = [view.name for view in containers if not view.ready]
    ready = _readiness(current, unready)
    uninitialised = [view.name for view in init if _exit_code(view) != 0]
    initialised: Json = {"status": "True"}
    if uninitialised:
        initialised = {
            "status": "False",
            "reason": "ContainersNotInitialized",
            "message": f"containers with incomplete status: [{' '.join(uninitialised)}]",
        }
    sandbox_up = sandbox.running and not finished
    wanted: list[tuple[str, Json]] = [
        ("PodReadyToStartContainers", {"status": "True" if sandbox_up else "False"}),
        ("Initialized", initialised),
        ("Ready", _with_gates(pod, ready, before)),
        ("ContainersReady", ready),
    ]
    result = [_condition(name, values, before.get(name), now) for name, values in wanted]
    kubelet_types = {name for name, _ in wanted}
    return [*result, *(c for name, c in before.items() if name not in kubelet_types)]


def _readiness(current: str, unready: Sequence[str]) -> Json:
    if current == "Succeeded":
        return {"status": "False", "reason": "PodCompleted"}
    if current == "Failed":
        return {"status": "False", "reason": "PodFailed"}
    if unready:
        return {
            "status": "False",
            "reason": "ContainersNotReady",
            "message": f"containers with unready status: [{' '.join(unready)}]",
        }
    return {"status": "True"}


def _with_gates(pod: Json, ready: Json, before: Mapping[str, Json]) -> Json:
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    closed = [gate for gate in gates if before.get(gate, {}).get("status") != "True"]
    if ready["status"] != "True" or not closed:
        return ready
    return {
        "status": "False",
        "reason": "ReadinessGatesNotReady",
        "message": f'corresponding condition of pod readiness gate "{closed[0]}" does not exist.',
    }


def _condition(name: str, values: Json, before: Json | None, now: str) -> Json:
    changed = before is None or before.get("status") != values["status"]
    since = now if changed or before is None else before.get("lastTransitionTime", now)
    return {"type": name, "lastProbeTime": None, "lastTransitionTime": since, **values}
