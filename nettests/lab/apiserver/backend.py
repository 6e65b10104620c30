"""One HTTP/1.1 exchange with a pod, an endpoint or a kubelet over a dialled connection, by h11.

Errors are in the words of Go's ``net`` package, as clients of a real API server read them. The request's body is sent whole; the answer's is passed on as it comes. Each request opens a new connection;
nothing is kept alive.
"""

import asyncio
import errno
from collections.abc import AsyncIterator
from dataclasses import dataclass

import h11

from nettests.lab.interfaces import Duplex

_CHUNK = 65536

Headers = list[tuple[str, str]]
_TEXTS = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.ECONNRESET: "read: connection reset by peer",
    errno.ETIMEDOUT: "i/o timeout",
}


def go_text(error: OSError) -> str:
    """Return what Go says of a failed connect or read."""
    number = errno.ETIMEDOUT if isinstance(error, TimeoutError) else error.errno
    return _TEXTS.get(number or 0, str(error.strerror or error).lower())


class BrokenError(Exception):
    """The other side did not answer with HTTP; the text is Go's."""


@dataclass(slots=True)
class Answer:
    """The head of an answer, and its body as it comes."""

    code: int
    reason: str
    headers: Headers
    connection: h11.Connection
    stream: Duplex

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body; ``BrokenError`` when it breaks off."""
        while True:
            event = await _next(self.connection, self.stream)
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return


async def request(
    stream: Duplex, *, method: str, target: str, headers: Headers, body: bytes
) -> Answer:
    """Send a request and read the head of the answer."""
    connection = h11.Connection(h11.CLIENT)
    sized = [*headers, ("Content-Length", str(len(body)))] if body else headers
    parts: list[h11.Event] = [h11.Request(method=method, target=target, headers=sized)]
    parts += [h11.Data(data=body)] if body else []
    data = b"".join(connection.send(part) or b"" for part in (*parts, h11.EndOfMessage()))
    try:
        stream.writer.write(data)
        await stream.writer.drain()
    except ConnectionError as error:
        raise BrokenError("write: broken pipe") from error
    while True:
        event = await _next(connection, stream)
        if isinstance(event, h11.Response):
            return Answer(
                code=event.status_code,
                reason=event.reason.decode("latin-1"),
                headers=[
                    (name.decode("latin-1"), value.decode("latin-1"))
                    for name, value in event.headers.raw_items()
                ],
                connection=connection,
                stream=stream,
            )


async def _next(connection: h11.Connection, stream: Duplex) -> h11.Event:
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError as error:
            text = str(error)
            cut_off = "closed connection" in text
            raise BrokenError("EOF" if cut_off else f"malformed HTTP response: {text}") from error
        if event is not h11.NEED_DATA:
            if isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                raise BrokenError("EOF")
            assert not isinstance(event, type)
            return event
        try:
            connection.receive_data(await stream.reader.read(_CHUNK))
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise BrokenError("read: connection reset by peer") from error
