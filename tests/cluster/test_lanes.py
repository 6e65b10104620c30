"""Lanes of one stream: each thread gets what came for its own, whoever read it."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import pytest

from nettests.cluster.frames import RefusedError
from nettests.cluster.lanes import CHANNELS, Lane, lanes_of
from nettests.cluster.streams import LostError

COUNT = 4


@dataclass
class Wire:
    """A stream that brings what a test puts in, and says whether two threads read it at a time."""

    coming: "queue.Queue[tuple[int, bytes] | OSError | None]" = field(default_factory=queue.Queue)
    sent: list[tuple[int, bytes]] = field(default_factory=list)
    allowed: list[int] = field(default_factory=list)
    closed: int = 0
    readers: int = 0
    most_readers: int = 0

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return what comes next, as a stream does."""
        self.readers += 1
        self.most_readers = max(self.most_readers, self.readers)
        try:
            came = self.coming.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            raise TimeoutError from None
        finally:
            self.readers -= 1
        if isinstance(came, OSError):
            raise came
        return came

    def send(self, channel: int, data: bytes) -> None:
        """Remember what is sent."""
        self.sent.append((channel, data))

    def allow(self, most: int) -> None:
        """Remember how much may come."""
        self.allowed.append(most)

    def close(self) -> None:
        """Count how often it was hung up."""
        self.closed += 1


@pytest.fixture
def wire() -> Wire:
    """Return a stream that a test writes to."""
    return Wire()


@pytest.fixture
def lanes(wire: Wire) -> list[Lane]:
    """Return the lanes of that stream."""
    return lanes_of(wire, COUNT)  # type: ignore[arg-type]  # as far as lanes use one


def test_each_lane_gets_its_own_messages(wire: Wire, lanes: list[Lane]) -> None:
    """Threads wait at the same time, one of them reads, and each returns what came for it."""
    with ThreadPoolExecutor(COUNT) as pool:
        waiting = [pool.submit(lane.receive, 10.0) for lane in lanes]
        for number in reversed(range(COUNT)):
            wire.coming.put((number * CHANNELS, str(number).encode()))
        found = [one.result() for one in waiting]
    assert found == [(0, str(number).encode()) for number in range(COUNT)]
    assert wire.most_readers == 1


def test_messages_of_a_lane_keep_their_order(wire: Wire, lanes: list[Lane]) -> None:
    """What came while somebody else read waits, data and errors alike."""
    for said in (b"a", b"b"):
        wire.coming.put((CHANNELS, said))
    wire.coming.put((CHANNELS + 1, b"error"))
    wire.coming.put((0, b"other"))
    assert lanes[0].receive(5) == (0, b"other")
    assert [lanes[1].receive(0) for _ in range(3)] == [(0, b"a"), (0, b"b"), (1, b"error")]


def test_who_gives_up_reading_hands_it_on(wire: Wire, lanes: list[Lane]) -> None:
    """A lane with a short deadline reads first; when it is over another one gets its message all the same."""
    began = threading.Event()

    def impatient() -> None:
        began.set()
        with pytest.raises(TimeoutError):
            lanes[0].receive(0.2)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(impatient)
        began.wait()
        second = pool.submit(lanes[1].receive, 10.0)
        first.result()
        wire.coming.put((CHANNELS, b"late"))
        assert second.result() == (0, b"late")


def test_a_lost_stream_is_lost_for_all(wire: Wire, lanes: list[Lane]) -> None:
    """Whoever waits, or comes later, is told why; what came before is still theirs."""
    wire.coming.put((CHANNELS, b"whole"))
    wire.coming.put(LostError("cut"))
    with pytest.raises(LostError, match="cut"):
        lanes[0].receive(5)
    assert lanes[1].receive(0) == (0, b"whole")
    with pytest.raises(LostError, match="cut"):
        lanes[1].receive(5)


def test_a_stream_that_ended_brings_nothing(wire: Wire, lanes: list[Lane]) -> None:
    """Its end is no error, for none of the lanes."""
    wire.coming.put(None)
    assert [lane.receive(5) for lane in lanes] == [None] * COUNT


def test_channels_are_counted_by_lane(wire: Wire, lanes: list[Lane]) -> None:
    """Each lane sends over channels of its own."""
    for lane in lanes:
        lane.send(0, b"GET")
    assert wire.sent == [(number * CHANNELS, b"GET") for number in range(COUNT)]


def test_a_lane_may_bring_as_much_as_was_allowed_for_it(wire: Wire, lanes: list[Lane]) -> None:
    """Only lanes that wait for an answer count: an idle one is allowed nothing."""
    lanes[0].allow(100)
    lanes[1].allow(100)
    lanes[0].rest()
    lanes[1].allow(100)
    assert wire.allowed == [100, 200, 100]


def test_the_stream_is_closed_with_its_last_lane(wire: Wire, lanes: list[Lane]) -> None:
    """One that was given up leaves the others what they have; what comes for it later is dropped."""
    lanes[0].close()
    lanes[0].close()
    wire.coming.put((0, b"too late"))
    wire.coming.put((CHANNELS, b"mine"))
    assert lanes[1].receive(5) == (0, b"mine")
    assert wire.closed == 0
    for lane in lanes[1:]:
        lane.close()
    assert wire.closed == 1


def test_hanging_up_ends_all_lanes(wire: Wire, lanes: list[Lane]) -> None:
    """What cannot be trusted on one lane is not read on any."""
    lanes[2].hang_up()
    assert wire.closed == 1
    assert lanes[1].hung_up


def test_who_shares_a_stream_that_was_hung_up_is_told_that_it_was_lost(
    wire: Wire, lanes: list[Lane]
) -> None:
    """Not what the closed stream says of itself: whoever reads it at that moment is not at fault either."""
    with ThreadPoolExecutor(COUNT) as pool:
        waiting = [pool.submit(lane.receive, 10.0) for lane in lanes[1:]]
        while not wire.readers:
            threading.Event().wait(0.001)
        lanes[0].hang_up()
        wire.coming.put(RefusedError("cannot be read"))
        for one in waiting:
            with pytest.raises(LostError, match="shared its stream"):
                one.result()


def test_many_lanes_at_once_lose_nothing(wire: Wire, lanes: list[Lane]) -> None:
    """Hundreds of messages in any order: each lane has its own, in order."""
    many = 200

    def read(lane: Lane) -> list[bytes]:
        return [message[1] for _ in range(many) if (message := lane.receive(10.0))]

    with ThreadPoolExecutor(COUNT) as pool:
        reading = [pool.submit(partial(read, lane)) for lane in lanes]
        for turn in range(many):
            for number in range(COUNT):
                wire.coming.put((number * CHANNELS, str(turn).encode()))
        for one in reading:
            assert one.result() == [str(turn).encode() for turn in range(many)]
    assert wire.most_readers == 1
