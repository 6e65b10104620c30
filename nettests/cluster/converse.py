"""Speak to a process in a container while it runs: its input, output and exit code over one WebSocket.

Beside ``execute``, which starts a process and waits for its end. A stream that is cut is a channel error:
nothing is known of the process from then on. Its silence is nobody's business here.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubernetes.client.exceptions import ApiException
from kubernetes.stream.ws_client import (
    ERROR_CHANNEL,
    STDERR_CHANNEL,
    STDOUT_CHANNEL,
    WSClient,
    websocket_call,
)
from websocket import WebSocketException

from nettests.cluster.bounded import within
from nettests.cluster.connection import Connection
from nettests.cluster.execute import HANDSHAKE_SECONDS, LostStreamError, answer_of
from nettests.cluster.handshake import opened, why_refused
from nettests.model import limits
from nettests.model.channel import ChannelError

DRAIN_SECONDS = 0.01
"""What has come already is taken; nobody waits for more."""
PINGS_UNANSWERED = 3
"""After so many pings without any frame a stream is taken for dead."""


@dataclass(slots=True)
class Talk:
    """One process that is spoken to; one thread at a time."""

    pod: str
    socket: WSClient
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    unanswered: int = 0
    """So many pings were sent since anything came."""
    _status: bytes = field(default=b"")

    def __post_init__(self) -> None:
        """Notice every frame: the client library drops the answers to pings unseen."""
        receive = self.socket.sock.recv_data_frame

        def noticed(*wanted: Any) -> Any:
            frame = receive(*wanted)
            self.unanswered = 0
            return frame

        self.socket.sock.recv_data_frame = noticed

    def say(self, text: str) -> None:
        """Write to its input; to one that has ended nothing is said."""
        self._send(lambda: self.socket.write_stdin(text.encode()))

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Listen until all that it said is ``enough``, or it has ended; return whether it was enough."""
        deadline = time.monotonic() + seconds
        while not enough(self.stdout) and self.exit_code is None:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._take(left)
        return enough(self.stdout)

    def stay(self) -> None:
        """Ping whoever holds the other end of the stream, and take what came.

        A stream over which several pings in a row brought nothing is cut, whatever its sockets say.
        """
        self._send(self._ping)

    def close(self) -> None:
        """Hang up, without waiting for the other side."""
        self.socket.sock.shutdown()  # close() leaves a socket open whose peer closed first

    def _ping(self) -> None:
        if self.unanswered == PINGS_UNANSWERED:
            raise LostStreamError(
                f"exec in {self.pod}: nobody answered {self.unanswered} pings over its stream"
            )
        self.unanswered += 1
        self.socket.sock.ping()

    def _send(self, send: Callable[[], None]) -> None:
        """Send what ``send`` does unless the process has ended, which may be what keeps it from being sent."""
        self._take(DRAIN_SECONDS)
        if self.exit_code is not None:
            return
        try:
            send()
        except (OSError, WebSocketException) as error:
            self._take(DRAIN_SECONDS)
            if self.exit_code is None:
                raise self._cut(error) from error

    def _take(self, seconds: float) -> None:
        """Wait for frames, and keep what they hold."""
        if self.exit_code is not None:
            return
        try:
            self.socket.update(timeout=seconds)
            self.stdout += self._said(STDOUT_CHANNEL).decode(errors="replace")
            self.stderr += self._said(STDERR_CHANNEL).decode(errors="replace")
            self._status += self._said(ERROR_CHANNEL)
        except (OSError, WebSocketException) as error:
            raise self._cut(error) from error
        if self._status:
            self.exit_code = answer_of(
                self.pod, stdout=b"", stderr=b"", status=self._status
            ).exit_code
        elif not self.socket.is_open():
            raise LostStreamError(f"exec in {self.pod} lost its exit code")

    def _said(self, channel: int) -> bytes:
        said: bytes = self.socket.read_channel(channel)
        return said

    def _cut(self, error: Exception) -> LostStreamError:
        return LostStreamError(f"exec in {self.pod} was cut: {error}")


def converse(
    connection: Connection, namespace: str, pod: str, container: str, argv: Sequence[str]
) -> Talk:
    """Start ``argv`` with its input open; ``ChannelError`` when the stream cannot be opened."""
    try:
        socket = within(
            connection.timing.execute + HANDSHAKE_SECONDS,
            lambda: opened(connection, lambda: _open(connection, namespace, pod, container, argv)),
        )
    except TimeoutError:
        raise ChannelError(f"exec in {pod} was not opened in time") from None
    except (ApiException, OSError) as error:
        raise ChannelError(f"exec in {pod} was not opened: {why_refused(error)}") from error
    socket.sock.allow(limits.EXEC_BYTES)
    return Talk(pod=pod, socket=socket)


def _open(
    connection: Connection, namespace: str, pod: str, container: str, argv: Sequence[str]
) -> WSClient:
    to = connection.handshake(
        f"/api/v1/namespaces/{namespace}/pods/{pod}/exec",
        [
            *(("command", word) for word in argv),
            ("container", container),
            ("stdin", "true"),
            ("stdout", "true"),
            ("stderr", "true"),
        ],
    )
    return websocket_call(
        to.configuration, "GET", to.url, headers=to.headers, binary=True, _preload_content=False
    )
