"""Several connections over one port-forward: each lane has its own channels and its own reader.

A port-forward WebSocket names its ports and has two channels for each. The ports may be equal, and
a kubelet opens a connection for each (``kubelet/pkg/cri/streaming/portforward``): one handshake
gives as many connections as needed. Between ``streams``, which one thread may read at a time, and
``port_forward``.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass, field

from nettests.cluster.streams import LostError, Stream

CHANNELS = 2
"""Per port: data, and errors."""
Message = tuple[int, bytes]


@dataclass(slots=True)
class Lanes:
    """The lanes of one stream. Thread-safe.

    One of the waiting threads reads for all; once it has its own message, another one reads.
    """

    stream: Stream
    count: int
    _came: list[deque[Message]] = field(init=False)
    _open: set[int] = field(init=False)
    _busy: set[int] = field(default_factory=set)
    """The lanes that wait for an answer."""
    _ended: bool = False
    _why: OSError | None = None
    """Why the stream broke, if it did."""
    hung_up: bool = False
    """Whether it was closed because of one lane's data: the others are not at fault."""
    _reading: bool = False
    _turn: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._came = [deque() for _ in range(self.count)]
        self._open = set(range(self.count))

    def receive(self, lane: int, seconds: float) -> Message | None:
        """Return the next message of a lane; ``None`` once the stream has ended.

        ``TimeoutError`` if none arrives in time; the stream's own error if it broke.
        """
        until = time.monotonic() + seconds
        while True:
            with self._turn:
                while not (self._came[lane] or self._ended) and self._reading:
                    if not self._turn.wait(max(0.0, until - time.monotonic())):
                        raise TimeoutError
                if self._came[lane]:
                    return self._came[lane].popleft()
                if self._why is not None:
                    raise self._why
                if self._ended:
                    return None
                self._reading = True
            self._read(max(0.0, until - time.monotonic()))

    def _read(self, seconds: float) -> None:
        message: Message | None = None
        over, why = False, None
        try:
            message = self.stream.receive(seconds)
            over = message is None
        except TimeoutError:
            raise
        except OSError as error:
            over, why = True, error
        finally:
            with self._turn:
                self._reading = False
                if not self._ended:  # otherwise it was closed meanwhile
                    self._ended, self._why = over, why
                if message is not None:
                    lane, channel = divmod(message[0], CHANNELS)
                    if lane in self._open:
                        self._came[lane].append((channel, message[1]))
                self._turn.notify_all()

    def allow(self, lane: int, most: int) -> None:
        """Allow a lane this many bytes from now on, and each other busy lane as many."""
        with self._turn:
            self._busy.add(lane)
            self.stream.allow(most * len(self._busy))

    def rest(self, lane: int) -> None:
        """Note that a lane has its answer: it may receive nothing before the next request."""
        with self._turn:
            self._busy.discard(lane)

    def close(self, lane: int) -> None:
        """Release a lane; the stream is closed with the last one."""
        with self._turn:
            self._open.discard(lane)
            self._busy.discard(lane)
            last = not self._open
        if last:
            self.stream.close()

    def hang_up(self) -> None:
        """Close the stream; current and later readers get a ``LostError``."""
        with self._turn:
            if not self._ended:
                self._ended, self.hung_up = True, True
                self._why = LostError("it shared its stream with one that was given up")
            self._turn.notify_all()
        self.stream.close()


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane, as a stream with two channels."""

    lanes: Lanes
    number: int

    def allow(self, most: int) -> None:
        """Allow this many bytes from now on, whatever was received before."""
        self.lanes.allow(self.number, most)

    def rest(self) -> None:
        """Note that no more answers are expected."""
        self.lanes.rest(self.number)

    def receive(self, seconds: float) -> Message | None:
        """Return the next message's channel and data; ``None`` once the stream has ended."""
        return self.lanes.receive(self.number, seconds)

    def send(self, channel: int, data: bytes) -> None:
        """Send a message over one of the lane's channels."""
        self.lanes.stream.send(self.number * CHANNELS + channel, data)

    def close(self) -> None:
        """Release the lane. May be called twice."""
        self.lanes.close(self.number)

    def hang_up(self) -> None:
        """Close the stream with all its lanes: its data cannot be trusted, or it is dead."""
        self.lanes.hang_up()

    @property
    def hung_up(self) -> bool:
        """Whether its stream was closed because of one lane's data."""
        return self.lanes.hung_up


def lanes_of(stream: Stream, count: int) -> list[Lane]:
    """Return the lanes of a stream that was opened to ``count`` ports."""
    shared = Lanes(stream, count)
    return [Lane(shared, number) for number in range(count)]
