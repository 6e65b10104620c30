"""How often a Linux kernel says by ICMP that a question is refused, and when one more is worth sending.

kube-proxy rejects what goes to a Service without endpoints, and a kernel what goes to a closed UDP port, by an
ICMP error. Linux limits those for each destination, which is the source probe: ``net.ipv4.icmp_ratelimit``
is 1,000 ms, and ``XRLIM_BURST_FACTOR`` (net/ipv4/icmp.c) lets 6 go at once. What goes beyond is silence, and looks
like a packet that was dropped. Used by ``sending`` and ``attempts``; pure but for its lock.
"""

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

BURST = 6
SECONDS = 1.0
"""``net.ipv4.icmp_ratelimit``; 1,000 ms is the kernel's default, and also that of ``net.ipv6.icmp.ratelimit``."""
_REMEMBERED = 4 * BURST * SECONDS
ON_THE_WAY = 0.25
"""Seconds by which one question may arrive later than another one that was sent before."""
UNHEARD = 1
"""So many refusals may have gone to one who did not listen any more, such as that of a last SYN."""


@dataclass(slots=True)
class Pace:
    """The refusals that each probe was told of, and those that it is about to request; safe for threads.

    Nobody tells who sent a refusal, so all of a probe's are counted as one sender's.
    """

    _told: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def told(self, probe: str, at: float) -> None:
        """Remember that ``probe`` got a refusal at ``at``; a retransmitted SYN may have cost several."""
        with self._lock:
            kept = [one for one in self._told[probe] if one > at - _REMEMBERED]
            self._told[probe] = sorted([*kept, at])

    def reserve(self, probe: str, now: float) -> float:
        """Return when ``probe`` may next send something that will be refused, and count that refusal as sent."""
        with self._lock:
            told = self._told[probe]
            at = max([now, *told[-1:]])
            missing = 1 - left(told, at)
            if missing > 0:
                at += missing * SECONDS + ON_THE_WAY
            told.append(at)
            return at

    def spent(self, probe: str, at: float) -> bool:
        """Whether the kernel may have kept back a refusal of what ``probe`` probed at ``at``."""
        with self._lock:
            return left([one for one in self._told[probe] if one < at], at) < 1 + UNHEARD


def left(told: Sequence[float], now: float) -> float:
    """Return how many refusals the kernel can still send at ``now``, after those at ``told``, oldest first."""
    tokens, last = float(BURST), min([now, *told[:1]])
    for at in told:
        tokens = max(0.0, min(BURST, tokens + (at - last) / SECONDS) - 1)
        last = at
    return min(BURST, tokens + (now - last) / SECONDS)
