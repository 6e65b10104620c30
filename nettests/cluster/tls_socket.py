"""A TLS socket that one thread reads while another writes, without both being inside OpenSSL at once.

Between ``frames`` and the socket of a WebSocket. OpenSSL allows one thread at a time per connection, Python 3.11 does
not enforce it, and a server's session tickets arrive just when the client sends its first request: about one stream
in a thousand got no answer.
"""

import math
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class TlsSocket:
    """An ``ssl.SSLSocket`` with serialised calls; none holds the lock while it waits for the network."""

    def __init__(self, sock: ssl.SSLSocket, seconds: float) -> None:
        self._sock = sock
        self._seconds = seconds
        self._turn = threading.Lock()
        sock.settimeout(0)

    def recv(self, size: int) -> bytes:
        """Receive what has arrived, waiting for the rest of a record; ``TimeoutError`` after the time-out."""
        return self._patiently(lambda: self._sock.recv(size))

    def sendall(self, data: bytes) -> None:
        """Send all of it; ``TimeoutError`` if the other side reads nothing for the time-out."""
        left = memoryview(data)
        while left:
            sent = self._patiently(partial(self._sock.send, left))
            left = left[sent:]

    def settimeout(self, seconds: float | None) -> None:
        """Set the time-out; ``None`` for no limit. The underlying socket never blocks."""
        self._seconds = math.inf if seconds is None else seconds

    def _patiently(self, call: Callable[[], T]) -> T:
        deadline = time.monotonic() + self._seconds
        while True:
            with self._turn:
                try:
                    return call()
                except ssl.SSLWantReadError:
                    event = select.POLLIN
                except ssl.SSLWantWriteError:
                    event = select.POLLOUT
            _wait(self._sock, event, deadline - time.monotonic())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


def _wait(sock: socket.socket, event: int, seconds: float) -> None:
    """Wait until a socket may be read or written; a closed one is an ``OSError``."""
    poll = select.poll()
    try:
        poll.register(sock, event)
    except ValueError as error:
        raise OSError("the socket is closed") from error
    if seconds <= 0 or not poll.poll(None if seconds == math.inf else 1000 * seconds):
        raise TimeoutError("timed out")
