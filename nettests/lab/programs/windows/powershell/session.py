"""The state of one run of PowerShell: edition, variables, streams, and errors so far."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nettests.lab.interfaces import Process, ProgramNotFoundError
from nettests.lab.programs.terminal import Lines, drop, encode, keeping, reading
from nettests.lab.programs.windows import broken_tools, texts
from nettests.lab.programs.windows.powershell import shown
from nettests.lab.programs.windows.powershell import values as v

Emit = Callable[[Any], Awaitable[None]]
Run = Callable[[Process], Awaitable[int]]
MODULES = "powershell-modules"
"""The key of PowerShell's module cache in ``Disk.background``."""


class ReturnedError(Exception):
    """``return``, after its value was emitted."""


class Shown(str):
    """Text that is written as it is, such as the output of Format-Table."""

    __slots__ = ()


@dataclass(slots=True)
class Session:
    """State that commands of a script share; ``desktop`` is Windows PowerShell 5.1, otherwise PowerShell 6.2."""

    process: Process
    run: Run
    desktop: bool
    script: str = ""
    xml: v.CliXml | None = None
    """Collects errors after ``-EncodedCommand``, instead of standard error."""
    scopes: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    functions: dict[str, Any] = field(default_factory=dict)
    errors: list[v.ErrorRecord] = field(default_factory=list)
    success: bool = True
    last_exit: int | None = None
    encoding: str = ""
    rows: list[Any] = field(default_factory=list)
    """Objects to show as rows of one table."""
    stdin: Lines = field(init=False)
    errors_to: list[Emit | None] = field(default_factory=list)
    """Targets of redirected errors, the innermost last; ``None`` discards them."""

    def __post_init__(self) -> None:
        self.stdin = Lines(self.process.stdin)
        self.encoding = texts.of(self.process.machine.locale).oem

    @property
    def preference(self) -> str:
        """``$ErrorActionPreference``, in lower case."""
        return v.text(self.find("erroractionpreference") or "Continue").lower()

    def find(self, name: str) -> Any:
        """Return a variable's value, ``None`` if there is none."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    async def write(self, written: str) -> None:
        """Write to the console."""
        await self._flush()
        await self.process.stdout(self._encoded(written))

    async def warn(self, written: str) -> None:
        """Write to standard error, like a redirected 5.1."""
        if broken_tools.POWERSHELL_TEXT in self.process.machine.troubles.tools:
            written = broken_tools.other_words(written)
        if self.xml is not None:
            self.xml.error(written)
        else:
            await self.process.stderr(self._encoded(written))

    async def show(self, value: Any) -> None:
        """Show a value that a statement emitted; consecutive objects with properties become one table."""
        if value is None:
            return
        if not shown.is_plain(value):
            before, after = (
                tuple(row.properties) if isinstance(row, v.Thing) else type(row)
                for row in (self.rows[-1] if self.rows else value, value)
            )
            if before != after:
                await self._flush()
            self.rows.append(value)
            return
        written = v.text(value)
        await self.write(written if isinstance(value, Shown) else f"{written}\n")

    async def finish(self) -> None:
        """Show the remaining objects, and write the document of errors."""
        await self._flush()
        if self.xml is not None and (document := self.xml.document()):
            await self.process.stderr(self._encoded(document))

    async def report(self, record: v.ErrorRecord) -> None:
        """Show a non-terminating error."""
        self.errors.insert(0, record)
        if self.errors_to:
            sink = self.errors_to[-1]
            if sink is not None:
                await sink(record)
            return
        await self._flush()
        await self.warn(self.described(record))

    def described(self, record: v.ErrorRecord) -> str:
        """Return the console's text for an error."""
        language = texts.of(self.process.machine.locale if self.desktop else "en-US")
        return record.text(self.script, language.groups["powershell"]["position"])

    async def native(self, argv: Sequence[str], emit: Emit, given: Sequence[Any] | None) -> None:
        """Run a program; its output is emitted as lines, or written directly to the console."""
        captured, to_console = bytearray(), emit == self.show and not self.errors_to
        await self._flush()
        errors = self.process.stderr
        if self.errors_to:
            errors = drop if self.errors_to[-1] is None else keeping(captured)
        chunks = (f"{v.text(each)}\n".encode() for each in given or ())
        child = replace(
            self.process,
            argv=list(argv),
            stdout=self.process.stdout if to_console else keeping(captured),
            stderr=errors,
            stdin=self.process.stdin if given is None else reading(*chunks),
        )
        try:
            self.last_exit = await self.run(child)
        except ProgramNotFoundError:
            raise v.not_found(argv[0]) from None
        self.success = self.last_exit == 0
        for line in captured.decode(self.encoding, errors="replace").splitlines():
            await emit(line)

    async def _flush(self) -> None:
        if self.rows:
            rows, self.rows = self.rows, []
            await self.process.stdout(self._encoded(shown.rows(rows)))

    def _encoded(self, written: str) -> bytes:
        return encode(replace(self.process, encoding=self.encoding), written)
