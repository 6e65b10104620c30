"""Rate-limit looks at the cluster during a run: at most one a second where one look is enough.

Used by ``node_watch`` and ``pod_watch``. Time is the run's own (monotonic seconds since its start), as in raw
answers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from nettests.errors import ClusterError

FRESH_SECONDS = 1.0
"""How old a look may be that a failing check is compared with."""

Seen = TypeVar("Seen")


@dataclass(slots=True, kw_only=True)
class Looks(Generic[Seen]):
    """What ``read`` brings, and when it was called last; one thread at a time."""

    read: Callable[[], Seen]
    clock: Callable[[], float]
    began: float
    """When the run began (``clock``)."""
    _looked: float = -math.inf

    def now(self) -> float:
        """Return the time since the run began."""
        return self.clock() - self.began

    def look(self, *, older_than: float = 0.0) -> tuple[float, Seen] | None:
        """Return when a look began and what it brought; ``None`` if the last is not older than that, or was not answered."""
        began = self.now()
        if began - self._looked < older_than:
            return None
        try:
            return began, self.read()
        except ClusterError:
            return None
        finally:
            self._looked = self.now()
