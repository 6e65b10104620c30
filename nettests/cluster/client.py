"""The Kubernetes library's HTTP client, with our user agent, a deadline and a size limit.

``connection`` lends one to each thread. A peer that never stops sending must not fill the memory: a
larger response raises ``TooBigError``, which is not retried, and the caller closes the connection.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import urllib3
from kubernetes import client
from urllib3 import HTTPHeaderDict

from nettests.deadlines import Patience, timely
from nettests.model.limits import TooBigError, spelled

USER_AGENT = "nettests"
"""The sender's name in the API server's audit log."""


class Client(client.ApiClient):  # type: ignore[misc]  # the library has no types
    """A client; ``patience`` is the deadline of its answer, ``headers`` go with every request."""

    def __init__(
        self, configuration: client.Configuration, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(configuration=configuration)
        self._headers = headers
        self.user_agent = USER_AGENT
        self.patience = Patience()
        timely(self.rest_client.pool_manager, self.patience)

    def param_serialize(self, *arguments: Any, **named: Any) -> tuple[Any, ...]:
        """Return the parts of a request, with all headers, even repeated ones."""
        method, url, headers, *rest = super().param_serialize(*arguments, **named)
        several = HTTPHeaderDict(headers)
        for name, value in self._headers:
            several.add(name, value)
        return (method, url, several, *rest)


PIECE = 65536


def whole(read: Callable[[int], bytes], most: int, what: str) -> bytes:
    """Read to the end and return all bytes; ``TooBigError`` above ``most`` bytes."""
    pieces, size = [], 0
    while piece := read(PIECE):
        size += len(piece)
        if size > most:
            raise too_big(what, most)
        pieces.append(piece)
    return b"".join(pieces)


def lines(response: urllib3.BaseHTTPResponse, most: int, what: str) -> Iterator[bytes]:
    """Yield the lines of a streamed answer; ``TooBigError`` for a line above ``most`` bytes."""
    pieces: list[bytes] = []
    size = 0
    for chunk in response.stream(PIECE):
        first, *others = chunk.split(b"\n")
        for piece in others:
            yield b"".join([*pieces, first])
            pieces, size, first = [], 0, piece
        pieces.append(first)
        size += len(first)
        if size > most:
            raise too_big(what, most)
    if size:
        yield b"".join(pieces)


def too_big(what: str, most: int) -> TooBigError:
    """Return the error for too large a response."""
    return TooBigError(
        f"{what} is larger than {spelled(most)}, and was not read to its end",
        hint="is it what it should be? nothing that this tool reads is as large",
    )
