"""Faults that alter output and exit codes of Windows tools, listed in ``broken_tools.yaml``.

Readers of such output have to notice that it is not as assumed. This module alters streams of any tool; faults that change
what a tool does are in the tool itself.
"""

import asyncio
import codecs
import functools
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Process

PING_ITSELF, NO_REFUSAL = "ping-of-itself-lost", "refusal-lost"
POWERSHELL_TEXT, POWERSHELL_SLOW = "powershell-text-other", "powershell-slow"
CLIXML, NEVER_FAILS, NO_CONSOLE = "clixml-noise", "failing-cmdlet-succeeds", "console-lost"
JSON_CUT, JSON_WRAPPED = "json-cut", "json-arrays-wrapped"
HNS_EMPTY, HNS_OTHER, HNS_DENIED = "hns-empty", "hns-other-schema", "hns-denied"
OTHER_ACCOUNT, OTHER_NAME = "whoami-other", "hostname-other"
"""Faults that are implemented in a tool."""
SLOW_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenTool:
    """One fault; output of other tools is not altered."""

    name: str
    summary: str
    programs: Collection[str] = ()
    words: bool = False
    errors: bool = False
    """Whether only standard error is altered, as standard output has other programs' output."""
    codes: Mapping[object, int] = field(default_factory=dict)
    plain: bool = False
    swapped: bool = False
    endless: bool = False

    def altered(self, data: bytes) -> bytes:
        """Return the altered output."""
        if self.words:
            data = other_words(data.decode("latin-1")).encode("latin-1")
        return bytes(byte if byte < 128 else ord("?") for byte in data) if self.plain else data


@functools.cache
def broken_tools() -> Mapping[str, BrokenTool]:
    """Return all of these faults by name."""
    rows = read_yaml(__package__, "broken_tools.yaml")
    return {name: BrokenTool(name=name, **row) for name, row in rows.items()}


def other_words(text: str) -> str:
    """Return a text with its letters replaced by meaningless ones."""
    return codecs.encode(text, "rot13")


async def run(
    process: Process, name: str, work: Callable[[Process], Awaitable[int]], *, everywhere: bool
) -> int:
    """Run a program of that name under the faults that are in force on its node; return its exit code.

    Those of all programs concern what the runtime starts, not what that starts in turn: ``everywhere`` says which it is.
    """
    faults = [broken_tools()[each] for each in sorted(process.machine.troubles.tools)]
    faults = [
        fault for fault in faults if name in fault.programs or (everywhere and not fault.programs)
    ]
    for fault in faults:
        process = _altered(process, fault)
    code = await work(process)
    for fault in faults:
        code = fault.codes.get(code, fault.codes.get("other", code) if code else code)
    return code


def _altered(process: Process, fault: BrokenTool) -> Process:
    out, err, read = process.stdout, process.stderr, process.stdin
    if fault.swapped:
        out, err = err, out

    async def write_out(data: bytes) -> None:
        await out(replace(fault, words=fault.words and not fault.errors).altered(data))

    async def write_err(data: bytes) -> None:
        await err(fault.altered(data))

    async def read_forever() -> bytes:
        data = await read()
        if not data:
            await asyncio.Event().wait()
        return data

    stdin = read_forever if fault.endless else read
    return replace(process, stdout=write_out, stderr=write_err, stdin=stdin)
