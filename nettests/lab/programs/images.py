"""Which programs a container's image holds, and how a name or path finds one.

Three images: agnhost on Linux, agnhost on Windows, and a HostProcess container, which sees the node's own
programs and has its image under ``C:\\hpc``. A name that is not found raises with the runtime's words.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from nettests.lab.interfaces import Machine, Process, ProgramNotFoundError
from nettests.lab.programs import agnhost, bind_nslookup, curl, datagram_dialogue, dialogue, netcat
from nettests.lab.programs.lifetime import until_terminated
from nettests.lab.programs.linux import basics, kill, shell, tcpdump
from nettests.lab.programs.linux import ping as linux_ping
from nettests.lab.programs.windows import (
    disk,
    ipconfig,
    netsh,
    nslookup,
    pktmon,
    powershell,
    registry,
    small_programs,
    texts,
)
from nettests.lab.programs.windows import ping as windows_ping
from nettests.lab.topology import OS

Program = Callable[[Process, Sequence[str]], Awaitable[int]]


async def _sh(process: Process, words: Sequence[str]) -> int:
    return await shell.run(process, words, run)


async def _busybox(process: Process, words: Sequence[str]) -> int:
    return await netcat.busybox(process, words, run)


async def _bash(process: Process, words: Sequence[str]) -> int:
    code = await datagram_dialogue.bash(process, words)
    return await dialogue.bash(process, words) if code is None else code


async def _powershell(process: Process, words: Sequence[str]) -> int:
    return await powershell.run(process, words, run)


async def _nc(process: Process, words: Sequence[str]) -> int:
    return await netcat.windows(process, words, run)


async def _timeout(process: Process, words: Sequence[str]) -> int:
    return await tcpdump.timeout(process, words, run)


_LINUX: Mapping[str, Program] = {
    "agnhost": agnhost.run,
    "bash": _bash,
    "busybox": _busybox,
    "cat": basics.cat,
    "curl": curl.run,
    "echo": basics.echo,
    "env": basics.env,
    "false": basics.false,
    "hostname": basics.hostname,
    "kill": kill.run,
    "nslookup": bind_nslookup.run,
    "ping": linux_ping.run,
    "pkill": kill.pkill,
    "sh": _sh,
    "sleep": basics.sleep,
    "tcpdump": tcpdump.run,
    "timeout": _timeout,
    "true": basics.true,
    "tty": basics.tty,
}
_WINDOWS: Mapping[str, Program] = {
    "agnhost": agnhost.run,
    "cat": basics.cat,
    "cmd": small_programs.cmd,
    "curl": curl.run,
    "hostname": small_programs.hostname,
    "ipconfig": ipconfig.run,
    "nc": _nc,
    "nslookup": bind_nslookup.run,
    "ping": windows_ping.run,
    "powershell": _powershell,
    "pwsh": _powershell,
    "reg": registry.run,
    "whoami": small_programs.whoami,
}
_HOST_PROCESS: Mapping[str, Program] = {
    "cmd": small_programs.cmd,
    "curl": curl.run,
    "fsutil": small_programs.fsutil,
    "hostname": small_programs.hostname,
    "ipconfig": ipconfig.run,
    "netsh": netsh.run,
    "nslookup": nslookup.run,
    "ping": windows_ping.run,
    "pktmon": pktmon.run,
    "powershell": _powershell,
    "reg": registry.run,
    "tasklist": disk.tasklist,
    "whoami": small_programs.whoami,
}
_OF_WINDOWS = frozenset({*_HOST_PROCESS.values(), *_WINDOWS.values()}) - {
    *(agnhost.run, basics.cat, bind_nslookup.run, curl.run, _nc)
}
"""Programs of Windows itself, which encode what they print in a code page."""
_OPTIONAL = frozenset({"ping"})
"""Programs an ordinary Windows image may lack; ``Machine.capabilities`` says."""

_LINUX_FOLDERS = ("", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
_WINDOWS_FOLDERS = ("", "c:/", "c:", "c:/bin", "c:/curl", "c:/dig", "c:/windows/system32")

# Samples: %CONTAINER_SANDBOX_MOUNT_POINT%/agnhost  $env:CONTAINER_SANDBOX_MOUNT_POINT\agnhost.exe
#          C:/hpc/agnhost
_MOUNTED_AGNHOST = re.compile(
    r"(?:%CONTAINER_SANDBOX_MOUNT_POINT%|\$(?:env:)?CONTAINER_SANDBOX_MOUNT_POINT|c:[/\\]hpc)"
    r"[/\\]+agnhost(?:\.exe)?",
    re.IGNORECASE,
)


async def run(process: Process) -> int:
    """Run ``process.argv``; return its exit code. ``ProgramNotFoundError`` when the image lacks it."""
    program = find(process.machine, process.argv)
    process.encoding = _encoding(process.machine, program)
    words = list(process.argv[1:])
    if program is agnhost.run:
        return await program(process, words)
    return await until_terminated(process, _call(program, process, words))


def _encoding(machine: Machine, program: Program) -> str:
    """Return how a program encodes its output: those of Windows in the console's code page, nslookup in the other."""
    if machine.os is OS.LINUX or program not in _OF_WINDOWS:
        return "utf-8"
    pages = texts.of(machine.locale)
    return pages.ansi if program is nslookup.run else pages.oem


async def _call(program: Program, process: Process, words: Sequence[str]) -> int:
    return await program(process, words)


def find(machine: Machine, argv: Sequence[str]) -> Program:
    """Return the program that ``argv[0]`` names in the machine's image."""
    if not argv:
        raise ProgramNotFoundError("no command specified")
    program = _find_windows(machine, argv) if machine.os is OS.WINDOWS else _find_linux(argv[0])
    if program is None:
        raise ProgramNotFoundError(_not_found(machine, argv[0]))
    return program


def _find_linux(command: str) -> Program | None:
    if command == "/agnhost":
        return agnhost.run
    folder, _, name = command.rpartition("/")
    return _LINUX.get(name) if folder in _LINUX_FOLDERS else None


def _find_windows(machine: Machine, argv: Sequence[str]) -> Program | None:
    command = argv[0]
    if machine.host_process and _MOUNTED_AGNHOST.fullmatch(command):
        return agnhost.run
    folder, _, file = command.replace("\\", "/").lower().rpartition("/")
    name = file.removesuffix(".exe")
    if folder not in _WINDOWS_FOLDERS and folder:
        return None
    table = _HOST_PROCESS if machine.host_process else _WINDOWS
    if name == "where" and not folder.startswith("c:/bin"):
        return _where(machine)
    if name in _OPTIONAL and not machine.host_process and name not in machine.capabilities:
        return None
    return table.get(name)


def _where(machine: Machine) -> Program:
    """``where NAME``: print the paths of the programs found, or say that there is none."""

    async def run_where(process: Process, words: Sequence[str]) -> int:
        names = [word for word in words if not word.startswith("/")]
        present = [name for name in names if _find_windows(machine, [name]) is not None]
        return await small_programs.print_places(process, names, present)

    return run_where


def _not_found(machine: Machine, command: str) -> str:
    """The runtime's text: runc's on Linux, Windows' own otherwise."""
    if machine.os is OS.WINDOWS:
        return f'exec: "{command}": The system cannot find the file specified.'
    if "/" in command:
        return f'exec: "{command}": stat {command}: no such file or directory'
    return f'exec: "{command}": executable file not found in $PATH'
