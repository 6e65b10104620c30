"""Results of checks that count or search: losses, sizes that pass, connections that succeed. Pure.

Losses come with exact binomial confidence bounds (Clopper and Pearson, Biometrika 26, 1934). Tries
count as independent; bursts of loss make the bounds too narrow, but do not bias the estimate.
``plan`` and ``probes`` use them to choose the number of tries, ``parse`` creates the values,
``judge`` and reports read them.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import assert_never

CLEAN = 1e-6
"""Loss rate of a healthy path: 1e-8 of full frames at Ethernet's bit error ratio (IEEE 802.3)."""
FALSE_RATE = 1e-6
"""Probability that such a path counts as lossy."""
PROVEN_RATE = 0.01
"""A loss at this rate is proven …"""
POWER = 0.99
"""… with this probability, on each path."""
CONFIDENCE = 0.99
"""Confidence of the interval shown in reports."""
_HALVINGS = 60
_NOTHING = 1e-18


@dataclass(frozen=True, slots=True, kw_only=True)
class LossEstimate:
    """``lost`` of ``sent`` tries were lost; the rate is ``low`` to ``high`` (99 % confidence)."""

    sent: int
    lost: int
    low: float
    high: float
    proven: bool
    """Whether a healthy path would lose this many only once in a million cases."""

    def __str__(self) -> str:
        """Return the text for people: ``7 of 664 lost (1.1 %, 99 % confidence 0.3 to 2.4 %)``."""
        share = self.lost / self.sent if self.sent else 0.0
        bounds = f"99 % confidence {self.low * 100:.1f} to {self.high * 100:.1f} %"
        return f"{self.lost} of {self.sent} lost ({share * 100:.1f} %, {bounds})"


def estimate(sent: int, lost: int) -> LossEstimate:
    """Return the estimate for ``lost`` of ``sent`` tries."""
    if not 0 <= lost <= sent:
        raise ValueError(f"{lost} lost of {sent}")
    rest = (1 - CONFIDENCE) / 2
    return LossEstimate(
        sent=sent,
        lost=lost,
        low=lower_bound(sent, lost, rest),
        high=1 - lower_bound(sent, sent - lost, rest),
        proven=proves_loss(sent, lost),
    )


def proves_loss(sent: int, lost: int) -> bool:
    """Whether a healthy path would lose ``lost`` of ``sent`` no more often than ``FALSE_RATE``."""
    return lost > 0 and tail(sent, lost, CLEAN) <= FALSE_RATE


def fewest_lost(sent: int) -> int:
    """Return how many of ``sent`` must be lost to prove a loss; ``sent + 1`` if all would not."""
    return next((lost for lost in range(1, sent + 1) if proves_loss(sent, lost)), sent + 1)


@cache
def tries(rate: float = PROVEN_RATE, power: float = POWER) -> int:
    """Return the most tries of a path, of which all are sent only if one of the first was lost.

    With so many, stopping early (``tries_without_loss``) costs hardly any power.
    """
    sent = 1
    while tail(sent, fewest_lost(sent), rate) < 1 - (1 - power) / 10:
        sent += 1
    return sent


@cache
def tries_without_loss(rate: float = PROVEN_RATE, power: float = POWER) -> int:
    """Return after how many tries without a loss no more are needed.

    A path that loses ``rate`` is then missed with a probability of 1 - ``power`` at most: it loses
    none of these, or one of these and none of all others.
    """
    most, sent = tries(rate, power), 1
    while (1 - rate) ** sent + sent * rate * (1 - rate) ** (most - 1) > 1 - power:
        sent += 1
    return sent


def tail(sent: int, least: int, share: float) -> float:
    """Return the probability of at least ``least`` losses in ``sent`` tries at rate ``share``."""
    if least <= 0:
        return 1.0
    if least > sent or share <= 0:
        return 0.0
    if share >= 1:
        return 1.0
    if sent * share < least:
        return min(1.0, _above(sent, least, share))
    return max(0.0, 1 - math.fsum(_exactly(sent, lost, share) for lost in range(least)))


def _above(sent: int, least: int, share: float) -> float:
    """Return the sum of decreasing terms, without negligible ones."""
    total = 0.0
    for lost in range(least, sent + 1):
        term = _exactly(sent, lost, share)
        total += term
        if term < total * _NOTHING:
            break
    return total


def _exactly(sent: int, lost: int, share: float) -> float:
    ways = math.lgamma(sent + 1) - math.lgamma(lost + 1) - math.lgamma(sent - lost + 1)
    return math.exp(ways + lost * math.log(share) + (sent - lost) * math.log1p(-share))


def lower_bound(sent: int, lost: int, error: float) -> float:
    """Return the lowest rate that gives ``lost`` or more losses with probability ``error``."""
    if lost == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(sent, lost, middle) < error else (low, middle)
    return low


class SizeFinding(StrEnum):
    """What the sizes that passed and did not pass show about the path."""

    WHOLE = "whole"
    """Every size passed, including fragmented ones."""
    HOLE = "hole"
    """Packets above a size within the Pods' MTU vanish silently; smaller ones pass."""
    CLAMP = "clamp"
    """Packets above a size were lost until ICMP reached the sender, then passed in fragments."""
    FRAGMENTS = "fragments"
    """Every unfragmented packet passes; fragmented ones do not arrive."""
    LOSS = "loss"
    """Some sizes were lost although larger ones passed: size is not the reason."""
    SILENT = "silent"
    """No size passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSize:
    """The largest IP packet that passed and the smallest that did not, in bytes; 0 if none.

    ``mtu`` is that of the Pods' interfaces, if known. ``streams``: whether 64 KiB passed over TCP,
    whose segments fit both interfaces; ``None`` if not tried.
    """

    finding: SizeFinding
    passes: int
    vanishes: int
    mtu: int | None = None
    streams: bool | None = None

    def __str__(self) -> str:
        """Return the text for people, without the part of ``over_tcp``."""
        match self.finding:
            case SizeFinding.WHOLE:
                return f"packets of up to {self.passes:,} bytes arrive"
            case SizeFinding.HOLE:
                return f"packets above {self.passes:,} bytes vanish, and smaller ones arrive"
            case SizeFinding.CLAMP:
                return f"packets above {self.passes:,} bytes arrive only once the sender was told that they are too large"
            case SizeFinding.FRAGMENTS:
                return f"packets of up to {self.passes:,} bytes arrive, and fragments of larger ones do not"
            case SizeFinding.LOSS:
                return "some sizes were lost, and larger ones arrived"
            case SizeFinding.SILENT:
                return "packets of no size arrived"
            case _:
                assert_never(self.finding)

    @property
    def over_tcp(self) -> str:
        """Whether large answers over TCP arrive, as text; empty if it was not tried."""
        if self.streams is None:
            return ""
        return "64 KiB over TCP arrive" if self.streams else "64 KiB over TCP do not arrive either"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCount:
    """Of ``wanted`` connections, ``tried`` were tried and ``connected`` answered.

    ``before`` counts those before the first failure; ``ran_out``: none succeeded from there on.
    """

    wanted: int
    tried: int
    connected: int
    before: int
    ran_out: bool

    def __str__(self) -> str:
        """Return the text for people: ``connections fail from about number 1,001 on, of 2,000``."""
        if self.ran_out:
            return f"connections fail from about number {self.before + 1:,} on, of {self.wanted:,}"
        return f"{self.connected:,} of {self.tried:,} connected"
