"""The control socket of a running lab: one JSON request a line, one JSON answer a line.

A Unix socket in the lab's private folder; whoever may open it controls the lab. Its path goes
through a directory descriptor, because a socket's path is limited to about 100 characters.
"""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nettests.lab.errors import LabError, StateError
from nettests.lab.folders import private

Json = dict[str, Any]

_NAME = "control.sock"
_BACKLOG = 16
_SECONDS = 30

Handler = Callable[[Json], Awaitable[Json]]


def listen(folder: Path) -> socket.socket:
    """Return the listening socket of the lab in ``folder``, readable by its owner only."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        with _short_path(folder) as path:
            sock.bind(path)
    finally:
        os.umask(mask)
    sock.listen(_BACKLOG)
    sock.setblocking(False)  # noqa: FBT003  # the standard library's signature
    return sock


def request(folder: Path, message: Json) -> Json:
    """Send one request to the lab in ``folder`` and return its answer.

    Raises ``LabError`` with the lab's error if it refuses, ``StateError`` if it does not answer.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(_SECONDS)
            with _short_path(folder) as path:
                sock.connect(path)
            sock.sendall(json.dumps(message).encode() + b"\n")
            with sock.makefile("rb") as answers:
                line = answers.readline()
    except OSError as error:
        raise StateError(
            f'The lab "{folder.name}" does not answer: {error}.',
            hint=f"See {folder / 'lab.log'}, or stop it: nettests lab down --name {folder.name}",
        ) from error
    if not line:
        raise StateError(f'The lab "{folder.name}" ended before it answered.')
    answer: Json = json.loads(line)
    if "error" in answer:
        raise LabError(answer["error"], hint=answer.get("hint", ""))
    return answer


async def serve(sock: socket.socket, handle: Handler) -> None:
    """Answer requests until cancelled; ``LabError`` becomes an error answer."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                answer = await _answer(handle, line)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except OSError:
            pass  # the client went away
        finally:
            writer.close()

    server = await asyncio.start_unix_server(converse, sock=sock)
    async with server:
        await server.serve_forever()


async def _answer(handle: Handler, line: bytes) -> Json:
    try:
        return await handle(json.loads(line))
    except LabError as error:
        return {"error": error.message, "hint": error.hint}
    except (ValueError, KeyError, TypeError) as error:
        return {"error": f"the request was not understood: {error!r}"}


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    with private.opened(folder) as descriptor:
        yield f"/proc/self/fd/{descriptor}/{_NAME}"
