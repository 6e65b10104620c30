"""Two plans of a cluster, before and after a change of facts → ``Forecast``, with reasons. Pure.

It is the difference of two runs in which everything is as documented (``expected_run``). A check that
cannot be forecast is listed with the fact that would settle it, and never counted as a change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from nettests.compare.changes import CheckChange, Kind, MemberChange, State, check_changes
from nettests.compare.difference import (
    LimitationChange,
    OnlyCheck,
    limitation_changes,
    skipped_because,
)
from nettests.compare.fact_changes import FactChange, fact_changes, join_nodes
from nettests.compare.known_facts import Cause, Dependency, entries_in, unknown_in
from nettests.compare.recorded import RecordedRun
from nettests.expect import Manifest
from nettests.forecast.expected_run import Planned, as_documented
from nettests.forecast.keys import Change, settling
from nettests.model.check import Check
from nettests.model.expectation import Source
from nettests.model.journal_records import ManifestFile
from nettests.model.words import Verdict
from nettests.report.summary import UNKNOWN

Valued = TypeVar("Valued", FactChange, Cause)
NO_REASON = "nothing in the plan says why"
UNCHANGED = "each of these facts is what it was"


class Coming(StrEnum):
    """How the expectation of a check changes."""

    LIFTS = "lifts"
    """A limitation decided it, and none will."""
    APPEARS = "appears"
    """No limitation decided it, and one will."""
    OPENS = "opens"
    """The documents will leave the outcome open."""
    SETTLES = "settles"
    """The documents left the outcome open, and will expect one."""
    DECIDED = "decided"
    """Undecided on today's facts, and decided on the changed ones."""
    CHANGES = "changes"
    """Another outcome, or the same by another limitation."""
    MEMBERS = "members"
    """Only the expectation of some members changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expects:
    """The expectation of a check: verdict if it is as documented, outcome, deciding limitation."""

    verdict: Verdict
    expected: str
    limitation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedChange:
    """A check whose expectation changes: ``applies`` and ``ends`` are ids of manifest entries."""

    id: str
    kind: Coming
    before: Expects
    after: Expects
    members: tuple[MemberChange, ...] = ()
    applies: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    settled_by: tuple[str, ...] = ()
    """If it opens because facts become unknown: the keys that state these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Checks that cannot be forecast, and the keys of the facts that would settle them.

    ``already`` is whether today's facts do not decide them either.
    """

    entries: tuple[str, ...]
    why: str
    settled_by: tuple[str, ...]
    checks: tuple[str, ...]
    already: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of a limitation manifest in the forecast: its statement, file and line."""

    id: str
    summary: str
    place: str
    sources: tuple[Source, ...] = ()
    settled_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected to change on a cluster once facts change: ``to`` as written."""

    of: str
    to: tuple[str, ...]
    notes: tuple[str, ...] = ()
    facts: tuple[FactChange, ...] = ()
    changes: tuple[ExpectedChange, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    comes: tuple[OnlyCheck, ...] = ()
    goes: tuple[OnlyCheck, ...] = ()
    limitations: tuple[LimitationChange, ...] = ()
    entries: tuple[Entry, ...] = ()
    manifests: tuple[ManifestFile, ...] = ()
    same: int = 0
    """How many checks of both plans keep their expectation, members included."""


def forecast(
    before: Planned,
    after: Planned,
    changes: Sequence[Change],
    manifests: Iterable[Manifest],
    *,
    of: str = "",
    notes: Iterable[str] = (),
    digests: Iterable[ManifestFile] = (),
) -> Forecast:
    """Return what is expected to change from one plan to the other; ``of`` names the cluster."""
    runs = as_documented(before), as_documented(after)
    nodes = join_nodes(before.facts, after.facts)
    all_changes = tuple(check_changes(*runs, nodes))
    decided = [change for change in all_changes if change.after.verdict is not Verdict.UNKNOWN]
    applying = before.applying, after.applying
    every = (
        _expected(change, applying, changes) for change in decided if change.kind is not Kind.SAME
    )
    expected = tuple(
        change for change in every if change.kind is not Coming.MEMBERS or change.members
    )
    undecided = tuple(_undecided(before, after, changes))
    unsure = {check.id for run in runs for check in run.checks if check.verdict is Verdict.UNKNOWN}
    facts = tuple(_minors(fact_changes(*runs, nodes), changes))
    old, new = (
        replace(run, checks=tuple(check for check in run.checks if check.id not in unsure))
        for run in runs
    )
    limitations = tuple(limitation_changes(old, new, all_changes))
    named = {
        *(limitation.id for limitation in limitations),
        *(name for lacking in undecided for name in lacking.entries),
        *(name for change in expected for name in (*change.applies, *change.ends)),
        *(each.limitation for change in expected for each in (change.before, change.after)),
    }
    spoken_of = {change.id for change in expected}
    spoken_of |= {name for lacking in undecided for name in lacking.checks}
    return Forecast(
        of=of,
        to=tuple(map(str, changes)),
        notes=(*notes, *([] if facts else [UNCHANGED])),
        facts=facts,
        changes=expected,
        undecided=undecided,
        comes=tuple(_only(runs[1], before)),
        goes=tuple(_only(runs[0], after)),
        limitations=limitations,
        entries=tuple(_entries(manifests, named)),
        manifests=tuple(digests),
        same=len({change.id for change in decided} - spoken_of),
    )


def _entries(manifests: Iterable[Manifest], named: set[str | None]) -> Iterator[Entry]:
    for manifest in manifests:
        for entry in manifest.limitations:
            if entry.id in named and not entry.part:
                yield Entry(
                    id=entry.id,
                    summary=entry.summary,
                    place=entry.place,
                    sources=entry.sources,
                    settled_by=entry.settled_by,
                )


def _expected(
    change: CheckChange, applying: Iterable[Mapping[str, set[str]]], changes: Iterable[Change]
) -> ExpectedChange:
    applied, applies = (entries[change.id] for entries in applying)
    kind = Coming.MEMBERS if change.kind is Kind.MEMBERS else _coming(change)
    causes = tuple(_minors(change.why.causes, changes)) if change.why else ()
    # A condition can leave the outcome open because a fact will be unknown.
    stating = (
        settling(Dependency(cause.fact), None)
        for cause in causes
        if kind is Coming.OPENS and cause.after == UNKNOWN
    )
    return ExpectedChange(
        id=change.id,
        kind=kind,
        before=_expects(change.before),
        after=_expects(change.after),
        members=tuple(each for each in change.members if each.after is not Verdict.UNKNOWN),
        applies=tuple(sorted(applies - applied)),
        ends=tuple(sorted(applied - applies)),
        causes=causes,
        settled_by=tuple(key for key in stating if key),
    )


def _expects(state: State) -> Expects:
    return Expects(verdict=state.verdict, expected=state.expected, limitation=state.limitation)


def _coming(change: CheckChange) -> Coming:
    was, now = change.before.verdict, change.after.verdict
    if was is now:
        return Coming.CHANGES
    if was is Verdict.UNKNOWN:
        return Coming.DECIDED
    if now is Verdict.RECORDED:
        return Coming.OPENS
    if was is Verdict.RECORDED:
        return Coming.SETTLES
    return Coming.LIFTS if was is Verdict.LIMITED else Coming.APPEARS


def _undecided(before: Planned, after: Planned, changes: Sequence[Change]) -> Iterator[Undecided]:
    """Yield what is undecided, grouped by entries and by the facts that would settle it.

    The same fact of source and target settles different checks of an entry.
    """
    lacking = tuple(change.key.name for change in changes if change.names_no_patch)
    alike: dict[tuple[tuple[str, ...], tuple[str, ...], object], dict[str, str]] = {}
    for check in after.plan.checks:
        for member in check.each:
            if why := after.expectations[member.id].undecided:
                keys = tuple(_keys(member, why)) or lacking
                grouping = (entries_in(why), keys, unknown_in(why))
                alike.setdefault(grouping, {}).setdefault(check.id, why)
    for (entries, keys, _), checks in alike.items():
        today = [before.expectations.get(name) for name in checks]
        yield Undecided(
            entries=entries,
            why=next(iter(checks.values())),
            settled_by=keys,
            checks=tuple(checks),
            already=all(each is not None and each.undecided is not None for each in today),
        )


def _keys(check: Check, undecided: str) -> Iterator[str]:
    """Yield the keys of the facts that a check lacks, for the OS of the node that lacks them."""
    for dependency in dict.fromkeys(unknown_in(undecided)):
        end = check.target if dependency.side == "target" else check.source
        if key := settling(dependency, end.os):
            yield key


def _minors(facts: Iterable[Valued], changes: Iterable[Change]) -> Iterator[Valued]:
    """Yield facts or causes without the patch release that stands for a whole minor version."""
    minors = {
        str(change.value): str(change.value).rpartition(".")[0]
        for change in changes
        if change.names_no_patch
    }
    for fact in facts:
        yield replace(fact, after=minors.get(fact.after, fact.after))


def _only(run: RecordedRun, other: Planned) -> Iterator[OnlyCheck]:
    """Yield the checks in only one plan, and why the other skips them."""
    planned_ids = {check.id for check in other.plan.checks}
    for check in run.checks:
        if check.id not in planned_ids:
            skips = {skip.id: skip.reason for skip in other.plan.skips if skip.flow == check.flow}
            yield OnlyCheck(
                id=check.id,
                verdict=check.verdict,
                message=f"expected: {check.expected.text}",
                reason=skipped_because(check.id, skips) or NO_REASON,
            )
