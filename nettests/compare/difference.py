"""Two recorded runs → ``Difference``: everything that changed, and whether the later run is worse. Pure.

Each check of either run is counted exactly once: in ``checks`` if both have it, else in ``only_before`` or
``only_after``. Renderers choose what to show.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from nettests.compare.absent import OnlyCheck, only_in
from nettests.compare.checks import CheckChange, Kind, check_changes
from nettests.compare.cluster_names import is_this_machine
from nettests.compare.explanation import Explained
from nettests.compare.fact_changes import FactChange, fact_changes
from nettests.compare.incidents import IncidentChange, incident_changes
from nettests.compare.limitations import LimitationChange, limitation_changes
from nettests.compare.nodes import JoinedNodes, join_nodes
from nettests.compare.paces import PaceChange, pace_changes
from nettests.compare.recorded import RecordedRun
from nettests.model.exit_code import ExitCode
from nettests.model.words import Verdict
from nettests.report.results import RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the two runs: where it was read, who ran it when, and what came of it."""

    name: str
    run: RunInfo
    counts: Mapping[Verdict, int]
    judged: int
    """Checks that ran and have a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that differs between two runs, ``before`` and ``after``."""

    before: Compared
    after: Compared
    warnings: tuple[str, ...] = ()
    """Why the two may not be comparable."""
    facts: tuple[FactChange, ...] = ()
    checks: tuple[CheckChange, ...] = ()
    """Every check that both runs planned, those that stayed as they were included."""
    only_before: tuple[OnlyCheck, ...] = ()
    only_after: tuple[OnlyCheck, ...] = ()
    incidents: tuple[IncidentChange, ...] = ()
    limitations: tuple[LimitationChange, ...] = ()
    paces: tuple[PaceChange, ...] = ()

    def of(self, *kinds: Kind) -> tuple[CheckChange, ...]:
        """Return the checks of some kinds of change."""
        return tuple(check for check in self.checks if check.kind in kinds)

    @property
    def changed(self) -> tuple[CheckChange, ...]:
        """The checks that changed."""
        return tuple(check for check in self.checks if check.kind is not Kind.SAME)

    @property
    def worse(self) -> tuple[str, ...]:
        """The ids of checks that deviate and did not before, or of which a member does."""
        return (
            *(check.id for check in self.checks if check.worse),
            *(check.id for check in self.only_after if check.deviates),
        )

    @property
    def lost_sight(self) -> tuple[str, ...]:
        """The ids of checks that were judged and are ``unknown``."""
        return tuple(check.id for check in self.checks if check.lost_sight)

    @property
    def unexplained(self) -> tuple[CheckChange, ...]:
        """The changes of behaviour that no changed fact explains."""
        return tuple(
            check
            for check in self.checks
            if check.why and check.why.explained is Explained.UNEXPLAINED
        )

    @property
    def kinds(self) -> Counter[Kind]:
        """How many checks of both runs are of each kind."""
        return Counter(check.kind for check in self.checks)

    @property
    def exit_code(self) -> ExitCode:
        """Whether the later run is worse: 1; 7 where it judged nothing; 6 where it only lost sight of checks."""
        if self.worse:
            return ExitCode.TESTS_FAILED
        if not self.after.judged:
            return ExitCode.NOTHING_JUDGED
        return ExitCode.UNKNOWN if self.lost_sight else ExitCode.OK


def difference(
    before: RecordedRun, after: RecordedRun, names: tuple[str, str] = ("A", "B")
) -> Difference:
    """Return what differs; ``names`` are where the runs were read."""
    nodes = join_nodes(before.facts, after.facts)
    checks = tuple(check_changes(before, after, nodes))
    return Difference(
        before=_compared(before, names[0]),
        after=_compared(after, names[1]),
        warnings=(*_warnings(before, after), *_pools(nodes)),
        facts=fact_changes(before, after, nodes),
        checks=checks,
        only_before=tuple(only_in(before, after)),
        only_after=tuple(only_in(after, before)),
        incidents=incident_changes(before, after),
        limitations=limitation_changes(before, after, checks),
        paces=pace_changes(before, after, nodes),
    )


def _compared(run: RecordedRun, name: str) -> Compared:
    blind = {Verdict.SKIPPED, Verdict.UNKNOWN}
    judged = sum(check.verdict not in blind for check in run.checks)
    return Compared(name=name, run=run.run, counts=run.counts, judged=judged)


def _warnings(before: RecordedRun, after: RecordedRun) -> Iterator[str]:
    old, new = before.run, after.run
    if old.server and new.server and _host(old.server) != _host(new.server):
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
        yield f"both are of the run {new.run_id}: they differ in how it was judged, or in nothing"
    elif old.started and new.started and new.started < old.started:
        yield "the second run started before the first: what is called new was there before"
    for which, info in (("first", old), ("second", new)):
        if info.error:
            yield f"the {which} run could not start: {info.why_not_started}"
        elif not info.complete:
            yield f"the {which} run broke off: what it had not judged is unknown"


def _pools(nodes: JoinedNodes) -> Iterator[str]:
    """Yield that pools hold other nodes than before: checks are joined by pools, and compare other nodes then."""
    moved = [
        f"{new.name}: {old.pool} → {new.pool}" for old, new in nodes.pairs if old.pool != new.pool
    ]
    if moved:
        more = f", … and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield (
            f"nodes are in other node pools than before ({moved[0]}{more}), and checks are joined by"
            " pools: pin nodePools in the cluster profile to compare the same nodes"
        )


def _host(server: str) -> str:
    """Return the host of an API server's address: a port-forward or a tunnel has another port each time."""
    try:
        return urlsplit(server).hostname or server
    except ValueError:
        return server
