"""Run a script: the command line of PowerShell, the statements of its script in a ``Session``, and the exit code.

Nothing of this machine is executed: commands are cmdlets of this package or programs of the lab's container. Other commands,
types and members cause PowerShell's errors for missing ones (Microsoft, "Windows PowerShell Language Specification",
chapters 7 and 8). ``-Command`` exits with 0 or 1 by the last command's ``$?``, or with the code of ``exit``; with 1 if the
script has a syntax error or a terminating error (Microsoft, "about_PowerShell_exe", "about_pwsh").
"""

import asyncio
from collections.abc import Sequence
from typing import Any, NoReturn

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import ExitError, err
from nettests.lab.programs.windows import broken_tools
from nettests.lab.programs.windows.powershell import grammar, of_hns, of_nodes, of_objects
from nettests.lab.programs.windows.powershell import syntax as s
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.commands import Commands
from nettests.lab.programs.windows.powershell.expressions import nowhere
from nettests.lab.programs.windows.powershell.operands import ScriptError
from nettests.lab.programs.windows.powershell.session import Emit, ReturnedError, Run, Session


class _BreakError(Exception):
    """``break``."""


class _ContinueError(Exception):
    """``continue``."""


class Evaluator(Commands):
    """Runs the statements of one script."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tries = 0

    async def run(self, script: s.Script) -> None:
        """Run a whole script; a terminating error is reported and leaves ``$?`` false."""
        try:
            await self.statements(script.body, self.session.show)
        except v.PSError as error:
            self.session.success = False
            await self.session.report(error.record)
        except (ReturnedError, _BreakError, _ContinueError):
            return

    async def statements(self, body: Sequence[s.Node], emit: Emit) -> None:
        """Run statements; an error ends only its statement, unless it ends the script or is caught."""
        for statement in body:
            try:
                await self.statement(statement, emit)
            except v.PSError as error:
                if self._tries or error.ends_script or self.session.preference == "stop":
                    raise
                self.session.success = False
                if self.session.preference not in {"silentlycontinue", "ignore"}:
                    await self.session.report(error.record)

    async def statement(self, node: s.Node, emit: Emit) -> None:
        """Run one statement."""
        match node:
            case s.Pipeline():
                await self.pipeline(node, emit)
            case s.Assign():
                await self.assign(node)
            case s.If(cases=cases, otherwise=otherwise):
                for condition, body in cases:
                    if v.truth(await self.value(condition)):
                        return await self.statements(body, emit)
                await self.statements(otherwise, emit)
            case s.Loop():
                await self._loop(node, emit)
            case s.Try():
                await self._try(node, emit)
            case s.Function(name=name, block=block):
                self.session.functions[name.lower()] = block
            case s.Leave():
                await self._leave(node, emit)
            case _:
                await self.emit_value(node, emit)
        return None

    async def _loop(self, node: s.Loop, emit: Emit) -> None:
        if node.kind == "for" and node.first is not None:
            await self.statement(node.first, nowhere)
        items = (
            iter(v.many(await self.value(node.condition)))
            if node.kind == "foreach" and node.condition
            else None
        )
        while True:
            if items is not None:
                item = next(items, nowhere)
                if item is nowhere:
                    return
                self.set(node.first, item)
            elif node.condition and not v.truth(await self.value(node.condition)):
                return
            try:
                await self.statements(node.body, emit)
            except _BreakError:
                return
            except _ContinueError:
                pass
            if node.then is not None:
                await self.statement(node.then, nowhere)

    async def _try(self, node: s.Try, emit: Emit) -> None:
        self._tries += 1
        inside = True
        try:
            await self.statements(node.body, emit)
        except v.PSError as error:
            self._tries -= 1
            inside = False
            body = next((body for types, body in node.catches if _catches(types, error)), None)
            if body is None:
                raise
            self.session.errors.insert(0, error.record)
            self.session.scopes.append({"_": error.record})
            try:
                await self.statements(body, emit)
            finally:
                self.keep_scope()
        finally:
            self._tries -= inside
            await self.statements(node.at_last, emit)

    async def _leave(self, node: s.Leave, emit: Emit) -> None:
        value = await self.value(node.value) if node.value else None
        if node.word == "exit":
            raise ExitError(v.whole(value) if node.value else 0)
        if node.word == "return":
            if node.value:
                for each in v.many(value):
                    await emit(each)
            raise ReturnedError
        if node.word == "throw":
            raise self._thrown(value, node)
        raise (_BreakError if node.word == "break" else _ContinueError)

    def _thrown(self, value: Any, node: s.Leave) -> v.PSError:
        if node.value is None or isinstance(value, v.ErrorRecord):
            record = value or self.session.find("_")
            if isinstance(record, v.ErrorRecord):
                return v.PSError(record, ends_script=True)
        exception = value if isinstance(value, v.NetError) else None
        message = exception.message if exception else v.text(value) or "ScriptHalted"
        record = v.ErrorRecord(
            exception=exception
            or v.NetError("System.Management.Automation.RuntimeException", message),
            error_id=message,
            category="OperationStopped",
            target=message,
            target_type="String",
            start=node.start,
            end=node.end,
        )
        return v.PSError(record, ends_script=True)


def _catches(types: Sequence[str], error: v.PSError) -> bool:
    kinds = {error.record.exception.kind.lower(), "system.exception", "exception"}
    return not types or any(
        kind.lower() in kinds or f"system.{kind.lower()}" in kinds for kind in types
    )


DECLARING = (of_hns, of_nodes, of_objects)
"""Modules that declare the cmdlets when they are imported."""
_OPTIONS = read_yaml(__package__, "commands.yaml")["options"]


class _UsageError(Exception):
    """The command line is invalid."""


async def run(process: Process, words: Sequence[str], programs: Run) -> int:
    """Run the script of these arguments; return the exit code. ``programs`` runs programs for scripts."""
    desktop = process.machine.host_process
    try:
        script = _script(words, desktop=desktop)
    except _UsageError as error:
        await err(process, f"{error}\n")
        return 1 if desktop else 64
    if broken_tools.POWERSHELL_SLOW in process.machine.troubles.tools:
        await asyncio.sleep(broken_tools.SLOW_SECONDS)
    session = Session(process, programs, desktop)
    if script is None:
        lines = []
        while (text := await session.stdin.next(session.encoding)) is not None:
            lines.append(text)
        script = "\n".join(lines)
    session.script = script
    if broken_tools.CLIXML in process.machine.troubles.tools and desktop:
        session.xml = v.CliXml()
        session.xml.progress("Preparing modules for first use.")
    try:
        await Evaluator(session).run(grammar.parse(script))
        code = int(not session.success)
    except ExitError as ending:
        code = ending.code
    except ScriptError as error:
        await session.report(_unreadable(error))
        code = 1
    await session.finish()
    return 0 if broken_tools.NEVER_FAILS in process.machine.troubles.tools else code


def _unreadable(error: ScriptError) -> v.ErrorRecord:
    if error.token:
        message, name = (
            f"Unexpected token '{error.token}' in expression or statement.",
            "UnexpectedToken",
        )
    else:
        message, name = "Missing expression or closing character.", "MissingEndCurlyBrace"
    exception = v.NetError(
        "System.Management.Automation.ParentContainsErrorRecordException", message
    )
    end = error.place + len(error.token)
    return v.ErrorRecord(
        exception=exception, error_id=name, category="ParserError", start=error.place, end=end
    )


def _script(words: Sequence[str], *, desktop: bool) -> str | None:
    """Return the script of these arguments; ``None`` if it is on standard input."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word[:1] not in {"-", "/"} or word == "-":
            return _command([word, *rest]) if desktop else _file(word)
        written = word[1:].lower()
        names = ("command", "file", *_OPTIONS["switches"], *_OPTIONS["values"])
        fitting = (name for name in names if written and name.startswith(written))
        name = _OPTIONS["short"].get(written) or next(fitting, "")
        if name in _OPTIONS["switches"]:
            continue
        if name in _OPTIONS["values"] and rest:
            rest.pop(0)
        elif name == "command":
            return _command(rest)
        elif name == "file" and rest:
            return _file(rest[0])
        else:
            raise _UsageError(f"Invalid argument {word}. Type powershell.exe -? for help.")
    return ""


def _command(words: Sequence[str]) -> str | None:
    return None if list(words) == ["-"] else " ".join(words)


def _file(path: str) -> NoReturn:
    raise _UsageError(
        f"The argument '{path}' to the -File parameter does not exist. Provide the path to an existing '.ps1' file as an argument to the -File parameter."
    )
