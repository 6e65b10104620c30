"""How a container is pulled, started, started again and stopped; in virtual time, with programs of the test."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from nettests.lab.interfaces import ExecOutcome, NotRunningError, Process, ProgramNotFoundError
from nettests.lab.node.container import KILLED, Container
from nettests.lab.node.context import NodeContext
from nettests.lab.node.images import Kind
from tests.lab.node import nowhere
from tests.lab.node.nowhere import IMAGE, Told
from tests.lab.node.virtual_time import now, run

Json = dict[str, Any]


class Program:
    """A program that ends with one of ``codes`` after the other, each after ``lasts`` seconds.

    Asked to end, it does so after ``leaves`` seconds.
    """

    def __init__(self, *codes: int, lasts: float = 0.5, leaves: float = 0.0) -> None:
        self._codes = list(codes)
        self._lasts, self._leaves = lasts, leaves
        self.began: list[float] = []
        self.processes: list[Process] = []

    async def launch(self, kind: Kind, process: Process) -> int:
        """Run once."""
        assert kind is Kind.AGNHOST
        self.began.append(now())
        self.processes.append(process)
        await process.stdout(f"run {len(self.began)}\n".encode())
        try:
            async with asyncio.timeout(self._lasts if self._codes else None):
                await process.terminate.wait()
        except TimeoutError:
            return self._codes.pop(0) if len(self._codes) > 1 else self._codes[0]
        await asyncio.sleep(self._leaves)
        return 0


class Lone:
    """One container of a node, and what was told of it."""

    def __init__(
        self, program: Program | None = None, *, context: NodeContext | None = None, **pod: Any
    ) -> None:
        self.program = program or Program()
        self.node = context or nowhere.node(launch=self.program.launch)
        self.pod = nowhere.pod(**pod)
        self.changes: list[tuple[float, Json]] = []
        self.container = Container(
            self.node,
            self.pod,
            self.pod["spec"]["containers"][0],
            nowhere.sandbox(),
            self._changed,
        )

    def _changed(self) -> None:
        self.changes.append((now(), dict(self.container.view().state)))

    @property
    def told(self) -> Told:
        """The events."""
        assert isinstance(self.node.recorder, Told)
        return self.node.recorder

    def waited_for(self) -> list[tuple[float, str]]:
        """Return when the container began to wait, and for what."""
        return [(at, s["waiting"]["reason"]) for at, s in self.changes if "waiting" in s]

    async def run(self, seconds: float) -> int | None:
        """Run the container for so long at most; return its exit code if it ended."""
        try:
            async with asyncio.timeout(seconds):
                return await self.container.run()
        except TimeoutError:
            return None


def containers(**fields: Any) -> list[Json]:
    """Return a pod's only container with these fields."""
    return [{"name": "c", "image": IMAGE, **fields}]


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
    """hcsshim names the container's id."""

    async def launch(_kind: Kind, _process: Process) -> int:
        raise ProgramNotFoundError("The system cannot find the file specified.")

    lone = Lone(context=nowhere.node("win-1", launch=launch), restartPolicy="Never")
    run(lone.run(3))
    message = lone.container.view().state["terminated"]["message"]
    assert "hcs::System::CreateProcess" in message


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


Stop = Callable[[Lone], Awaitable[tuple[float, int]]]


async def _stopped(lone: Lone, grace: float) -> tuple[float, int]:
    """Stop a container after two seconds; return when it had ended, and with what."""
    task = asyncio.create_task(lone.container.run())
    await asyncio.sleep(2)
    await lone.container.stop(grace)
    code = await task
    return now(), code


def test_a_stopped_program_is_asked_to_end_first() -> None:
    """SIGTERM: it ends by itself, with its own exit code, within its grace."""
    lone = Lone(Program(leaves=4))
    assert run(_stopped(lone, 30)) == (6, 0)
    assert lone.told.events[-1][1:] == ("Killing", "Stopping container c")


def test_a_program_that_does_not_heed_is_killed_after_its_grace() -> None:
    """SIGKILL ends with 137."""
    assert run(_stopped(Lone(Program(leaves=100)), 30)) == (32, KILLED)


def test_windows_may_grant_less_than_the_pod_asks_for() -> None:
    """The mechanism ``grace-limit``: what its end takes longer is cut off."""
    program = Program(leaves=20)
    context = nowhere.node("win-1", launch=program.launch, mechanisms={"grace-limit": 5})
    assert run(_stopped(Lone(program, context=context), 30)) == (7, KILLED)


def test_windows_may_end_programs_without_asking() -> None:
    """The mechanism ``graceful-end`` off; on Linux it changes nothing."""
    for name, code in (("win-1", KILLED), ("linux-1", 0)):
        program = Program()
        context = nowhere.node(name, launch=program.launch, mechanisms={"graceful-end": 0})
        assert run(_stopped(Lone(program, context=context), 30)) == (2, code)


@pytest.mark.parametrize("waits_for", ["registry.k8s.io/none:1", IMAGE])
def test_what_waits_is_stopped_at_once(waits_for: str) -> None:
    """Nobody waits for the end of a back-off, be it of a pull or of a crash."""
    lone = Lone(Program(1, lasts=0.1), containers=[{"name": "c", "image": waits_for}])
    assert run(_stopped(lone, 30)) == (2, KILLED)


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
    assert run(_stopped(lone, 30)) == (9, 0)
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
    assert run(_stopped(lone, 10)) == (12, KILLED)


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
        assert outcome == ExecOutcome(exit_code=None, error="no such program")
        task.cancel()

    run(work())


def test_a_failed_liveness_probe_starts_the_container_again() -> None:
    """After three failures it is asked to end, in its grace; what it ends with is a restart."""

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
