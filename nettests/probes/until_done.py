"""A recorder that drops records of a check that is done.

Used by ``check_run``. A request whose answer no longer matters is abandoned, because it may wait half a minute for
its time-out; its answer must not reach the journal, or a verdict computed later would differ.
"""

import threading
from dataclasses import dataclass, field

from nettests.model.observation import Raw
from nettests.probes.seams import Recorder


@dataclass(slots=True)
class UntilDone:
    """Records one check until its ``done``, and always what concerns the run as a whole. Safe for threads."""

    recorder: Recorder
    _over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def raw(self, raw: Raw) -> object:
        """Write one request and its answer, unless the check is done."""
        with self._lock:
            return raw if self._over else self.recorder.raw(raw)

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Write that the check is done: the last record about it."""
        with self._lock:
            self._over = True
        self.recorder.done(check, distrust=distrust, skip=skip, late=late)

    def event(self, text: str) -> None:
        """Write what happened to the run."""
        self.recorder.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took."""
        self.recorder.convergence(
            service=service, probe=probe, seconds=seconds, converged=converged
        )
