"""How long a probe takes to answer a request to itself: it tells a slow path from a busy channel.

Used by ``sending`` for late answers: the probe's slots adapt to how busy its channel is, and a path
that delays each packet by a second must not count as that. ``reference`` sends the same request as
evidence of a check; this one is not journalled.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nettests.model.check import Action, Target
from nettests.model.words import Protocol, Question, TargetKind

MEASURED_SECONDS = 2.0
"""Seconds for which a measurement is reused: a machine stays busy, or idle, for longer."""


@dataclass(slots=True)
class OwnTimes:
    """The latest seconds of each probe to answer itself; thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _measured: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By probe: when it was last measured, and the seconds."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, probe: str, measure: Callable[[], float]) -> float:
        """Return the seconds, by ``measure`` if old; infinite while the first measurement runs."""
        now = self.clock()
        with self._lock:
            at, seconds = self._measured.get(probe, (-math.inf, math.inf))
            if now - at <= MEASURED_SECONDS:
                return seconds
            self._measured[probe] = (now, seconds)  # by one thread
        seconds = measure()
        with self._lock:
            self._measured[probe] = (self.clock(), seconds)
        return seconds


def itself(action: Action) -> Action:
    """Return the action that requests the probe's own name, at its own address."""
    own_ip = Target(kind=TargetKind.OWN_IP, pod=action.source.probe, node=action.source.node)
    return replace(
        action,
        target=own_ip,
        question=Question.REACH,
        protocol=Protocol.TCP,
        resolver=None,
        connections=1,
        size=None,
    )
