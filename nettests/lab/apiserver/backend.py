"""One HTTP/1.1 exchange with a pod, an endpoint or a kubelet over a dialled connection, by h11.

The request's body is sent whole; the answer's is passed on as it comes. Each request opens a new connection;
nothing is kept alive.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import h11

from nettests.lab.interfaces import Duplex

_CHUNK = 65536

Headers = list[tuple[str, str]]


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
    head = h11.Request(method=method, target=target, headers=sized)
    data = connection.send(head) or b""
    if body:
        data += connection.send(h11.Data(data=body)) or b""
    data += connection.send(h11.EndOfMessage()) or b""
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
            raise BrokenError(_protocol_text(error)) from error
        if event is not h11.NEED_DATA:
            if isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                raise BrokenError("EOF")
            assert not isinstance(event, type)
            return event
        try:
            connection.receive_data(await stream.reader.read(_CHUNK))
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            raise BrokenError("read: connection reset by peer") from error


def _protocol_text(error: h11.RemoteProtocolError) -> str:
    text = str(error)
    return "EOF" if "closed connection" in text else f"malformed HTTP response: {text}"
