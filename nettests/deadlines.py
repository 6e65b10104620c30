"""Read HTTP responses by a deadline, however slowly they arrive.

A socket's time-out bounds one pause: a peer that sends a byte before each time-out would keep its reader for ever.
Here head and body are read by one deadline, for every client of ours: the API server's, a port-forward's, the
external vantage's. The caller sets the deadline.
"""

import http.client
import io
import math
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import urllib3


class SlowAnswerError(TimeoutError):
    """An answer began and did not end by its deadline; one that never began is a plain ``TimeoutError``."""


@dataclass(slots=True)
class Patience:
    """The deadline for the answers of one client; for one thread at a time."""

    until: float = math.inf
    """By ``time.monotonic``."""
    _read: socket.socket | None = None
    """Whose answer is read now, or was last."""
    _over: bool = False

    def reads(self, sock: socket.socket) -> None:
        """Say whose answer is read from now on."""
        self._read = sock
        if self._over:
            self.give_up()

    def renew(self) -> None:
        """Let answers be read again, whatever was given up before."""
        self._over = False

    def give_up(self) -> None:
        """End what is read now, and what would be: whoever reads it, in another thread, is told that it was cut."""
        self._over = True
        if self._read is not None:
            cut(self._read)

    def begin(self, seconds: float) -> None:
        """Give the next answer ``seconds``, from now to its last byte."""
        self.until = time.monotonic() + seconds

    def left(self) -> float:
        """Return how many seconds are left; ``TimeoutError`` if none are."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not end by its deadline")
        return left


def cut(sock: socket.socket) -> None:
    """Shut a socket down under whoever reads it, without a last word, which TLS would wait for."""
    below = getattr(sock, "socket", sock)  # TLS within TLS, to a proxy, is none itself
    with suppress(OSError):
        socket.socket.shutdown(below, socket.SHUT_RDWR)


def timely(manager: urllib3.PoolManager, patience: Patience) -> None:
    """End the answers over a manager's new connections by ``patience``."""
    pools: dict[str, Any] = dict(manager.pool_classes_by_scheme)
    manager.pool_classes_by_scheme = {
        scheme: type(
            pool.__name__,
            (pool,),
            {"ConnectionCls": timely_connection(pool.ConnectionCls, patience)},
        )
        for scheme, pool in pools.items()
    }


def timely_connection(connection: Any, patience: Patience) -> Any:
    """Return a subclass of ``connection`` whose responses have to be complete within ``patience``."""

    class Answer(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
            super().__init__(sock, *arguments, **options)
            patience.reads(sock)
            self.fp = io.BufferedReader(_Timely(self.fp.detach(), sock, patience))

    return type(connection.__name__, (connection,), {"response_class": Answer})


def came_too_slowly(error: BaseException) -> bool:
    """Whether a deadline ended the reading of a response, also where the client library wrapped the error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SlowAnswerError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


class _Timely(io.RawIOBase):
    """The data of a socket; each read waits no longer than the socket's own time-out, nor than the time left."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, patience: Patience) -> None:
        self._raw = raw
        self._sock = sock
        self._silence = sock.gettimeout()
        self._patience = patience
        self._began = False

    def readinto(self, buffer: Any) -> int | None:
        """Read what has arrived, at least one byte; ``TimeoutError`` if none arrives in time."""
        left = self._patience.until - time.monotonic()
        if left <= 0:
            raise self._late()
        waits = [seconds for seconds in (self._silence, left) if seconds is not None]
        shortest = min(waits)
        self._sock.settimeout(None if shortest == math.inf else shortest)
        try:
            size: int | None = self._raw.readinto(buffer)
        except TimeoutError:
            if shortest == left:
                raise self._late() from None
            raise
        self._began = True
        return size

    def _late(self) -> TimeoutError:
        if self._began:
            return SlowAnswerError("the answer did not end by its deadline")
        return TimeoutError("timed out")

    def readable(self) -> bool:
        """Return true: the file is for reading."""
        return True

    def fileno(self) -> int:
        """Return the socket's own file descriptor."""
        return self._raw.fileno()

    def close(self) -> None:
        """Release the socket, as the replaced file would."""
        if not self.closed:
            self._raw.close()
        super().close()
