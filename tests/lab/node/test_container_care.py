"""What runs beside a container's program: exec, probes and hooks, and what follows from them; in virtual time."""

import asyncio
from typing import Any

import pytest

from nettests.lab.interfaces import ExecOutcome, NotRunningError, Process, ProgramNotFoundError
from nettests.lab.node.container import KILLED, Container
from tests.lab.node import nowhere
from tests.lab.node.alone import Lone, Program, containers, stopped
from tests.lab.node.virtual_time import now, run

Json = dict[str, Any]


def test_a_hook_has_its_turn_before_the_signal() -> None:
    """preStop runs while the program still does, and its time is the grace's too."""
    guests: list[float] = []

    async def execute(process: Process) -> int:
        guests.append(now())
        await asyncio.sleep(7)
        return 0

    program = Program()
    context = nowhere.node(launch=program.launch, execute=execute)
    hooks = {"preStop": {"exec": {"command": ["wait"]}}}
    lone = Lone(program, context=context, containers=containers(lifecycle=hooks))
    assert run(stopped(lone, 30)) == (9, 0)
    assert guests == [2]


def test_a_hook_that_takes_too_long_costs_the_program_its_end() -> None:
    """The grace is over: SIGKILL."""

    async def execute(_process: Process) -> int:
        await asyncio.sleep(1000)
        return 0

    program = Program()
    context = nowhere.node(launch=program.launch, execute=execute)
    hooks = {"preStop": {"exec": {"command": ["wait"]}}}
    lone = Lone(program, context=context, containers=containers(lifecycle=hooks))
    assert run(stopped(lone, 10)) == (12, KILLED)


async def _exec(container: Container, *, tty: bool = False) -> tuple[ExecOutcome, bytes]:
    said = bytearray()

    async def write(data: bytes) -> None:
        said.extend(data)

    outcome = await container.exec(["say"], stdin=None, stdout=write, stderr=write, tty=tty)
    return outcome, bytes(said)


def test_exec_needs_a_running_container() -> None:
    """Otherwise the kubelet's own words."""
    with pytest.raises(NotRunningError, match=r'container not found \("c"\)'):
        run(_exec(Lone().container))


@pytest.mark.parametrize(("tty", "text"), [(False, b"a\nb\n"), (True, b"a\r\nb\r\n")])
def test_exec_runs_beside_the_program_and_a_terminal_ends_lines_its_way(
    text: bytes, *, tty: bool
) -> None:
    """The guest has the container's environment; with a terminal lines end with CR LF."""

    async def execute(process: Process) -> int:
        assert process.environment["HOSTNAME"] == "p"
        await process.stdout(b"a\nb\n")
        return 4

    program = Program()
    lone = Lone(program, context=nowhere.node(launch=program.launch, execute=execute))

    async def work() -> None:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(1)
        assert await _exec(lone.container, tty=tty) == (ExecOutcome(exit_code=4), text)
        task.cancel()

    run(work())


def test_what_exec_runs_ends_with_the_container() -> None:
    """A guest that would run for ever is killed with its host: 137."""

    async def execute(_process: Process) -> int:
        await asyncio.Event().wait()
        return 0

    program = Program(0, lasts=5)
    context = nowhere.node(launch=program.launch, execute=execute)
    lone = Lone(program, context=context, restartPolicy="Never")

    async def work() -> None:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(1)
        outcome, _ = await _exec(lone.container)
        assert (outcome.exit_code, now()) == (KILLED, 5)
        await task

    run(work())


RUNC = "OCI runtime exec failed: exec failed: unable to start container process: "


def test_exec_of_a_program_that_is_missing_has_no_exit_code() -> None:
    """But the runtime's error."""

    async def execute(_process: Process) -> int:
        raise ProgramNotFoundError("no such program")

    program = Program()
    lone = Lone(program, context=nowhere.node(launch=program.launch, execute=execute))

    async def work() -> None:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(1)
        outcome, _ = await _exec(lone.container)
        assert outcome == ExecOutcome(exit_code=None, error=f"{RUNC}no such program")
        task.cancel()

    run(work())


def test_a_failed_liveness_probe_starts_the_container_again() -> None:
    """After three failures it is told to end, in its grace; what it ends with is a restart."""

    async def execute(_process: Process) -> int:
        return 1

    program = Program(leaves=2)
    context = nowhere.node(launch=program.launch, execute=execute)
    probe = {"exec": {"command": ["check"]}, "periodSeconds": 5}
    lone = Lone(program, context=context, containers=containers(livenessProbe=probe))
    run(lone.run(14))
    assert program.began == [0, 13]
    killing = [text for at, reason, text in lone.told.events if reason == "Killing"]
    assert killing == ["Container c failed liveness probe, will be restarted"]


def test_a_readiness_probe_makes_ready_and_unready_and_restarts_nothing() -> None:
    """Only ``ready`` follows it."""
    codes = iter([0, 1, 1, 1])

    async def execute(_process: Process) -> int:
        return next(codes, 1)

    program = Program()
    context = nowhere.node(launch=program.launch, execute=execute)
    probe = {"exec": {"command": ["check"]}, "periodSeconds": 5}
    lone = Lone(program, context=context, containers=containers(readinessProbe=probe))

    async def work() -> list[bool]:
        task = asyncio.create_task(lone.container.run())
        seen = []
        for _ in range(4):
            await asyncio.sleep(4)
            seen.append(lone.container.view().ready)
        task.cancel()
        return seen

    assert run(work()) == [True, True, True, False]
    assert program.began == [0]


def test_a_post_start_hook_that_fails_ends_the_container() -> None:
    """FailedPostStartHook, with the reason before it."""

    async def execute(_process: Process) -> int:
        return 9

    program = Program()
    context = nowhere.node(launch=program.launch, execute=execute)
    hooks = {"postStart": {"exec": {"command": ["prepare"]}}}
    lone = Lone(
        program,
        context=context,
        restartPolicy="Never",
        containers=containers(lifecycle=hooks),
    )
    assert run(lone.run(5)) == 0
    failed = [(reason, text) for _, reason, text in lone.told.events if "Hook" in reason]
    assert failed == [
        ("FailedPostStartHook", "PostStartHook failed: command exited with 9"),
        ("FailedPostStartHook", "PostStartHook failed"),
    ]
