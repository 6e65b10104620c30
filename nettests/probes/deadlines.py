"""How long what is silent may still come: a proxy's whole time, or less where the node shows that it is done.

Used by ``convergence``. HNS takes up to a minute to program Services; a kube-proxy on Linux is held to 30 s by
Kubernetes' own scalability tests. The sentinel is the Service that was made last: when it answers on a node, what was
made before it follows soon or not at all. Pure but for its lock.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from nettests.model.profile import Timing
from nettests.model.words import OS


@dataclass(slots=True)
class Deadlines:
    """The deadlines of a run, in the seconds of a monotonic clock; safe for threads."""

    timing: Timing
    systems: Mapping[str, OS] = field(default_factory=dict)
    """The OS of each probe's node."""
    _sentinel_answered: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sentinel_answered(self, probe: str, at: float) -> None:
        """Note that the Service which was made last answers ``probe``."""
        with self._lock:
            self._sentinel_answered[probe] = at

    def of_server(self, began: float) -> float:
        """Return until when a server that was asked first at ``began`` may begin to listen."""
        return began + self.timing.listening

    def of_service(self, probe: str, began: float) -> float:
        """Return until when a Service, or a name, may begin to answer ``probe``; it may come closer later."""
        timing = self.timing
        linux = self.systems.get(probe) is OS.LINUX
        whole = began + (
            min(timing.convergence_linux, timing.convergence) if linux else timing.convergence
        )
        with self._lock:
            answered = self._sentinel_answered.get(probe)
        if answered is None:
            return whole
        return min(whole, max(began, answered) + timing.convergence_linux)
