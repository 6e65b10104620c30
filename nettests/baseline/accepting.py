"""Runs → entries that accept deviations and recorded outcomes, with the facts they depend on. Pure.

Limited checks are accepted on request only: their limitation judges them already, and an entry
fixes which of the documented outcomes was observed. With several runs, the fewest facts are found
that separate those with a deviation from those without, first among the facts that the check's
expectation depends on. A fact that is unknown in a run cannot separate runs.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from itertools import combinations

from nettests.baseline.entries import ENDS, AcceptedOn, Baseline, Entry
from nettests.compare.changes import NOT_JUDGED, seen
from nettests.compare.known_facts import (
    CONDITIONED,
    KUBERNETES,
    OF_CLUSTER,
    OF_NODE,
    PLUGIN,
    Dependency,
    dependencies,
    value_of,
)
from nettests.compare.recorded import RecordedCheck, RecordedRun, Seen, cluster_of
from nettests.model.grouping import grouped
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.report.results import facts_digest
from nettests.report.summary import UNKNOWN

CheckInRun = tuple[RecordedRun, RecordedCheck]
"""A check in its run."""
Condition = Mapping[Dependency, tuple[str, ...]]
"""Values by fact: it holds if each fact has one of its values."""
ALWAYS = (
    Dependency(KUBERNETES),
    Dependency(PLUGIN),
    *(Dependency("build", side) for side in ENDS),
)
"""The facts that every entry depends on, besides those of the check's expectation."""
NOTHING = frozenset({"none", "no node"})
_MOST = 3
"""Combinations of up to this many facts are all tried; beyond, the best next fact is added."""
_PLACES = frozenset({"node pool", "zone", "takes part", "what the identity may not do"})
"""Facts that do not concern the network."""
_HELD = frozenset({*DEVIATING, Verdict.RECORDED})
# samples: win-3 → linux-2, win-1
_WORDS = re.compile(r"[\w.-]+")
_WHOLE_NODE = frozenset({"node", "remote-node", "pod-network", "unready-node", "not-started"})
"""Traits of incidents (``report.incidents``) about a node as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An entry, and the ids of the runs with its deviation and ``without`` it.

    ``alike`` are those of the latter that no recorded fact separates.
    """

    entry: Entry
    showing: tuple[str, ...]
    without: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()


def accepted(
    runs: Sequence[RecordedRun],
    patterns: Iterable[str],
    *,
    reason: str,
    expires: date,
    limited: bool = False,
) -> tuple[Accepted, ...]:
    """Return an entry for each check that deviates or was recorded and matches a pattern, if any.

    With ``limited`` also for each check with a limitation that was observed as documented. The
    newest run with a deviation decides what is accepted. If other runs lack it, the entry holds on
    the smallest condition that separates them; runs that did not judge the check are ignored.
    """
    wanted = tuple(patterns)
    in_order = sorted(runs, key=lambda run: run.run.started)
    by_check = grouped(
        (check.id, (run, check))
        for run in in_order
        for check in run.checks
        if not wanted or any(fnmatchcase(check.id, pattern) for pattern in wanted)
    )
    kept = _HELD | {Verdict.LIMITED} if limited else _HELD
    every = (_accepted(of, kept, reason, expires) for of in by_check.values())
    return tuple(acceptance for acceptance in every if acceptance is not None)


def _accepted(
    of: Sequence[CheckInRun], kept: Collection[Verdict], reason: str, expires: date
) -> Accepted | None:
    newest = next((pair for pair in reversed(of) if pair[1].standing in kept), None)
    if newest is None:
        return None
    run, check = newest
    judged = [pair for pair in of if pair[1].standing not in NOT_JUDGED]
    showing: list[CheckInRun] = []
    without: list[CheckInRun] = []
    for pair in judged:
        same = pair[1].standing is check.standing and held(pair[1]) == held(check)
        (showing if same else without).append(pair)
    separation = separated(showing, without)
    entry = Entry(
        check=check.id,
        verdict=check.standing,
        seen=held(check),
        members={
            label: word for _, check in showing for label, word in check.deviating_members.items()
        },
        facts=separation.facts,
        run=run.run.run_id,
        reason=reason,
        expires=expires,
    )
    return Accepted(
        entry=entry,
        showing=tuple(run.run.run_id for run, _ in showing),
        without=tuple(run.run.run_id for run, _ in without),
        alike=separation.alike,
    )


def covers(entry: Entry, check: RecordedCheck) -> bool:
    """Whether the entry of a node or flow covers everything that deviates in a check."""
    if entry.flow:
        return fnmatchcase(check.flow, entry.flow)
    deviating = tuple(check.deviating_members) or (f"{check.source.node} {check.target.node}",)
    return all(entry.node in _WORDS.findall(label) for label in deviating)


def deviating_checks(run: RecordedRun) -> list[RecordedCheck]:
    """Return the checks that fail a run."""
    return [check for check in run.checks if check.standing in DEVIATING]


def of_incident(run: RecordedRun, number: int) -> tuple[tuple[str, ...], str]:
    """Return the checks of an incident, counted from 1, and the node that is its cause, if any."""
    incident = run.incidents[number - 1]
    nodes = run.facts.nodes if run.facts else ()
    named = {*incident.traits.values()} & {node.name for node in nodes}
    whole = incident.explained and incident.traits.keys() <= _WHOLE_NODE and len(named) == 1
    return incident.checks, named.pop() if whole else ""


def merged(old: Baseline, new: Iterable[Entry], runs: Iterable[RecordedRun] = ()) -> Baseline:
    """Return a baseline with new entries, replacing those with the same subjects, and clusters."""
    entries = {entry.subject: entry for entry in (*old.entries, *new)}
    clusters = dict.fromkeys((*old.clusters, *map(accepted_on, runs)))
    return Baseline(file=old.file, entries=tuple(entries.values()), clusters=tuple(clusters))


def accepted_on(run: RecordedRun) -> AcceptedOn:
    """Return a run's cluster as a baseline records it."""
    digest = facts_digest(run.facts) if run.facts else ""
    return AcceptedOn(name=cluster_of(run), facts_digest=digest)


def held(check: RecordedCheck) -> Seen:
    """Return what an entry compares of a check; nothing if its attempts disagreed."""
    return Seen() if check.standing is Verdict.FLAKY else seen(check)


@dataclass(frozen=True, slots=True, kw_only=True)
class Separated:
    """The condition; ``alike`` are the ids of runs that no recorded fact separates."""

    facts: Condition
    alike: tuple[str, ...] = ()


def separated(showing: Sequence[CheckInRun], without: Sequence[CheckInRun]) -> Separated:
    """Return the smallest condition that holds for all runs in ``showing`` and none in ``without``.

    If there is none, or nothing to separate, it is the facts of the runs in ``showing``.
    """
    if not without:
        return Separated(facts=exact(showing))
    telling = dict(_telling(showing, without))
    reached = set[int]().union(*telling.values())
    if len(reached) < len(without):
        rest = [run.run.run_id for at, (run, _) in enumerate(without) if at not in reached]
        return Separated(facts=exact(showing), alike=tuple(rest))
    chosen = _smallest(telling, len(without))
    return Separated(facts={fact: _values(fact, showing) for fact in chosen})


def exact(showing: Sequence[CheckInRun]) -> Condition:
    """Return the facts that the expectation and every entry depend on, with these runs' values."""
    named = (*ALWAYS, *(dependency for _, check in showing for dependency in dependencies(check)))
    condition = {fact: _values(fact, showing) for fact in dict.fromkeys(named)}
    return {
        fact: values for fact, values in condition.items() if values and not NOTHING & {*values}
    }


def fact_of(fact: Dependency, run: RecordedRun, check: RecordedCheck) -> str | None:
    """Return the value of a fact for a check in its run; ``None`` if the run has no facts."""
    return value_of(fact, (check.source, check.target), run.facts) if run.facts else None


def _values(fact: Dependency, checks: Sequence[CheckInRun]) -> tuple[str, ...]:
    """Return the different values of a fact; none if the run of one of the checks has no facts."""
    values = dict.fromkeys(fact_of(fact, *check_in_run) for check_in_run in checks)
    return () if None in values else tuple(value for value in values if value is not None)


def _telling(
    showing: Sequence[CheckInRun], without: Sequence[CheckInRun]
) -> Iterator[tuple[Dependency, frozenset[int]]]:
    """Yield each fact with the indexes of runs in ``without`` that it separates, best first."""
    for candidate in _candidates(showing):
        values = {*_values(candidate, showing)}
        if not values or values & {UNKNOWN, *NOTHING}:
            continue
        others = [fact_of(candidate, *other) for other in without]
        distinguished = frozenset(
            at
            for at, value in enumerate(others)
            if value is not None and value != UNKNOWN and value not in values
        )
        if distinguished:
            yield candidate, distinguished


def _candidates(showing: Iterable[CheckInRun]) -> Iterator[Dependency]:
    """Yield every fact of cluster and ends once, those in conditions first."""
    named = (dependency for _, check in showing for dependency in dependencies(check))
    of_nodes = (Dependency(name, side) for name in CONDITIONED for side in ENDS)
    rest = (Dependency(name, side) for name in OF_NODE for side in ENDS)
    of_cluster = (Dependency(name) for name in OF_CLUSTER)
    every = dict.fromkeys((*named, *ALWAYS, *of_nodes, *of_cluster, *rest))
    yield from (fact for fact in every if fact.name not in _PLACES)


def _smallest(telling: Mapping[Dependency, frozenset[int]], number: int) -> tuple[Dependency, ...]:
    """Return the fewest facts that separate all runs, the first ones of equally many."""
    for size in range(1, _MOST + 1):
        for chosen in combinations(telling, size):
            if len(frozenset[int]().union(*(telling[fact] for fact in chosen))) == number:
                return chosen
    chosen, left = (), frozenset(range(number))
    while left:
        best = max(telling, key=lambda fact: len(telling[fact] & left))
        chosen, left = (*chosen, best), left - telling[best]
    return chosen
