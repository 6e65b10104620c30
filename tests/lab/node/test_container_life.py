"""How a container is pulled, started, started again and stopped; in virtual time, with programs of the test."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.interfaces import Process, ProgramNotFoundError
from nettests.lab.node.container import KILLED, Container
from nettests.lab.node.images import Kind
from nettests.lab.programs import images as programs
from tests.lab.node import nowhere
from tests.lab.node.alone import Lone, Program, containers, stopped
from tests.lab.node.nowhere import IMAGE
from tests.lab.node.virtual_time import run

Json = dict[str, Any]


def test_restarts_come_at_once_and_then_ever_later_up_to_five_minutes() -> None:
    """0, 10, 20, 40 … 300 s after each end, which is shown for a second before."""
    lone = Lone(Program(1, lasts=1))
    run(lone.run(900))
    ends = [began + 1 for began in lone.program.began]
    pauses = [
        round(began - end - 1, 3) for end, began in zip(ends, lone.program.began[1:], strict=False)
    ]
    assert pauses == [0, 10, 20, 40, 80, 160, 300]


def test_a_container_between_restarts_says_how_it_ended_and_how_long_it_waits() -> None:
    """CrashLoopBackOff, the last state, and the number of restarts."""
    lone = Lone(Program(3, lasts=1))
    run(lone.run(8))
    view = lone.container.view()
    assert view.state["waiting"]["reason"] == "CrashLoopBackOff"
    assert view.state["waiting"]["message"].startswith("back-off 10s restarting failed container=c")
    assert view.last_state["terminated"]["exitCode"] == 3
    assert view.restarts == 1


@pytest.mark.parametrize(
    ("policy", "codes", "ended", "runs"),
    [
        ("Never", (1,), 1, 1),
        ("Never", (0,), 0, 1),
        ("OnFailure", (0,), 0, 1),
        ("OnFailure", (1, 0), 0, 2),
        ("Always", (0,), None, 2),
    ],
)
def test_the_restart_policy_decides_what_is_started_again(
    policy: str, codes: Sequence[int], ended: int | None, runs: int
) -> None:
    """Always whatever the exit code, OnFailure where it is not 0, Never not at all."""
    lone = Lone(Program(*codes), restartPolicy=policy)
    assert run(lone.run(5)) == ended
    assert len(lone.program.began) == runs


def test_an_init_container_is_started_again_only_if_it_failed() -> None:
    """With ``Always`` too: it is done when it ends with 0, and ready by that."""
    program = Program(1, 0)
    lone = Lone(program)
    item = lone.pod
    init = Container(
        lone.node,
        item,
        item["spec"]["containers"][0],
        nowhere.sandbox(),
        lambda: None,
        init=True,
    )

    async def work() -> int:
        return await init.run()

    assert run(work()) == 0
    assert len(program.began) == 2
    assert init.view().ready


def test_a_running_container_without_probes_is_started_and_ready() -> None:
    """At once; its id is that of containerd."""
    lone = Lone()
    run(lone.run(1))
    view = lone.changes[0][1]
    assert view.keys() == {"running"}
    assert lone.container.view().container_id.startswith("containerd://")
    assert lone.told.reasons()[:4] == ["Pulling", "Pulled", "Created", "Started"]


@pytest.mark.parametrize(
    ("probe", "started", "ready"),
    [
        ("startupProbe", False, False),
        ("readinessProbe", True, False),
        ("livenessProbe", True, True),
    ],
)
def test_probes_decide_what_a_new_container_is(probe: str, *, started: bool, ready: bool) -> None:
    """Before its first probe: startup keeps it from being started, readiness from being ready."""
    handler = {"exec": {"command": ["x"]}, "initialDelaySeconds": 60}
    lone = Lone(containers=containers(**{probe: handler}))

    async def work() -> None:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(1)
        view = lone.container.view()
        assert (view.started, view.ready) == (started, ready)
        task.cancel()

    run(work())


def test_a_program_that_the_image_has_not_is_a_start_error() -> None:
    """StartError with 128 and runc's words, never running; then it is tried again."""

    async def launch(_kind: Kind, _process: Process) -> int:
        raise ProgramNotFoundError('exec: "nosuch": executable file not found in $PATH')

    lone = Lone(context=nowhere.node(launch=launch))
    run(lone.run(3))
    ended = next(state for _, state in lone.changes if "terminated" in state)["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("StartError", 128)
    assert ended["message"].startswith("failed to create containerd task: failed to create shim")
    assert not any("running" in state for _, state in lone.changes)
    assert lone.waited_for()[-1][1] == "CrashLoopBackOff"


def test_a_windows_program_that_is_missing_is_told_in_hcs_words() -> None:
    """hcsshim names the container's id, which events replace by its name."""

    async def launch(_kind: Kind, process: Process) -> int:
        return await programs.run(replace(process, argv=["nosuch.exe"]))

    lone = Lone(context=nowhere.node("win-1", launch=launch), restartPolicy="Never")
    run(lone.run(3))
    view = lone.container.view()
    number = view.container_id.removeprefix("containerd://")
    missing = "The system cannot find the file specified.: unknown"
    assert view.state["terminated"]["message"] == (
        f'failed to start containerd task "{number}": hcs::System::CreateProcess {number}: {missing}'
    )
    [text] = [text for _, reason, text in lone.told.events if reason == "Failed"]
    assert (
        text
        == f'Error: failed to start containerd task "c": hcs::System::CreateProcess c: {missing}'
    )


def test_an_image_that_cannot_be_pulled_is_tried_ever_later() -> None:
    """ErrImagePull for a second, then ImagePullBackOff of 10, 20, 40 … s."""
    lone = Lone(containers=[{"name": "c", "image": "registry.k8s.io/none:1"}])
    run(lone.run(80))
    assert lone.waited_for() == [
        (0, "ErrImagePull"),
        (1, "ImagePullBackOff"),
        (11, "ErrImagePull"),
        (12, "ImagePullBackOff"),
        (32, "ErrImagePull"),
        (33, "ImagePullBackOff"),
        (73, "ErrImagePull"),
        (74, "ImagePullBackOff"),
    ]
    assert lone.told.reasons()[:5] == ["Pulling", "Failed", "Failed", "BackOff", "Failed"]


def test_an_image_is_pulled_once_a_node() -> None:
    """A second container of it finds it there, and says so."""
    program = Program()
    context = nowhere.node(launch=program.launch)
    context.network.disk.pull_seconds = 3
    first, second = Lone(program, context=context), Lone(program, context=context)

    async def work() -> None:
        for lone in (first, second):
            await lone.run(5)

    run(work())
    texts = [text for _, reason, text in first.told.events if reason == "Pulled"]
    assert texts == [
        f'Successfully pulled image "{IMAGE}" in 3s (3s including waiting)',
        f'Container image "{IMAGE}" already present on machine',
    ]
    assert program.began == [3, 5]


def test_a_configuration_that_cannot_be_made_is_told_and_tried_again() -> None:
    """CreateContainerConfigError names what the node does not support."""
    source = {"configMapKeyRef": {"name": "m", "key": "k"}}
    lone = Lone(containers=containers(env=[{"name": "V", "valueFrom": source}]))
    run(lone.run(5))
    waiting = lone.container.view().state["waiting"]
    assert waiting["reason"] == "CreateContainerConfigError"
    assert "configMapKeyRef is not supported" in waiting["message"]
    assert lone.program.began == []


def test_a_stopped_program_is_told_to_end_first() -> None:
    """SIGTERM: it ends by itself, with its own exit code, within its grace."""
    lone = Lone(Program(leaves=4))
    assert run(stopped(lone, 30)) == (6, 0)
    assert lone.told.events[-1][1:] == ("Killing", "Stopping container c")


def test_a_program_that_does_not_heed_is_killed_after_its_grace() -> None:
    """SIGKILL ends with 137."""
    assert run(stopped(Lone(Program(leaves=100)), 30)) == (32, KILLED)


def test_windows_may_grant_less_than_the_pod_requests() -> None:
    """The mechanism ``grace-limit``: what its end takes longer is cut off."""
    program = Program(leaves=20)
    context = nowhere.node("win-1", launch=program.launch, mechanisms={"grace-limit": 5})
    assert run(stopped(Lone(program, context=context), 30)) == (7, KILLED)


@pytest.mark.parametrize(("name", "ended"), [("win-1", (7, KILLED)), ("linux-1", (22, 0))])
def test_under_docker_windows_ends_programs_after_five_seconds(
    name: str, ended: tuple[int, int]
) -> None:
    """Whatever their Pod says; on Linux Docker waits as long as it is told to."""
    program = Program(leaves=20)
    context = nowhere.node(name, launch=program.launch)
    context = replace(
        context, network=nowhere.Network(replace(context.spec, runtime="docker://19.3.14"))
    )
    assert run(stopped(Lone(program, context=context), 30)) == ended


def test_windows_may_end_programs_without_querying() -> None:
    """The mechanism ``graceful-end`` off; on Linux it changes nothing."""
    for name, code in (("win-1", KILLED), ("linux-1", 0)):
        program = Program()
        context = nowhere.node(name, launch=program.launch, mechanisms={"graceful-end": 0})
        assert run(stopped(Lone(program, context=context), 30)) == (2, code)


@pytest.mark.parametrize("waits_for", ["registry.k8s.io/none:1", IMAGE])
def test_what_waits_is_stopped_at_once(waits_for: str) -> None:
    """Nobody waits for the end of a back-off, be it of a pull or of a crash."""
    lone = Lone(Program(1, lasts=0.1), containers=[{"name": "c", "image": waits_for}])
    assert run(stopped(lone, 30)) == (2, KILLED)


def test_a_killed_program_is_started_again() -> None:
    """From without, as by the kernel: 137, and the restart policy."""
    lone = Lone()

    async def work() -> None:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(5)
        assert lone.container.kill()
        await asyncio.sleep(3)
        task.cancel()

    run(work())
    ended = [s["terminated"]["exitCode"] for _, s in lone.changes if "terminated" in s]
    assert ended == [KILLED]
    assert lone.program.began == [0, 6]


def test_the_log_of_the_run_before_is_kept() -> None:
    """``kubectl logs --previous``."""
    lone = Lone(Program(1, lasts=1))
    run(lone.run(2.5))
    assert lone.container.previous is not None
    assert [text for _, text in lone.container.previous.lines()] == [b"run 1\n"]
    assert [text for _, text in lone.container.log.lines()] == [b"run 2\n"]
