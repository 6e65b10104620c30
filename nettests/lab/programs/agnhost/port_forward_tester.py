"""``agnhost port-forward-tester``: accepts one connection, sends chunks of ``x`` and ends.

Settings come from the environment. Data from the client is read only where ``EXPECTED_CLIENT_DATA`` says
what it has to be.
"""

import asyncio
import socket

from nettests.lab.interfaces import Process
from nettests.lab.programs.golang.flags import Parsed
from nettests.lab.programs.golang.values import quote
from nettests.lab.programs.sockets import tcp
from nettests.lab.programs.sockets.texts import Call, call_text

_LOCALHOST = "127.0.0.1"
_WRONG_DATA = 2
_NOT_WRITTEN = 4
_NO_NUMBER = 1


async def run(process: Process, _options: Parsed) -> int:
    """Serve one connection; 2 when the client said something else, 4 when it went before the end."""
    environment = process.environment
    host = environment.get("BIND_ADDRESS") or "localhost"
    try:
        port, chunks, size, interval = (
            int(environment.get(name, ""))
            for name in ("BIND_PORT", "CHUNKS", "CHUNK_SIZE", "CHUNK_INTERVAL")
        )
    except ValueError as error:
        await process.stdout(f"Error converting: {error}\n".encode())
        return _NO_NUMBER
    address = _LOCALHOST if host == "localhost" else host
    try:
        listener = tcp.listen(process.machine.namespace, port, address)
    except OSError as error:
        text = call_text(process.machine.os, Call.BIND, error, process.machine.message_locale)
        await process.stdout(f"Error listening: listen tcp {address}:{port}: {text}\n".encode())
        return _NO_NUMBER
    with listener:
        connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    await process.stdout(b"Accepted client connection\n")
    with connection:
        return await _serve(process, connection, (chunks, size, interval))


async def _serve(process: Process, connection: socket.socket, answer: tuple[int, int, int]) -> int:
    loop = asyncio.get_running_loop()
    expected = process.environment.get("EXPECTED_CLIENT_DATA", "").encode()
    if expected:
        got = await loop.sock_recv(connection, len(expected))
        if got != expected:
            words = f"Expect to read {quote(expected.decode())}, instead got {quote(got.decode())}."
            await process.stdout(f"{words} Err=<nil>\n".encode())
            return _WRONG_DATA
    chunks, size, interval = answer
    for number in range(chunks):
        try:
            await loop.sock_sendall(connection, b"x" * size)
        except OSError:
            await process.stdout(f"Expected to write {size} bytes\n".encode())
            return _NOT_WRITTEN
        if number + 1 < chunks:
            await asyncio.sleep(interval / 1000)
    await process.stdout(b"Shutting down connection\n")
    return 0
