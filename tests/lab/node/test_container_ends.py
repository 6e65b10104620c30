"""How containers of the lab end, and are kept alive: messages, codes, probes and hooks, and what switches them on Windows."""

from collections.abc import Mapping
from typing import Any

import pytest

from nettests.lab.interfaces import Process
from nettests.lab.node.images import Kind
from tests.lab.node import nowhere
from tests.lab.node.alone import Lone, Program, containers, stopped
from tests.lab.node.virtual_time import run

FAILS = {"exec": {"command": ["check"]}, "periodSeconds": 1, "failureThreshold": 1}


def ended(code: int, *, node: str = "win-1", mechanisms: Mapping[str, int] | None = None) -> Any:
    """Return the last state of a container that writes a message and ends with ``code``."""

    async def launch(_kind: Kind, process: Process) -> int:
        process.machine.files.write("/dev/termination-log", "said")
        return code

    context = nowhere.node(node, launch=launch, mechanisms=mechanisms)
    lone = Lone(context=context, restartPolicy="Never")
    run(lone.run(5))
    return lone.container.view().state["terminated"]


@pytest.mark.parametrize("node", ["linux-1", "win-1"])
def test_a_message_and_a_code_reach_the_status(node: str) -> None:
    """The file at the default path, and what the program ended with."""
    told = ended(7, node=node)
    assert (told["message"], told["exitCode"], told["reason"]) == ("said", 7, "Error")


LOST = {"exit-codes": 0}


def test_codes_of_windows_may_be_lost() -> None:
    """The mechanism ``exit-codes`` off; on Linux it changes nothing."""
    assert ended(7, mechanisms=LOST)["exitCode"] == 0
    assert ended(7, node="linux-1", mechanisms=LOST)["exitCode"] == 7


def test_each_run_has_a_message_of_its_own() -> None:
    """What one run wrote is not told of the next."""
    runs: list[int] = []

    async def launch(_kind: Kind, process: Process) -> int:
        runs.append(len(runs))
        if len(runs) == 1:
            process.machine.files.write("/dev/termination-log", "first")
        return 1

    lone = Lone(context=nowhere.node(launch=launch))
    run(lone.run(5))
    view = lone.container.view()
    assert len(runs) == 2
    assert "message" not in view.last_state.get("terminated", {})


async def _fails(_process: Process) -> int:
    return 1


@pytest.mark.parametrize("probe", ["livenessProbe", "startupProbe"])
@pytest.mark.parametrize(
    ("node", "mechanisms", "restarts"),
    [
        ("win-1", {}, True),
        ("win-1", {"liveness-probes": 0}, False),
        ("linux-1", {"liveness-probes": 0}, True),
    ],
)
def test_a_probe_that_fails_restarts_a_container(
    probe: str, node: str, mechanisms: Mapping[str, int], *, restarts: bool
) -> None:
    """Unless the kubelet on Windows runs none; it is Ready then without having been probed."""
    program = Program()
    context = nowhere.node(node, launch=program.launch, execute=_fails, mechanisms=mechanisms)
    lone = Lone(program, context=context, containers=containers(**{probe: FAILS}))
    run(lone.run(3))
    assert (len(program.began) > 1) is restarts
    if not restarts:
        assert lone.container.view().ready


@pytest.mark.parametrize(
    ("node", "mechanisms", "hooks"),
    [
        ("win-1", {}, ["first", "last"]),
        ("win-1", {"pre-stop-hooks": 0}, ["first"]),
        ("win-1", {"post-start-hooks": 0}, ["last"]),
        ("linux-1", {"pre-stop-hooks": 0, "post-start-hooks": 0}, ["first", "last"]),
    ],
)
def test_hooks_are_run_after_the_start_and_before_the_end(
    node: str, mechanisms: Mapping[str, int], hooks: list[str]
) -> None:
    """Unless the kubelet on Windows runs none of that kind."""
    ran: list[str] = []

    async def execute(process: Process) -> int:
        ran.append(process.argv[0])
        return 0

    program = Program()
    lifecycle = {
        "preStop": {"exec": {"command": ["last"]}},
        "postStart": {"exec": {"command": ["first"]}},
    }
    context = nowhere.node(node, launch=program.launch, execute=execute, mechanisms=mechanisms)
    lone = Lone(program, context=context, containers=containers(lifecycle=lifecycle))
    run(stopped(lone, 30))
    assert ran == hooks


@pytest.mark.parametrize(
    ("user", "mechanisms", "starts"),
    [
        ("", {}, True),
        ("ContainerUser", {}, True),
        ("User Manager\\ContainerAdministrator", {}, True),
        ("somebody", {}, False),
        ("somebody", {"accounts": 0}, True),
    ],
)
def test_a_container_runs_as_an_account_of_its_image(
    user: str, mechanisms: Mapping[str, int], *, starts: bool
) -> None:
    """Windows refuses to log on another one, in its own words; the host's accounts are none of the container's."""
    program = Program()
    context = nowhere.node("win-1", launch=program.launch, mechanisms=mechanisms)
    options = {"windowsOptions": {"runAsUserName": user}} if user else {}
    lone = Lone(
        program,
        context=context,
        containers=containers(securityContext=options),
        restartPolicy="Never",
    )
    run(lone.run(3))
    assert bool(program.began) is starts
    if not starts:
        end = lone.container.view().state["terminated"]
        assert (end["reason"], end["exitCode"]) == ("StartError", 128)
        assert "The user name or password is incorrect." in end["message"]
