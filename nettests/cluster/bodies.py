"""Read a response up to a size limit: a peer that never stops sending must not fill the memory.

Used wherever bytes of a cluster are read. A larger response raises ``TooBigError``, which is not retried; the caller
closes the connection.
"""

from collections.abc import Callable, Iterator

import urllib3

from nettests.model.limits import TooBigError, spelled

PIECE = 65536


def whole(read: Callable[[int], bytes], most: int, what: str) -> bytes:
    """Return all that ``read`` returns until it returns nothing; ``TooBigError`` above ``most`` bytes."""
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
    """Return the error for people."""
    return TooBigError(
        f"{what} is larger than {spelled(most)}, and was not read to its end",
        hint="is it what it should be? nothing that this tool reads is as large",
    )
