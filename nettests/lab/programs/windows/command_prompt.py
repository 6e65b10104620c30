"""``cmd.exe /c``: finds the programs of a line by ``PATHEXT``, starts them, and runs its internal commands.

Of these it supports echo, exit, set, type, del, copy, cd, rem and ver; others are refused. A missing program is not a
failure to start: cmd reports it on standard error and exits with 1 (nodejs/node#36855).
"""

import asyncio
import ntpath
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from nettests.lab.interfaces import Process
from nettests.lab.mounted.files import NO_FILE, NO_PATH, CopyError, Drive, full
from nettests.lab.programs.terminal import ExitError, drop, err, keeping, out, reading
from nettests.lab.programs.windows import cmd_line, small_programs

Launch = Callable[[Process, str], Awaitable[int]]
"""Runs the program in a file; its command line is that of the process."""

_PATHEXT = ".COM;.EXE;.BAT;.CMD;.VBS;.VBE;.JS;.JSE;.WSF;.WSH;.MSC"
_NOT_KNOWN = (
    "assoc attrib break call chcp cls color date dir dpath endlocal for ftype goto if md mkdir mklink move path pause "
    "popd prompt pushd rd ren rename rmdir setlocal shift start time title verify vol ("
)


async def run(process: Process, tail: str, drive: Drive, launch: Launch) -> int:
    """Run ``cmd.exe`` with these arguments; return the exit code of the last command."""
    text = cmd_line.commanded(tail, lambda name: find(process, drive, name) is not None)
    if text is None:
        await out(process, _version(process))
        return 0
    if len(text) > cmd_line.LONGEST:
        await small_programs.complain(process, "too_long")
        return 1
    try:
        return await _line(process, text, drive, launch, late=cmd_line.expands_late(tail))
    except ExitError as end:
        return end.code


async def where(process: Process, names: Sequence[str], drive: Drive) -> int:
    """Run ``where NAME …``: print the files that cmd would start; 1 if one is not found."""
    wanted = [name for name in names if not name.startswith("/")]
    paths = [find(process, drive, name) for name in wanted]
    for path in filter(None, paths):
        await out(process, f"{path}\n")
    if wanted and all(paths):
        return 0
    await err(process, "INFO: Could not find files for the given pattern(s).\n")
    return 1


async def _line(process: Process, text: str, drive: Drive, launch: Launch, *, late: bool) -> int:
    code, piped = 0, b""
    parts = cmd_line.commands(cmd_line.expanded(text, process.environment))
    for read, following in zip(parts, (*parts[1:], None), strict=True):
        if (read.operator, bool(code)) in {("&&", True), ("||", False)}:
            continue
        now = cmd_line.expanded_late(read.text, process.environment, code) if late else read.text
        command = replace(read, text=now)
        streams = process
        if command.operator == "|":
            streams = replace(streams, stdin=reading(piped))
        kept = bytearray()
        if following is not None and following.operator == "|":
            streams = replace(streams, stdout=keeping(kept))
        code = await _command(_redirected(streams, command), command, drive, launch)
        piped = bytes(kept)
    return code


def _redirected(process: Process, command: cmd_line.Command) -> Process:
    """Return the process with its streams redirected to ``nul`` or to each other; files are not supported."""
    streams: dict[int, Callable[[bytes], Awaitable[None]]]
    streams = {1: process.stdout, 2: process.stderr}
    for handle, target in command.redirections:
        if handle == 0:
            process = replace(process, stdin=reading())
        else:
            streams[handle] = streams[int(target[1])] if target in {"&1", "&2"} else drop
    return replace(process, stdout=streams[1], stderr=streams[2])


async def _command(
    process: Process, command: cmd_line.Command, drive: Drive, launch: Launch
) -> int:
    name = command.name.lower()
    targets = [target for _, target in command.redirections]
    unknown = [target for target in targets if target not in {"nul", "&1", "&2"}]
    if name in _NOT_KNOWN.split() or unknown:
        what = f"writes no file ({unknown[0]})" if unknown else f"does not know '{name}'"
        await err(process, f"The lab's cmd {what}.\n")
        return 1
    built_in = _OWN.get(name)
    if built_in is not None:
        return await built_in(process, command.rest, drive)
    return await _external(process, command, drive, launch)


async def _external(
    process: Process, command: cmd_line.Command, drive: Drive, launch: Launch
) -> int:
    if not command.name:
        return 0
    path = find(process, drive, command.name.replace('"', ""))
    if path is not None:
        line = command.name + command.rest
        return await launch(replace(process, command_line=line), path)
    folder = ntpath.dirname(command.name.replace('"', "").replace("/", "\\"))
    if folder and not drive.has_folder(full(folder, process.working_directory)):
        await small_programs.complain(process, NO_PATH)
    else:
        await small_programs.complain(process, "not_recognized", name=command.name)
    return 1


def find(process: Process, drive: Drive, name: str) -> str | None:
    """Return the file that cmd starts for a name: with an extension of PATHEXT, in the current folder or along PATH."""
    extensions = _variable(process, "PATHEXT", _PATHEXT).lower().split(";")
    has_one = ntpath.splitext(name)[1].lower() in {each for each in extensions if each}
    here = process.working_directory
    folders = [here]
    if not ntpath.dirname(name) and ":" not in name:
        folders += [each for each in _variable(process, "PATH", "").split(";") if each]
    for folder in folders:
        for extension in [*([""] if has_one else []), *extensions]:
            path = full(name + extension, full(folder, here))
            if drive.program(path) is not None:
                return path
    return None


def _variable(process: Process, name: str, default: str) -> str:
    values = {key.upper(): value for key, value in process.environment.items()}
    return values.get(name, default)


async def _echo(process: Process, rest: str, _drive: Drive) -> int:
    await out(process, f"{rest[1:] or 'ECHO is on.'}\n")
    return 0


async def _exit(_process: Process, rest: str, _drive: Drive) -> int:
    given = [word for word in cmd_line.words(rest) if not word.startswith("/")]
    number = given[0] if given else "0"
    raise ExitError(int(number) if number.lstrip("-").isdecimal() else 0)


async def _set(process: Process, rest: str, _drive: Drive) -> int:
    wanted = rest.strip().strip('"').lower()
    shown = sorted(process.environment.items(), key=lambda pair: pair[0].lower())
    shown = [pair for pair in shown if pair[0].lower().startswith(wanted)]
    for name, value in shown:
        await out(process, f"{name}={value}\n")
    if not shown:
        await small_programs.complain(process, "no_variable", name=rest.strip())
    return 0 if shown else 1


async def _ver(process: Process, _rest: str, _drive: Drive) -> int:
    await out(process, f"\n{_version(process)}")
    return 0


def _version(process: Process) -> str:
    machine = process.machine
    return f"Microsoft Windows [Version 10.0.{machine.build}.{machine.patch}]\n"


async def _copy(process: Process, rest: str, drive: Drive) -> int:
    """Run ``copy /y A B``: without ``/y`` cmd waits for a confirmation to overwrite a file, and gets none."""
    troubles = process.machine.troubles
    options = {word.lower() for word in cmd_line.words(rest) if word.startswith("/")}
    names = [word for word in cmd_line.words(rest) if not word.startswith("/")]
    if troubles.copy_seconds:
        await asyncio.sleep(troubles.copy_seconds)
    paths = [full(name, process.working_directory) for name in names[:2]]
    problem = small_programs.DENIED if troubles.copy_refused else None
    if problem is None and len(paths) == 2 and drive.program(paths[1]) and "/y" not in options:
        await out(process, f"Overwrite {names[1]}? (Yes/No/All): ")
    elif problem is None:
        try:
            drive.copy(paths[0], paths[-1] if len(paths) > 1 else process.working_directory)
        except CopyError as error:
            problem = error.number
        else:
            await process.stdout(small_programs.message(process, "copied", count=1))
            return 0
    if problem is not None:
        await small_programs.complain(process, problem)
    if problem != NO_FILE:
        await process.stdout(small_programs.message(process, "copied", count=0))
    return 1


async def _rem(_process: Process, _rest: str, _drive: Drive) -> int:
    return 0


_OWN: dict[str, Callable[[Process, str, Drive], Awaitable[int]]] = {
    "cd": _rem,
    "copy": _copy,
    "echo": _echo,
    "exit": _exit,
    "rem": _rem,
    "set": _set,
    "type": lambda process, rest, _drive: small_programs.type_files(process, cmd_line.words(rest)),
    **dict.fromkeys(
        ("del", "erase"),
        lambda process, rest, _drive: small_programs.delete_files(process, cmd_line.words(rest)),
    ),
    "ver": _ver,
}
