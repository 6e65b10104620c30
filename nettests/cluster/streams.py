"""An open exec or port-forward stream: messages by channel over one WebSocket.

``handshake`` makes it; ``execute``, ``converse`` and ``port_forward`` know what each channel carries. In the
protocols ``*.channel.k8s.io`` the first byte of a message is its channel. The close channel of ``v5`` is not needed:
the stream ends right after it.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass

from websockets.exceptions import ConnectionClosed, PayloadTooBig

from nettests.cluster.frames import BoundedConnection, RefusedError
from nettests.deadlines import cut
from nettests.model.limits import spelled

SUBPROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
CLOSE_CHANNEL = 255
"""v5: the next byte names a channel that the other side has closed."""


class LostError(OSError):
    """A stream broke off without being closed."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An open WebSocket; one thread reads it at a time."""

    connection: BoundedConnection
    closing: ExitStack
    """What is closed with it."""

    @property
    def frames(self) -> int:
        """How many frames have arrived, including answers to pings."""
        return self.connection.meter.frames

    def allow(self, most: int) -> None:
        """Allow this many bytes from now on, whatever was received before."""
        self.connection.meter.allow(most)

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return the next message's channel and data; ``None`` once the other side has closed the stream.

        ``TimeoutError`` if none arrives in time, whatever else arrives, and if the time is negative: a deadline is
        over however much has arrived. ``LostError`` or ``RefusedError`` if the stream broke. With 0 seconds, what
        has arrived is returned.
        """
        if seconds < 0:
            raise TimeoutError("the deadline is over")
        until = time.monotonic() + seconds
        while True:
            try:
                message = self.connection.recv(
                    timeout=max(0.0, until - time.monotonic()), decode=False
                )
            except ConnectionClosed as closed:
                self._end(closed)
                return None
            if message and message[0] != CLOSE_CHANNEL:
                return message[0], message[1:]
            if time.monotonic() > until:
                raise TimeoutError("no message arrived in time")

    def send(self, channel: int, data: bytes) -> None:
        """Send a message; ``LostError`` if the stream broke off."""
        try:
            self.connection.send(bytes([channel]) + data)
        except ConnectionClosed as closed:
            raise LostError(_why(closed)) from closed

    def ping(self) -> None:
        """Send a ping to the other end; it counts among the ``frames``."""
        try:
            self.connection.ping()
        except ConnectionClosed as closed:
            raise LostError(_why(closed)) from closed

    def cut(self) -> None:
        """End it under whoever reads it, in another thread."""
        cut(self.connection.below)

    def close(self) -> None:
        """Close the stream, without waiting for the other side. May be called twice."""
        self.closing.close()

    def _end(self, closed: ConnectionClosed) -> None:
        """Raise how the stream ended, unless the other side closed it in order."""
        unread = self.connection.protocol.parser_exc
        if isinstance(unread, PayloadTooBig):
            most = self.connection.protocol.max_message_size or 0
            raise RefusedError(f"its stream brought more than {spelled(most)}") from closed
        if unread is not None and not isinstance(unread, EOFError):
            raise RefusedError(f"its stream cannot be read: {unread}") from closed
        if self.connection.meter.refused is not None:
            raise RefusedError(str(self.connection.meter.refused)) from closed
        if closed.rcvd is not None:
            return
        if closed.sent is not None:  # raised by the library for invalid data
            raise RefusedError(f"its stream cannot be read: {_why(closed)}") from closed
        raise LostError(_why(closed)) from closed


def _why(closed: ConnectionClosed) -> str:
    return str(closed.__cause__ or closed)
