"""Text output of a program, with the line ends of its operating system."""

from nettests.lab.interfaces import Process
from nettests.lab.topology import OS


def encode(process: Process, text: str) -> bytes:
    """Return ``text`` as the program's C library writes it: CRLF on Windows."""
    if process.machine.os is OS.WINDOWS:
        text = text.replace("\n", "\r\n")
    return text.encode()


async def out(process: Process, text: str) -> None:
    """Write text to standard output."""
    await process.stdout(encode(process, text))


async def err(process: Process, text: str) -> None:
    """Write text to standard error."""
    await process.stderr(encode(process, text))
