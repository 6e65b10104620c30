"""Each fault of what tools of Windows print alters what its summary says, and nothing on a node that is in order."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.lab.interfaces import Machine, ProgramTroubles
from nettests.lab.programs.windows.broken_tools import broken_tools
from tests.lab.programs import worlds
from tests.lab.programs.test_host_tools import Hns, Node
from tests.lab.programs.worlds import Finished, World, in_world

CURL = ["curl.exe", "-sS", "-m", "9", "http://127.0.0.1:9/"]
POWERSHELL = ["powershell.exe", "-Command"]
ACCENT = "[Console]::OutputEncoding=[Text.Encoding]::UTF8; [string][char]0xE9"
DEEP = "ConvertTo-Json @(@{a=@{b=@{c=1}}}) -Depth 5 -Compress"

OUTPUTS: dict[str, tuple[Sequence[str], tuple[int, str], tuple[int, str]]] = {
    "ping-text-other": (["ping", "-n", "1", "127.0.0.1"], (0, "Reply from"), (0, "Ercyl sebz")),
    "ping-code-zero": (["ping", "-n", "1", "-w", "9", "192.0.2.1"], (1, ""), (0, "")),
    "ping-code-other": (["ping", "-n", "1", "127.0.0.1"], (0, "TTL"), (1, "TTL")),
    "ping-of-itself-lost": (
        ["ping", "-n", "1", "-w", "9", "127.0.0.1"],
        (0, "TTL"),
        (1, "Request timed out."),
    ),
    "curl-text-other": (CURL, (7, "Connection refused"), (7, "Pbaarpgvba ershfrq")),
    "curl-code-other": (CURL, (7, "refused"), (99, "refused")),
    "nslookup-text-other": (["nslookup", "x"], (0, "Default servers"), (0, "Qrsnhyg freiref")),
    "netsh-text-other": (
        ["netsh", "int", "ipv4", "show", "dynamicport", "tcp"],
        (0, "Start Port      : 49152"),
        (0, "Fgneg Cbeg      : 49152"),
    ),
    "ipconfig-text-other": (["ipconfig"], (0, "IPv4 Address"), (0, "VCi4 Nqqerff")),
    "powershell-text-other": ([*POWERSHELL, "x-y"], (1, "is not"), (1, "vf abg")),
    "clixml-noise": ([*POWERSHELL, "1"], (0, "1"), (0, "#< CLIXML")),
    "failing-cmdlet-succeeds": ([*POWERSHELL, "x-y"], (1, "x-y"), (0, "x-y")),
    "console-lost": ([*POWERSHELL, ACCENT], (0, "é"), (0, "handle is invalid")),
    "json-cut": ([*POWERSHELL, DEEP], (0, '{"c":1}'), (0, '"System.Collections.Hashtable"')),
    "json-arrays-wrapped": ([*POWERSHELL, DEEP], (0, "[{"), (0, '"Count":1')),
    "hns-empty": ([*POWERSHELL, "Get-HnsNetwork"], (0, "flannel"), (0, "")),
    "hns-other-schema": ([*POWERSHELL, "(Get-HnsNetwork).Ipams.Type"], (0, ""), (0, "Static")),
    "hns-denied": ([*POWERSHELL, "Get-HnsNetwork"], (0, "flannel"), (0, "Access is denied")),
    "non-ascii-lost": ([*POWERSHELL, ACCENT], (0, "é"), (0, "??")),
    "whoami-other": (["whoami", "/user"], (0, "S-1-5-18"), (0, "S-1-5-20")),
    "hostname-other": (["hostname"], (0, "n1"), (0, "somewhere-else")),
    "agnhost-text-other": (
        ["/agnhost", "connect", "127.0.0.1:9", "--timeout=9s"],
        (1, "actively refused"),
        (1, "aktivt nekade"),
    ),
    "refusal-lost": (
        ["/agnhost", "connect", "127.0.0.1:9", "--timeout=1s"],
        (1, "refused"),
        (1, "TIMEOUT"),
    ),
}
"""What is run, then code and a part of all that it prints, in order and under the fault; nothing stands for nothing at all."""
NETWORK = {"ID": "N", "Name": "flannel", "Type": "Overlay", "Policies": [], "Subnets": []}


def host(machine: Machine, *faults: str) -> Machine:
    """Return a container of a Windows node, of HostProcess but for agnhost."""
    settings = replace(machine.windows, refusal_seconds=0)
    troubles = ProgramTroubles(tools=set(faults))
    node = Node(hns=Hns([NETWORK]))
    parts = {"host_process": True, "user": r"NT AUTHORITY\SYSTEM", "node": node}
    return worlds.windows(machine, windows=settings, troubles=troubles, **parts)


async def run(machine: Machine, argv: Sequence[str]) -> Finished:
    """Run a command where its program is."""
    image = replace(machine, host_process=False, node=None) if "agnhost" in argv[0] else machine
    return await worlds.finish(replace(image, resolver=replace(image.resolver, servers=())), argv)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_fault_alters_what_its_tool_prints(name: str) -> None:
    """The same command, before and while the fault is in force."""
    argv, before, after = OUTPUTS[name]

    @in_world()
    async def test(world: World) -> None:
        for faults, (code, text) in (((), before), ((name,), after)):
            ended = await run(host(world.spare, *faults), argv)
            printed = ended.stdout + ended.stderr
            assert ended.code == code, printed
            assert (text in printed) if text or "ping" in name else not printed, printed

    test()


@in_world()
async def test_streams_are_swapped_once(world: World) -> None:
    """By whatever programs a command runs through."""
    ended = await run(host(world.spare, "streams-swapped"), ["cmd.exe", "/c", "hostname"])
    assert (ended.stdout, ended.stderr) == ("", "n1\r\n")


@in_world()
async def test_standard_input_never_ends(world: World) -> None:
    """What came is read; whoever waits for the end waits on."""
    reading = [*POWERSHELL, "[Console]::In.ReadLine()"]
    assert (await run(host(world.spare), reading)).code == 0
    running = worlds.start(host(world.spare, "stdin-never-ends"), reading)
    done, _ = await asyncio.wait([running.task], timeout=0.5)
    assert not done
    await running.kill()


def test_every_fault_is_tried() -> None:
    """But for those that take their time, and pktmon's, which needs a switch."""
    elsewhere = {"streams-swapped", "stdin-never-ends", "powershell-slow", "pktmon-text-other"}
    assert OUTPUTS.keys() | elsewhere == broken_tools().keys()
