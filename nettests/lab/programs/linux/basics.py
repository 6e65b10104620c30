"""Small Linux programs: ``cat`` of the few files there are, ``echo``, ``env``, ``sleep``, ``tty`` …"""

import asyncio
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs import image_files


async def cat(process: Process, words: Sequence[str]) -> int:
    """Print files of the container, or standard input; exit 1 when a file does not exist."""
    files = image_files.files(process.machine)
    status = 0
    for path in words or ("-",):
        if path == "-":
            while chunk := await process.stdin():
                await process.stdout(chunk)
        elif path in files:
            await process.stdout(files[path].encode())
        else:
            await process.stderr(f"cat: {path}: No such file or directory\n".encode())
            status = 1
    return status


async def echo(process: Process, words: Sequence[str]) -> int:
    """Print the words; ``-n`` leaves out the line's end."""
    silent = words[:1] == ["-n"]
    text = " ".join(words[1:] if silent else words)
    await process.stdout(f"{text}{'' if silent else chr(10)}".encode())
    return 0


async def env(process: Process, words: Sequence[str]) -> int:
    """Print the environment; running a command with it is not provided."""
    if words:
        await process.stderr(f"env: {words[0]!r}: the lab's env only prints\n".encode())
        return 125
    for name, value in process.environment.items():
        await process.stdout(f"{name}={value}\n".encode())
    return 0


async def hostname(process: Process, _words: Sequence[str]) -> int:
    """Print the host name."""
    await process.stdout(f"{process.machine.hostname}\n".encode())
    return 0


async def sleep(process: Process, words: Sequence[str]) -> int:
    """Sleep; ``infinity`` and the suffixes s, m and h are understood."""
    units = {"s": 1, "m": 60, "h": 3600}
    total = 0.0
    for word in words:
        number, unit = (word[:-1], word[-1]) if word[-1:] in units else (word, "s")
        try:
            total += float(number) * units[unit]
        except ValueError:
            await process.stderr(f"sleep: invalid time interval '{word}'\n".encode())
            return 1
    if not words:
        await process.stderr(b"sleep: missing operand\n")
        return 1
    if total == float("inf"):
        await asyncio.Event().wait()
    await asyncio.sleep(total)
    return 0


async def tty(process: Process, _words: Sequence[str]) -> int:
    """Name the terminal, which is the only one of its container; exit 1 when there is none."""
    await process.stdout(b"/dev/pts/0\n" if process.tty else b"not a tty\n")
    return 0 if process.tty else 1


async def true(_process: Process, _words: Sequence[str]) -> int:
    """Succeed."""
    return 0


async def false(_process: Process, _words: Sequence[str]) -> int:
    """Fail."""
    return 1
