"""agnhost's mounttest on the files of a container: what it prints, and how it ends."""

import asyncio

import pytest

from nettests.lab.interfaces import Machine, Process, ResolverConfig
from nettests.lab.mounted.files import Files, Mount, Volume
from nettests.lab.programs.images import run
from nettests.lab.topology import OS
from tests.lab.node.nowhere import Nowhere
from tests.lab.node.virtual_time import now
from tests.lab.node.virtual_time import run as virtually

MOUNT = Mount(place="/data", volume=Volume(texts={"note": "text"}), read_only=True)
MEMORY = Mount(place="/memory", volume=Volume(in_memory=True))


def machine(os: OS = OS.LINUX) -> Machine:
    """Return a container's machine with a volume that is read-only, and one in memory."""
    return Machine(
        os=os,
        hostname="p",
        namespace=Nowhere(),
        addresses=("10.244.1.2",),
        gateway="10.244.1.1",
        resolver=ResolverConfig(servers=()),
        files=Files(os=os, mounts=(MOUNT, MEMORY)),
    )


async def ended(machine: Machine, *words: str) -> tuple[int, str]:
    """Run mounttest to its end; return its code and what it printed."""
    said: list[bytes] = []

    async def write(data: bytes) -> None:
        said.append(data)

    argv = ["/agnhost", "mounttest", *words]
    process = Process(argv=argv, environment={}, machine=machine, stdout=write, stderr=write)
    return await run(process), b"".join(said).decode()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--file_content=/data/note",), 0, 'content of file "/data/note": text\n'),
        (
            ("--file_content=/data/none",),
            1,
            'error reading file content for "/data/none": open /data/none: no such file or directory\n',
        ),
        (
            ("--new_file_0644=/memory/new",),
            0,
            'content of file "/memory/new": mount-tester new file\n\n',
        ),
        (
            ("--new_file_0644=/data/new",),
            1,
            'error writing new file "/data/new": open /data/new: read-only file system\n',
        ),
        (("--fs_type=/memory",), 0, 'mount type of "/memory": tmpfs\n'),
        (("--fs_type=/data",), 0, 'mount type of "/data": 61267\n'),
        (
            ("--fs_type=/none",),
            1,
            'error from statfs("/none"): open /none: no such file or directory\n',
        ),
    ],
)
def test_it_says_what_it_met(words: tuple[str, ...], code: int, said: str) -> None:
    """Content, or why there is none; 1 if anything failed."""
    assert asyncio.run(ended(machine(), *words)) == (code, said)


def test_on_windows_it_tells_no_type() -> None:
    """There is no such call."""
    assert asyncio.run(ended(machine(OS.WINDOWS), "--fs_type=/memory")) == (0, "")


def test_in_a_loop_it_reads_until_its_time_is_over() -> None:
    """Every two seconds; a file that is not there is no content, and that was the last word of it."""

    async def work() -> tuple[int, float, int]:
        code, said = await ended(machine(), "--file_content_in_loop=/none", "--retry_time=6")
        return code, now(), said.count("retrying")

    assert virtually(work()) == (1, 6, 3)


def test_a_new_file_s_content_ends_the_loop() -> None:
    """Unless it is told to go on."""
    own = machine()
    own.files.write("/memory/new", "mount-tester new file\n")

    async def work(*more: str) -> float:
        began = now()
        await ended(own, "--file_content_in_loop=/memory/new", "--retry_time=6", *more)
        return now() - began

    assert virtually(work()) == 0
    assert virtually(work("--break_on_expected_content=false")) == 6
