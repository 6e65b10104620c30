"""Pipelines and commands: cmdlets, functions, script blocks, and programs of the container."""

from collections.abc import Sequence
from typing import Any

from nettests.lab.data_files import read_yaml
from nettests.lab.programs.windows.powershell import syntax as s
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.calls import CMDLETS, Call, Cmdlet, ready
from nettests.lab.programs.windows.powershell.expressions import Expressions, appending, nowhere
from nettests.lab.programs.windows.powershell.session import Emit, ReturnedError

_DATA = read_yaml(__package__, "commands.yaml")
_ALIASES = {alias: cmdlet for cmdlet, names in _DATA["aliases"].items() for alias in names}
_DEEPEST = 60


class Commands(Expressions):
    """Runs pipelines."""

    async def pipeline(self, node: s.Pipeline, emit: Emit) -> None:
        """Run the elements one after the other, each on the whole output of the previous one."""
        first, *others = node.elements
        given: list[Any] | None = None
        if not isinstance(first, s.Command):
            if not others and not node.redirections:
                return await self.emit_value(first, emit)
            value = await self.value(first)
            given = [] if value is v.VOID else v.many(value)
            if not others:
                for redirection in node.redirections:
                    if redirection.stream in {"1", "*"}:
                        emit = await self._sink(redirection)
                for each in given:
                    await emit(each)
                return None
        else:
            others = list(node.elements)
        for position, element in enumerate(others):
            assert isinstance(element, s.Command)
            if position == len(others) - 1:
                await self._command(element, given, emit)
            else:
                output: list[Any] = []
                await self._command(element, given, appending(output))
                given = output
        return None

    async def _sink(self, redirection: s.Redirection) -> Emit:
        path = v.text(await self.value(redirection.target)) if redirection.target else ""
        if not path:
            return nowhere

        async def write(value: Any) -> None:
            files = self.session.process.machine.disk.files
            files[path] = f"{files.get(path, '')}{v.text(value)}\r\n"

        return write

    async def _command(self, node: s.Command, given: list[Any] | None, emit: Emit) -> None:
        errors_to: list[Emit | None] = []
        for redirection in node.redirections:
            if redirection.stream in {"1", "*"}:
                emit = await self._sink(redirection)
            if redirection.stream in {"2", "*"}:
                errors_to.append(emit if redirection.target is None else None)
        self.session.errors_to += errors_to
        try:
            await self._run_command(node, given, emit)
        except v.PSError as error:
            if error.record.end == 0:
                missing = error.record.error_id == "CommandNotFoundException"
                end = node.start + len(error.record.target) if missing else node.end
                error.record.start, error.record.end = node.start, end
            raise
        finally:
            del self.session.errors_to[len(self.session.errors_to) - len(errors_to) :]

    async def _run_command(self, node: s.Command, given: list[Any] | None, emit: Emit) -> None:
        name = await self.value(node.name)
        arguments: list[tuple[str | None, Any]] = []
        for each in node.arguments:
            if isinstance(each, s.Parameter):
                arguments.append((each.name, await self.value(each.value)))
            else:
                arguments.append((None, await self.value(each)))
        self.session.success = True
        if isinstance(name, v.ScriptBlock):
            return await self._invoke_block(name.node, arguments, given, emit)
        word = v.text(name)
        function = self.session.functions.get(word.lower())
        if function is not None:
            return await self._invoke_block(function, arguments, given, emit)
        command = await self._cmdlet(word)
        if command is None:
            await self.session.native([word, *_words(node.arguments, arguments)], emit, given)
            return None
        call = Call(
            session=self.session,
            cmdlet=command,
            given=command.bind(arguments),
            input=given,
            invoke=self.invoke,
            start=node.start,
            end=node.end,
        )
        await command.body(call, emit)
        return None

    async def _cmdlet(self, word: str) -> Cmdlet | None:
        """Return the cmdlet of a name (or of ``Module\\Name``), or ``None``."""
        module, _, name = word.lower().rpartition("\\")
        if ":" in module or "." in module:
            return None
        candidates = CMDLETS.get(_ALIASES.get(name, name), ())
        for candidate in candidates:
            if (not module or candidate.module.lower() == module) and await ready(
                self.session, candidate
            ):
                return candidate
        verb, _, noun = name.partition("-")
        is_verb_noun = noun.isalnum() and verb in _DATA["verbs"]
        if candidates or module or _ALIASES.get(name) or is_verb_noun:
            raise v.not_found(word)
        return None

    async def _invoke_block(
        self,
        block: s.Block,
        arguments: Sequence[tuple[str | None, Any]],
        given: list[Any] | None,
        emit: Emit,
    ) -> None:
        scope: dict[str, Any] = {"input": given or []}
        named, loose = _paired(arguments)
        for name, default in block.parameters:
            if name in named:
                scope[name] = named[name]
            elif loose:
                scope[name] = loose.pop(0)
            else:
                scope[name] = await self.value(default) if default else None
        scope["args"] = loose
        if len(self.session.scopes) > _DEEPEST:
            raise v.runtime("The script failed due to call depth overflow.", "CallDepthOverflow")
        self.session.scopes.append(scope)
        try:
            await self.statements(block.body, emit)
        except ReturnedError:
            return
        finally:
            self.session.scopes.pop()

    async def invoke(self, block: v.ScriptBlock, item: Any) -> list[Any]:
        """Run a block of Where-Object or ForEach-Object with ``$_``, in the current scope; return its output."""
        output: list[Any] = []
        self.session.scopes.append({"_": item})
        try:
            await self.statements(block.node.body, appending(output))
        finally:
            self.keep_scope()
        return output

    async def emit_value(self, node: s.Node, emit: Emit) -> None:
        """Emit the value of an expression, or each item of a list."""
        value = await self.value(node)
        self.session.success = True
        if value is not v.VOID:
            for each in v.many(value):
                await emit(each)

    def keep_scope(self) -> None:
        """End the scope with ``$_``; other variables that a ``catch`` block assigned go to the enclosing scope."""
        inner = self.session.scopes.pop()
        inner.pop("_", None)
        self.session.scopes[-1].update(inner)


def _paired(arguments: Sequence[tuple[str | None, Any]]) -> tuple[dict[str, Any], list[Any]]:
    """Return a function's named and positional arguments."""
    named: dict[str, Any] = {}
    loose: list[Any] = []
    waiting = ""
    for name, value in arguments:
        if name is not None:
            waiting = name.lower() if value is None else ""
            named[name.lower()] = True if value is None else value
        elif waiting:
            named[waiting], waiting = value, ""
        else:
            loose.append(value)
    return named, loose


def _words(nodes: Sequence[s.Node], arguments: Sequence[tuple[str | None, Any]]) -> list[str]:
    """Return the arguments of a native program; 5.1 does not escape quotes in them, so that they vanish."""
    written = [
        node.written if isinstance(node, s.Constant) and node.written else None for node in nodes
    ]
    words: list[str] = []
    for as_written, (name, value) in zip(written, arguments, strict=True):
        if name is not None:
            words.append(f"-{name}" if value is None else f"-{name}:{v.text(value)}")
        elif as_written is not None:
            words.append(as_written)
        else:
            given = (v.text(each) for each in v.many(value) if each is not None)
            words += [each.replace('"', "") for each in given]
    return words
