"""How a cmdlet is declared, found and called: its parameters, bound by name, prefix, position or pipeline.

A session has built-in cmdlets and those of modules, for which the first search takes a while: Windows PowerShell without a module
cache was measured to need 13 s for its first command lookup (WMF 5.1, engine improvements). The Gallery's module HNS precedes
Windows' own in the module path, and lacks Get-HnsPolicyList.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.session import MODULES, Emit, Session

_SHORT = {"ea": "erroraction", "ev": "errorvariable", "wa": "warningaction", "ov": "outvariable"}
_COMMON = {name: name for name in (*_SHORT.values(), "informationaction")} | _SHORT
_COMMON_SWITCHES = frozenset({"verbose", "debug", "confirm", "whatif"})


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a cmdlet; ``given`` has its arguments by parameter name in lower case."""

    session: Session
    cmdlet: "Cmdlet"
    given: Mapping[str, Any]
    input: Sequence[Any] | None
    invoke: Callable[..., Awaitable[list[Any]]]
    """Runs a script block with ``$_``, and returns its output."""
    start: int = 0
    end: int = 0

    def text(self, name: str, default: str = "") -> str:
        """Return an argument as text."""
        value = self.given.get(name.lower())
        return default if value is None else v.text(value)

    def has(self, name: str) -> bool:
        """Whether a switch or parameter was given, other than as ``$false``."""
        return self.given.get(name.lower()) not in (None, False)

    def list(self, name: str) -> list[Any]:
        """Return an argument as a list."""
        value = self.given.get(name.lower())
        return value if isinstance(value, list) else [] if value is None else [value]

    @property
    def action(self) -> str:
        """The action for non-terminating errors; functions of modules do not see their caller's preference."""
        chosen = self.text("erroraction").lower()
        return chosen or ("continue" if self.cmdlet.of_module else self.session.preference)

    def record(
        self, message: str, error_id: str, category: str, target: Any = "", kind: str = v.RUNTIME
    ) -> v.ErrorRecord:
        """Return an error of this cmdlet about a target."""
        return v.ErrorRecord(
            exception=v.NetError(kind, message),
            error_id=f"{error_id},{self.cmdlet.class_name}",
            category=category,
            target=v.text(target),
            target_type="String" if target else "",
            activity=self.cmdlet.name,
            start=self.start,
            end=self.end,
        )

    async def error(self, record: v.ErrorRecord) -> None:
        """Report a non-terminating error, in accordance with the preference.

        Write-Error in a function leaves its caller's ``$?`` true (PowerShell/PowerShell#3629, #10978).
        """
        action = self.action
        if action == "stop":
            raise v.PSError(record, ends_script=True)
        if not self.cmdlet.of_module:
            self.session.success = False
        if action not in {"silentlycontinue", "ignore"}:
            await self.session.report(record)

    async def fail(self, *record: Any) -> None:
        """Report a non-terminating error, with the arguments of ``record``."""
        await self.error(self.record(*record))


Body = Callable[[Call, Emit], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cmdlet:
    """A cmdlet: its positional parameters in order, named parameters, and switches."""

    name: str
    body: Body
    positional: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    switches: frozenset[str] = frozenset()
    module: str = ""
    """The cmdlet's module; empty for built-in cmdlets."""
    of_module: bool = False
    """Whether it is a function of a script module instead of a compiled cmdlet."""
    core: bool = True
    """Whether PowerShell 6 in images has it, too."""
    class_name: str = ""

    def bind(self, arguments: Sequence[tuple[str | None, Any]]) -> dict[str, Any]:
        """Return arguments by parameter; pairs without a name are bound by position."""
        given: dict[str, Any] = {}
        names = {name.lower(): name for name in (*self.positional, *self.named, *self.switches)}
        open_positions = [name.lower() for name in self.positional]
        waiting = ""
        loose: list[Any] = []
        for name, value in arguments:
            if name is None:
                if waiting:
                    given[waiting], waiting = value, ""
                else:
                    loose.append(value)
                continue
            key = self._parameter(name, names)
            is_switch = key in _COMMON_SWITCHES or names.get(key) in self.switches
            if is_switch or value is not None:
                given[key] = True if value is None else value
            else:
                waiting = key
        for value in loose:
            free = [name for name in open_positions if name not in given]
            if not free:
                raise self._unbound(
                    f"A positional parameter cannot be found that accepts argument '{v.text(value)}'.",
                    "Positional",
                )
            given[free[0]] = value
        return given

    def _parameter(self, name: str, names: Mapping[str, str]) -> str:
        wanted = name.lower()
        if wanted in names or wanted in _COMMON_SWITCHES:
            return wanted
        if wanted in _COMMON:
            return _COMMON[wanted]
        fitting = [name_there for name_there in (*names, *_COMMON) if name_there.startswith(wanted)]
        if len({_COMMON.get(each, each) for each in fitting}) == 1:
            return _COMMON.get(fitting[0], fitting[0])
        raise self._unbound(
            f"A parameter cannot be found that matches parameter name '{name}'.", "Named"
        )

    def _unbound(self, message: str, how: str) -> v.PSError:
        return v.runtime(
            message,
            f"{how}ParameterNotFound,{self.class_name}",
            "InvalidArgument",
            kind="System.Management.Automation.ParameterBindingException",
            activity=self.name,
        )


CMDLETS: dict[str, list[Cmdlet]] = {}
"""Cmdlets by name in lower case; those of several modules in the order of the module path."""


def cmdlet(
    name: str, parameters: str = "", *, module: str = "", of_module: bool = False, core: bool = True
) -> Callable[[Body], Body]:
    """Declare a cmdlet: parameters with ``!`` are positional, those with ``?`` switches."""

    def declare(body: Body) -> Body:
        words = parameters.split()
        verb_noun = name.replace("-", "")
        declared = Cmdlet(
            name=name,
            body=body,
            positional=tuple(word[:-1] for word in words if word.endswith("!")),
            named=tuple(word for word in words if word[-1] not in "!?"),
            switches=frozenset(word[:-1] for word in words if word.endswith("?")),
            module=module,
            of_module=of_module,
            core=core,
            class_name=name if of_module else f"Microsoft.PowerShell.Commands.{verb_noun}Command",
        )
        CMDLETS.setdefault(name.lower(), []).append(declared)
        return body

    return declare


INBOX, GALLERY = "HostNetworkingService", "HNS"
_LOOKING = "Preparing modules for first use."


async def ready(session: Session, cmdlet: Cmdlet) -> bool:
    """Whether the session has the cmdlet; waits as long as a node's first module search takes."""
    machine = session.process.machine
    if not session.desktop:
        return cmdlet.core
    if not cmdlet.module:
        return True
    remembered = machine.node.disk.background if machine.node is not None else {MODULES: True}
    if MODULES not in remembered:
        await asyncio.sleep(machine.windows.powershell_first_seconds)
        remembered[MODULES] = True
        preference = str(session.find("progresspreference") or "Continue").lower()
        if session.xml is not None and preference != "silentlycontinue":
            session.xml.progress(_LOOKING)
    installed = {"inbox": {INBOX}, "psgallery": {INBOX, GALLERY}, "none": set[str]()}
    hns = cmdlet.module in {INBOX, GALLERY}
    return machine.host_process and (
        not hns or cmdlet.module in installed[machine.windows.hns_module]
    )
