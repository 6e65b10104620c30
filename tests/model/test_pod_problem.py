"""Why a Pod does not start: of status and events, what tells most of the cause."""

from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.pod_problem import (
    is_hopeless,
    plain,
    problem_of,
    reason_of,
    status_reasons,
    telling,
)

IMAGE = "registry.example/agnhost:2.63.0"
NO_MATCH = (
    f'failed to pull and unpack image "{IMAGE}": no match for platform in manifest: not found'
)
PULL = f'Failed to pull image "{IMAGE}": rpc error: code = NotFound desc = {NO_MATCH}'
BACK_OFF = f'Back-off pulling image "{IMAGE}"'
ID = "0f3c" * 16
SANDBOX = "Failed to create pod sandbox: rpc error: code = Unknown desc = "
HNS = (
    f'{SANDBOX}failed to setup network for sandbox "{ID}": plugin type="sdnbridge" name="l2" failed (add): hcnCreateEndpoint failed in '
    'Win32: The object already exists. (0x1392) {"Success":false,"Error":"The object already exists. ","ErrorCode":2147947410} '
    f": endpoint config &{{ {ID}_l2 a1b2 [] [{{ 0}}]"
)
RESERVED = (
    f'{SANDBOX}failed to reserve sandbox name "p_ns_1_0": name "p_ns_1_0" is reserved for "{ID}"'
)


def warning(reason: str, message: str, **fields: Any) -> Object:
    """Return a warning of a kubelet."""
    return {"type": "Warning", "reason": reason, "message": message, **fields}


def waiting(reason: str, message: str = "", *, last: Object | None = None, field: str = "containerStatuses") -> Object:  # fmt: skip
    """Return a Pod one of whose containers waits."""
    container: Object = {"name": "probe", "state": {"waiting": {"reason": reason, "message": message}}}  # fmt: skip
    if last:
        container["lastState"] = {"terminated": last}
    return {"spec": {"nodeName": "w"}, "status": {"phase": "Pending", "startTime": "t", field: [container]}}  # fmt: skip


CREATING = waiting("ContainerCreating")


@pytest.mark.parametrize(
    ("pod", "events", "problem"),
    [
        # A kubelet before 1.32 has the registry's answer in an event alone; its other events only repeat the status.
        (waiting("ImagePullBackOff", BACK_OFF), [warning("Failed", PULL), warning("Failed", "Error: ErrImagePull"), warning("BackOff", BACK_OFF)],
         f"container probe: ImagePullBackOff: {NO_MATCH}"),
        (waiting("ImagePullBackOff", BACK_OFF), [], f"container probe: ImagePullBackOff: {BACK_OFF}"),
        (waiting("ImagePullBackOff", f"{BACK_OFF}: ErrImagePull: rpc error: code = NotFound desc = {NO_MATCH}"), [],
         f"container probe: ImagePullBackOff: {NO_MATCH}"),
        (waiting("ImagePullBackOff", BACK_OFF), [warning("Failed", PULL), warning("Failed", 'Failed to pull image "mesh/proxy:1": denied')],
         f"container probe: ImagePullBackOff: {NO_MATCH}"),
        (waiting("ErrImagePull", f"rpc error: code = NotFound desc = {NO_MATCH}"), [], f"container probe: ErrImagePull: {NO_MATCH}"),
        (waiting("ImagePullBackOff", BACK_OFF, field="initContainerStatuses"), [warning("Failed", PULL)],
         f"init container probe: ImagePullBackOff: {NO_MATCH}"),
        # How a container ended stands behind the state that it waits in.
        (waiting("CrashLoopBackOff", "back-off 10s restarting failed container", last={"exitCode": -1073741515, "reason": "Error"}), [],
         ("container probe: CrashLoopBackOff: Error, exit code -1073741515 (0xc0000135 STATUS_DLL_NOT_FOUND: a DLL that it needs is missing, as in "
         "an image of another Windows build)")),
        (waiting("CrashLoopBackOff", "back-off 5m0s", last={"exitCode": 128, "reason": "StartError", "message": f"failed to create containerd task: "
                 f"failed to create shim task: hcs::CreateComputeSystem {ID}: The paging file is too small.: unknown"}), [],
         "container probe: CrashLoopBackOff: StartError, exit code 128: hcs::CreateComputeSystem: The paging file is too small."),
        # A sandbox: the first error has the cause, the ones that follow it and those without a word of it have not.
        (CREATING, [warning("FailedCreatePodSandBox", HNS), warning("FailedCreatePodSandBox", RESERVED)],
         'FailedCreatePodSandBox: plugin type="sdnbridge" name="l2" failed (add): hcnCreateEndpoint failed in Win32: The object already exists. (0x1392)'),
        (CREATING, [warning("FailedCreatePodSandBox", RESERVED), warning("FailedCreatePodSandBox", f"(combined from similar events): {HNS}")],
         'FailedCreatePodSandBox: plugin type="sdnbridge" name="l2" failed (add): hcnCreateEndpoint failed in Win32: The object already exists. (0x1392)'),
        (CREATING, [warning("FailedCreatePodSandBox", f"{SANDBOX}context deadline exceeded"), warning("FailedMount", "MountVolume.SetUp failed")],
         "FailedMount: MountVolume.SetUp failed"),
        (CREATING, [warning("FailedMount", "old", lastTimestamp="2026-01-01T00:00:01Z"), warning("FailedCreatePodSandBox", HNS, lastTimestamp="2026-01-01T00:00:02Z")],
         'FailedCreatePodSandBox: plugin type="sdnbridge" name="l2" failed (add): hcnCreateEndpoint failed in Win32: The object already exists. (0x1392)'),
        (CREATING, [], "phase Pending: no reason given"),
        ({"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 1 Insufficient cpu. "
                     "preemption: 0/2 nodes are available"}]}}, [], "not scheduled: 0/2 nodes are available: 1 Insufficient cpu."),
        ({"status": {"phase": "Failed", "reason": "Evicted", "message": "low on memory"}}, [warning("Evicted", "older")], "Evicted: low on memory"),
        ({"status": {"phase": "Succeeded", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}}, [],
         "phase Succeeded: Completed, exit code 0"),
    ],
)  # fmt: skip
def test_what_tells_most_is_said(pod: Object, events: list[Object], problem: str) -> None:
    """Of status, last state and events it is the cause that people read, whatever comes first."""
    assert problem_of(pod, events) == problem


def test_a_long_text_keeps_its_end() -> None:
    """What failed stands at its start and why at its end; what is between is left out."""
    text = problem_of(waiting("CreateContainerError", f"first {'x' * 400} last"))
    assert text.startswith("container probe: CreateContainerError: first")
    assert (len(text), "…" in text, text.endswith(" last")) == (300, True, True)


def test_an_injected_init_container_counts() -> None:
    """Its state is the Pod's, though nettests has none."""
    pod = waiting("ImagePullBackOff", BACK_OFF, field="initContainerStatuses")
    pod["status"]["containerStatuses"] = [{"name": "probe", "state": {"waiting": {"reason": "PodInitializing"}}}]  # fmt: skip
    assert reason_of(pod) == "ImagePullBackOff"
    assert list(status_reasons(pod["status"])) == [f"init container probe: ImagePullBackOff: {BACK_OFF}"]  # fmt: skip


def test_warnings_without_a_cause_come_last() -> None:
    """Newest first among those that tell as much; what is normal is no warning."""
    events = [
        warning("BackOff", "Back-off restarting failed container"),
        warning("Unhealthy", "Readiness probe failed"),
        warning("FailedMount", "first"),
        warning("FailedMount", "second"),
        {"type": "Normal", "reason": "Pulled", "message": "Pulled"},
    ]
    assert telling(events) == [
        *("FailedMount: second", "FailedMount: first", "Unhealthy: Readiness probe failed"),
        "BackOff: Back-off restarting failed container",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"sandbox container \"{ID}\" is gone", "sandbox container is gone"),
        ('NetworkPlugin cni failed: "a" at 10.0.0.1', 'NetworkPlugin cni failed: "a" at 10.0.0.1'),
        ("error while adding &{a b}: hnsCall failed: The object exists", "error while adding &{a b}: hnsCall failed: The object exists"),
        (f"failed to find HNSEndpoint {ID}_cbr0", "failed to find HNSEndpoint"),
    ],
)  # fmt: skip
def test_only_wrapping_and_ids_are_taken_away(text: str, left: str) -> None:
    """What an error says is kept, in its own words."""
    assert plain(text) == left


def at(second: int, event: Object) -> Object:
    """Return an event as of a second."""
    return {**event, "lastTimestamp": f"2026-01-01T00:00:{second:02}Z"}


def unproven(last: str) -> Object:
    """Return the event of a startup probe that has failed since midnight."""
    event = warning(
        "Unhealthy",
        "Startup probe errored: rpc error: code = Unknown desc = failed to exec",
        count=20,
    )
    return {
        **event,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": f"2026-01-01T{last}Z",
    }


FAILED = warning("FailedCreatePodSandBox", HNS)
PULLING = {"type": "Normal", "reason": "Pulling", "message": "Pulling image"}


@pytest.mark.parametrize(
    ("events", "hopeless"),
    [
        ([FAILED], False),
        ([FAILED, FAILED], True),
        ([{**FAILED, "count": 2}], True),
        ([{**FAILED, "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:09.1Z"}}], True),
        ([at(1, FAILED), at(9, FAILED), at(20, PULLING)], False),
        ([at(1, PULLING), at(5, FAILED), at(9, FAILED)], True),
        ([FAILED, warning("FailedCreatePodSandBox", RESERVED), warning("FailedCreatePodSandBox", f"{SANDBOX}context deadline exceeded")], False),
        ([warning("Failed", PULL), warning("Failed", "Error: ErrImagePull")], False),
        ([warning("Failed", PULL, count=2)], True),
        ([warning("Failed", "Failed to pull image: 429 Too Many Requests", count=9)], False),
        ([warning("Failed", "Error: hcs::CreateComputeSystem: The container operating system does not match the host operating system.", count=2)], True),
        ([warning("BackOff", f"{BACK_OFF}: ErrImagePull: {NO_MATCH}", count=2)], False),
        ([], False),
        ([unproven("00:02:00")], False),
        ([unproven("00:03:00")], True),
        ([unproven("00:01:00"), unproven("00:03:30")], True),
        ([unproven("no time")], False),
    ],
)  # fmt: skip
def test_what_fails_again_is_hopeless(events: list[Object], hopeless: bool) -> None:
    """A sandbox that is not made twice, or an image that fits never; what got on since, or may heal, is waited for."""
    assert is_hopeless(events) is hopeless
