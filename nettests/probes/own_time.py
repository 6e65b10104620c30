"""How long a probe takes to answer for itself: it tells a slow path from a busy channel.

Used by ``sending`` for a late answer: the probe's slots remember how busy its channel is, but a path that delays each
packet by a second does not show there. ``reference`` sends the same request as evidence of a check; here it is none,
and no journal has it.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nettests.model.check import Action, Target
from nettests.model.words import Protocol, Question, TargetKind

MEASURED_SECONDS = 2.0
"""How long a measurement holds: a machine stays busy, or idle, for longer."""


@dataclass(slots=True)
class OwnTimes:
    """The recent time of each probe to answer for itself, in seconds; safe for threads."""

    clock: Callable[[], float] = time.monotonic
    _measured: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By probe, when it was last measured, and the seconds."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, probe: str, measure: Callable[[], float]) -> float:
        """Return the seconds; call ``measure`` if they are unknown or old; infinity while a measurement is under way."""
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
