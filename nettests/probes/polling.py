"""Send the polls while Services converge, and remember when each probe itself was reached.

Between ``observer`` and ``convergence``, which takes an answer that never came over the control channel for silence.
A Service polled through an API server that restarts, or from a probe that is gone or overloaded, is not late: if a
probe was not reached at the deadline, or is slow to answer for itself, nothing is said of rules. Nothing is judged here.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from nettests.model.check import Action, Target, Vantage
from nettests.model.words import OS, Protocol, TargetKind, VantageKind
from nettests.parse.overload import OVERLOADED_SECONDS
from nettests.probes.commands import Command
from nettests.probes.sending import Answer, Sender

RECENT_SECONDS = 10.0
"""A poll without an answer takes a little over 5 s: a reachable probe reports within this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling(Sender):
    """Sends polls; safe for threads."""

    clock: Callable[[], float] = time.monotonic
    _heard: dict[str, float] = field(default_factory=dict)
    """When a probe last brought an answer, whatever it said."""
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict)
    """When a probe was last not reached, and why."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry_out(self, wanted: Command, action: Action) -> Answer:
        """Carry out ``wanted``, and remember whether the probe was reached."""
        answer = Sender.carry_out(self, wanted, action)
        with self._lock:
            if answer.error is None:
                self._heard[action.source.probe] = self.clock()
            else:
                self._failed[action.source.probe] = self.clock(), answer.error
        return answer

    def why_deaf(self, probe: str) -> str:
        """Return why a probe was not reached at all recently; empty if it was."""
        since = self.clock() - RECENT_SECONDS
        with self._lock:
            failed, why = self._failed.get(probe, (-RECENT_SECONDS, ""))
            deaf = self._heard.get(probe, since) <= since and failed > since
        return f"was not reached ({why})" if deaf else ""

    def why_busy(self, probe: str) -> str:
        """Return that a probe is overloaded, by the time that it takes to answer for itself; empty if it is not."""
        source = Vantage(kind=VantageKind.POD, probe=probe, os=OS.LINUX)
        target = Target(kind=TargetKind.OWN_IP, pod=probe)
        seconds = self.own_time(Action(source=source, target=target, protocol=Protocol.TCP))
        return f"took {seconds:.1f} s to answer for itself" if seconds >= OVERLOADED_SECONDS else ""


def polling(sender: Sender) -> Polling:
    """Return the sender of a run's polls."""
    return Polling(**{field.name: getattr(sender, field.name) for field in fields(sender)})
