"""Convergence deadlines: how long a silent Service may still start to answer. Pure but for a lock.

HNS takes up to a minute to program Services; Kubernetes' scalability tests allow kube-proxy on
Linux 30 s. The sentinel is the Service that was created last: once it answers on a node, older
Services follow soon or not at all, and other nodes of that OS, with the same work, are done soon,
too. Time that the harness's machine lost does not count.
"""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from nettests.model.cluster_profile import Timing
from nettests.model.words import OS

TIMES_A_PEER = 3
"""How many times longer than the fastest node of its OS a node may need for all Services."""

OVERSLEPT_SECONDS = 0.1
"""A wait that ends this much late was delayed by the harness's machine: normally it ends within milliseconds."""


def overslept(planned: float, took: float) -> float:
    """Return for how long this process did not run although a wait was over."""
    late = took - planned
    return late if late >= OVERSLEPT_SECONDS else 0.0


@dataclass(slots=True)
class Deadlines:
    """The deadlines of a run, on a monotonic clock in seconds; thread-safe."""

    timing: Timing
    systems: Mapping[str, OS] = field(default_factory=dict)
    """The OS of each probe's node."""
    _sentinel_answered: dict[str, float] = field(default_factory=dict)
    _fastest: dict[OS | None, tuple[float, float]] = field(default_factory=dict)
    """By OS: when the sentinel first answered, and after how many seconds."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sentinel_answered(self, probe: str, at: float, waited: float) -> None:
        """Note that the sentinel answers ``probe`` after ``waited`` seconds."""
        system = self.systems.get(probe)
        with self._lock:
            self._sentinel_answered[probe] = at
            self._fastest[system] = min(self._fastest.get(system, (math.inf, 0)), (at, waited))

    def of_server(self, began: float) -> float:
        """Return the deadline for a server, first polled at ``began``, to listen."""
        return began + self.timing.listening

    def of_service(self, probe: str, began: float) -> float:
        """Return the deadline for a Service or name to answer ``probe``; it may move earlier."""
        timing, system = self.timing, self.systems.get(probe)
        linux = min(timing.convergence_linux, timing.convergence)
        whole = began + (linux if system is OS.LINUX else timing.convergence)
        with self._lock:
            answered = self._sentinel_answered.get(probe, math.inf)
            first, waited = self._fastest.get(system, (math.inf, 0))
        of_peer = first + max(linux, (TIMES_A_PEER - 1) * waited)
        return min(whole, max(answered, began) + linux, max(of_peer, began + linux))
