"""The runs of each cluster → the trend of each check and incident, with changed facts. Pure.

``compare.recorded.cluster_of`` identifies clusters. A run that cannot be placed is left out with
the reason; no run counts twice. A run is red for a check if it or a member deviates, and for an
incident if it has it; it is good if the verdict is accepted, or one of the incident's checks was
judged. A missing check is gone only if the run selected the same flows, classes and nodes as
before.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from nettests.compare.changes import CheckChange, check_changes
from nettests.compare.difference import key_of
from nettests.compare.fact_changes import FactChange, choice_of, fact_changes, join_nodes
from nettests.compare.recorded import RecordedRun, cluster_of
from nettests.history.levels import Colour, Course, State, course
from nettests.model.grouping import grouped
from nettests.model.verdict import ACCEPTED, DEVIATING
from nettests.model.words import Verdict
from nettests.report.results import Incident

ONE = "all runs, taken for one cluster"
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRun:
    """A run with the name of its folder; ``report`` is the address of its page, if any."""

    name: str
    run: RecordedRun
    report: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRun:
    """A folder that is not part of the history, and why."""

    name: str
    reason: str


def clusters(
    read: Iterable[ReadRun], *, since: datetime | None = None, one_cluster: bool = False
) -> tuple[dict[str, tuple[ReadRun, ...]], tuple[LeftOutRun, ...]]:
    """Return the runs by cluster, that of the newest run first, and what is left out.

    Runs that started before ``since`` are ignored.
    """
    in_order = sorted(read, key=lambda run: (_start(run) or _NEVER, run.name))
    dated = [run for run in in_order if since is None or (_start(run) or since) >= since]
    left_out = tuple(_misfits(dated))
    misfits = {run.name for run in left_out}
    by_cluster: dict[str, tuple[ReadRun, ...]] = {}
    for run in dated:
        if run.name not in misfits:
            name = ONE if one_cluster else cluster_of(run.run)
            by_cluster[name] = (*by_cluster.get(name, ()), run)
    newest = sorted(
        by_cluster, key=lambda name: _start(by_cluster[name][-1]) or _NEVER, reverse=True
    )
    return {name: by_cluster[name] for name in newest}, left_out


def _misfits(runs: Sequence[ReadRun]) -> Iterator[LeftOutRun]:
    """Yield the runs without a cluster or start, and duplicates."""
    seen: dict[str, str] = {}
    for read_run in runs:
        run = read_run.run.run
        reason = ""
        if not run.server and not run.context:
            could_not = f"it could not start: {run.why_not_started}"
            reason = could_not if run.error else "it names no cluster"
        elif _start(read_run) is None:
            reason = "it does not say when it started"
        elif run.run_id and run.run_id in seen:
            reason = f"it holds run {run.run_id} again, as does {seen[run.run_id]}"
        if reason:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTrend:
    """One check in all runs: verdicts, ``None`` if not planned; ``change`` is from good to bad."""

    id: str
    flow: str
    verdicts: tuple[Verdict | None, ...]
    course: Course
    change: CheckChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTrend:
    """One cause in all runs; ``checks`` are all that it ever explained."""

    cause: str
    traits: Mapping[str, str]
    next_step: str
    checks: tuple[str, ...]
    colours: tuple[Colour, ...]
    course: Course


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Checks with the same course in the same runs, and the facts that changed with it."""

    state: State
    first_bad: int
    last_good: int | None
    good_since: int | None
    gone_since: int | None
    checks: tuple[CheckTrend, ...]
    incidents: tuple[IncidentTrend, ...]
    facts: tuple[FactChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterHistory:
    """The history of one cluster; ``facts`` are each run's changes since the previous run."""

    name: str
    runs: tuple[ReadRun, ...]
    checks: tuple[CheckTrend, ...]
    incidents: tuple[IncidentTrend, ...]
    turns: tuple[Turn, ...]
    facts: tuple[tuple[FactChange, ...], ...]

    def of(self, *states: State) -> tuple[CheckTrend, ...]:
        """Return the checks in one of these states."""
        return tuple(check for check in self.checks if check.course.state in states)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The history of each cluster in a folder of runs, and the runs that were left out."""

    clusters: tuple[ClusterHistory, ...]
    left_out: tuple[LeftOutRun, ...]


def history_of(
    read: Iterable[ReadRun],
    unread: Iterable[LeftOutRun] = (),
    *,
    since: datetime | None = None,
    one_cluster: bool = False,
) -> History:
    """Return the history of runs; ``unread`` are folders that could not be read."""
    by_cluster, left_out = clusters(read, since=since, one_cluster=one_cluster)
    each = (_cluster_history(name, runs) for name, runs in by_cluster.items())
    return History(clusters=tuple(each), left_out=(*unread, *left_out))


def _cluster_history(name: str, runs: tuple[ReadRun, ...]) -> ClusterHistory:
    pairs = _Pairs([run.run for run in runs])
    checks = tuple(_check_trends(pairs))
    incidents = tuple(_incident_trends(pairs.runs, checks))
    return ClusterHistory(
        name=name,
        runs=runs,
        checks=checks,
        incidents=incidents,
        turns=tuple(_turns(checks, incidents, pairs)),
        facts=tuple(_facts_of_each(pairs)),
    )


def colour_of(verdict: Verdict | None) -> Colour:
    """Return what a verdict shows."""
    if verdict in DEVIATING:
        return Colour.RED
    return Colour.GOOD if verdict in ACCEPTED else Colour.BLIND


class _Pairs:
    """Runs compared in pairs, each pair once."""

    def __init__(self, runs: Sequence[RecordedRun]) -> None:
        self.runs = runs
        self.by_id = [run.by_id for run in runs]
        self._checks: dict[tuple[int, int], Mapping[str, CheckChange]] = {}

    def change(self, check: str, earlier: int, later: int) -> CheckChange | None:
        """Return a check's change between two runs; ``None`` if one did not plan it."""
        if (earlier, later) not in self._checks:
            before, after = self.runs[earlier], self.runs[later]
            changes = check_changes(before, after, join_nodes(before.facts, after.facts))
            self._checks[earlier, later] = {change.id: change for change in changes}
        return self._checks[earlier, later].get(check)

    def facts(self, earlier: int, later: int) -> tuple[FactChange, ...]:
        """Return the facts that differ between two runs."""
        before, after = self.runs[earlier], self.runs[later]
        return fact_changes(before, after, join_nodes(before.facts, after.facts))


def _check_trends(pairs: _Pairs) -> Iterator[CheckTrend]:
    """Yield every check of every run, in the order of the newest run that has it."""
    flows = {check.id: check.flow for run in reversed(pairs.runs) for check in run.checks}
    for check, flow in flows.items():
        records = [checks.get(check) for checks in pairs.by_id]
        verdicts = tuple(record.standing if record else None for record in records)
        wavering = frozenset(at for at, verdict in enumerate(verdicts) if verdict is Verdict.FLAKY)
        went = course([colour_of(verdict) for verdict in verdicts], wavering)
        went = departed(went, verdicts, pairs.runs)
        change = None
        if went.last_good is not None and went.first_bad is not None:
            change = pairs.change(check, went.last_good, went.first_bad)
        yield CheckTrend(id=check, flow=flow, verdicts=verdicts, course=went, change=change)


def _incident_trends(
    runs: Sequence[RecordedRun], checks: Iterable[CheckTrend]
) -> Iterator[IncidentTrend]:
    by_key: defaultdict[Hashable, dict[int, Incident]] = defaultdict(dict)
    for at, run in enumerate(runs):
        for incident in run.incidents:
            if incident.explained:
                by_key[key_of(incident)][at] = incident
    trends = {check.id: check for check in checks}
    for by_run in by_key.values():
        ids = tuple(
            dict.fromkeys(check for incident in by_run.values() for check in incident.checks)
        )
        explained = [trends[check] for check in ids if check in trends]
        colours = [
            Colour.GOOD
            if any(colour_of(trend.verdicts[at]) is not Colour.BLIND for trend in explained)
            else Colour.BLIND
            for at in range(len(runs))
        ]
        for at in by_run:
            colours[at] = Colour.RED
        last = by_run[max(by_run)]
        yield IncidentTrend(
            cause=last.cause,
            traits=dict(sorted(last.traits.items())),
            next_step=last.next_step,
            checks=ids,
            colours=tuple(colours),
            course=_of_checks(course(colours), explained),
        )


def _of_checks(went: Course, checks: Iterable[CheckTrend]) -> Course:
    """Return the course of an incident, as gone if all of its checks are."""
    since = [check.course.gone_since for check in checks]
    gone = [at for at in since if at is not None]
    if not gone or len(gone) < len(since):
        return went
    return replace(went, state=State.GONE, gone_since=max(gone))


_URGENT = (State.RED, State.FLAKY, State.GONE, State.REPAIRED)


def _turns(
    checks: Iterable[CheckTrend], incidents: Iterable[IncidentTrend], pairs: _Pairs
) -> Iterator[Turn]:
    """Yield checks with the same course together: red first, then flaky, gone and repaired."""
    alike = grouped((_way(check), check) for check in checks if check.course.first_bad is not None)
    causes = tuple(incidents)
    for together in sorted(alike.values(), key=lambda group: _urgency(group[0].course)):
        went = together[0].course
        assert went.first_bad is not None, "only what was red is in a turn"
        # Its causes are those that were new in its first bad run, else older ones.
        ids = {check.id for check in together}
        there = [
            cause
            for cause in causes
            if ids & set(cause.checks) and cause.colours[went.first_bad] is Colour.RED
        ]
        yield Turn(
            state=went.state,
            first_bad=went.first_bad,
            last_good=went.last_good,
            good_since=went.good_since,
            gone_since=went.gone_since,
            checks=tuple(together),
            incidents=tuple(
                [cause for cause in there if cause.course.first_bad == went.first_bad] or there
            ),
            facts=() if went.last_good is None else pairs.facts(went.last_good, went.first_bad),
        )


def _way(check: CheckTrend) -> Hashable:
    """Return the key that groups checks to a turn; flaky ones must be red in the same runs."""
    went = check.course
    reds: tuple[int, ...] = ()
    if went.state is State.FLAKY:
        reds = tuple(at for at, seen in enumerate(check.verdicts) if colour_of(seen) is Colour.RED)
    return went.state, went.first_bad, went.last_good, went.good_since, went.gone_since, reds


def _urgency(went: Course) -> tuple[int, ...]:
    """Return the order of turns: newest first, flaky ones by how often they were red."""
    often = went.red if went.state is State.FLAKY else 0
    return (
        _URGENT.index(went.state),
        *(-often, -(went.first_bad or 0), -(went.good_since or 0), -(went.last_good or 0)),
    )


def _facts_of_each(pairs: _Pairs) -> Iterator[tuple[FactChange, ...]]:
    """Yield, for each run, what differs from the previous run with facts."""
    last: int | None = None
    for at, run in enumerate(pairs.runs):
        yield () if last is None or run.facts is None else pairs.facts(last, at)
        last = last if run.facts is None else at


def departed(
    went: Course, verdicts: Sequence[Verdict | None], runs: Sequence[RecordedRun]
) -> Course:
    """Return a check's course, as gone since the first comparable run that does not plan it."""
    planned = [at for at, verdict in enumerate(verdicts) if verdict is not None]
    if went.state not in {State.RED, State.FLAKY} or not planned:
        return went
    chosen = _choice(runs[planned[-1]])
    for at in range(planned[-1] + 1, len(runs)):
        if runs[at].facts and runs[at].checks and _choice(runs[at]) == chosen:
            return replace(went, state=State.GONE, gone_since=at)
    return went


def _choice(run: RecordedRun) -> Hashable:
    return choice_of(run.run.argv, run.run.suites)
