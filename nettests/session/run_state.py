"""The state of one run, shared by its stages: where it is, for how long, and whether to end.

``Run`` creates it. Stages follow one another; the times of a repeated stage are added. Decides
nothing itself: ``stopped`` ends the run early, ``broken_off`` skips diagnostics too.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nettests import probes
from nettests.session.run_options import Progress


@dataclass(slots=True)
class StageClock:
    """The stages of one run, in the order in which they began. Thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _seconds: dict[str, float] = field(default_factory=dict)
    _running: str | None = None
    _since: float = 0.0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self, stage: str) -> None:
        """End the current stage, if any, and begin another."""
        with self._lock:
            self.end()
            self._seconds.setdefault(stage, 0.0)
            self._running, self._since = stage, self.clock()

    def end(self) -> None:
        """End the current stage, if any."""
        with self._lock:
            if self._running is not None:
                self._seconds[self._running] += self.clock() - self._since
                self._running = None

    def seconds(self) -> dict[str, float]:
        """Return the duration of each stage; of the current one, so far."""
        with self._lock:
            running = {self._running: self.clock() - self._since} if self._running else {}
            return {
                stage: round(spent + running.get(stage, 0.0), 3)
                for stage, spent in self._seconds.items()
            }


@dataclass(slots=True, kw_only=True)
class RunState:
    """How far a run is; background threads call ``on_progress`` with every ``Progress``."""

    stages: StageClock
    event: Callable[..., None]
    """Writes an event to the journal."""
    on_progress: Callable[[Progress], None] = lambda _progress: None
    began: float = field(default_factory=time.monotonic)
    stopped: threading.Event = field(default_factory=threading.Event)
    """No further check begins."""
    broken_off: threading.Event = field(default_factory=threading.Event)
    """The run is to end at once, without diagnostics."""
    progress: Progress = field(default_factory=lambda: Progress(stage="prepared"))

    def tell(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Report the progress."""
        self.progress = Progress(stage=stage, done=done, total=total)
        self.on_progress(self.progress)

    def coming_up(self, stage: str, done: int, total: int) -> None:
        """Report how many images or Pods are ready; ``StoppedError`` once the run is stopped."""
        if self.stopped.is_set():
            raise probes.StoppedError("the run was stopped while its probes came up")
        self.tell(stage, done, total)

    def lost(self, why: str) -> None:
        """Start no further check: another run has taken the namespace."""
        self.event(f"the run was stopped: {why}")
        self.stopped.set()

    def break_off(self) -> None:
        """Start no further check and diagnose nothing."""
        self.broken_off.set()
        self.stopped.set()
