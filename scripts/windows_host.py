"""The lab's Windows programs as commands of this machine, without a cluster: ``closed`` and ``windows-tool``.

For whoever runs on a Windows machine otherwise: a program of an emulated Windows host, one process for each command, in the
network namespace of whoever starts it. ``closed`` gives a namespace with a loopback device and nothing else, and
``windows-tool`` runs in no other: it has no way to the machine's network.
"""

import asyncio
import os
import shlex
import sys
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any, cast

import click

from nettests.lab.cli.group import SETTINGS
from nettests.lab.errors import LabError
from nettests.lab.interfaces import (
    Disk,
    Json,
    Machine,
    NodeNetwork,
    Process,
    ProgramNotFoundError,
    ProgramTroubles,
    ResolverConfig,
)
from nettests.lab.network import kernel
from nettests.lab.network.isolation import enter_isolated_namespaces
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.network.netlink import configure
from nettests.lab.programs.images import run
from nettests.lab.programs.windows.broken_tools import broken_tools
from nettests.lab.topology import OS, Shim, profiles

_ENVIRONMENT = {
    "PATH": "C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\",
    "SystemRoot": "C:\\Windows",
}
_PROFILE = "win2022-l2bridge-dsr"
"""Whose Windows settings count; nothing else of it stands."""
_NOT_FOUND = 127
LOOPBACK = "lo"
_TEST_NET = ip_network("192.0.2.0/24")
_VERBATIM = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""All words from the first one on are the other command's."""
_ROUTES = Path("/proc/self/net/route")
"""A line of titles, and one for each route of the network namespace."""


@click.group()
def main() -> None:
    """Run programs of an emulated Windows host."""


@main.command(
    name="closed",
    context_settings=_VERBATIM,
    epilog="Example: windows_host.py closed -- windows_host.py windows-tool -- ping 127.0.0.1",
)
@click.argument("command", nargs=-1, required=True)
def closed(*, command: tuple[str, ...]) -> None:
    """Run a command in a network without a way out.

    The namespace has a loopback device and nothing else. What is sent to TEST-NET-1 (192.0.2.0/24) is lost there, as on most networks.
    """
    enter_isolated_namespaces()
    kernel.raise_link("lo")
    with configure(NetworkNamespace("closed", kernel.open_network())) as links:
        links.route(_TEST_NET, LOOPBACK)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the user's own command
    except OSError as error:
        raise LabError(f"{shlex.join(command)} cannot be run: {error.strerror}") from error


@main.command(
    name="windows-tool",
    context_settings=_VERBATIM,
    epilog="Example: windows_host.py windows-tool --set windows.locale=ko-KR -- ping.exe 127.0.0.1",
)
@SETTINGS
@click.option(
    "--broken",
    type=click.Choice(sorted(broken_tools())),
    multiple=True,
    metavar="FAULT",
    help="A fault of tools, as `nettests lab fault --list` names it (repeatable).",
)
@click.argument("argv", nargs=-1, required=True)
def windows_tool(
    *, settings: tuple[str, ...], broken: tuple[str, ...], argv: tuple[str, ...]
) -> None:
    """Run one program of an emulated Windows host.

    As its administrator starts it, and only in the network of `closed`.
    """
    routes = _ROUTES.read_text(encoding="ascii").splitlines()[1:]
    if any(route.split()[0] != LOOPBACK for route in routes):
        raise LabError(
            "this network leads somewhere: it has routes",
            hint="run it by `windows_host.py closed -- COMMAND`",
        )
    sys.exit(asyncio.run(_run(_host(settings, broken), argv)))


async def _run(machine: Machine, argv: tuple[str, ...]) -> int:
    loop = asyncio.get_running_loop()

    def writer(file: Any) -> Any:
        async def write(data: bytes) -> None:
            file.write(data)
            file.flush()

        return write

    process = Process(
        argv=argv,
        environment=_ENVIRONMENT,
        machine=machine,
        stdin=lambda: loop.run_in_executor(None, os.read, 0, 65536),
        stdout=writer(sys.stdout.buffer),
        stderr=writer(sys.stderr.buffer),
        working_directory="C:\\",
    )
    try:
        return await run(process)
    except ProgramNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return _NOT_FOUND


def _host(settings: tuple[str, ...], broken: tuple[str, ...]) -> Machine:
    """Return a Windows Server 2022 with the feature Containers."""
    return Machine(
        os=OS.WINDOWS,
        hostname="win-server",
        namespace=NetworkNamespace("closed", kernel.open_network()),
        addresses=("127.0.0.1",),
        gateway="",
        resolver=ResolverConfig(servers=("127.0.0.1",)),
        build=20348,
        patch=3207,
        host_process=True,
        user="NT AUTHORITY\\SYSTEM",
        node=cast("NodeNetwork", _Server()),
        shim=Shim(binds=False),
        troubles=ProgramTroubles(tools=set(broken)),
        windows=profiles.load(_PROFILE, changes=settings).windows,
    )


@dataclass(slots=True)
class _NatOnly:
    """HNS of a server on which no network plugin was installed: the network that Windows makes for its containers."""

    def networks(self) -> list[Json]:
        subnet = {"AddressPrefix": "172.20.32.0/20", "GatewayAddress": "172.20.32.1"}
        return [
            {
                "ActivityId": "2A0FB6A1-7D3F-4E58-9B1D-4D33A9A4B3E7",
                "ID": "B95D0C5E-57D4-412B-B571-18A81A16E005",
                "Name": "nat",
                "Type": "nat",
                "Subnets": [subnet],
                "Extensions": [],
            }
        ]

    def endpoints(self) -> list[Json]:
        return []

    def policy_lists(self) -> list[Json]:
        return []

    def dynamic_ports(self) -> range:
        return range(49152, 65536)

    def port_pools(self, _protocol: str) -> list[range]:
        return []


@dataclass(slots=True)
class _Server:
    """The parts of a node that its tools look at."""

    disk: Disk = field(
        default_factory=lambda: Disk(
            files={"C:\\Windows\\System32\\drivers\\etc\\hosts": "# localhost\n"},
            processes=["System"],
        )
    )
    hns: _NatOnly = field(default_factory=_NatOnly)
    switch: None = None


if __name__ == "__main__":
    main()
