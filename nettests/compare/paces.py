"""Latencies, throughput and convergence times that changed beyond noise, joined across renamed nodes. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from nettests.compare import noise
from nettests.compare.nodes import JoinedNodes
from nettests.compare.recorded import RecordedRun
from nettests.report.results import Latency, PathPace

LATENCY, PATH, THROUGHPUT = "latency", "path latency", "throughput"
CONVERGENCE, NEVER, WHOLE = "convergence", "convergence deadline", "pace of the whole run"

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceChange:
    """A figure that changed by more than noise: seconds, or MiB per second of ``throughput``.

    Of ``WHOLE`` ``after`` is how many times longer all answers took. Of a Service that did not converge within its
    deadline the figure is ``None``.
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


def pace_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> tuple[PaceChange, ...]:
    """Return the latencies of flows and paths, the throughput and the convergence times that changed."""
    old = {(latency.flow, nodes.later(latency.node)): latency for latency in before.latencies}
    new = {(latency.flow, latency.node): latency for latency in after.latencies}
    enough = [
        (key, was, now)
        for key, was, now in _both(old, new)
        if min(was.answers, now.answers) >= noise.FEWEST
    ]
    common = noise.pace((was.median, now.median) for _, was, now in enough)
    return (
        *_latencies(enough, common),
        *_paths(before, after),
        *_convergence(before, after, common),
    )


def _latencies(
    enough: Sequence[tuple[tuple[str, str], Latency, Latency]], common: float
) -> Iterator[PaceChange]:
    if noise.whole(common):
        subject = f"{len(enough)} medians of flows"
        yield PaceChange(what=WHOLE, subject=subject, before=1.0, after=round(common, 2))
    for (flow, node), was, now in enough:
        if noise.beyond(was.median, now.median, noise.LATENCY_SECONDS, common=common):
            yield PaceChange(
                what=LATENCY,
                subject=f"{flow} from {node}",
                before=was.median,
                after=now.median,
                answers_before=was.answers,
                answers_after=now.answers,
            )


def _paths(before: RecordedRun, after: RecordedRun) -> Iterator[PaceChange]:
    old = {(path.source_os, path.target_os, path.placement): path for path in before.paths}
    new = {(path.source_os, path.target_os, path.placement): path for path in after.paths}
    joined = list(_both(old, new))
    common = noise.pace((was.median, now.median) for _, was, now in joined)
    for _, was, now in joined:
        subject = f"{now.source_os.words} → {now.target_os.words}, {now.placement.value}"
        if min(was.answers, now.answers) >= noise.FEWEST and noise.beyond(
            was.median, now.median, noise.LATENCY_SECONDS, common=common
        ):
            yield PaceChange(
                what=PATH,
                subject=subject,
                before=was.median,
                after=now.median,
                answers_before=was.answers,
                answers_after=now.answers,
            )
        yield from _throughput(was, now, subject)


def _throughput(was: PathPace, now: PathPace, subject: str) -> Iterator[PaceChange]:
    if was.mib_per_second is None or now.mib_per_second is None:
        return
    if min(was.transfers, now.transfers) < noise.FEWEST:
        return
    if noise.beyond(was.mib_per_second, now.mib_per_second, noise.MIB_PER_SECOND):
        yield PaceChange(
            what=THROUGHPUT,
            subject=subject,
            before=was.mib_per_second,
            after=now.mib_per_second,
            answers_before=was.transfers,
            answers_after=now.transfers,
        )


def _convergence(before: RecordedRun, after: RecordedRun, common: float) -> Iterator[PaceChange]:
    """Yield Services that converge in one run alone, and probes at which most take another time."""
    old = {
        (convergence.service, convergence.probe): convergence for convergence in before.convergence
    }
    new = {
        (convergence.service, convergence.probe): convergence for convergence in after.convergence
    }
    seconds: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for (service, probe), was, now in _both(old, new):
        if was.converged and now.converged:
            seconds[probe].append((was.seconds, now.seconds))
        elif was.converged is not now.converged:
            yield PaceChange(
                what=NEVER,
                subject=f"{service} at {probe}",
                before=was.seconds if was.converged else None,
                after=now.seconds if now.converged else None,
            )
    for probe, both in seconds.items():
        first, then = median(earlier for earlier, _ in both), median(later for _, later in both)
        if len(both) >= noise.FEWEST and noise.beyond(
            first, then, noise.CONVERGENCE_SECONDS, common=common
        ):
            yield PaceChange(
                what=CONVERGENCE,
                subject=f"Services at {probe}",
                before=round(first, 3),
                after=round(then, 3),
                answers_before=len(both),
                answers_after=len(both),
            )


def _both(old: Mapping[K, V], new: Mapping[K, V]) -> Iterator[tuple[K, V, V]]:
    for key, now in new.items():
        if key in old:
            yield key, old[key], now
