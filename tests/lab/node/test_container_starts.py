"""How containers of a Windows node start and fail, as its kubelet shows them; the programs are real, the time is virtual."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.interfaces import ExecOutcome, Process
from nettests.lab.node.context import NodeContext
from nettests.lab.node.images import Kind
from nettests.lab.programs import images as programs
from nettests.lab.topology import WindowsSettings
from tests.lab.node import nowhere
from tests.lab.node.alone import Lone, containers
from tests.lab.node.virtual_time import run

Json = dict[str, Any]
ROOT = "%CONTAINER_SANDBOX_MOUNT_POINT%"
SYSTEM = {"windowsOptions": {"runAsUserName": r"NT AUTHORITY\SYSTEM"}}
MISSING = "'C:\\hpc' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n"
COPY = ["cmd.exe", "/c", "copy", "/y", rf"{ROOT}\agnhost", rf"{ROOT}\agnhost.exe", ">nul", "&&"]
STARTED = [*COPY, rf"{ROOT}\agnhost.exe", "pause"]


def node(**windows: Any) -> NodeContext:
    """Return a Windows node, on which cmd stands before commands unless it is told otherwise."""

    async def launch(_kind: Kind, process: Process) -> int:
        return await programs.run(process)

    context = nowhere.node("win-1", launch=launch, execute=programs.run)
    settings = WindowsSettings(**{"hcsshim": "0.12", "bind_filter": True, **windows})
    return replace(context, profile=replace(context.profile, windows=settings))


def host_process(context: NodeContext | None = None, **fields: Any) -> Lone:
    """Return a HostProcess container."""
    return Lone(
        context=context or node(),
        sandbox=nowhere.sandbox(host_process=True),
        containers=containers(securityContext=SYSTEM, **fields),
    )


def ended(lone: Lone) -> Json:
    """Return how the container's first run ended."""
    return next(state["terminated"] for _, state in lone.changes if "terminated" in state)


def test_a_program_that_cmd_misses_ends_its_container_again_and_again() -> None:
    """The start succeeds; exit code, log line and back-off tell what is wrong, as on real nodes."""
    lone = host_process(command=[f"{ROOT}/agnhost", "pause"])
    run(lone.run(20))
    end = ended(lone)
    assert (end["reason"], end["exitCode"], end.get("message")) == ("Error", 1, None)
    assert lone.told.reasons()[:4] == ["Pulling", "Pulled", "Created", "Started"]
    assert "BackOff" in lone.told.reasons()
    assert lone.container.previous is not None
    assert b"".join(line for _, line in lone.container.previous.lines()).decode() == MISSING
    assert lone.container.view().last_state["terminated"]["exitCode"] == 1


def test_the_end_of_a_log_is_the_termination_message_where_a_pod_asks_for_it() -> None:
    """``FallbackToLogsOnError``."""
    lone = host_process(
        command=[f"{ROOT}/agnhost"], terminationMessagePolicy="FallbackToLogsOnError"
    )
    run(lone.run(0.5))
    assert ended(lone)["message"] == MISSING


def test_without_cmd_the_same_is_a_start_error() -> None:
    """Exit code 128, and the shim's text."""
    lone = host_process(node(hcsshim="0.9"), command=["agnhost"])
    run(lone.run(0.5))
    end = ended(lone)
    assert (end["reason"], end["exitCode"]) == ("StartError", 128)
    assert 'failed to find executable "agnhost": unknown' in end["message"]
    assert "Started" not in lone.told.reasons()


def test_exit_codes_are_signed_in_a_status() -> None:
    """STATUS_DLL_NOT_FOUND is 3221225781 to whoever starts the command."""
    lone = host_process(command=["cmd.exe", "/c", "exit", "3221225781"])
    run(lone.run(0.5))
    assert ended(lone)["exitCode"] == -1073741515


def beside(lone: Lone, *argv: str, after: float = 2) -> tuple[ExecOutcome, str]:
    """Run a command beside the container's own; return how it ended, and what it wrote."""
    written = bytearray()

    async def write(data: bytes) -> None:
        written.extend(data)

    async def work() -> ExecOutcome:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(after)
        outcome = await lone.container.exec(argv, stdin=None, stdout=write, stderr=write, tty=False)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return outcome

    return run(work()), written.decode()


def test_a_copy_is_there_for_commands_beside_the_container_s_own() -> None:
    """Once it is made: a slow one is waited for in vain before."""
    agnhost = rf"{ROOT}\agnhost.exe"
    outcome, text = beside(host_process(command=STARTED), agnhost, "--version")
    assert (outcome.exit_code, text) == (0, "app version development\n")
    context = node()
    context.network.disk.troubles.copy_seconds = 5
    outcome, text = beside(host_process(context, command=STARTED), agnhost, "--version")
    assert (outcome.exit_code, "is not recognized" in text) == (1, True)
    outcome, _ = beside(host_process(context, command=STARTED), agnhost, "--version", after=6)
    assert outcome.exit_code == 0


def test_a_copy_that_is_refused_ends_the_container() -> None:
    """``&&`` starts nothing after a failure."""
    context = node()
    context.network.disk.troubles.copy_refused = True
    lone = host_process(context, command=STARTED)
    run(lone.run(0.5))
    assert ended(lone)["exitCode"] == 1
    assert lone.container.log.lines()[0][1] == b"Access is denied.\r\n"


def _codes(context: NodeContext) -> None:
    context.network.disk.troubles.exit_code = 1


def _refused(context: NodeContext) -> None:
    context.network.disk.troubles.refused = True


def _cut(context: NodeContext) -> None:
    context.network.disk.troubles.output_limit = 3


def _lost(context: NodeContext) -> None:
    context.network.disk.troubles.loses_output = True


def _missing(context: NodeContext) -> None:
    context.network.disk.troubles.missing.add("hostname")


def _words(context: NodeContext) -> None:
    context.network.disk.troubles.cmd_text = "?"


@pytest.mark.parametrize(
    ("trouble", "command", "code", "text"),
    [
        (_codes, "hostname.exe", 1, "p\r\n"),
        (_refused, "hostname.exe", None, ""),
        (_cut, "nosuch.exe", 1, "'no"),
        (_lost, "hostname.exe", 0, ""),
        (_missing, "hostname.exe", 1, MISSING.replace("C:\\hpc", "hostname.exe")),
        (_words, "nosuch.exe", 1, "?\r\n"),
    ],
)
def test_what_a_fault_does_to_a_command(
    trouble: Callable[[NodeContext], None], command: str, code: int | None, text: str
) -> None:
    """Each breaks one assumption of whoever runs it."""
    context = node()
    trouble(context)
    outcome, written = beside(host_process(context, command=STARTED), command)
    assert (outcome.exit_code, written) == (code, text)
    if code is None:
        assert outcome.error == (
            "failed to start host process: failed to create process: Access is denied.: unknown"
        )


def test_an_older_shim_loses_the_output_of_some_short_commands() -> None:
    """Of one in so many; long output comes whole, and so does all output since 0.12."""
    for shim, lines in (("0.9", 0), ("0.11", 0), ("0.12", 1)):
        context = node(hcsshim=shim, lost_output=1)
        outcome, text = beside(host_process(context, command=STARTED), "hostname.exe")
        assert (outcome.exit_code, text.count("\n")) == (0, lines)
    long = ["cmd.exe", "/c", "echo", "x" * 5000]
    _, text = beside(host_process(node(hcsshim="0.9", lost_output=1), command=STARTED), *long)
    assert len(text) == 5002
    _, text = beside(
        host_process(node(hcsshim="0.9", lost_output=2), command=STARTED), "hostname.exe"
    )
    assert text == "p\r\n"


@pytest.mark.parametrize(
    ("shim", "event", "ready"),
    [
        ("0.12", "Readiness probe failed: 'nosuch.exe' is not recognized as an internal", False),
        (
            "0.9",
            "Readiness probe errored: rpc error: code = Unknown desc = failed to exec in container: failed to start exec",
            False,
        ),
    ],
)
def test_a_probe_whose_program_is_missing_fails_behind_cmd_and_errs_without(
    shim: str, event: str, *, ready: bool
) -> None:
    """What does not start is unknown to the kubelet, which tells of it and leaves the container as it is."""
    lone = host_process(
        node(hcsshim=shim), command=STARTED, readinessProbe={"exec": {"command": ["nosuch.exe"]}}
    )
    run(lone.run(30))
    told = [text for _, reason, text in lone.told.events if reason == "Unhealthy"]
    assert told
    assert all(text.startswith(event) for text in told)
    assert lone.container.view().ready is ready


def test_a_server_that_died_leaves_its_container_running() -> None:
    """Until it is told to end."""
    lone = host_process(command=STARTED)

    async def work() -> Json:
        task = asyncio.create_task(lone.container.run())
        await asyncio.sleep(2)
        lone.container.stop_serving()
        await asyncio.sleep(60)
        state = dict(lone.container.view().state)
        await lone.container.stop(30)
        await task
        return state

    assert "running" in run(work())
