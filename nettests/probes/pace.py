"""When one more request is worth sending, given the kernel's rate limit on ICMP errors.

kube-proxy rejects packets to a Service without endpoints, and a kernel those to a closed UDP port,
with an ICMP error. Linux limits these errors per destination, which is the source probe:
``net.ipv4.icmp_ratelimit`` is 1,000 ms, and ``XRLIM_BURST_FACTOR`` (net/ipv4/icmp.c) allows a burst
of 6. Beyond that there is silence, which looks like a dropped packet. Pure but for its lock.
"""

import math
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from nettests.model.check import Action
from nettests.model.target_kinds import Proxy
from nettests.model.words import OS

BURST = 6
SECONDS = 1.0
"""``net.ipv4.icmp_ratelimit``; 1,000 ms is the kernel's default, and also that of ``net.ipv6.icmp.ratelimit``."""
_REMEMBERED = 4 * BURST * SECONDS
ON_THE_WAY = 0.25
"""Seconds by which a request may be delayed compared with an earlier one."""
UNHEARD = 4
"""Refusals that may have gone unnoticed, to a client that had given up or to traffic not counted here: on an idle
lab, a request 30 ms after a single refusal timed out, and so did a SYN 0.7 s later (measured)."""


@dataclass(slots=True, eq=False)
class Refusal:
    """A refusal that a kernel sends, or may send, between ``since`` and ``until``."""

    since: float
    until: float = math.inf

    def latest(self, now: float) -> float:
        """Return the latest moment up to ``now`` at which it may have been sent."""
        return max(self.since, min(self.until, now))


@dataclass(slots=True)
class Pace:
    """The refusals of each probe, received or expected for its next requests; thread-safe.

    All of a probe's refusals count as one sender's, because the sender is unknown. So is the time:
    each counts as sent at the worst moment, because a busy machine reads answers seconds late.
    """

    _refusals: dict[str, list[Refusal]] = field(default_factory=lambda: defaultdict(list))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_refusal(self, probe: str, since: float, until: float) -> None:
        """Note that what ``probe`` sent at ``since`` was refused by ``until``.

        A retransmitted SYN may have cost several.
        """
        with self._lock:
            self._refusals[probe] = [*self._remembered(probe, until), Refusal(since, until)]

    def reserve(self, probe: str, now: float) -> Refusal:
        """Reserve the refusal of the probe's next request, which may be sent at its ``since``."""
        with self._lock:
            refusals = self._remembered(probe, now)
            at = max([now, *(refusal.since for refusal in refusals)])
            planned = [
                refusal.latest(at) if math.isfinite(refusal.until) else refusal.since
                for refusal in refusals
            ]
            missing = 1 - left(sorted(planned), at)
            if missing > 0:
                at += missing * SECONDS + ON_THE_WAY
            reserved = Refusal(at)
            self._refusals[probe] = [*refusals, reserved]
            return reserved

    def sent(self, reserved: Refusal, at: float) -> None:
        """Note when the request was sent: its refusal follows soon, or was suppressed."""
        with self._lock:
            reserved.since, reserved.until = at, at + SECONDS

    def heard(self, reserved: Refusal, at: float) -> None:
        """Note that the request had been refused by ``at``."""
        with self._lock:
            reserved.until = max(reserved.since, at)

    def spent(self, probe: str, at: float) -> bool:
        """Whether the kernel may have suppressed the refusal of what ``probe`` sent at ``at``."""
        with self._lock:
            refusals = [
                refusal for refusal in self._refusals[probe] if refusal.since < at + ON_THE_WAY
            ]
            heard = at + ON_THE_WAY
            return left(sorted(refusal.latest(heard) for refusal in refusals), heard) < 1 + UNHEARD

    def _remembered(self, probe: str, now: float) -> list[Refusal]:
        return [refusal for refusal in self._refusals[probe] if refusal.until > now - _REMEMBERED]


def may_be_icmp(action: Action) -> bool:
    """Whether a Linux kernel may have refused by ICMP: a datagram, or a SYN to a Linux kube-proxy.

    Closed ports refuse a SYN by RST, without a rate limit; kube-proxy for Windows rejects nothing.
    """
    if action.protocol.refused_by_icmp:
        return True
    match action.target.descriptor.proxy:
        case Proxy.SOURCE:
            return action.source.os is not OS.WINDOWS
        case Proxy.TARGET:
            return action.target.os is not OS.WINDOWS
        case Proxy.NONE:
            return False
        case proxy:
            assert_never(proxy)


def left(sent: Sequence[float], now: float) -> float:
    """Return how many refusals the kernel can still send at ``now``; ``sent`` is oldest first."""
    tokens, last = float(BURST), min([now, *sent[:1]])
    for at in sent:
        tokens = max(0.0, min(BURST, tokens + (at - last) / SECONDS) - 1)
        last = at
    return min(BURST, tokens + (now - last) / SECONDS)
