"""The phase and the conditions that follow from what a pod's containers say of themselves."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.node.status import (
    ContainerView,
    SandboxView,
    creating_view,
    phase,
    pod_status,
)
from nettests.lab.topology import OS
from tests.lab.node import nowhere

Json = dict[str, Any]

NOW, EARLIER = "2026-11-21T01:22:03Z", "2026-11-21T01:00:00Z"
RUNNING = ContainerView(
    name="c",
    image="i",
    image_id="",
    state={"running": {}},
    last_state={},
    ready=True,
    started=True,
    restarts=0,
    container_id="containerd://1",
)
CREATING = creating_view({"name": "c", "image": "i"}, "ContainerCreating")
CRASHED = replace(
    RUNNING,
    ready=False,
    state={"waiting": {"reason": "CrashLoopBackOff"}},
    last_state={"terminated": {"exitCode": 1}},
)


def ended(code: int, name: str = "c", *, ready: bool = False) -> ContainerView:
    """Return a container that has ended."""
    return replace(RUNNING, name=name, state={"terminated": {"exitCode": code}}, ready=ready)


@pytest.mark.parametrize(
    ("policy", "views", "expected"),
    [
        ("Always", [CREATING], "Pending"),
        ("Always", [RUNNING, CREATING], "Pending"),
        ("Always", [RUNNING], "Running"),
        ("Always", [CRASHED], "Running"),
        ("Always", [ended(0)], "Running"),
        ("OnFailure", [ended(1)], "Running"),
        ("OnFailure", [ended(0)], "Succeeded"),
        ("Never", [ended(0), ended(0)], "Succeeded"),
        ("Never", [ended(0), ended(2)], "Failed"),
        ("Never", [ended(0), RUNNING], "Running"),
    ],
)
def test_the_phase_follows_from_containers_and_restart_policy(
    policy: str, views: list[ContainerView], expected: str
) -> None:
    """``getPhase``: what will be started again is running; one that never ran keeps all pending."""
    assert phase(nowhere.pod(restartPolicy=policy), views, []) == expected


@pytest.mark.parametrize(
    ("views", "expected"), [([ended(0)], "Succeeded"), ([ended(137)], "Failed")]
)
def test_a_deleted_pod_that_ended_is_finished_whatever_its_policy(
    views: list[ContainerView], expected: str
) -> None:
    """Nothing starts it again."""
    pod = nowhere.pod(restartPolicy="Always")
    pod["metadata"]["deletionTimestamp"] = NOW
    assert phase(pod, views, []) == expected


@pytest.mark.parametrize(
    ("policy", "init", "expected"),
    [
        ("Always", [creating_view({"name": "a", "image": "i"}, "PodInitializing")], "Pending"),
        ("Always", [replace(RUNNING, name="a")], "Pending"),
        ("Always", [ended(0, "a")], "Running"),
        ("Never", [ended(1, "a")], "Failed"),
        ("Never", [ended(1, "a"), creating_view({"name": "b", "image": "i"}, "x")], "Failed"),
        ("OnFailure", [ended(1, "a"), creating_view({"name": "b", "image": "i"}, "x")], "Pending"),
    ],
)
def test_init_containers_come_first(policy: str, init: list[ContainerView], expected: str) -> None:
    """Until all have ended well the pod is pending; where none is started again it has failed."""
    assert phase(nowhere.pod(restartPolicy=policy), [RUNNING], init) == expected


def status(
    views: list[ContainerView],
    init: list[ContainerView] | None = None,
    *,
    minor: int = 36,
    os: OS = OS.LINUX,
    running: bool = True,
    before: list[Json] | None = None,
    **spec: Any,
) -> Json:
    """Return the status of a pod of generation 3."""
    pod = nowhere.pod(**spec)
    pod["metadata"]["generation"] = 3
    pod["status"] = {"conditions": before or []}
    sandbox = SandboxView(
        host_addresses=("172.30.0.11", "fd00:172:30::b"),
        addresses=("10.244.1.2", "fd00:10:244::2"),
        start_time=EARLIER,
        running=running,
    )
    return pod_status(pod, sandbox, views, init or [], minor=minor, os=os, now=NOW)


def conditions(made: Json) -> dict[str, Json]:
    """Return conditions by type."""
    return {each["type"]: each for each in made["conditions"]}


def test_a_running_pod_is_ready_and_has_all_of_its_addresses() -> None:
    """Both families, its own and its node's; four conditions are true."""
    made = status([RUNNING])
    assert made["podIPs"] == [{"ip": "10.244.1.2"}, {"ip": "fd00:10:244::2"}]
    assert made["hostIPs"] == [{"ip": "172.30.0.11"}, {"ip": "fd00:172:30::b"}]
    assert (made["podIP"], made["hostIP"]) == ("10.244.1.2", "172.30.0.11")
    assert {name: each["status"] for name, each in conditions(made).items()} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
    }


def test_who_is_not_ready_is_named() -> None:
    """In the condition's message, by the containers' names."""
    made = conditions(status([RUNNING, replace(CRASHED, name="d"), replace(CRASHED, name="e")]))
    for name in ("Ready", "ContainersReady"):
        assert made[name]["reason"] == "ContainersNotReady"
        assert made[name]["message"] == "containers with unready status: [d e]"


def test_which_init_containers_are_left_is_said() -> None:
    """One that failed or still runs; the done ones are not named."""
    init = [ended(0, "a", ready=True), replace(RUNNING, name="b")]
    made = status([CREATING], init)
    assert conditions(made)["Initialized"]["message"] == "containers with incomplete status: [b]"
    assert [each["name"] for each in made["initContainerStatuses"]] == ["a", "b"]


@pytest.mark.parametrize(("code", "reason"), [(0, "PodCompleted"), (1, "PodFailed")])
def test_a_finished_pod_is_not_ready_and_has_no_sandbox(code: int, reason: str) -> None:
    """Whatever its containers last said."""
    made = conditions(status([ended(code, ready=True)], restartPolicy="Never"))
    assert (made["Ready"]["status"], made["Ready"]["reason"]) == ("False", reason)
    assert made["PodReadyToStartContainers"]["status"] == "False"


def test_a_pod_whose_sandbox_is_gone_says_so() -> None:
    """While it is taken down."""
    made = conditions(status([RUNNING], running=False))
    assert made["PodReadyToStartContainers"]["status"] == "False"


@pytest.mark.parametrize(
    ("gate", "reason"),
    [(None, "ReadinessGatesNotReady"), ("False", "ReadinessGatesNotReady"), ("True", None)],
)
def test_a_readiness_gate_keeps_the_pod_unready(gate: str | None, reason: str | None) -> None:
    """Only ``Ready``: the containers are ready all the same; the gate's own condition is kept."""
    before = [{"type": "balancer", "status": gate}] if gate else []
    gates = [{"conditionType": "balancer"}]
    made = conditions(status([RUNNING], readinessGates=gates, before=before))
    assert made["Ready"].get("reason") == reason
    assert made["ContainersReady"]["status"] == "True"
    assert made.get("balancer", {}).get("status") == gate


def test_a_condition_that_turns_has_the_time_of_now() -> None:
    """And one that stays keeps its own."""
    before = [
        {"type": "Ready", "status": "False", "lastTransitionTime": EARLIER},
        {"type": "Initialized", "status": "True", "lastTransitionTime": EARLIER},
    ]
    made = conditions(status([RUNNING], before=before))
    assert made["Ready"]["lastTransitionTime"] == NOW
    assert made["Initialized"]["lastTransitionTime"] == EARLIER


@pytest.mark.parametrize(("minor", "observed"), [(33, None), (34, 3)])
def test_the_generation_is_told_from_1_34_on(minor: int, observed: int | None) -> None:
    """In the status, and in the kubelet's own conditions; the scheduler's is not touched."""
    scheduled = {"type": "PodScheduled", "status": "True"}
    made = status([RUNNING], minor=minor, before=[scheduled])
    assert made.get("observedGeneration") == observed
    told = {each.get("observedGeneration") for name, each in conditions(made).items() if name != "PodScheduled"}  # fmt: skip
    assert told == {observed}
    assert conditions(made)["PodScheduled"] == scheduled


def test_windows_containers_have_no_linux_user() -> None:
    """``user`` is of Linux; ``resources`` is of both."""
    (linux,) = status([RUNNING])["containerStatuses"]
    (windows,) = status([RUNNING], os=OS.WINDOWS)["containerStatuses"]
    assert linux.keys() - windows.keys() == {"user"}
    assert windows["resources"] == {}


def test_mounts_are_shown_with_what_read_only_means() -> None:
    """``recursiveReadOnly`` is said of read-only mounts alone."""
    mounts = [{"name": "a", "mountPath": "/a", "readOnly": True}, {"name": "b", "mountPath": "/b"}]
    spec = [{"name": "c", "image": "i", "volumeMounts": mounts}]
    (made,) = status([RUNNING], containers=spec)["containerStatuses"]
    assert made["volumeMounts"] == [
        {"name": "a", "mountPath": "/a", "readOnly": True, "recursiveReadOnly": "Disabled"},
        {"name": "b", "mountPath": "/b"},
    ]


def test_a_container_that_was_never_made_has_no_id() -> None:
    """Neither the id nor what comes with it."""
    (made,) = status([CREATING])["containerStatuses"]
    assert not {"containerID", "resources", "user"} & made.keys()
