"""Check whether the Pods of a failed check still exist.

If a Pod is evicted, deleted or restarted during a run, its address is silent or belongs to another
Pod: such a result says nothing about the network. Only failures cause requests. A watch compares
Pods before and after each round instead (``rounds``).
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from nettests.model.check import Check
from nettests.probes import Deployment, changes
from nettests.probes.still_standing import started_again
from nettests.session.node_monitor import FRESH_SECONDS, PacedReads


@dataclass(slots=True, kw_only=True)
class PodMonitor:
    """How the Pods of one run changed since they were deployed. Thread-safe.

    ``read`` returns the current deployment; ``tell`` receives each change, in words.
    """

    deployed: Deployment
    read: Callable[[], Deployment]
    tell: Callable[[str], None]
    began: float
    """When the run began (``clock``)."""
    clock: Callable[[], float] = time.monotonic
    _latest: Deployment = field(init=False)
    _restarted: dict[str, float] = field(default_factory=dict)
    """When a restart was first noticed, by Pod."""
    _reads: PacedReads[Deployment] = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """One thread looks at a time, and all others wait for its result."""

    def __post_init__(self) -> None:
        self._latest = self.deployed
        self._reads = PacedReads(read=self.read, clock=self.clock, began=self.began)

    def why_gone(self, check: Check, since: float) -> str:
        """Return which Pod of a check was lost, replaced or restarted since ``since``, or nothing."""
        pods = [name for name in pods_of(check) if name in self.deployed.pods]
        if not pods:
            return ""
        with self._lock:
            self._look()
            return next((reason for name in pods if (reason := self._why_lost(name, since))), "")

    def _look(self) -> None:
        """Read the Pods unless that was just done; a failed read changes nothing."""
        look = self._reads.look(older_than=FRESH_SECONDS)
        if look is None:
            return
        now, deployment = look
        for change in changes(self._latest, deployment):
            self.tell(change)
        for name, pod in deployment.pods.items():
            before = self._latest.pods.get(name, self.deployed.pods[name])
            if pod.containers != before.containers:
                self._restarted[name] = now
        self._latest = deployment

    def _why_lost(self, name: str, since: float) -> str:
        """Return why a Pod is not as deployed, or nothing; ignore restarts before ``since``."""
        now = self._latest.pods.get(name)
        if now is None:
            return self._latest.problems.get(name, f"pod {name} is no longer known")
        moved = now.addresses != self.deployed.pods[name].addresses
        restarted = self._restarted.get(name)
        if moved or (restarted is not None and restarted >= since):
            return started_again(now)
        return ""


def pods_of(check: Check) -> Collection[str]:
    """Return the Pods of a check: its source, and all that may answer."""
    return tuple(dict.fromkeys(_pods(check)))


def _pods(check: Check) -> Iterator[str]:
    yield check.source.probe
    if check.target.pod:
        yield check.target.pod
    yield from check.target.backends
