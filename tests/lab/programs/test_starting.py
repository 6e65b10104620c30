"""How a HostProcess container starts a command, by the shim of its node: what is sought where, and what cmd makes of it.

The outcomes are those that hcsshim's and containerd's sources, Kubernetes' tests and posted transcripts show.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest

from nettests.lab.interfaces import Machine, Process, ProgramNotFoundError
from nettests.lab.programs.images import run
from nettests.lab.programs.windows.starting import arguments, command_line, drive_of
from nettests.lab.topology import Shim
from tests.lab.programs.test_images import WINDOWS
from tests.lab.programs.worlds import HOST_PATH

OLD = Shim(minor=9)
BOUND = Shim(minor=12)
UNBOUND = Shim(minor=11, binds=False)
ROOT = "%CONTAINER_SANDBOX_MOUNT_POINT%"
COPY = (
    "cmd.exe",
    "/c",
    "copy",
    "/y",
    rf"{ROOT}\agnhost",
    rf"{ROOT}\agnhost.exe",
    ">nul",
    "&&",
    rf"{ROOT}\agnhost.exe",
    "--version",
)
VERSION = "app version development\n"
NOT_FOUND = "'{}' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n"
NO_PATH = "The system cannot find the path specified.\r\n"


class Outcome(NamedTuple):
    """An exit code with what was written, or the shim's error."""

    code: int | None
    stdout: str
    stderr: str


def host(shim: Shim) -> Machine:
    """Return a new HostProcess container with agnhost's image."""
    machine = replace(WINDOWS, host_process=True, shim=shim, hostname="win-1")
    return replace(machine, drive=drive_of(machine))


def started(machine: Machine, *argv: str, environment: dict[str, str] | None = None) -> Outcome:
    """Start a command beside the container's own."""
    out, err = bytearray(), bytearray()

    async def write_out(data: bytes) -> None:
        out.extend(data)

    async def write_err(data: bytes) -> None:
        err.extend(data)

    process = Process(
        argv=argv,
        environment=environment or HOST_PATH,
        machine=machine,
        stdout=write_out,
        stderr=write_err,
        working_directory=machine.shim.root(machine.container_id),
    )
    try:
        code = asyncio.run(run(process))
    except ProgramNotFoundError as error:
        return Outcome(None, "", str(error))
    return Outcome(code, out.decode(), err.decode())


@pytest.mark.parametrize("shim", [OLD, BOUND, UNBOUND])
@pytest.mark.parametrize("form", [COPY, COPY[2:]])
def test_agnhost_is_copied_once_and_started_by_that_name(shim: Shim, form: Sequence[str]) -> None:
    """With any shim, as long as it is cmd that copies; a later command finds the copy."""
    machine = host(shim)
    before = started(machine, rf"{ROOT}\agnhost.exe", "--version")
    assert before.code in {None, 1}
    if form[0] == "copy" and not shim.behind_cmd:
        assert started(machine, *form).stderr.startswith("failed to get application name")
        return
    assert started(machine, *form) == Outcome(0, VERSION, "")
    assert started(machine, rf"{ROOT}\agnhost.exe", "--version") == Outcome(0, VERSION, "")
    assert started(machine, r"$env:CONTAINER_SANDBOX_MOUNT_POINT\agnhost.exe").code == 0


@pytest.mark.parametrize(
    ("command", "direct", "behind_cmd"),
    [
        ("/agnhost", False, NOT_FOUND.format("/agnhost")),
        ("agnhost", False, NOT_FOUND.format("agnhost")),
        (rf"{ROOT}\agnhost", True, NOT_FOUND.format(r"C:\hpc\agnhost")),
        (f"{ROOT}/agnhost", True, NOT_FOUND.format(r"C:\hpc")),
        (f"{ROOT}/curl/curl.exe", True, NOT_FOUND.format(r"C:\hpc")),
        ("bin/cat.exe", True, NOT_FOUND.format("bin")),
        (rf"{ROOT}\curl\curl.exe", True, ""),
        ("hostname.exe", True, ""),
        ("hostname", True, ""),
        ("nosuch.exe", False, NOT_FOUND.format("nosuch.exe")),
        (r"C:\nosuch\x.exe", False, NO_PATH),
        ("%container_sandbox_mount_point%/agnhost", False, None),
    ],
)
def test_what_a_host_process_container_starts(
    command: str, direct: bool, behind_cmd: str | None
) -> None:
    """Without cmd a missing program fails to start; behind it the start succeeds, and cmd says on standard error what it misses."""
    for shim in (OLD, UNBOUND):
        outcome = started(host(shim), command)
        assert (outcome.code is not None) == direct, outcome
    outcome = started(host(BOUND), command)
    if behind_cmd:
        assert outcome == Outcome(1, "", behind_cmd)
    elif behind_cmd is None:
        assert outcome.code == 1
    else:
        assert "not recognized" not in outcome.stderr


def test_a_missing_program_is_named_by_its_line_before_and_after_the_mount_point() -> None:
    """As kubernetes/website#29924 shows it."""
    outcome = started(host(OLD), rf"{ROOT}\x.exe", "a b")
    assert outcome.stderr == (
        'failed to get application name from commandline "%CONTAINER_SANDBOX_MOUNT_POINT%\\\\x.exe \\"a b\\"": '
        'failed to find executable "C:\\\\C\\\\c0ffee\\\\x.exe \\"a b\\"": unknown'
    )


def test_a_running_file_is_not_copied_over() -> None:
    """cmd says why, and that it copied none."""
    machine = host(BOUND)
    assert started(machine, *COPY).code == 0
    assert machine.drive is not None
    with machine.drive.running(r"C:\hpc\agnhost.exe"):
        outcome = started(machine, *COPY)
    assert outcome.code == 1
    assert outcome.stderr.startswith("The process cannot access the file")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["a.exe", "b c", ""], 'a.exe "b c" ""'),
        (["a.exe", 'b"c'], 'a.exe b\\"c'),
        (["a.exe", 'b "c" d\\'], 'a.exe "b \\"c\\" d\\\\"'),
        (["a.exe", "a&b|c<d>e^f%g%"], "a.exe a&b|c<d>e^f%g%"),
        (["a.exe", r"C:\x y\\"], 'a.exe "C:\\x y\\\\\\\\"'),
    ],
)
def test_words_become_a_line_as_go_escapes_them(words: list[str], line: str) -> None:
    """Only blanks are quoted, so that cmd sees all else; a program reads the same words."""
    assert command_line(words) == line
    assert arguments(line) == words
