"""Group runs by cluster, in the order in which they started. Pure.

Clusters are told apart by ``compare.cluster_names``. A run that cannot be placed is left out with the reason, and no
run is counted twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nettests.compare import RecordedRun
from nettests.compare.cluster_names import cluster_of

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
    in_order = sorted(read, key=lambda one: (_start(one) or _NEVER, one.name))
    dated = [run for run in in_order if since is None or (_start(run) or since) >= since]
    left_out = tuple(_misfits(dated))
    misfits = {run.name for run in left_out}
    found: dict[str, list[ReadRun]] = {}
    for one in dated:
        if one.name not in misfits:
            found.setdefault(ONE if one_cluster else cluster_of(one.run), []).append(one)
    newest = sorted(found, key=lambda name: _start(found[name][-1]) or _NEVER, reverse=True)
    return tuple(RunsOfCluster(name=one, runs=tuple(found[one])) for one in newest), left_out


def _misfits(runs: Sequence[ReadRun]) -> Iterator[LeftOutRun]:
    """Yield what has no place in the order of any cluster, or one already."""
    seen: dict[str, str] = {}
    for one in runs:
        run = one.run.run
        if not run.server and not run.context:
            why = (
                f"it could not start: {run.why_not_started}" if run.error else "it names no cluster"
            )
            yield LeftOutRun(name=one.name, reason=why)
        elif _start(one) is None:
            yield LeftOutRun(name=one.name, reason="it does not say when it started")
        elif run.run_id and run.run_id in seen:
            told = f"it is the run {run.run_id} again, which {seen[run.run_id]} is"
            yield LeftOutRun(name=one.name, reason=told)
        else:
            seen[run.run_id] = one.name


def _start(run: ReadRun) -> datetime | None:
    # sample: "2026-11-21T14:04:12.200000+00:00"
    try:
        read = datetime.fromisoformat(run.run.run.started)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
