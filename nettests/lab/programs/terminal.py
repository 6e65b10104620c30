"""Text output of a program, with the line ends of its operating system; and SIGTERM, which ends programs that do not handle it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from nettests.lab.interfaces import Process
from nettests.lab.topology import OS

_BEST_FIT = str.maketrans("’‘“”–", "''\"\"-")
"""What stands in a code page for characters that it lacks (Microsoft, "Best fit")."""


def encode(process: Process, text: str) -> bytes:
    """Return ``text`` as the program's C library writes it: CRLF on Windows, in its code page."""
    if process.machine.os is OS.WINDOWS:
        text = text.replace("\n", "\r\n")
    if process.encoding != "utf-8":
        text = text.translate(_BEST_FIT)
    return text.encode(process.encoding, errors="replace")


async def out(process: Process, text: str) -> None:
    """Write text to standard output."""
    await process.stdout(encode(process, text))


async def err(process: Process, text: str) -> None:
    """Write text to standard error."""
    await process.stderr(encode(process, text))


TERMINATED = 143


async def until_terminated(process: Process, work: Coroutine[Any, Any, int]) -> int:
    """Return what ``work`` returns, or ``TERMINATED`` when SIGTERM comes first."""
    program = asyncio.ensure_future(work)
    signal = asyncio.ensure_future(process.terminate.wait())
    try:
        await asyncio.wait({program, signal}, return_when=asyncio.FIRST_COMPLETED)
        return program.result() if program.done() else TERMINATED
    finally:
        program.cancel()
        signal.cancel()
        await asyncio.gather(program, signal, return_exceptions=True)
