"""Calibrate a run's instruments in the background; verdicts wait for those that they need.

Begins when the probes are open, while Services converge. Each answer is written to the journal
before it is read.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from nettests import probes
from nettests.bounds import Bounds
from nettests.model.calibration import Calibration
from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.journal_records import Calibrated
from nettests.model.node_reading import NodeReading
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.parse.doubts import Doubts, of_words


@dataclass(slots=True, kw_only=True)
class Calibrating:
    """The calibrations of one run. Thread-safe."""

    write: Callable[[Calibrated], None]
    timing: Timing
    stopped: threading.Event
    """Set when the run is stopped: no further calibration begins."""
    made: list[Calibration] = field(default_factory=list)
    _doubts: Doubts = field(default_factory=Doubts)
    _pending: dict[str, Future[None]] = field(default_factory=dict)
    """By probe."""
    _first: dict[tuple[VantageKind, str | None], str] = field(default_factory=dict)
    """A probe of each kind on each node: one Pod's calibration holds for other Pods on the node."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, places: Iterable[probes.Place], opened: Mapping[str, probes.Probe]) -> None:
        """Begin to calibrate these places, each once in a run."""
        pool = ThreadPoolExecutor(Bounds.of(self.timing).calibrations, "calibrate")
        for place in places:
            if place.probe not in self._pending:
                submitted = pool.submit(self._calibrate, place, opened[place.probe])
                self._pending[place.probe] = submitted
                self._first.setdefault((place.vantage, place.node), place.probe)
        pool.shutdown(wait=False)

    def _calibrate(self, place: probes.Place, probe: probes.Probe) -> None:
        for calibration in probes.calibrate(place, probe, self.timing, self.stopped):
            self.write(Calibrated(calibration=calibration))
            with self._lock:
                self._doubts.add(calibration)
                self.made.append(calibration)

    def wait(self) -> None:
        """Wait for all calibrations that were begun."""
        for pending in self._pending.values():
            pending.result()

    def doubts_about(self, check: Check) -> Doubts:
        """Return the doubts once all probes of a check are calibrated."""
        for action in check.actions:
            self._wait(action.source.probe)
            if action.question is Question.START:
                self._wait(self._first.get((VantageKind.POD, action.target.node), ""))
            if action.target.kind is TargetKind.NODE_IP:
                self._wait(self._first.get((VantageKind.NODE, action.target.node), ""))
            for pod in action.target.backends:
                self._wait(pod)
        return self._doubts

    def doubted(self, reading: NodeReading) -> NodeReading:
        """Return a reading, with an error if its instrument is distrusted, so as not to count."""
        self._wait(reading.probe)
        why = self._doubts.why(of_words(reading.command), reading.probe)
        return replace(reading, error=why) if why and reading.error is None else reading

    def _wait(self, probe: str) -> None:
        if (pending := self._pending.get(probe)) is not None:
            pending.result()
