"""A WebSocket with limits: on bytes received, on the time for each frame, and no wait at close.

Used by exec and port-forward through ``streams``. The library limits a message and the handshake;
this module protects against a hostile peer. ``TlsSocket`` lets one thread read while another
writes: OpenSSL allows one thread at a time, Python 3.11 does not enforce it, and about one stream
in a thousand got no answer.
"""

import logging
import math
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, TypeVar, cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.protocol import Event, State
from websockets.sync.client import ClientConnection

from nettests.cluster.failures import Answer, HandshakeError, refusal
from nettests.model import limits
from nettests.model.limits import spelled

FRAME_SECONDS = 10.0
"""For one frame, from first byte to last. Between frames a stream may be idle without limit."""
HEADER_BYTES = 2
"""The minimum size of a frame without payload, so that empty ones count too."""
SILENT_LOGGER = logging.getLogger("nettests.cluster.frames")
"""At level debug the library logs whole requests, tokens included."""
SILENT_LOGGER.setLevel(logging.CRITICAL)


class RefusedError(OSError):
    """A stream was given up because of what it sent; another try would receive the same."""


class Meter:
    """Counts bytes of a handshake and of frames, and seconds per frame; refuses too many."""

    def __init__(self) -> None:
        self.frames = 0
        """The number of frames received."""
        self.refused: RefusedError | None = None
        """Why nothing more is read, if that is so."""
        self._lock = threading.Lock()
        self._opened = False
        self._begun: float | None = None
        self._most = self._left = limits.HEAD_BYTES

    def allow(self, most: int) -> None:
        """Allow frames of this many bytes from now on, whatever was received before."""
        with self._lock:
            self._opened = True
            self._begun = None
            self._most = self._left = most

    def take(self, size: int) -> None:
        """Count received bytes; raise if they are too many or too slow."""
        now = time.monotonic()
        with self._lock:
            if not self._opened:
                self._left -= size
            if self._left < 0:
                what = "its stream" if self._opened else "the answer to the handshake"
                self.refuse(f"{what} brought more than {spelled(self._most)}")
            self._begun = self._begun or now
            if now - self._begun > FRAME_SECONDS:
                self.refuse_slow()

    def refuse_slow(self) -> NoReturn:
        """Give up the stream because a frame took too long."""
        self.refuse(f"its stream began a frame and did not end it within {FRAME_SECONDS:g} s")

    def refuse(self, why: str) -> NoReturn:
        """Give up the stream because of what it sent: the library closes it on any socket error."""
        self.refused = RefusedError(why)
        raise self.refused

    def end_frame(self, size: int) -> None:
        """Note that a frame is complete; several may arrive at once, even with the handshake."""
        with self._lock:
            self.frames += 1
            self._left -= HEADER_BYTES + size
            self._begun = None


class BoundedConnection(ClientConnection):
    """A connection whose ``max_size`` also limits the whole stream until ``meter`` allows more."""

    def __init__(self, sock: socket.socket, protocol: ClientProtocol, **options: Any) -> None:
        self.meter = Meter()
        self.below = sock
        """The underlying socket."""
        sock.settimeout(FRAME_SECONDS)
        below = TlsSocket(sock, FRAME_SECONDS) if isinstance(sock, ssl.SSLSocket) else sock
        metered = cast("socket.socket", _MeteredSocket(below, protocol, self.meter))
        super().__init__(metered, protocol, **options)

    def handshake(self, *arguments: Any, **options: Any) -> None:
        """Request the WebSocket; refusals are our errors, as the library would follow redirects."""
        try:
            super().handshake(*arguments, **options)
        except InvalidStatus as error:
            raise refusal(_answer(error.response), error.response.reason_phrase) from error
        except InvalidHandshake as error:
            why = self.meter.refused or error.__cause__
            if isinstance(why, EOFError):
                raise ConnectionResetError("the API server hung up before it answered") from error
            raise HandshakeError(f"{error}: {why}" if why else str(error)) from error

    def process_event(self, event: Event) -> None:
        """Process a complete answer or frame."""
        if isinstance(event, Response):
            self.meter.allow(self.protocol.max_message_size or 0)
        elif isinstance(event, Frame):
            self.meter.end_frame(len(event.data))
        super().process_event(event)


class _MeteredSocket:
    """A socket whose bytes are counted, and that is shut down after our own closing frame.

    The library waits for the other side to close, which a hostile one does not. It reads only when
    there is data: the time-out is for the rest of a TLS record, and for sending.
    """

    def __init__(
        self, sock: "socket.socket | TlsSocket", protocol: ClientProtocol, meter: Meter
    ) -> None:
        self._sock = sock
        self._protocol = protocol
        self._meter = meter

    def recv(self, size: int) -> bytes:
        try:
            data = self._sock.recv(size)
        except TimeoutError:
            self._meter.refuse_slow()
        self._meter.take(len(data))
        return data

    def sendall(self, data: bytes) -> None:
        """Send, and shut down after a closing frame, whichever side closed first."""
        self._sock.sendall(data)
        if self._protocol.state is State.CLOSING:
            self._hang_up()

    def close(self) -> None:
        """Close; this ends a wait for the rest of a TLS record."""
        self._hang_up()
        self._sock.close()

    def _hang_up(self) -> None:
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


def _answer(response: Response) -> Answer:
    retry_after = response.headers.get_all("Retry-After")
    return Answer(
        status=response.status_code,
        body=bytes(response.body),
        retry_after=retry_after[0] if retry_after else None,
    )


T = TypeVar("T")


class TlsSocket:
    """An ``ssl.SSLSocket`` with serialised calls, which do not hold the lock while waiting."""

    def __init__(self, sock: ssl.SSLSocket, seconds: float) -> None:
        self._sock = sock
        self._seconds = seconds
        self._turn = threading.Lock()
        sock.settimeout(0)

    def recv(self, size: int) -> bytes:
        """Receive what has arrived, after the rest of its TLS record; ``TimeoutError`` if late."""
        return self._patiently(lambda: self._sock.recv(size))

    def sendall(self, data: bytes) -> None:
        """Send everything; ``TimeoutError`` if the other side reads nothing for the time-out."""
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
