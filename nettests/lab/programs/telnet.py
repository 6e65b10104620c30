"""A telnet session as ``curl telnet://`` has it: what comes in goes out, both ways, and nothing is negotiated.

curl answers a server's telnet commands, and begins none. At the end of its input it waits for the other side.
"""

import asyncio
from collections.abc import Awaitable, Callable

Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]

_READ_SIZE = 65536


async def session(
    read: Read, write: Write, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Carry both ways until the other side ends; ``ConnectionError`` when it resets."""
    sending = asyncio.ensure_future(_send(read, writer))
    try:
        while data := await reader.read(_READ_SIZE):
            await write(data)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _send(read: Read, writer: asyncio.StreamWriter) -> None:
    while data := await read():
        writer.write(data)
        await writer.drain()
