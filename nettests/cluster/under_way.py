"""What is under way over one connection, so that closing the connection ends it; and when anything was answered last.

Used by ``connection``, ``tries`` and ``handshake``. An answer that is waited for, or a stream that is read, would hold its thread,
and with it the process, until its time is over; cut, it is an error of who reads it.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class UnderWay:
    """How each answer and stream under way is cut; safe for threads."""

    def __init__(self) -> None:
        self.over = threading.Event()
        """Nothing is begun any more."""
        self.until = math.inf
        """No further try of anything begins after that (``time.monotonic``)."""
        self._heard = time.monotonic()
        self._cuts: dict[object, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def heard(self) -> None:
        """Take note that the API server has answered something, however it did."""
        self._heard = time.monotonic()

    def silence(self) -> float:
        """Return for how many seconds it has answered nothing."""
        return time.monotonic() - self._heard

    @contextmanager
    def cutting(self, cut: Callable[[], None]) -> Iterator[None]:
        """Let ``end`` call ``cut``, in another thread, as long as the block lasts; at once where it was called before."""
        key = object()
        with self._lock:
            self._cuts[key] = cut
        if self.over.is_set():
            cut()
        try:
            yield
        finally:
            with self._lock:
                del self._cuts[key]

    def hasten(self) -> None:
        """Cut all that is under way and try nothing again: nobody answers. What is begun from now on has one try."""
        self.until = time.monotonic()
        self._cut()

    def end(self) -> None:
        """Cut all that is under way, and begin nothing any more."""
        self.over.set()
        self._cut()

    def _cut(self) -> None:
        with self._lock:
            cuts = list(self._cuts.values())
        for cut in cuts:
            cut()
