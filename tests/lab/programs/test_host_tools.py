"""The tools of a Windows node that look at the node itself: HNS cmdlets, netsh, type, tasklist."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from nettests.lab.interfaces import (
    Disk,
    Json,
    Machine,
    Process,
    ProgramNotFoundError,
    ResolverConfig,
)
from nettests.lab.programs.images import run
from nettests.lab.topology import OS
from tests.lab.programs.worlds import HOST_PATH, IMAGE_PATH

SHELL = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command"]
NETSH = ["netsh.exe", "int", "ipv4", "show"]


@dataclass(slots=True)
class Hns:
    """An HNS that shows what it is given."""

    shown: list[Json] = field(default_factory=list)
    pools: list[range] = field(default_factory=list)

    def networks(self) -> list[Json]:
        return self.shown

    def endpoints(self) -> list[Json]:
        return self.shown

    def policy_lists(self) -> list[Json]:
        return self.shown

    def dynamic_ports(self) -> range:
        return range(49152, 65536)

    def port_pools(self, protocol: str) -> list[range]:
        return self.pools if protocol == "tcp" else []


@dataclass(slots=True)
class Node:
    """The part of a node that the tools look at."""

    hns: Hns = field(default_factory=Hns)
    disk: Disk = field(default_factory=Disk)


def finish(
    node: Node | None,
    argv: list[str],
    user: str = "NT AUTHORITY\\SYSTEM",
    searches: tuple[str, ...] = (),
) -> tuple[int, str, str]:
    """Run a tool in a HostProcess container of the node, or in one of a Pod; return exit code and output."""
    outputs = {"out": bytearray(), "err": bytearray()}

    async def out(data: bytes) -> None:
        outputs["out"].extend(data)

    async def err(data: bytes) -> None:
        outputs["err"].extend(data)

    parts: Any = {"namespace": None, "node": node}
    machine = Machine(
        os=OS.WINDOWS,
        hostname="win-1",
        addresses=("172.30.0.13",),
        gateway="172.30.0.1",
        resolver=ResolverConfig(servers=(), searches=searches),
        host_process=node is not None,
        user=user,
        **parts,
    )
    process = Process(
        argv=argv,
        environment=HOST_PATH if node is not None else IMAGE_PATH,
        machine=machine,
        stdout=out,
        stderr=err,
    )
    code = asyncio.run(_run(process))
    return code, outputs["out"].decode(errors="replace"), outputs["err"].decode(errors="replace")


async def _run(process: Process) -> int:
    return await run(process)


@pytest.mark.parametrize("cmdlet", ["Get-HnsNetwork", "Get-HnsEndpoint", "Get-HnsPolicyList"])
def test_cmdlets_show_what_hns_has(cmdlet: str) -> None:
    """Several objects are an array, one is itself, none is nothing."""
    text = f"{cmdlet} | ConvertTo-Json -Depth 5"
    for shown, expected in (([], ""), ([{"Name": "a"}], {"Name": "a"})):
        code, out, _ = finish(Node(hns=Hns(shown)), [*SHELL, text])
        assert code == 0
        assert (json.loads(out) if out else "") == expected
    _, out, _ = finish(Node(hns=Hns([{"Name": "a"}, {"Name": "b"}])), [*SHELL, text])
    assert [one["Name"] for one in json.loads(out)] == ["a", "b"]


def test_hns_answers_administrators_only() -> None:
    """Local service is told that access is denied; the module's function ends nothing unless it is told to stop."""
    for stop, expected in (("", 0), ("-ErrorAction Stop", 1)):
        text = f"$ErrorActionPreference = 'Stop'; Get-HnsNetwork {stop} | ConvertTo-Json -Depth 20"
        code, said, denied = finish(Node(), [*SHELL, text], "NT AUTHORITY\\Local service")
        assert (code, said) == (expected, "")
        assert "Access is denied" in denied


def test_what_lies_too_deep_is_cut() -> None:
    """ConvertTo-Json stops at two levels unless it is told otherwise."""
    deep = [{"Policies": [{"Settings": {"Exceptions": ["10.244.0.0/16"]}}]}]
    _, out, _ = finish(Node(hns=Hns(deep)), [*SHELL, "Get-HnsEndpoint | ConvertTo-Json"])
    assert "10.244.0.0/16" not in out
    text = "Get-HnsEndpoint | ConvertTo-Json -Depth 5"
    assert "10.244.0.0/16" in finish(Node(hns=Hns(deep)), [*SHELL, text])[1]


def test_other_cmdlets_are_refused() -> None:
    """A cmdlet that the lab lacks is an unknown term, and nothing is piped on."""
    code, out, err = finish(Node(), [*SHELL, "Get-NetRoute | ConvertTo-Json"])
    assert (code, out) == (1, "")
    assert "is not recognized" in err


def test_netsh_shows_the_dynamic_range_and_what_is_taken() -> None:
    """The pools of load balancers are among the exclusions of TCP."""
    _, out, _ = finish(Node(), [*NETSH, "dynamicport", "tcp"])
    assert "Start Port      : 49152\r\nNumber of Ports : 16384\r\n" in out
    node = Node(hns=Hns(pools=[range(49152, 49216)]))
    _, out, _ = finish(node, [*NETSH, "excludedportrange", "protocol=tcp"])
    assert "     49152       49215      \r\n" in out
    _, out, _ = finish(node, [*NETSH, "excludedportrange", "protocol=udp"])
    assert "49152" not in out


def test_type_prints_files_and_names_them_apart() -> None:
    """Contents go to standard output alone; a folder without a match is an error beside them."""
    node = Node(disk=Disk(files={"C:\\etc\\cni\\net.d\\10-a.conf": "{}\n", "C:\\b.txt": "no"}))
    code, out, err = finish(
        node, ["cmd.exe", "/c", "type", "c:\\ETC\\cni\\net.d\\*.conf*", "C:\\k\\*.conf*"]
    )
    assert (code, out) == (1, "{}\r\n")
    assert "10-a.conf" in err
    assert "cannot find the file" in err


def test_a_plugin_called_with_nothing_prints_what_it_is() -> None:
    """To standard error, or where that is led; a path without a plugin is an error."""
    node = Node(
        disk=Disk(programs={"C:\\opt\\cni\\bin\\win-bridge.exe": "CNI win-bridge plugin\n"})
    )
    path = "C:\\opt\\cni\\bin\\win-bridge.exe"
    assert finish(node, ["cmd.exe", "/c", path]) == (0, "", "CNI win-bridge plugin\r\n")
    assert finish(node, ["cmd.exe", "/c", path, "2>&1"]) == (0, "CNI win-bridge plugin\r\n", "")
    code, out, _ = finish(node, ["cmd.exe", "/c", path.replace("bridge", "overlay"), "2>&1"])
    assert (code, "is not recognized" in out) == (1, True)
    code, out, _ = finish(node, ["cmd.exe", "/c", path.replace("cni", "nosuch"), "2>&1"])
    assert (code, "cannot find the path" in out) == (1, True)


def test_tasklist_shows_the_processes_of_the_node() -> None:
    """One line each, quoted and with commas; tasklist is a process itself."""
    node = Node(disk=Disk(processes=["kubelet", "flanneld"]))
    _, out, _ = finish(node, ["tasklist.exe", "/FO", "CSV", "/NH"])
    names = [line.split(",")[0] for line in out.splitlines()]
    assert names == ['"flanneld.exe"', '"kubelet.exe"', '"tasklist.exe"']


@pytest.mark.parametrize("tool", ["netsh.exe", "tasklist.exe"])
def test_ordinary_containers_have_no_tools_of_the_host(tool: str) -> None:
    """They are the node's own, not the image's."""
    with pytest.raises(ProgramNotFoundError):
        finish(None, [tool])
