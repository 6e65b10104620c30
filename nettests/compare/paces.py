"""Latencies, throughput and convergence times that changed beyond noise. Pure.

Two runs never take the same time. A median counts as changed if it is at least ``FACTOR`` times the
other, differs by at least an absolute amount, and both rest on at least ``FEWEST`` answers. The
same must hold after both runs are scaled to the same pace, as a busy machine delays every answer of
a run. Renamed nodes are joined.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from nettests.compare.fact_changes import JoinedNodes
from nettests.compare.recorded import RecordedRun
from nettests.report.results import Latency, PathPace

LATENCY, PATH, THROUGHPUT = "latency", "path latency", "throughput"
CONVERGENCE, NEVER, WHOLE = "convergence", "convergence deadline", "pace of the whole run"
FACTOR = 2.0
"""Load on a machine rarely slows a single path this much (decision 0054)."""
FEWEST = 5
"""Answers on each side: a median of fewer says no more than one answer."""
LATENCY_SECONDS = 0.25
"""Less may be due to probe channels and scheduling: TCP's shortest time-out is 0.2 s."""
CONVERGENCE_SECONDS = 5.0
"""HNS takes up to a minute, and a Service is polled every second: a few polls are no change."""
MIB_PER_SECOND = 1.0

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceChange:
    """A figure that changed beyond noise: seconds, or MiB per second for ``throughput``.

    For ``WHOLE``, ``after`` is how many times longer all answers took. ``None`` is a Service that
    did not converge by its deadline.
    """

    what: str
    subject: str
    before: float | None
    after: float | None
    answers_before: int = 1
    answers_after: int = 1

    @property
    def worse(self) -> bool:
        """Whether it is slower, or missing in the later run."""
        if self.before is None or self.after is None:
            return self.after is None
        later = self.after > self.before
        return later is not (self.what == THROUGHPUT)


def pace(pairs: Iterable[tuple[float, float]]) -> float:
    """Return how many times longer answers took in the later run: the median of all ratios."""
    ratios = [after / before for before, after in pairs if before > 0 and after > 0]
    return median(ratios) if len(ratios) >= FEWEST else 1.0


def beyond(before: float, after: float, least: float, *, common: float = 1.0) -> bool:
    """Whether two figures differ beyond noise, also at the ``common`` pace of their runs."""

    def apart(first: float) -> bool:
        low, high = sorted((first, after))
        return high - low >= least and high >= FACTOR * low

    return apart(before) and apart(before * common)


def pace_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> tuple[PaceChange, ...]:
    """Return the changed latencies of flows and paths, throughput and convergence times."""
    enough = [
        (f"{now.flow} from {now.node}", was, now)
        for was, now in _both(
            {(latency.flow, nodes.later(latency.node)): latency for latency in before.latencies},
            {(latency.flow, latency.node): latency for latency in after.latencies},
        )
        if min(was.answers, now.answers) >= FEWEST
    ]
    common = pace((was.median, now.median) for _, was, now in enough)
    whole = f"{len(enough)} medians of flows"
    return (
        *(
            [PaceChange(what=WHOLE, subject=whole, before=1.0, after=round(common, 2))]
            if max(common, 1 / common) >= FACTOR
            else []
        ),
        *(
            change
            for subject, was, now in enough
            for change in _latency(LATENCY, subject, was, now, common)
        ),
        *_paths(before, after),
        *_convergence(before, after, common),
    )


def _latency(
    what: str, subject: str, was: Latency | PathPace, now: Latency | PathPace, common: float
) -> Iterator[PaceChange]:
    if min(was.answers, now.answers) >= FEWEST and beyond(
        was.median, now.median, LATENCY_SECONDS, common=common
    ):
        yield PaceChange(
            what=what,
            subject=subject,
            before=was.median,
            after=now.median,
            answers_before=was.answers,
            answers_after=now.answers,
        )


def _paths(before: RecordedRun, after: RecordedRun) -> Iterator[PaceChange]:
    old, new = (
        {(path.source_os, path.target_os, path.placement): path for path in run.paths}
        for run in (before, after)
    )
    joined = list(_both(old, new))
    common = pace((was.median, now.median) for was, now in joined)
    for was, now in joined:
        subject = f"{now.source_os.words} → {now.target_os.words}, {now.placement.value}"
        yield from _latency(PATH, subject, was, now, common)
        rates = (was.mib_per_second, now.mib_per_second)
        if (
            rates[0] is not None
            and rates[1] is not None
            and min(was.transfers, now.transfers) >= FEWEST
            and beyond(rates[0], rates[1], MIB_PER_SECOND)
        ):
            yield PaceChange(
                what=THROUGHPUT,
                subject=subject,
                before=rates[0],
                after=rates[1],
                answers_before=was.transfers,
                answers_after=now.transfers,
            )


def _convergence(before: RecordedRun, after: RecordedRun, common: float) -> Iterator[PaceChange]:
    """Yield Services that converge in one run only, and probes with changed medians."""
    old, new = (
        {(each.service, each.probe): each for each in run.convergence} for run in (before, after)
    )
    seconds: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for was, now in _both(old, new):
        if was.converged and now.converged:
            seconds[now.probe].append((was.seconds, now.seconds))
        elif was.converged is not now.converged:
            yield PaceChange(
                what=NEVER,
                subject=f"{now.service} at {now.probe}",
                before=was.seconds if was.converged else None,
                after=now.seconds if now.converged else None,
            )
    for probe, both in seconds.items():
        first, then = map(median, zip(*both, strict=True))
        if len(both) >= FEWEST and beyond(first, then, CONVERGENCE_SECONDS, common=common):
            yield PaceChange(
                what=CONVERGENCE,
                subject=f"Services at {probe}",
                before=round(first, 3),
                after=round(then, 3),
                answers_before=len(both),
                answers_after=len(both),
            )


def _both(old: Mapping[K, V], new: Mapping[K, V]) -> Iterator[tuple[V, V]]:
    return ((old[key], now) for key, now in new.items() if key in old)
