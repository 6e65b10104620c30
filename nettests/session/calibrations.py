"""Calibrate a run's instruments in the background while Services converge; a verdict waits for those that it needs.

Between the opened probes and ``watch``. Each answer is written to the journal before it is read.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from nettests import probes
from nettests.bounds import Bounds
from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.journal_records import Calibrated
from nettests.parse.doubts import Doubts
from nettests.probes.calibrating import Place


@dataclass(slots=True, kw_only=True)
class Calibrating:
    """The calibrations of one run; safe for threads."""

    write: Callable[[Calibrated], None]
    timing: Timing
    stopped: threading.Event
    """Set when the run is stopped: what was not calibrated by then is not any more."""
    _doubts: Doubts = field(default_factory=Doubts)
    _pending: dict[tuple[str, str], Future[None]] = field(default_factory=dict)
    """By node and vantage."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, places: Iterable[Place], opened: Mapping[str, probes.Probe]) -> None:
        """Begin to calibrate these places; each once in a run."""
        pool = ThreadPoolExecutor(Bounds.of(self.timing).calibrations, "calibrate")
        for place in places:
            key = (place.node, place.vantage.value)
            if key not in self._pending:
                self._pending[key] = pool.submit(self._calibrate, place, opened[place.probe])
        pool.shutdown(wait=False)

    def _calibrate(self, place: Place, probe: probes.Probe) -> None:
        for calibration in probes.calibrate(place, probe, self.timing, self.stopped):
            self.write(Calibrated(calibration=calibration))
            with self._lock:
                self._doubts.add(calibration)

    def doubts_about(self, check: Check) -> Doubts:
        """Return the doubts once all vantages of a check are calibrated."""
        for source in {action.source for action in check.actions}:
            pending = self._pending.get((source.node or "", source.kind.value))
            if pending is not None:
                pending.result()
        return self._doubts
