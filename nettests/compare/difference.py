"""Two recorded runs → ``Difference``: all that changed, and whether the later is worse. Pure.

Each check of either run occurs exactly once: in ``checks`` if both have it, else in ``only_before``
or ``only_after``. Renderers choose what to show.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from nettests.compare.changes import NOT_JUDGED, CheckChange, Kind, check_changes
from nettests.compare.fact_changes import FactChange, JoinedNodes, fact_changes, join_nodes
from nettests.compare.known_facts import Cause
from nettests.compare.paces import PaceChange, pace_changes
from nettests.compare.recorded import RecordedCheck, RecordedRun, host_of, is_this_machine
from nettests.model.check_id import LEFT_OUT, SAMPLED, parts_of
from nettests.model.exit_code import ExitCode
from nettests.model.expectation import Source
from nettests.model.grouping import grouped
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.report.results import Incident, RunInfo

UNTOLD = "nothing in its document says why"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the two runs: where it was read, who ran it when, and its results."""

    name: str
    run: RunInfo
    counts: Mapping[Verdict, int]
    judged: int
    """Checks that ran and have a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyCheck:
    """A check of one run; ``reason`` is why the other lacks it."""

    id: str
    verdict: Verdict
    message: str
    reason: str

    @property
    def deviates(self) -> bool:
        """Whether it needs attention."""
        return self.verdict in DEVIATING


class Stays(StrEnum):
    """Whether an incident is new, gone or the same."""

    NEW = "new"
    GONE = "gone"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentChange:
    """One incident, with its checks in each run."""

    what: Stays
    cause: str
    traits: Mapping[str, str]
    next_step: str
    explained: bool
    checks_before: tuple[str, ...] = ()
    checks_after: tuple[str, ...] = ()


class Moved(StrEnum):
    """How a limitation changed."""

    CAME = "came"
    WENT = "went"
    MOVED = "moved"
    """It decides other checks than before, among those in both runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitationChange:
    """A limitation; ``gained`` and ``lost`` are ids of checks that it decides now, or did."""

    id: str
    summary: str
    what: Moved
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    sources: tuple[Source, ...]
    with_checks: bool
    """Whether its checks are missing in the other run."""
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Everything that differs between two runs, ``before`` and ``after``."""

    before: Compared
    after: Compared
    warnings: tuple[str, ...] = ()
    """Why the two may not be comparable."""
    facts: tuple[FactChange, ...] = ()
    checks: tuple[CheckChange, ...] = ()
    """Every check that both runs planned, unchanged ones included."""
    only_before: tuple[OnlyCheck, ...] = ()
    only_after: tuple[OnlyCheck, ...] = ()
    incidents: tuple[IncidentChange, ...] = ()
    limitations: tuple[LimitationChange, ...] = ()
    paces: tuple[PaceChange, ...] = ()

    def of(self, *kinds: Kind) -> tuple[CheckChange, ...]:
        """Return the checks with these kinds of change."""
        return tuple(check for check in self.checks if check.kind in kinds)

    @property
    def changed(self) -> tuple[CheckChange, ...]:
        """The checks that changed."""
        return tuple(check for check in self.checks if check.kind is not Kind.SAME)

    @property
    def worse(self) -> tuple[str, ...]:
        """The ids of checks that deviate now, or of which a member does, and did not before."""
        newly = [check.id for check in self.only_after if check.deviates]
        return (*(check.id for check in self.checks if check.worse), *newly)

    @property
    def lost_sight(self) -> tuple[str, ...]:
        """The ids of checks that were judged before and are ``unknown`` now."""
        return tuple(check.id for check in self.checks if check.lost_sight)

    @property
    def unexplained(self) -> tuple[CheckChange, ...]:
        """The changes that no changed fact explains."""
        return tuple(check for check in self.checks if check.unexplained)

    @property
    def kinds(self) -> Counter[Kind]:
        """The number of checks by kind of change."""
        return Counter(check.kind for check in self.checks)

    @property
    def exit_code(self) -> ExitCode:
        """1 if the later run is worse, 7 if it judged nothing, 6 if it only has new unknowns."""
        if self.worse:
            return ExitCode.TESTS_FAILED
        if not self.after.judged:
            return ExitCode.NOTHING_JUDGED
        return ExitCode.UNKNOWN if self.lost_sight else ExitCode.OK


def difference(
    before: RecordedRun, after: RecordedRun, names: tuple[str, str] = ("A", "B")
) -> Difference:
    """Return the difference; ``names`` are where the runs were read."""
    nodes = join_nodes(before.facts, after.facts)
    checks = tuple(check_changes(before, after, nodes))
    compared = [
        Compared(
            name=name,
            run=run.run,
            counts=run.counts,
            judged=sum(check.verdict not in NOT_JUDGED for check in run.checks),
        )
        for name, run in zip(names, (before, after), strict=True)
    ]
    return Difference(
        before=compared[0],
        after=compared[1],
        warnings=(*_warnings(before.run, after.run), *_pools(nodes)),
        facts=fact_changes(before, after, nodes),
        checks=checks,
        only_before=tuple(_only_in(before, after)),
        only_after=tuple(_only_in(after, before)),
        incidents=tuple(_incidents(before, after)),
        limitations=tuple(limitation_changes(before, after, checks)),
        paces=pace_changes(before, after, nodes),
    )


def _warnings(old: RunInfo, new: RunInfo) -> Iterator[str]:
    if old.server and new.server and host_of(old.server) != host_of(new.server):
        yield (
            f"the runs name different API servers, {old.server} and {new.server}: unless these are"
            " one, differences are those of two clusters"
        )
    elif is_this_machine(new.server) and old.context != new.context:
        yield (
            f"the runs name different contexts at this machine, {old.context} and {new.context}:"
            " unless these are one cluster, differences are those of two"
        )
    if old.run_id and old.run_id == new.run_id:
        yield f"both are run {new.run_id}: they can differ only in how it was judged"
    elif old.started and new.started and new.started < old.started:
        yield "the second run started before the first: what is called new is the older state"
    for which, info in (("first", old), ("second", new)):
        if info.error:
            yield f"the {which} run could not start: {info.why_not_started}"
        elif not info.complete:
            yield f"the {which} run broke off: what it had not judged is unknown"


def _pools(nodes: JoinedNodes) -> Iterator[str]:
    """Yield a warning if pools have other nodes than before, as checks are joined by pools."""
    moved = [
        f"{new.name}: {old.pool} → {new.pool}" for old, new in nodes.pairs if old.pool != new.pool
    ]
    if moved:
        more = f", … and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield (
            f"nodes are in other node pools than before ({moved[0]}{more}), and checks are joined by"
            " pools: pin nodePools in the cluster profile to compare the same nodes"
        )


def _only_in(run: RecordedRun, other: RecordedRun) -> Iterator[OnlyCheck]:
    by_flow = grouped((check.flow, check) for check in other.checks)
    others = other.by_id
    for check in run.checks:
        if check.id not in others:
            yield OnlyCheck(
                id=check.id,
                verdict=check.verdict,
                message=check.message,
                reason=_why_absent(check, other, by_flow),
            )


def _why_absent(
    check: RecordedCheck, other: RecordedRun, by_flow: Mapping[str, list[RecordedCheck]]
) -> str:
    if other.facts is None:
        return "the other run could not start"
    for end in (check.source, check.target):
        if end.role is not None and end.role not in {node.pool for node in other.facts.nodes}:
            return f"the other run has no node pool {end.role}"
        if end.os is not None and end.os not in {node.os for node in other.facts.nodes}:
            return f"the other run has no {end.os.words} node"
    if check.flow not in by_flow:
        return f"the other run did not plan the flow {check.flow}"
    skips = {
        planned.id: planned.message
        for planned in by_flow[check.flow]
        if planned.verdict is Verdict.SKIPPED
    }
    reason = skipped_because(check.id, skips)
    return UNTOLD if reason is None else f"the other run skipped it: {reason}"


def skipped_because(check: str, skips: Mapping[str, str]) -> str | None:
    """Return the reason of the skip that covers a check, from the flow's skips by id, or ``None``.

    The id of such a skip names the part of the matrix that has the check.
    """
    standing: dict[int, str] = {}
    for skip, reason in skips.items():
        parts = parts_of(skip)
        part = parts[:-1] if parts[-1] in {LEFT_OUT, SAMPLED} else parts
        if parts_of(check)[: len(part)] == part:
            standing[len(parts)] = standing.get(len(parts), reason)
    return standing[max(standing)] if standing else None


def _incidents(before: RecordedRun, after: RecordedRun) -> Iterator[IncidentChange]:
    old, new = ({key_of(each): each for each in run.incidents} for run in (before, after))
    for key, incident in {**new, **{key: old[key] for key in old if key not in new}}.items():
        yield IncidentChange(
            what=Stays.GONE if key not in new else Stays.SAME if key in old else Stays.NEW,
            cause=incident.cause,
            traits=dict(sorted(incident.traits.items())),
            next_step=incident.next_step,
            explained=incident.explained,
            checks_before=old[key].checks if key in old else (),
            checks_after=new[key].checks if key in new else (),
        )


def key_of(incident: Incident) -> Hashable:
    """Return the key that joins incidents: the cause, or the checks if there is none."""
    if not incident.explained:
        return tuple(sorted(incident.checks))
    return incident.cause, tuple(sorted(incident.traits.items()))


def limitation_changes(
    before: RecordedRun, after: RecordedRun, changes: Iterable[CheckChange]
) -> Iterator[LimitationChange]:
    """Yield the limitations that do not decide the same checks in both runs, by id."""
    why = {change.id: change.why.causes for change in changes if change.why}
    old, new = _decided(before), _decided(after)
    shared = {*before.by_id} & {*after.by_id}
    entries = {
        check.limitation.id: check.limitation
        for check in (*before.checks, *after.checks)
        if check.limitation
    }
    for name in sorted({*old, *new}):
        had, has = old[name], new[name]
        if both := bool(had and has):
            had, has = had & shared, has & shared
        if touched := had ^ has:
            yield LimitationChange(
                id=name,
                summary=entries[name].summary,
                what=Moved.MOVED if both else Moved.CAME if has else Moved.WENT,
                gained=tuple(sorted(has - had)),
                lost=tuple(sorted(had - has)),
                sources=entries[name].sources,
                with_checks=not touched & shared,
                causes=tuple(
                    dict.fromkeys(
                        cause for check in sorted(touched) for cause in why.get(check, ())
                    )
                ),
            )


def _decided(run: RecordedRun) -> defaultdict[str, set[str]]:
    by_limitation: defaultdict[str, set[str]] = defaultdict(set)
    for check in run.checks:
        if check.limitation:
            by_limitation[check.limitation.id].add(check.id)
    return by_limitation
