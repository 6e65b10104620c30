"""Port-forwards to a Pod's server: HTTP over open forwardings, and servers that speak first.

The first choice among the control channels (``channels``). One WebSocket carries several
connections (``lanes``), and each of them any number of requests, one by one.
"""

import http.client
import io
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster.client import whole
from nettests.cluster.connection import Connection
from nettests.cluster.failures import HandshakeError
from nettests.cluster.frames import RefusedError
from nettests.cluster.lanes import Lane, lanes_of
from nettests.cluster.streams import LostError, open_stream
from nettests.deadlines import Patience
from nettests.model import limits
from nettests.model.channel import ChannelError, HttpAnswer, SpentError
from nettests.model.limits import TooBigError

CONNECT_SECONDS = 5.0
LANES, MOST_LANES = 8, 16
"""Connections of the second handshake, and of further ones. Each is a process in the Pod's sandbox
on Windows nodes whose containerd has ``wincat``, and most Pods get one request after another."""
DATA, ERROR = 0, 1
"""The channels of the port; each begins with the port itself, in two bytes."""


class _LostRequestError(ChannelError):
    """The stream broke off without a reason."""

    by_another = False
    """Whether it was closed because of another request's data."""


class _FailedError(OSError):
    """A failure that the other end of a forwarding reported."""


@dataclass(slots=True)
class _Forwarding:
    """A forwarding to one port, as the socket of an HTTP connection."""

    stream: Lane
    port: int
    patience: Patience = field(default_factory=Patience)
    lost: bool = False
    """Whether its stream broke off; reading ends there."""
    begun: bool = False
    """Whether an answer has begun and not ended."""
    _announced: set[int] = field(default_factory=set)

    def begin(self, seconds: float) -> None:
        """Allow one answer: within this time, and no larger than a body may be."""
        self.stream.allow(limits.BODY_BYTES + limits.HEAD_BYTES)
        self.begun = False
        self.patience.begin(seconds)

    def await_announced(self, until: float) -> None:
        """Wait until the other end announces this connection; ``OSError`` if it does not."""
        while self._announced != {DATA, ERROR}:
            message = self.stream.receive(max(0.0, until - time.monotonic()))
            if message is None:
                raise LostError("its stream was closed")
            if message[0] in self._announced:
                raise RefusedError(f"its channel {message[0]} spoke before the other began")
            self._announce(*message)

    def is_idle(self) -> bool:
        """Whether it is open and has received nothing but answers to requests."""
        try:
            self.receive(0)
        except TimeoutError:
            return True
        except OSError:
            return False
        return False

    def receive(self, seconds: float) -> bytes:
        """Return the next data of the data channel; empty once the stream has ended."""
        until = time.monotonic() + seconds
        while True:
            try:
                message = self.stream.receive(until - time.monotonic())
            except LostError:
                self.lost = True
                return b""
            if message is None:
                return b""
            channel, data = message
            if channel not in self._announced:
                self._announce(channel, data)
            elif channel == ERROR:
                raise _FailedError(data.decode(errors="replace"))
            elif data:
                self.begun = True
                return data

    def _announce(self, channel: int, data: bytes) -> None:
        if channel not in {DATA, ERROR} or data != self.port.to_bytes(2, "little"):
            raise RefusedError(f"its channel {channel} did not begin with port {self.port}")
        self._announced.add(channel)

    def give_up(self) -> None:
        """Release a connection; after part of an answer, close all that share its stream."""
        if self.begun:
            self.stream.hang_up()
        else:
            self.stream.close()

    def sendall(self, data: bytes) -> None:
        self.stream.send(DATA, data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reading(self))

    def close(self) -> None:
        """Leave the stream open: ``http.client`` closes its socket before reading the answer."""


class _Reading(io.RawIOBase):
    """The data of a forwarding, as a file."""

    def __init__(self, over: _Forwarding) -> None:
        self._over = over
        self._rest = b""

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived, at least one byte; ``TimeoutError`` if none arrives in time."""
        data = self._rest or self._over.receive(self._over.patience.left())
        size = min(len(buffer), len(data))
        buffer[:size], self._rest = data[:size], data[size:]
        return size

    def readable(self) -> bool:
        """Return true."""
        return True


@dataclass(slots=True)
class PortForward:
    """HTTP over open port-forwards: one for each concurrent request."""

    connection: Connection
    namespace: str
    pod: str
    port: int
    name: str = "port-forward"
    _idle: list[_Forwarding] = field(default_factory=list)
    _next: int = 1
    """How many connections the next handshake opens: the first request needs one."""
    _most: int = MOST_LANES
    _closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _opening: threading.Lock = field(default_factory=threading.Lock)

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` over an idle or new forwarding; replace one that was lost while idle."""
        while True:
            over, fresh = self._connected()
            try:
                return self._send(over, path, timeout)
            except _LostRequestError as error:
                if fresh and not error.by_another:
                    raise ChannelError(error.message) from error

    def _connected(self) -> tuple[_Forwarding, bool]:
        """Return a forwarding for one request, and whether it is new.

        One handshake at a time, as each opens several; none waits longer for another's than for its
        own.
        """
        if idle := self._take():
            return idle, False
        turn = self._opening.acquire(timeout=CONNECT_SECONDS)
        try:
            idle = self._take()
            return (idle, False) if idle else (self._open(), True)
        finally:
            if turn:
                self._opening.release()

    def _take(self) -> _Forwarding | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                idle = self._idle.pop()
            if idle.is_idle():
                return idle
            idle.give_up()

    def _send(self, over: _Forwarding, path: str, timeout: float) -> HttpAnswer:
        kept = False
        try:
            over.begin(timeout)
            began = time.monotonic()
            probing = http.client.HTTPConnection(self.pod)
            probing.sock = over
            probing.request("GET", path, headers={"Host": self.pod})
            response = probing.getresponse()
            body = whole(response.read, limits.BODY_BYTES, "its answer").decode(errors="replace")
            if over.lost:  # a body without a length may be incomplete
                raise LostError("it was lost in the middle of its answer")
            over.begun = False
            kept = not response.will_close
        except TooBigError as error:
            raise self._failed(error.message) from error
        except (TimeoutError, RefusedError, _FailedError) as error:
            raise self._failed(error) from error
        except (OSError, http.client.HTTPException) as error:
            lost = _LostRequestError(f"port-forward to {self.pod}: {error}")
            lost.by_another = over.stream.hung_up  # by another lane: this one has not hung up yet
            raise lost from error
        finally:
            if not kept:
                over.give_up()
        self._keep(over)
        return HttpAnswer(status=response.status, body=body, seconds=time.monotonic() - began)

    def _keep(self, over: _Forwarding) -> None:
        """Keep a forwarding for the next request; close it after ``close``."""
        over.stream.rest()
        with self._lock:
            if not self._closed:
                self._idle.append(over)
                return
        over.stream.close()

    def read(self, *, timeout: float) -> str:
        """Return what a server sends unprompted over a separate forwarding, until it closes."""
        (over,) = self._opened(1)
        try:
            over.begin(timeout)
            data = whole(_Reading(over).read, limits.BODY_BYTES, "what it says")
        except TooBigError as error:
            raise self._failed(error.message) from error
        except OSError as error:
            raise self._failed(error) from error
        finally:
            over.stream.close()
        if over.lost and not data:
            raise SpentError(f"port-forward to {self.pod}: it was lost before anything was sent")
        return data.decode(errors="replace")

    def close(self) -> None:
        """Close idle forwardings, and busy ones after their answer; open no new one."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for over in idle:
            over.stream.close()

    def _open(self) -> _Forwarding:
        """Open forwardings, return one, and keep the others that the other end serves."""
        first, *others = self._opened(self._next)
        self._next = min(self._most, MOST_LANES if others else LANES)
        until = time.monotonic() + CONNECT_SECONDS
        for number, forwarding in enumerate(others):
            try:
                forwarding.await_announced(until)
            except OSError as error:  # the first one reports failures of the whole stream
                if isinstance(error, TimeoutError):  # only the first port is served
                    self._next = self._most = 1
                for unserved in others[number:]:
                    unserved.stream.close()
                break
            self._keep(forwarding)
        return first

    def _opened(self, count: int) -> list[_Forwarding]:
        if self._closed:
            raise ChannelError(f"port-forward to {self.pod} was closed")
        try:
            stream = open_stream(
                self.connection,
                f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}/portforward",
                [("ports", str(self.port))] * count,
                most=limits.BODY_BYTES + limits.HEAD_BYTES,
                seconds=CONNECT_SECONDS,
            )
        except (HandshakeError, OSError) as error:
            raise ChannelError(f"port-forward to {self.pod} was not opened: {error}") from error
        return [_Forwarding(lane, self.port) for lane in lanes_of(stream, count)]

    def _failed(self, why: object) -> ChannelError:
        return ChannelError(f"port-forward to {self.pod}: {why}")
