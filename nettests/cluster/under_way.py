"""What is under way over one connection, so that closing the connection ends it.

Used by ``connection`` and ``handshake``. An answer that is waited for, or a stream that is read, would hold its thread,
and with it the process, until its time is over; cut, it is an error of who reads it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class UnderWay:
    """How each answer and stream under way is cut; safe for threads."""

    def __init__(self) -> None:
        self.over = threading.Event()
        """Nothing is begun any more."""
        self._cuts: dict[object, Callable[[], None]] = {}
        self._lock = threading.Lock()

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

    def end(self) -> None:
        """Cut all that is under way."""
        self.over.set()
        with self._lock:
            cuts = list(self._cuts.values())
        for cut in cuts:
            cut()
