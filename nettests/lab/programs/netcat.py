"""``nc`` as a server for one connection, which is a program's input and output.

Two programs: BusyBox's applet of the Linux image (its plain ``nc`` is OpenBSD's, which is not provided) and
netcat-win32 1.12 of the Windows image. Both close the listener after one client. Other uses are refused.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from nettests.lab.interfaces import Process, ProgramNotFoundError
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.terminal import err

Run = Callable[[Process], Awaitable[int]]

_READ_SIZE = 65536
_NOT_FOUND = 127


async def busybox(process: Process, words: Sequence[str], program: Run) -> int:
    """Run ``busybox nc …``; other applets are not provided."""
    if words[:1] != ["nc"]:
        await err(process, f"{' '.join(words[:1])}: applet not found\n")
        return _NOT_FOUND
    usage, in_use = "nc: the lab's BusyBox knows nc -l -p PORT -e PROG", "nc: bind: Address in use"
    return await _serve(process, words[1:], program, usage, in_use)


async def windows(process: Process, words: Sequence[str], program: Run) -> int:
    """Run ``nc.exe …``."""
    in_use = "Can't grab 0.0.0.0:{port} with bind"
    return await _serve(process, words, program, "the lab's nc knows -l -p PORT -e PROG", in_use)


async def _serve(
    process: Process, words: Sequence[str], program: Run, usage: str, in_use: str
) -> int:
    match list(words):
        case ["-l", "-p", port, "-e", *argv] if port.isdecimal() and argv:
            pass
        case _:
            await err(process, f"{usage}\n")
            return 1
    try:
        listener = transport.listen(process.machine.namespace, int(port))
    except OSError:
        await err(process, f"{in_use.format(port=port)}\n")
        return 1
    with listener:
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    with connection:
        return await _attached(process, connection, argv, program)


async def _attached(
    process: Process, connection: socket.socket, argv: Sequence[str], program: Run
) -> int:
    """Run the program on the connection; after a reset fail with the message of ``cat``."""
    loop = asyncio.get_running_loop()

    async def read() -> bytes:
        return await loop.sock_recv(connection, _READ_SIZE)

    async def write(data: bytes) -> None:
        await loop.sock_sendall(connection, data)

    child = replace(process, argv=argv, stdin=read, stdout=write, command_line="")
    try:
        return await program(child)
    except ProgramNotFoundError as error:
        await err(process, f"{error}\n")
        return _NOT_FOUND
    except ConnectionError as error:
        await err(process, f"{argv[0]}: read error: {error.strerror}\n")
        return 1
