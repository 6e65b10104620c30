"""Small parts shared by agnhost's servers: listening with Go's error texts, serving until the end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from nettests.lab.interfaces import Process
from nettests.lab.programs.golang.requests import Handler
from nettests.lab.programs.golang.web_server import WebServer
from nettests.lab.programs.sockets import addresses, tcp
from nettests.lab.programs.sockets.texts import Call, call_text


class ListenError(Exception):
    """A port could not be listened on; the text is Go's."""


def web_server(process: Process, handler: Handler, port: int, address: str = "") -> WebServer:
    """Return a server listening on ``port``; ``ListenError`` when the port is taken."""
    try:
        listener = tcp.listen(process.machine.namespace, port, address)
    except OSError as error:
        text = call_text(process.machine.os, Call.BIND, error, process.machine.message_locale)
        place = addresses.join(address, port)
        raise ListenError(f"listen tcp {place}: {text}") from error
    return WebServer(listener, handler)


@contextlib.asynccontextmanager
async def background(*work: "asyncio.Task[None]") -> AsyncIterator[None]:
    """Cancel ``work`` at the end and wait until it has let go of its sockets."""
    try:
        yield
    finally:
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
