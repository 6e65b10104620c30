"""A WebSocket that holds no more than was allowed, and waits for no frame without end.

Under exec and port-forward (``handshake`` puts it there). The client library reads whatever a frame's header
announces, joins what is continued, and waits without a time-out; here a length is looked at before anything of
it is read, and what has begun has to end in time. What frames mean is not known here.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from websocket import (
    WebSocket,
    WebSocketConnectionClosedException,
    WebSocketException,
    WebSocketTimeoutException,
)

from nettests.cluster.client import USER_AGENT
from nettests.model import limits
from nettests.model.limits import spelled

HANDSHAKE_SECONDS = 10.0
"""For the answer to a handshake, whole. Callers wait less; this ends what they left behind."""
FRAME_SECONDS = 10.0
"""For one frame, from its first byte to its last. Between frames a stream may be silent as long as it likes."""


class RefusedError(WebSocketConnectionClosedException):
    """A stream was given up for what it brought; another try would bring the same."""


class BoundedWebSocket(WebSocket):
    """A WebSocket of ours: it says who opens it, follows nobody elsewhere, and reads within bounds.

    ``broken`` says why nothing more is read of it; the stream is closed then, as if its peer had done so.
    """

    def __init__(self, **options: Any) -> None:
        self._made: Any = None
        self._answering: _Answering | None = None
        self._opening = False
        self.broken = ""
        self._bounds = threading.Lock()
        self._most = self._left = limits.BODY_BYTES + limits.HEAD_BYTES
        self._deadline: float | None = None
        super().__init__(**options)
        buffer: Any = self.frame_buffer  # made by the library itself: there is no other way in
        buffer.recv, buffer.recv_strict = self._in_time, self._charged(buffer.recv_strict)

    @property
    def sock(self) -> Any:
        """The socket; while a handshake is answered, one that bounds the answer."""
        return self._answering or self._made

    @sock.setter
    def sock(self, made: Any) -> None:
        self._made = made
        self._answering = _Answering(made) if self._opening and made is not None else None

    def connect(self, url: str, **options: Any) -> None:
        """Connect with a User-Agent, as every other request of ours has one, and to that server alone."""
        options["header"] = [*options.get("header", ()), f"User-Agent: {USER_AGENT}"]
        self._opening = True
        try:
            super().connect(url, redirect_limit=0, timeout=HANDSHAKE_SECONDS, **options)  # type: ignore[no-untyped-call]
        finally:
            self._opening, self._answering = False, None
        self.settimeout(None)

    def allow(self, size: int) -> None:
        """Let so many bytes come from now on, whatever came before."""
        with self._bounds:
            self._most = self._left = size

    def recv_frame(self) -> Any:
        """Read one frame; it has to end ``FRAME_SECONDS`` after its first byte."""
        before = self._made.gettimeout() if self._made is not None else None
        try:
            return super().recv_frame()  # type: ignore[no-untyped-call]
        finally:
            self._deadline = None
            if self._made is not None:
                self._made.settimeout(before)

    def recv_data_frame(self, control_frame: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's
        """Read one message; whatever stands against it closes the stream, since its readers know no other end."""
        try:
            return super().recv_data_frame(control_frame)
        except RefusedError as error:
            self._break(str(error))
            raise
        except WebSocketConnectionClosedException:
            raise
        except (WebSocketException, OSError) as error:
            self._break(f"its stream cannot be read: {error}")
            raise RefusedError(self.broken) from error

    def _break(self, why: str) -> None:
        self.broken = self.broken or why
        self.shutdown()  # type: ignore[no-untyped-call]

    def _in_time(self, size: int) -> Any:
        """Receive up to ``size`` bytes: the first ones of a frame whenever they come, the rest in time."""
        if self._deadline is None:
            came = self._recv(size)  # type: ignore[no-untyped-call]
            self._deadline = time.monotonic() + FRAME_SECONDS
            return came
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise RefusedError(_too_slow())
        if self._made is not None:
            self._made.settimeout(left)
        try:
            return self._recv(size)  # type: ignore[no-untyped-call]
        except WebSocketTimeoutException as error:
            raise RefusedError(_too_slow()) from error

    def _charged(self, receive: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return ``receive``, to which no more is asked of than is allowed: frames of any length are counted."""

        def counted(size: int) -> Any:
            with self._bounds:
                self._left -= size
                if self._left < 0:
                    raise RefusedError(f"its stream brought more than {spelled(self._most)}")
            return receive(size)

        return counted


def _too_slow() -> str:
    return f"its stream began a frame and did not end it within {FRAME_SECONDS:g} s"


class _Answering:
    """A socket that brings the answer to a handshake, which is small and comes at once, or is refused."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self._left = limits.HEAD_BYTES
        self._deadline = time.monotonic() + HANDSHAKE_SECONDS

    def recv(self, size: int) -> bytes:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the answer to the handshake did not end in time")
        self._made.settimeout(seconds)
        came: bytes = self._made.recv(size)
        self._left -= len(came)
        if self._left < 0:
            raise RefusedError(
                f"the answer to the handshake is larger than {spelled(limits.HEAD_BYTES)}"
            )
        return came

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)
