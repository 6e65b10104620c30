"""Looks at what stands in the cluster while a run tests it: not two within a second where one will do.

Used by ``node_watch`` and ``pod_watch``, which say what is looked at, compare, and let one look at a time. Time is the
run's own (monotonic seconds since it began), in which raw answers are written.
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
