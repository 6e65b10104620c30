"""Which programs a container can run, and how a command finds one: on Linux by its name, on Windows by a command line.

A missing program raises an error with the text of the runtime: runc, or the Windows shim (``windows.starting``).
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nettests.lab.interfaces import Machine, Process, ProgramNotFoundError
from nettests.lab.mounted.files import Drive
from nettests.lab.programs import bash_scripts, bind_nslookup, curl, netcat
from nettests.lab.programs.agnhost import command as agnhost
from nettests.lab.programs.linux import basics, shell, tcpdump
from nettests.lab.programs.linux import ping as linux_ping
from nettests.lab.programs.terminal import until_terminated
from nettests.lab.programs.windows import (
    broken_tools,
    command_prompt,
    nslookup,
    pktmon,
    small_programs,
    starting,
    texts,
)
from nettests.lab.programs.windows import ping as windows_ping
from nettests.lab.programs.windows.powershell import evaluation as powershell
from nettests.lab.topology import OS

Program = Callable[[Process, Sequence[str]], Coroutine[Any, Any, int]]


_UINT32 = 0xFFFFFFFF
"""The mask for exit codes on Windows, which are unsigned."""
_LINUX_FOLDERS = ("", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")


async def run(process: Process) -> int:
    """Run ``process.argv``; return its exit code. ``ProgramNotFoundError`` if there is no such program."""
    if not process.argv:
        raise ProgramNotFoundError("no command specified")
    if process.machine.os is OS.WINDOWS:
        return await _run_on_windows(process)
    program = _find_linux(process.machine, process.argv[0])
    return await _finish(program, process, list(process.argv[1:]))


def _find_linux(machine: Machine, command: str) -> Program:
    folder, _, name = command.rpartition("/")
    program = _LINUX.get(name) if folder in _LINUX_FOLDERS else None
    if program is not None and name not in machine.troubles.missing:
        return program
    if "/" in command:
        raise ProgramNotFoundError(f'exec: "{command}": stat {command}: no such file or directory')
    raise ProgramNotFoundError(f'exec: "{command}": executable file not found in $PATH')


async def _finish(program: Program, process: Process, words: Sequence[str]) -> int:
    if program is agnhost.run:
        return await program(process, words)
    return await until_terminated(process, program(process, words))


def _powershell(drive: Drive, launch: command_prompt.Launch) -> Program:
    """Return PowerShell, which finds programs like cmd, and starts them itself."""

    async def call(process: Process) -> int:
        path = command_prompt.find(process, drive, process.argv[0])
        if path is None:
            raise ProgramNotFoundError(process.argv[0])
        line = starting.command_line(process.argv)
        return await launch(replace(process, command_line=line), path)

    async def program(process: Process, words: Sequence[str]) -> int:
        return await powershell.run(process, words, call)

    return program


async def _run_on_windows(process: Process) -> int:
    drive = process.machine.drive or starting.drive_of(process.machine)

    async def launch(process: Process, path: str, *, outermost: bool = False) -> int:
        """Run the program in a file, which cannot be overwritten meanwhile."""
        line = process.command_line
        name, words = drive.program(path) or "", starting.arguments(line)
        pages = texts.of(process.machine.locale)
        page = pages.ansi if name == "nslookup" else pages.oem
        encoding = "utf-8" if name in _OF_IMAGE else page
        process = replace(process, argv=words, encoding=encoding)
        with drive.running(path):
            work = partial(perform, name, line)
            return await broken_tools.run(process, name, work, everywhere=outermost)

    async def perform(name: str, line: str, process: Process) -> int:
        words = process.argv
        if name == "cmd":
            tail = line[len(words[0]) + 2 * line.startswith('"') :]
            return await command_prompt.run(process, tail, drive, launch)
        if name == "where":
            return await command_prompt.where(process, words[1:], drive)
        if name == "powershell":
            return await _finish(_powershell(drive, launch), process, words[1:])
        return await _finish({**_OF_IMAGE, **_OF_WINDOWS}[name], process, words[1:])

    path, line = starting.start(process, drive)
    code = await launch(replace(process, command_line=line), path, outermost=True)
    return code & _UINT32


_LINUX: Mapping[str, Program] = {
    **{
        each.__name__: each
        for each in (
            *(basics.cat, basics.echo, basics.env, basics.false, basics.hostname, basics.kill),
            *(basics.pkill, basics.sleep, basics.true, basics.tty, bash_scripts.bash),
        )
    },
    "agnhost": agnhost.run,
    "busybox": partial(netcat.busybox, program=run),
    "curl": curl.run,
    "nslookup": bind_nslookup.run,
    "ping": linux_ping.run,
    "sh": partial(shell.run, program=run),
    "tcpdump": tcpdump.run,
    "timeout": partial(tcpdump.timeout, program=run),
}
_OF_IMAGE: Mapping[str, Program] = {
    "agnhost": agnhost.run,
    "bind-nslookup": bind_nslookup.run,
    "cat": basics.cat,
    "cni-plugin": small_programs.print_about,
    "curl": curl.run,
    "nc": partial(netcat.windows, program=run),
}
_OF_WINDOWS: Mapping[str, Program] = {
    "fsutil": small_programs.fsutil,
    "hostname": small_programs.hostname,
    "ipconfig": small_programs.ipconfig,
    "netsh": small_programs.netsh,
    "nslookup": nslookup.run,
    "ping": windows_ping.run,
    "pktmon": pktmon.run,
    "reg": small_programs.reg,
    "tasklist": small_programs.tasklist,
    "whoami": small_programs.whoami,
}
"""Programs of Windows itself, which encode their output in a code page; cmd, where and PowerShell do, too."""
