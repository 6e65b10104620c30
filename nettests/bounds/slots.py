"""Slots: who may start next on a channel, on a node, or at the API server.

``probes.sending`` takes a slot for each request, ``cluster`` for each process and API request.
Starting a request costs the cluster something; waiting for its time-out does not. So only recently
started requests count against the limit, up to a ceiling set by file descriptors or by the
processes on a node: unanswered requests do not block others.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median
from types import TracebackType

from nettests.bounds.amounts import Bounds

REMEMBERED = 9
"""How many recent answers show how long answers take at present."""
TIMES = 3.0
"""A request that has waited this many times the usual time will hardly be answered."""


@dataclass(slots=True)
class _Stay:
    """When a thread entered, and whether its stream is open."""

    since: float
    opened: bool


@dataclass(slots=True)
class Slots:
    """Lets ``at_once`` threads in, in the order of their arrival. Thread-safe.

    A context manager, not re-entrant: a thread holds at most one slot. A thread that entered longer
    than ``patience`` seconds ago no longer counts, while at most ``ceiling`` are inside and
    ``room``, which several may share, has room. With ``handshakes`` a stream must be opened first:
    a thread that entered longer than ``opening`` seconds ago does not count until it calls
    ``opened``, while it and the counting ones are at most ``handshakes``. With ``forbearance``,
    late answers (``took``) extend patience up to so many seconds: an overloaded end is not silent.
    """

    at_once: int
    patience: float
    ceiling: int
    room: threading.Semaphore | None = None
    opening: float = 0.0
    handshakes: int = 0
    forbearance: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: dict[int, threading.Condition] = field(default_factory=dict)
    """By thread: each is woken separately, as only the first of hundreds of threads may enter."""
    _inside: dict[int, _Stay] = field(default_factory=dict)
    """By thread."""
    _queue: deque[int] = field(default_factory=deque)
    first: deque[int] = field(default_factory=deque)
    """Threads that enter before the queue."""
    _took: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def __enter__(self) -> None:
        """Wait for the turn of this thread, then for room."""
        self.enter_by(self._queue)

    def enter_by(self, queue: deque[int]) -> None:
        """Wait in a queue for the turn of this thread, then for room."""
        me = threading.get_ident()
        with self._lock:
            queue.append(me)
            turn = self._waiting[me] = threading.Condition(self._lock)
            try:
                while self._next() != me or (seconds := self._full_for()) is not None:
                    # Others are woken once they are first: the first has entered or given up.
                    turn.wait(seconds if self._next() == me else None)
                self._inside[me] = self._new_stay()
            finally:
                queue.remove(me)
                del self._waiting[me]
                self._wake_next()
        if self.room is not None:
            self.room.acquire()
            with self._lock:
                self._inside[me] = self._new_stay()

    def _wake_next(self) -> None:
        """Wake the first waiting thread to check whether it may enter."""
        if self.first or self._queue:
            self._waiting[self._next()].notify()

    def opened(self) -> None:
        """Note that this thread's stream is open: what the slots limit begins now."""
        with self._lock:
            if self.handshakes and (stay := self._inside.get(threading.get_ident())):
                stay.since, stay.opened = self.clock(), True
                self._wake_next()

    def took(self, seconds: float) -> None:
        """Note how long an answered request took; a time-out does not show the load."""
        with self._lock:
            self._took.append(seconds)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make room for the next thread."""
        if self.room is not None:
            self.room.release()
        with self._lock:
            del self._inside[threading.get_ident()]
            self._wake_next()

    def _next(self) -> int:
        return (self.first or self._queue)[0]

    def _new_stay(self) -> _Stay:
        return _Stay(since=self.clock(), opened=not self.handshakes)

    def _full_for(self) -> float | None:
        """Return the seconds until a thread may enter if none leaves; ``None`` if one may now."""
        if len(self._inside) >= self.ceiling:
            return threading.TIMEOUT_MAX
        now, stays, patience = self.clock(), self._inside.values(), self._patience()
        young = [stay.since + patience - now for stay in stays]
        counting = [
            stay.since + (patience if stay.opened else self.opening) - now for stay in stays
        ]
        for left, most in ((counting, self.at_once), (young, self.handshakes or self.ceiling)):
            if len(those := [seconds for seconds in left if seconds > 0]) >= most:
                return min(those)
        return None

    def _patience(self) -> float:
        """Return after how many seconds a thread no longer counts: a few times the usual one."""
        return max(self.patience, min(self.forbearance, self.bearable))

    @property
    def bearable(self) -> float:
        """How long an answer may take at present, in seconds: 0 while few answers show that."""
        return TIMES * median(list(self._took)) if len(self._took) == REMEMBERED else 0.0


@dataclass(frozen=True, slots=True)
class _Ahead(AbstractContextManager[None]):
    """The same slots, entered through another queue."""

    slots: Slots
    queue: deque[int]

    def __enter__(self) -> None:
        self.slots.enter_by(self.queue)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.slots.__exit__(kind, error, trace)


def ahead(slots: AbstractContextManager[object]) -> AbstractContextManager[object]:
    """Return the same limit, entered before all threads in its ordinary queue, if it has one.

    For requests that take longest without an answer: started last, they would delay the end.
    """
    return _Ahead(slots, slots.first) if isinstance(slots, Slots) else slots


def took(slots: AbstractContextManager[object], seconds: float) -> None:
    """Note how long an answered request took, if ``slots`` use that."""
    if isinstance(slots, Slots):
        slots.took(seconds)


def bearable(slots: AbstractContextManager[object]) -> float:
    """Return how long an answer may take at present, in seconds; 0 if ``slots`` do not know it."""
    return slots.bearable if isinstance(slots, Slots) else 0.0


def opened(slots: AbstractContextManager[object]) -> None:
    """Note that the stream of this thread inside ``slots`` is open."""
    if isinstance(slots, Slots):
        slots.opened()


def for_processes(at_once: int, bounds: Bounds) -> Slots:
    """Return the slots of one node's processes.

    A process begins when its exec is open: a kubelet answers the handshake and then runs it. Until
    then an exec costs only the API server something.
    """
    return Slots(
        at_once=at_once,
        patience=bounds.process_patience,
        ceiling=bounds.silent_processes * at_once,
        opening=bounds.handshake_patience,
        handshakes=max(at_once, int(bounds.handshakes * at_once)),
    )


def for_batches(bounds: Bounds) -> Slots:
    """Return the slots of one Pod's batches of commands: the next batch forms meanwhile."""
    return Slots(at_once=1, patience=bounds.process_patience, ceiling=bounds.silent_processes)


def room_for_questions(bounds: Bounds) -> threading.Semaphore:
    """Return the room that the HTTP channels of all probes share."""
    return threading.Semaphore(bounds.questions_open)


def for_questions(at_once: int, room: threading.Semaphore, bounds: Bounds) -> Slots:
    """Return the slots of one probe's HTTP channels, which share ``room`` with the others."""
    return Slots(
        at_once=at_once,
        patience=bounds.question_patience,
        ceiling=bounds.questions_open,
        room=room,
        forbearance=bounds.question_forbearance,
    )


def for_requests(bounds: Bounds) -> Slots:
    """Return the slots of the API requests of one connection."""
    return Slots(
        at_once=bounds.requests,
        patience=bounds.request_patience,
        ceiling=bounds.requests_open,
    )


def for_checks(bounds: Bounds) -> Slots:
    """Return the slots of all checks that may run concurrently."""
    return Slots(
        at_once=bounds.checks,
        patience=bounds.question_patience,
        ceiling=bounds.waiting_checks,
    )


def for_starts(bounds: Bounds) -> Slots:
    """Return a node's slots for Pods that checks create, each held until the Pod is deleted."""
    room = bounds.starts_per_node
    return Slots(at_once=room, patience=threading.TIMEOUT_MAX, ceiling=room)
