"""The course of one run, which all its stages share: where it is, how long each stage took, and whether it is to end.

``Run`` makes it; stages follow one another, and one that begins a second time is added up. Decides nothing itself:
``stopped`` ends the run early, ``broken_off`` leaves its diagnostics out too.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nettests import probes
from nettests.session.run_options import Progress


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


@dataclass(slots=True, kw_only=True)
class Course:
    """Where a run is; ``on_progress`` is called from background threads with every ``Progress``."""

    stages: StageClock
    event: Callable[..., None]
    """Writes to the journal what happened to the run as a whole."""
    on_progress: Callable[[Progress], None] = lambda _progress: None
    began: float = field(default_factory=time.monotonic)
    stopped: threading.Event = field(default_factory=threading.Event)
    """No further check begins."""
    broken_off: threading.Event = field(default_factory=threading.Event)
    """The run is not only to stop, but to end at once: without diagnostics."""
    progress: Progress = field(default_factory=lambda: Progress(stage="prepared"))

    def tell(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Tell how far the run is."""
        self.progress = Progress(stage=stage, done=done, total=total)
        self.on_progress(self.progress)

    def coming_up(self, stage: str, done: int, total: int) -> None:
        """Tell how many images or Pods are settled, and wait for no more of them once the run is stopped."""
        if self.stopped.is_set():
            raise probes.StoppedError("the run was stopped while its probes came up")
        self.tell(stage, done, total)

    def lost(self, why: str) -> None:
        """Start no further check: the namespace is another run's now."""
        self.event(f"the run was stopped: {why}")
        self.stopped.set()

    def break_off(self) -> None:
        """Start no further check and diagnose nothing: it could not be read, or not be written."""
        self.broken_off.set()
        self.stopped.set()
