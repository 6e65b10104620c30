"""An open exec or port-forward stream: messages by channel over one WebSocket.

``handshake`` makes it; ``execute``, ``converse`` and ``port_forward`` know what each channel carries. In the
protocols ``*.channel.k8s.io`` the first byte of a message is its channel. The close channel of ``v5`` is not needed:
the stream ends right after it.
"""

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
    """A WebSocket that is open; one thread reads it at a time."""

    connection: BoundedConnection
    closing: ExitStack
    """What is to be closed with it."""

    @property
    def frames(self) -> int:
        """How many frames have come, the answers to pings among them."""
        return self.connection.meter.frames

    def allow(self, most: int) -> None:
        """Allow so many bytes from now on, whatever was received before."""
        self.connection.meter.allow(most)

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return the next message's channel and what it says; ``None`` once the other side has closed the stream.

        ``TimeoutError`` where none comes in time; ``LostError`` or ``RefusedError`` where none comes any more.
        """
        while True:
            try:
                message = self.connection.recv(timeout=seconds, decode=False)
            except ConnectionClosed as closed:
                self._end(closed)
                return None
            if message and message[0] != CLOSE_CHANNEL:
                return message[0], message[1:]

    def send(self, channel: int, data: bytes) -> None:
        """Send a message; ``LostError`` if the stream is gone."""
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
        """Hang up, without waiting for the other side. May be called twice."""
        self.closing.close()

    def _end(self, closed: ConnectionClosed) -> None:
        """Say how the stream ended, unless the other side closed it in order."""
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
        if closed.sent is not None:  # by the library, about what it was given
            raise RefusedError(f"its stream cannot be read: {_why(closed)}") from closed
        raise LostError(_why(closed)) from closed


def _why(closed: ConnectionClosed) -> str:
    return str(closed.__cause__ or closed)
