"""HTTP/1 messages on a stream: heads and bodies, parsed by llhttp (``httptools``), and the bytes of those to be sent."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from http import HTTPStatus

import httptools

Headers = tuple[tuple[str, str], ...]
_READ_SIZE = 65536
_MOST_HEAD_BYTES = 10 * 2**20
_CODES_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class MalformedError(Exception):
    """The peer does not speak HTTP."""


class CutOffError(MalformedError):
    """The stream ends in the middle of a message."""


class TooLargeError(MalformedError):
    """A head is larger than the reader accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of a request, which has a method and a target, or of an answer, which has a status and a reason."""

    version: str = "1.1"
    headers: Headers = ()
    method: str = ""
    target: str = ""
    status: int = 0
    reason: str = ""

    def header(self, name: str) -> str:
        """Return the first header of that name, compared without case; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


class Messages:
    """The messages that arrive on a stream: read a head, then its body, then the next head."""

    def __init__(
        self, stream: asyncio.StreamReader, *, answers: bool, most: int = _MOST_HEAD_BYTES
    ) -> None:
        self._stream, self._most = stream, most
        self._parser: httptools.HttpRequestParser | httptools.HttpResponseParser = (
            httptools.HttpResponseParser(self) if answers else httptools.HttpRequestParser(self)
        )
        self._arrived: deque[Head | bytes | None] = deque()
        """Heads, each with the parts of its body and ``None`` for the end behind it."""
        self._begun = self._in_head = self._until_end = False
        self._line, self._fields, self._size = b"", list[tuple[str, str]](), 0

    async def head(self) -> Head | None:
        """Return the next message's head, ``None`` at the end of the stream; interim answers are skipped."""
        while True:
            while not self._arrived:
                if not await self._receive():
                    return None
            head = self._arrived.popleft()
            if isinstance(head, Head) and not 100 <= head.status < 200:
                return head

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the body of the message whose head was returned last."""
        while True:
            while not self._arrived:
                await self._receive()
            part = self._arrived.popleft()
            if not isinstance(part, bytes):
                return
            yield part

    async def body(self) -> bytes:
        """Return the whole body of the message whose head was returned last."""
        return b"".join([part async for part in self.parts()])

    async def _receive(self) -> bool:
        """Parse what arrives next; return whether there was anything."""
        data = await self._stream.read(_READ_SIZE)
        if not data:
            if self._begun and not self._until_end:
                raise CutOffError("unexpected EOF")
            self._arrived.append(None)
            return self._begun
        while data:
            try:
                self._parser.feed_data(data)
                break
            except httptools.HttpParserUpgrade as upgrade:  # nobody here switches protocols
                data = data[upgrade.args[0] :]
            except httptools.HttpParserError as error:
                raise MalformedError(str(error)) from error
        self._size += len(data) if self._in_head else 0
        if self._size > self._most:
            raise TooLargeError("the head is too large")
        return True

    # what the parser calls

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._begun = self._in_head = True
        self._line, self._fields, self._size = b"", [], 0

    def on_url(self, part: bytes) -> None:
        """Take a part of a request's target."""
        self._line += part

    on_status = on_url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._fields.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """End a head."""
        headers, version = tuple(self._fields), self._parser.get_http_version()
        line = self._line.decode("latin-1")
        if isinstance(self._parser, httptools.HttpResponseParser):
            status = self._parser.get_status_code()
            head = Head(version=version, headers=headers, status=status, reason=line)
            framed = {"content-length", "transfer-encoding"} & {name.lower() for name, _ in headers}
            self._until_end = not framed and status not in _CODES_WITHOUT_BODY
        else:
            method = self._parser.get_method().decode("ascii")
            head = Head(version=version, headers=headers, method=method, target=line)
        self._in_head = False
        if self._size:  # it arrived in parts, and may be too large
            self._size = len(f"{head.method} {line} HTTP/{version}\r\n\r\n")
            self._size += sum(len(f"{name}: {value}\r\n") for name, value in headers)
        self._arrived.append(head)

    def on_body(self, part: bytes) -> None:
        """Take a part of a body."""
        self._arrived.append(part)

    def on_message_complete(self) -> None:
        """End a message."""
        self._begun = False
        self._arrived.append(None)


def request(
    method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes = b""
) -> bytes:
    """Return the bytes of a request, with its length if it has a body."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body
