"""Which program a command names on Linux, and in the images of Windows."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.lab.interfaces import (
    Machine,
    Namespace,
    Process,
    ProgramNotFoundError,
    ResolverConfig,
)
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.programs.images import run
from nettests.lab.programs.windows import starting
from nettests.lab.programs.windows.starting import drive_of
from nettests.lab.topology import OS
from tests.lab.programs.worlds import IMAGE_PATH

NOWHERE: Namespace = NetworkNamespace("nowhere", -1)
LINUX = Machine(
    os=OS.LINUX,
    hostname="pod",
    namespace=NOWHERE,
    addresses=(),
    gateway="",
    resolver=ResolverConfig(servers=()),
)
WINDOWS = replace(LINUX, os=OS.WINDOWS, build=17763, patch=1339, container_id="c0ffee")


async def _nowhere(_: bytes) -> None:
    return None


def process(machine: Machine, argv: Sequence[str]) -> Process:
    """Return a process that is not started yet."""
    return Process(
        argv=argv,
        environment=IMAGE_PATH,
        machine=machine,
        stdout=_nowhere,
        stderr=_nowhere,
        working_directory="C:\\",
    )


def program(machine: Machine, *argv: str) -> str | None:
    """Return the name of the program that a command starts in a Windows container of its own."""
    drive = drive_of(machine)
    return drive.program(starting.start(process(machine, argv), drive)[0])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/agnhost", "agnhost"),
        ("/agnhost-2", "agnhost"),
        (r"c:\AGNHOST", "agnhost"),
        ("curl.exe", "curl"),
        ("nslookup", "bind-nslookup"),
        (r"C:\dig\nslookup.exe", "bind-nslookup"),
        ("PING.EXE", "ping"),
        ("C:/Windows/System32/ping", "ping"),
        ("pwsh", "powershell"),
        ("tasklist", None),
    ],
)
def test_a_container_of_windows_starts_what_is_in_its_image(command: str, name: str | None) -> None:
    """A file without extension is found by its path alone; a name gets ``.exe`` and is sought along PATH."""
    if name is None:
        with pytest.raises(ProgramNotFoundError):
            program(WINDOWS, command)
    else:
        assert program(WINDOWS, command) == name


@pytest.mark.parametrize(
    ("command", "minor", "text"),
    [
        ("agnhost", 9, " c0ffee: The system cannot find the file specified.: unknown"),
        ("agnhost", 12, ": agnhost x c0ffee: The system cannot find the file specified.: unknown"),
        ("/bin/sh", 9, " c0ffee: The system cannot find the file specified.: unknown"),
        (r"C:\hpc\agnhost.exe", 9, " c0ffee: The system cannot find the path specified.: unknown"),
    ],
)
def test_what_a_container_of_windows_lacks_is_an_error_of_the_hcs(
    command: str, minor: int, text: str
) -> None:
    """It names the container, and from hcsshim 0.10 on the command line; a folder that is missing is a path."""
    machine = replace(WINDOWS, shim=replace(WINDOWS.shim, minor=minor))
    with pytest.raises(ProgramNotFoundError) as missing:
        program(machine, command, "x")
    assert str(missing.value) == f"hcs::System::CreateProcess{text}"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("nosuchcmd", 'exec: "nosuchcmd": executable file not found in $PATH'),
        ("/bin/zsh", 'exec: "/bin/zsh": stat /bin/zsh: no such file or directory'),
        ("ping.exe", 'exec: "ping.exe": executable file not found in $PATH'),
        ("/tmp/curl", 'exec: "/tmp/curl": stat /tmp/curl: no such file or directory'),
        ("pkill", 'exec: "pkill": executable file not found in $PATH'),
    ],
)
def test_a_program_that_linux_lacks_is_told_in_the_words_of_runc(command: str, text: str) -> None:
    """A path is not there, a name is not found; what a fault took away is missing like all else."""
    machine = replace(LINUX)
    machine.troubles.missing.add("pkill")
    with pytest.raises(ProgramNotFoundError) as missing:
        asyncio.run(run(process(machine, [command])))
    assert str(missing.value) == text


def test_ping_is_a_capability_of_the_windows_image_only() -> None:
    """Without the capability an ordinary Windows pod has no ``ping``; a HostProcess one has the node's."""
    without = replace(WINDOWS, capabilities=frozenset())
    with pytest.raises(ProgramNotFoundError):
        program(without, "ping")
    assert drive_of(replace(without, host_process=True)).program(r"C:\Windows\System32\ping.exe")


def test_a_base_image_has_no_agnhost() -> None:
    """Nor what came with it."""
    drive = drive_of(WINDOWS, with_agnhost=False)
    assert drive.program(r"C:\Windows\System32\cmd.exe") == "cmd"
    assert not drive.program(r"C:\agnhost")
    assert not drive.program(r"C:\dig\nslookup.exe")


def test_an_empty_command_is_not_run() -> None:
    """No argv, no program."""
    with pytest.raises(ProgramNotFoundError):
        asyncio.run(run(process(LINUX, [])))
