"""Carries a script out: its statements, in a ``Session``.

Nothing of this machine is executed: commands are cmdlets of this package or programs of the lab's container. A command that
is neither is not recognized, as in PowerShell; a type or a member that the lab does not have is missing likewise. After
Microsoft, "Windows PowerShell Language Specification", chapters 7 and 8.
"""

from collections.abc import Sequence
from typing import Any

from nettests.lab.programs.terminal import ExitError
from nettests.lab.programs.windows.powershell import syntax as s
from nettests.lab.programs.windows.powershell import values
from nettests.lab.programs.windows.powershell.commands import Commands
from nettests.lab.programs.windows.powershell.expressions import nowhere
from nettests.lab.programs.windows.powershell.session import Emit, ReturnedError, Session
from nettests.lab.programs.windows.powershell.values import ErrorRecord, NetError, PSError


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
        """Run a whole script; an error that ends it is reported and leaves ``$?`` false."""
        try:
            await self.statements(script.body, self.session.show)
        except PSError as error:
            self.session.success = False
            await self.session.report(error.record)
        except ReturnedError:
            return
        except (_BreakError, _ContinueError):
            return

    async def statements(self, body: Sequence[s.Node], emit: Emit) -> None:
        """Run statements; an error ends one of them, unless it is to end the script or is caught."""
        for statement in body:
            try:
                await self.statement(statement, emit)
            except PSError as error:
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
                    if values.truth(await self.value(condition)):
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
            iter(values.many(await self.value(node.condition)))
            if node.kind == "foreach" and node.condition
            else None
        )
        while True:
            if items is not None:
                item = next(items, nowhere)
                if item is nowhere:
                    return
                self.set(node.first, item)
            elif node.condition and not values.truth(await self.value(node.condition)):
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
        except PSError as error:
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
            raise ExitError(values.whole(value) if node.value else 0)
        if node.word == "return":
            if node.value:
                for each in values.many(value):
                    await emit(each)
            raise ReturnedError
        if node.word == "throw":
            raise self._thrown(value, node)
        raise (_BreakError if node.word == "break" else _ContinueError)

    def _thrown(self, value: Any, node: s.Leave) -> PSError:
        if node.value is None or isinstance(value, ErrorRecord):
            record = value or self.session.find("_")
            if isinstance(record, ErrorRecord):
                return PSError(record, ends_script=True)
        exception = value if isinstance(value, NetError) else None
        message = exception.message if exception else values.text(value) or "ScriptHalted"
        record = ErrorRecord(
            exception=exception
            or NetError("System.Management.Automation.RuntimeException", message),
            error_id=message,
            category="OperationStopped",
            target=message,
            target_type="String",
            start=node.start,
            end=node.end,
        )
        return PSError(record, ends_script=True)


def _catches(types: Sequence[str], error: PSError) -> bool:
    kinds = {error.record.exception.kind.lower(), "system.exception", "exception"}
    return not types or any(
        kind.lower() in kinds or f"system.{kind.lower()}" in kinds for kind in types
    )
