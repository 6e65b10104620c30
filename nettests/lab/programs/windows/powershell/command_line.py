"""The command line of PowerShell, the run of its script, and its exit code.

``-Command`` ends with 0 or 1 by the last command's ``$?``, or with the code of ``exit``; a script that cannot be read, and one that an
error ended, with 1 (Microsoft, "about_PowerShell_exe", "about_pwsh"). A bare argument is a command in 5.1 and a file in 6.
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import ExitError, err
from nettests.lab.programs.windows.broken_tools import (
    CLIXML,
    NEVER_FAILS,
    POWERSHELL_SLOW,
    SLOW_SECONDS,
)
from nettests.lab.programs.windows.powershell import grammar, of_hns, of_nodes, of_objects
from nettests.lab.programs.windows.powershell.evaluation import Evaluator
from nettests.lab.programs.windows.powershell.operands import ScriptError
from nettests.lab.programs.windows.powershell.session import Run, Session
from nettests.lab.programs.windows.powershell.values import CliXml, ErrorRecord, NetError

DECLARING = (of_hns, of_nodes, of_objects)
"""The modules whose import declares the cmdlets."""
_SWITCHES = ("noprofile", "noninteractive", "nologo", "noexit", "sta", "mta", "interactive")
_VALUES = (
    *("executionpolicy", "inputformat", "outputformat", "version", "windowstyle"),
    *("configurationname", "workingdirectory"),
)
_COMMAND = ("command", "encodedcommand", "file")
_SHORT = {
    **dict.fromkeys(("ec", "enc", "e"), "encodedcommand"),
    "c": "command",
    "f": "file",
    "ep": "executionpolicy",
    "ex": "executionpolicy",
}


class _UsageError(Exception):
    """The command line cannot be used."""


@dataclass(slots=True)
class _Line:
    script: str = ""
    encoded: bool = False
    as_text: bool = False
    """Whether the format of the output was stated."""
    from_input: bool = False


async def run(process: Process, words: Sequence[str], programs: Run) -> int:
    """Run the script that the words state; return the exit code. ``programs`` runs what scripts call."""
    desktop = process.machine.host_process
    try:
        line = _parse(words, desktop=desktop)
    except _UsageError as error:
        await err(process, f"{error}\n")
        return 1 if desktop else 64
    if POWERSHELL_SLOW in process.machine.troubles.tools:
        await asyncio.sleep(SLOW_SECONDS)
    session = Session(process, programs, desktop)
    if line.from_input:
        lines = []
        while (text := await session.stdin.next(session.encoding)) is not None:
            lines.append(text)
        line.script = "\n".join(lines)
    session.script = line.script
    if line.encoded and desktop and not line.as_text:
        session.xml = CliXml()
    if CLIXML in process.machine.troubles.tools and desktop:
        session.xml = session.xml or CliXml()
        session.xml.progress("Preparing modules for first use.")
    try:
        await Evaluator(session).run(grammar.parse(line.script))
        code = session.exit_code or int(not session.success)
    except ExitError as ending:
        code = ending.code
    except ScriptError as error:
        await session.report(_unreadable(error))
        code = 1
    await session.finish()
    return 0 if NEVER_FAILS in process.machine.troubles.tools else code


def _unreadable(error: ScriptError) -> ErrorRecord:
    if error.token:
        message, name = (
            f"Unexpected token '{error.token}' in expression or statement.",
            "UnexpectedToken",
        )
    else:
        message, name = "Missing expression or closing character.", "MissingEndCurlyBrace"
    exception = NetError("System.Management.Automation.ParentContainsErrorRecordException", message)
    end = error.place + len(error.token)
    return ErrorRecord(
        exception=exception, error_id=name, category="ParserError", start=error.place, end=end
    )


def _parse(words: Sequence[str], *, desktop: bool) -> _Line:
    line, rest = _Line(), list(words)
    while rest:
        word = rest.pop(0)
        if word[:1] not in {"-", "/"} or word == "-":
            return _with_command(line, [word, *rest]) if desktop else _with_file(word)
        name = _option(word[1:].lower())
        if name in _SWITCHES:
            continue
        if name in _VALUES and rest:
            value = rest.pop(0)
            line.as_text |= name == "outputformat" and value.lower() == "text"
        elif name == "encodedcommand" and rest:
            line.script, line.encoded = _decoded(rest.pop(0)), True
        elif name == "command":
            return _with_command(line, rest)
        elif name == "file" and rest:
            return _with_file(rest[0])
        else:
            raise _UsageError(f"Invalid argument {word}. Type powershell.exe -? for help.")
    return line


def _option(written: str) -> str:
    """Return an option's whole name, which may be shortened."""
    if written in _SHORT:
        return _SHORT[written]
    fitting = [name for name in (*_COMMAND, *_SWITCHES, *_VALUES) if name.startswith(written)]
    return fitting[0] if written and fitting else ""


def _with_command(line: _Line, rest: Sequence[str]) -> _Line:
    line.from_input = list(rest) == ["-"]
    line.script = " ".join(rest)
    return line


def _with_file(path: str) -> _Line:
    raise _UsageError(
        f"The argument '{path}' to the -File parameter does not exist. Provide the path to an existing '.ps1' file as an argument to the -File parameter."
    )


def _decoded(written: str) -> str:
    try:
        return base64.b64decode(written, validate=True).decode("utf-16-le")
    except (binascii.Error, UnicodeDecodeError):
        raise _UsageError(
            "Cannot process the command because the value specified with -EncodedCommand is not properly encoded. "
            "The value must be Base64 encoded."
        ) from None
