"""How much may be under way at the same time over one channel or on one node, and who comes next.

Taken by ``probes.asking`` around each question and by ``cluster`` around each process. What costs a cluster
something is a question's beginning; one that was asked seconds ago and is still silent only waits for its
time-out. So that silence holds nobody up, only what began a moment ago counts, up to a ceiling that file
descriptors, or the processes of a node, set.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import TracebackType

HTTP_AT_ONCE = 192
"""Questions over all HTTP channels of a run: an open forwarding takes four file descriptors (measured), and most systems
give a process 1,024 (``ulimit -n``)."""
PATIENCE = 1.0
"""Seconds after which a question that has no answer yet only waits: two nodes need milliseconds."""
PROCESS_PATIENCE = 2.0
"""The same for a process in a container: Windows takes a second or two to start one."""
SILENT_PROCESSES = 7
"""Of a node's processes, so many times as many as may be started at once may be waiting for a time-out."""


@dataclass(slots=True)
class Slots:
    """Lets so many in ``at_once``, in the order in which they came; safe for threads.

    A context manager, not re-entrant: a thread holds one slot at most. Who entered longer ago than ``patience``
    seconds counts no more, as long as there are no more than ``ceiling`` inside, and room in ``room``, which
    several may share.
    """

    at_once: int
    patience: float
    ceiling: int
    room: threading.Semaphore | None = None
    clock: Callable[[], float] = time.monotonic
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _inside: dict[int, float] = field(default_factory=dict)
    """When each thread entered, oldest first."""
    _queue: deque[int] = field(default_factory=deque)
    first: deque[int] = field(default_factory=deque)
    """Who is let in before the queue."""

    def __enter__(self) -> None:
        """Wait for the turn of this thread, then for room."""
        self.enter_by(self._queue)

    def enter_by(self, queue: deque[int]) -> None:
        """Wait in one of the queues for the turn of this thread, then for room."""
        me = threading.get_ident()
        with self._changed:
            queue.append(me)
            try:
                while self._next() != me or (seconds := self._full_for()) is not None:
                    # Who is not the first is woken when the first has entered, or somebody came ahead of it.
                    self._changed.wait(seconds if self._next() == me else None)
                self._inside[me] = self.clock()
            finally:
                queue.remove(me)
                self._changed.notify_all()
        if self.room is not None:
            self.room.acquire()
            with self._changed:
                self._inside.pop(me)
                self._inside[me] = self.clock()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make room for the next one."""
        if self.room is not None:
            self.room.release()
        with self._changed:
            del self._inside[threading.get_ident()]
            self._changed.notify_all()

    def _next(self) -> int:
        return (self.first or self._queue)[0]

    def _full_for(self) -> float | None:
        """Return for how many seconds nobody may enter if nobody leaves, ``None`` if somebody may now."""
        now = self.clock()
        young = [began for began in self._inside.values() if began > now - self.patience]
        if len(self._inside) >= self.ceiling:
            return threading.TIMEOUT_MAX
        return young[0] + self.patience - now if len(young) >= self.at_once else None


@dataclass(frozen=True, slots=True)
class _Ahead(AbstractContextManager[None]):
    """Slots whose ordinary queue is passed by."""

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
    """Return the same bound, entered before all who wait in its ordinary queue, if it has one.

    For what takes longest where nobody answers: begun last, it would be all that a run still waits for.
    """
    return _Ahead(slots, slots.first) if isinstance(slots, Slots) else slots


def for_processes(at_once: int) -> Slots:
    """Return the slots of one node's processes."""
    return Slots(at_once=at_once, patience=PROCESS_PATIENCE, ceiling=SILENT_PROCESSES * at_once)


def for_questions(at_once: int, room: threading.Semaphore) -> Slots:
    """Return the slots of one probe's HTTP channels, which share ``room`` with those of the others."""
    return Slots(at_once=at_once, patience=PATIENCE, ceiling=HTTP_AT_ONCE, room=room)
