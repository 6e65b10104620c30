"""Streams of programs, with the line ends of their operating system, and SIGTERM for programs that do not handle it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from nettests.lab.interfaces import Process
from nettests.lab.topology import OS

_BEST_FIT = str.maketrans("’‘“”–", "''\"\"-")
"""Replacements for characters that a code page lacks (Microsoft, "Best fit")."""


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


async def drop(_data: bytes) -> None:
    """Discard output (``/dev/null``, ``NUL``)."""


def reading(*chunks: bytes) -> Callable[[], Awaitable[bytes]]:
    """Return a standard input of these chunks."""
    waiting = list(chunks)

    async def read() -> bytes:
        return waiting.pop(0) if waiting else b""

    return read


def keeping(kept: bytearray) -> Callable[[bytes], Awaitable[None]]:
    """Return an output that appends to ``kept``."""

    async def keep(data: bytes) -> None:
        kept.extend(data)

    return keep


@dataclass(slots=True)
class Lines:
    """The lines of a stream, one at a time; ``left`` are the bytes after the last one.

    The rest at the end of the stream is a line, too, unless only ``whole`` lines are wanted.
    """

    read: Callable[[], Awaitable[bytes]]
    whole: bool = False
    left: bytes = b""
    ended: bool = False

    async def next(self, encoding: str = "utf-8") -> str | None:
        """Return the next line without its end, ``None`` at the end of the stream."""
        while b"\n" not in self.left and not self.ended:
            data = await self.read()
            self.ended = not data
            self.left += data
        if not self.left or (self.whole and b"\n" not in self.left):
            return None
        line, _, self.left = self.left.partition(b"\n")
        return line.decode(encoding, errors="replace").removesuffix("\r")


class ExitError(Exception):
    """A shell's ``exit``, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


TERMINATED = 143


@contextlib.asynccontextmanager
async def racing(*work: Awaitable[Any]) -> AsyncIterator[list[asyncio.Future[Any]]]:
    """Start tasks and enter the block once the first is done; cancel the others at its end."""
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until_terminated(process: Process, work: Coroutine[Any, Any, int]) -> int:
    """Return the result of ``work``, or ``TERMINATED`` if SIGTERM comes first."""
    async with racing(work, process.terminate.wait()) as (program, _):
        return int(program.result()) if program.done() else TERMINATED
