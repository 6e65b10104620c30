"""When two times count as different: the one rule for latencies, throughput and convergence. Pure.

Two runs never take the same time. A median counts as changed if it is at least ``FACTOR`` times the other, differs by
at least an absolute amount, and both rest on at least ``FEWEST`` answers. The same must hold after both runs are
scaled to the same pace: a busy machine slows down every answer of a run, which says nothing about one path.
"""

from collections.abc import Iterable
from statistics import median

FACTOR = 2.0
"""What a machine that does other things takes of one run is rarely as much for one path alone (decision 0054)."""
FEWEST = 5
"""Answers, on each side: a median of fewer says no more than a single answer."""
LATENCY_SECONDS = 0.25
"""Below that is what the way to the probe and the scheduling of two machines take: TCP's shortest time-out is 0.2 s."""
CONVERGENCE_SECONDS = 5.0
"""HNS takes up to a minute; a Service is polled every second, and a few polls later is no change."""
MIB_PER_SECOND = 1.0


def pace(pairs: Iterable[tuple[float, float]]) -> float:
    """Return how many times longer answers took in the later run as a whole: the median of all ratios."""
    ratios = [after / before for before, after in pairs if before > 0 and after > 0]
    return median(ratios) if len(ratios) >= FEWEST else 1.0


def beyond(before: float, after: float, least: float, *, common: float = 1.0) -> bool:
    """Whether two figures differ by more than noise, also at the ``common`` pace of their runs."""
    return _apart(before, after, least) and _apart(before * common, after, least)


def whole(common: float) -> bool:
    """Whether the whole run was faster or slower."""
    return max(common, 1 / common) >= FACTOR


def _apart(first: float, other: float, least: float) -> bool:
    low, high = sorted((first, other))
    return high - low >= least and high >= FACTOR * low
