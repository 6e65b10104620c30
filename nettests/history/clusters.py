"""Group runs by cluster, in the order in which they started. Pure.

Clusters are told apart by ``compare.cluster_names``. A run that cannot be placed is left out with the reason, and no
run is counted twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nettests.compare.recorded import RecordedRun, cluster_of

ONE = "all runs, taken for one cluster"
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """A run with the name of its folder; ``report`` is the address of its page, empty where it has none."""

    name: str
    run: RecordedRun
    report: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRun:
    """A folder that is no part of the history, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOfCluster:
    """The runs of one cluster."""

    name: str
    runs: tuple[ReadRun, ...]


def clusters(
    read: Iterable[ReadRun], *, since: datetime | None = None, one_cluster: bool = False
) -> tuple[tuple[RunsOfCluster, ...], tuple[LeftOutRun, ...]]:
    """Return the runs by cluster, the cluster with the newest run first, and what is left out.

    What started before ``since`` is no part of the history, and not mentioned.
    """
    in_order = sorted(read, key=lambda run: (_start(run) or _NEVER, run.name))
    dated = [run for run in in_order if since is None or (_start(run) or since) >= since]
    left_out = tuple(_misfits(dated))
    misfits = {run.name for run in left_out}
    by_cluster: dict[str, list[ReadRun]] = {}
    for read_run in dated:
        if read_run.name not in misfits:
            by_cluster.setdefault(ONE if one_cluster else cluster_of(read_run.run), []).append(
                read_run
            )
    newest = sorted(
        by_cluster, key=lambda name: _start(by_cluster[name][-1]) or _NEVER, reverse=True
    )
    return tuple(
        RunsOfCluster(name=name, runs=tuple(by_cluster[name])) for name in newest
    ), left_out


def _misfits(runs: Sequence[ReadRun]) -> Iterator[LeftOutRun]:
    """Yield the runs that belong to no cluster, have no start, or are listed already."""
    seen: dict[str, str] = {}
    for read_run in runs:
        run = read_run.run.run
        if not run.server and not run.context:
            why = (
                f"it could not start: {run.why_not_started}" if run.error else "it names no cluster"
            )
            yield LeftOutRun(name=read_run.name, reason=why)
        elif _start(read_run) is None:
            yield LeftOutRun(name=read_run.name, reason="it does not say when it started")
        elif run.run_id and run.run_id in seen:
            reason = f"it is the run {run.run_id} again, which {seen[run.run_id]} is"
            yield LeftOutRun(name=read_run.name, reason=reason)
        else:
            seen[run.run_id] = read_run.name


def _start(run: ReadRun) -> datetime | None:
    # sample: "2026-11-21T14:04:12.200000+00:00"
    try:
        read = datetime.fromisoformat(run.run.run.started)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
