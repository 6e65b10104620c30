"""Runs → entries that accept their deviations and recorded outcomes, with the facts under which they hold. Pure.

What is limited is accepted on request alone: its limitation judges it already, and an entry holds it to the one outcome that
was seen of those that the documents allow.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from nettests.baseline.entries import AcceptedOn, Baseline, Entry
from nettests.baseline.separating import CheckInRun, separated
from nettests.compare import RecordedRun
from nettests.compare.checks import seen
from nettests.compare.cluster_names import cluster_of
from nettests.compare.recorded import RecordedCheck, Seen
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict
from nettests.report.results import facts_digest

_HELD = frozenset({*DEVIATING, Verdict.RECORDED})
# samples: win-3 → linux-2, win-1
_WORDS = re.compile(r"[\w.-]+")
_WHOLE_NODE = frozenset({"node", "remote-node", "pod-network", "unready-node", "not-started"})
"""Traits of incidents (``report.incidents``) that mean a node with everything on it."""
_BLIND = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An entry, and the ids of the runs behind it: those that show the deviation, and those that do not.

    ``alike`` are those of the latter that no recorded fact tells apart.
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
    """Return an entry for each check that deviates or was recorded in a run, and whose id a pattern matches, if there are any.

    With ``limited`` also for each that a documented limitation decides, and that was observed as documented.

    What is accepted is what the newest run with a deviation shows. Where others do not show it, the entry holds on the
    smallest condition that separates the two; a run that did not judge the check says nothing.
    """
    wanted = tuple(patterns)
    in_order = sorted(runs, key=lambda run: run.run.started)
    by_check: dict[str, list[CheckInRun]] = {}
    for run in in_order:
        for check in run.checks:
            if not wanted or any(fnmatchcase(check.id, pattern) for pattern in wanted):
                by_check.setdefault(check.id, []).append((run, check))
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
    judged = [pair for pair in of if pair[1].standing not in _BLIND]
    showing = [pair for pair in judged if _alike(pair[1], check)]
    without = [pair for pair in judged if not _alike(pair[1], check)]
    separation = separated(showing, without)
    entry = Entry(
        check=check.id,
        verdict=check.standing,
        seen=held(check),
        members={
            label: word for _, check in showing for label, word in deviating_members(check).items()
        },
        facts=separation.facts,
        run=run.run.run_id,
        reason=reason,
        expires=expires,
    )
    return Accepted(
        entry=entry,
        showing=tuple(_ids(showing)),
        without=tuple(_ids(without)),
        alike=separation.alike,
    )


def _alike(check: RecordedCheck, other: RecordedCheck) -> bool:
    """Whether both show the same, in what an entry compares."""
    return check.standing is other.standing and held(check) == held(other)


def _ids(of: Iterable[CheckInRun]) -> Iterator[str]:
    yield from (run.run.run_id for run, _ in of)


def covers(entry: Entry, check: RecordedCheck) -> bool:
    """Whether the entry of a node, or of a flow, is about everything that deviates in a check."""
    if entry.flow:
        return fnmatchcase(check.flow, entry.flow)
    deviating = deviating_members(check) or (f"{check.source.node} {check.target.node}",)
    return all(entry.node in _WORDS.findall(label) for label in deviating)


def deviating_checks(run: RecordedRun) -> list[RecordedCheck]:
    """Return what a run fails for."""
    return [check for check in run.checks if check.standing in DEVIATING]


def of_incident(run: RecordedRun, number: int) -> tuple[tuple[str, ...], str]:
    """Return the checks of an incident, counted from 1, and the node that as a whole is its cause, if one is."""
    incident = run.incidents[number - 1]
    nodes = run.facts.nodes if run.facts else ()
    named = {*incident.traits.values()} & {node.name for node in nodes}
    whole = incident.explained and incident.traits.keys() <= _WHOLE_NODE and len(named) == 1
    return incident.checks, named.pop() if whole else ""


def merged(old: Baseline, new: Iterable[Entry], runs: Iterable[RecordedRun] = ()) -> Baseline:
    """Return a baseline with new entries in the place of those of the same subjects, and the clusters of their runs."""
    entries = {entry.subject: entry for entry in (*old.entries, *new)}
    clusters = dict.fromkeys((*old.clusters, *map(accepted_on, runs)))
    return Baseline(file=old.file, entries=tuple(entries.values()), clusters=tuple(clusters))


def accepted_on(run: RecordedRun) -> AcceptedOn:
    """Return what a baseline calls the cluster of a run."""
    digest = facts_digest(run.facts) if run.facts else ""
    return AcceptedOn(name=cluster_of(run), facts_digest=digest)


def held(check: RecordedCheck) -> Seen:
    """Return what an entry compares of a check; nothing if its attempts disagreed."""
    return Seen() if check.standing is Verdict.FLAKY else seen(check)


def deviating_members(check: RecordedCheck) -> Mapping[str, Verdict]:
    """Return the members that deviate, with their verdicts."""
    return {
        member.member: member.verdict
        for member in check.members.deviating
        if member.verdict in DEVIATING
    }
