"""What SIGTERM does to a program that does not handle it: it dies, with 128 + 15."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from nettests.lab.interfaces import Process

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
