"""Talk to a running process in a container: its input, output and exit code over one WebSocket.

``execute`` starts a process and waits for its end; this module keeps talking to it. A stream that breaks is a channel
error: the state of the process is unknown from then on. Whether the process answers is up to the caller.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nettests.cluster.connection import Connection
from nettests.cluster.execute import (
    HANDSHAKE_SECONDS,
    STATUS,
    STDERR,
    STDIN,
    STDOUT,
    LostStreamError,
    answer_of,
    open_exec,
)
from nettests.cluster.streams import Stream

DRAIN_SECONDS = 0.01
"""Only data that has already arrived is read; nothing waits for more."""
PINGS_UNANSWERED = 3
"""Pings without any frame after which a stream counts as dead."""


@dataclass(slots=True)
class Talk:
    """One interactive process; one thread at a time."""

    pod: str
    program: str
    stream: Stream
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    _pings: int = 0
    """Pings sent since the last frame arrived."""
    _frames: int = 0
    """Frames that had arrived when the last ping was sent."""
    _status: bytes = b""

    @property
    def unanswered(self) -> int:
        """How many pings were sent since the last frame arrived."""
        return self._pings if self.stream.frames == self._frames else 0

    def say(self, text: str) -> None:
        """Write to its input; nothing is written to a process that has ended."""
        self._send(lambda: self.stream.send(STDIN, text.encode()))

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Read until its output is ``enough``, or it has ended; return whether it was enough."""
        deadline = time.monotonic() + seconds
        while not enough(self.stdout) and self.exit_code is None:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._take(left)
        return enough(self.stdout)

    def stay(self) -> None:
        """Ping the other end of the stream, and read what arrived.

        A stream without a frame after several pings in a row is broken, whatever its sockets say.
        """
        self._send(self._ping)

    def close(self) -> None:
        """Close the stream, without waiting for the other side."""
        self.stream.close()

    def _ping(self) -> None:
        pings = self.unanswered
        if pings == PINGS_UNANSWERED:
            raise LostStreamError(
                f"exec in {self.pod}: nobody answered {pings} pings over its stream"
            )
        self._pings, self._frames = pings + 1, self.stream.frames
        self.stream.ping()

    def _send(self, send: Callable[[], None]) -> None:
        """Call ``send`` unless the process has ended, which may be why sending fails."""
        self._take(DRAIN_SECONDS)
        if self.exit_code is not None:
            return
        try:
            send()
        except OSError as error:
            self._take(DRAIN_SECONDS)
            if self.exit_code is None:
                raise self._cut(error) from error

    def _take(self, seconds: float) -> None:
        """Wait for a message, and keep its data and that of the messages behind it."""
        if self.exit_code is not None:
            return
        closed = False
        try:
            while message := self.stream.receive(seconds):
                self._keep(*message)
                seconds = 0
            closed = True
        except TimeoutError:
            pass
        except OSError as error:
            if not self._status:
                raise self._cut(error) from error
        if self._status:
            self.exit_code = answer_of(
                self.pod, self.program, stdout=b"", stderr=b"", status=self._status
            ).exit_code
        elif closed:
            raise LostStreamError(f"exec in {self.pod} lost its exit code")

    def _keep(self, channel: int, data: bytes) -> None:
        if channel == STDOUT:
            self.stdout += data.decode(errors="replace")
        elif channel == STDERR:
            self.stderr += data.decode(errors="replace")
        elif channel == STATUS:
            self._status += data

    def _cut(self, error: Exception) -> LostStreamError:
        return LostStreamError(f"exec in {self.pod} was cut: {error}")


def converse(
    connection: Connection, namespace: str, pod: str, container: str, argv: Sequence[str]
) -> Talk:
    """Start ``argv`` with its input open; ``ChannelError`` when the stream cannot be opened."""
    until = time.monotonic() + connection.timing.execute + HANDSHAKE_SECONDS
    stream = open_exec(connection, namespace, pod, container, argv, until=until, stdin=True)
    return Talk(pod, argv[0], stream)
