"""Which program a command names, per image."""

from dataclasses import replace

import pytest

from nettests.lab.interfaces import Machine, Namespace, ProgramNotFoundError, ResolverConfig
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.programs import agnhost, bind_nslookup, curl, images
from nettests.lab.programs.windows import nslookup, ping
from nettests.lab.topology import OS

NOWHERE: Namespace = NetworkNamespace("nowhere", -1)
LINUX = Machine(
    os=OS.LINUX,
    hostname="pod",
    namespace=NOWHERE,
    addresses=(),
    gateway="",
    resolver=ResolverConfig(servers=()),
)
WINDOWS = replace(LINUX, os=OS.WINDOWS, build=17763, patch=1339)
HOST = replace(WINDOWS, host_process=True)


@pytest.mark.parametrize(
    ("machine", "command", "program"),
    [
        (LINUX, "/agnhost", agnhost.run),
        (LINUX, "agnhost", agnhost.run),
        (LINUX, "/usr/bin/curl", curl.run),
        (LINUX, "nslookup", bind_nslookup.run),
        (WINDOWS, "/agnhost", agnhost.run),
        (WINDOWS, "curl.exe", curl.run),
        (WINDOWS, r"C:\dig\nslookup.exe", bind_nslookup.run),
        (WINDOWS, "PING.EXE", ping.run),
        (HOST, "%CONTAINER_SANDBOX_MOUNT_POINT%/agnhost", agnhost.run),
        (HOST, r"$env:CONTAINER_SANDBOX_MOUNT_POINT\agnhost.exe", agnhost.run),
        (HOST, "C:/hpc/agnhost", agnhost.run),
        (HOST, r"C:\Windows\System32\ping.exe", ping.run),
        (HOST, "nslookup", nslookup.run),
        (HOST, "powershell.exe", images._powershell),
    ],
)
def test_a_command_finds_its_program(machine: Machine, command: str, program: object) -> None:
    """Names, paths, case and ``.exe`` are read as each system reads them."""
    assert images.find(machine, [command]) is program


@pytest.mark.parametrize(
    ("machine", "command", "text"),
    [
        (LINUX, "nosuchcmd", 'exec: "nosuchcmd": executable file not found in $PATH'),
        (LINUX, "/bin/zsh", 'exec: "/bin/zsh": stat /bin/zsh: no such file or directory'),
        (LINUX, "ping.exe", 'exec: "ping.exe": executable file not found in $PATH'),
        (LINUX, "/tmp/curl", 'exec: "/tmp/curl": stat /tmp/curl: no such file or directory'),
        (HOST, "/agnhost", 'exec: "/agnhost": The system cannot find the file specified.'),
        (HOST, "agnhost", 'exec: "agnhost": The system cannot find the file specified.'),
        (WINDOWS, "C:/hpc/agnhost", None),
        (WINDOWS, "%CONTAINER_SANDBOX_MOUNT_POINT%/agnhost", None),
    ],
)
def test_a_program_that_is_not_there_is_told_in_the_runtimes_words(
    machine: Machine, command: str, text: str | None
) -> None:
    """A missing program raises; plain ``/agnhost`` is missing in HostProcess containers."""
    with pytest.raises(ProgramNotFoundError) as missing:
        images.find(machine, [command])
    assert text is None or str(missing.value) == text


def test_ping_is_a_capability_of_the_windows_image_only() -> None:
    """Without the capability an ordinary Windows pod has no ``ping``; a HostProcess one has the node's."""
    without = frozenset[str]()
    with pytest.raises(ProgramNotFoundError):
        images.find(replace(WINDOWS, capabilities=without), ["ping"])
    assert images.find(replace(HOST, capabilities=without), ["ping"]) is ping.run


def test_an_empty_command_is_not_run() -> None:
    """No argv, no program."""
    with pytest.raises(ProgramNotFoundError):
        images.find(LINUX, [])
