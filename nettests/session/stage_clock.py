"""Measure how many seconds each stage of a run takes, for the report.

Stages follow one another; a stage that begins a second time is added up.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class StageClock:
    """The stages of one run, in the order in which they began; safe for threads, as an end may come from any."""

    clock: Callable[[], float] = time.monotonic
    _seconds: dict[str, float] = field(default_factory=dict)
    _running: str | None = None
    _since: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, stage: str) -> None:
        """End what is going on, and begin a stage."""
        with self._lock:
            self.end()
            self._seconds.setdefault(stage, 0.0)
            self._running, self._since = stage, self.clock()

    def end(self) -> None:
        """End what is going on, if anything is."""
        with self._lock:
            if self._running is not None:
                self._seconds[self._running] += self.clock() - self._since
                self._running = None

    def seconds(self) -> dict[str, float]:
        """Return what each stage took; the one that is going on counts to this moment."""
        with self._lock:
            running = {self._running: self.clock() - self._since} if self._running else {}
            return {
                stage: round(spent + running.get(stage, 0.0), 3)
                for stage, spent in self._seconds.items()
            }
