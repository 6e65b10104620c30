"""When each probe's resolver last answered: one that answers other queries loses some, and is not dead.

Written by ``sending`` and ``convergence``, read by ``attempts``. Pure but for its lock.
"""

import threading
from dataclasses import dataclass, field


@dataclass(slots=True)
class Resolvers:
    """The resolvers of a run, one for each probe; times are monotonic. Safe for threads."""

    _answered: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_answer(self, probe: str, at: float) -> None:
        """Note that a name was resolved for ``probe``."""
        with self._lock:
            self._answered[probe] = max(at, self._answered.get(probe, at))

    def answered(self, probe: str, since: float) -> bool:
        """Whether a name was resolved for ``probe`` at that time or later."""
        with self._lock:
            return probe in self._answered and self._answered[probe] >= since
