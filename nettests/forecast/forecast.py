"""Two plans of one cluster, before and after facts change → ``Forecast``: the expected changes, and why. Pure.

It is the difference of two runs in which everything is as documented (``as_documented``). A check that cannot be
forecast is named with the fact that would settle it, and never counted as a change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from nettests.compare.absent import OnlyCheck, skipped_because
from nettests.compare.checks import CheckChange, Kind, State, check_changes
from nettests.compare.dependencies import Cause, Dependency
from nettests.compare.fact_changes import FactChange, fact_changes
from nettests.compare.limitations import LimitationChange, limitation_changes
from nettests.compare.members import MemberChange
from nettests.compare.nodes import join_nodes
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.expect import Manifest
from nettests.forecast.as_documented import Planned, as_documented
from nettests.forecast.entries import Entry, entries_of
from nettests.forecast.keys import Change, settling
from nettests.forecast.undecided import Undecided, undecided_checks
from nettests.model.journal_records import ManifestFile
from nettests.model.words import Verdict
from nettests.report.summary import UNKNOWN

Applying = Mapping[str, set[str]]
"""Entries by the id of a check."""
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
    """The documents leave the outcome open from then on."""
    SETTLES = "settles"
    """They left it open, and expect one from then on."""
    DECIDED = "decided"
    """Today's facts left it undecided, and the changed facts decide it."""
    CHANGES = "changes"
    """Another outcome, or the same by another limitation."""
    MEMBERS = "members"
    """Only the expectation of some members changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expects:
    """What is expected of a check: the verdict of one that does as documented, the outcome, and what decides."""

    verdict: Verdict
    expected: str
    limitation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedChange:
    """A check of which something else is expected: ``applies`` and ``ends`` are ids of manifest entries."""

    id: str
    kind: Coming
    before: Expects
    after: Expects
    members: tuple[MemberChange, ...] = ()
    applies: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    settled_by: tuple[str, ...] = ()
    """Of what becomes open because facts become unknown: the keys that state them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected to change on a cluster once facts change: ``to`` as they were written."""

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
    """How many checks of both plans keep their expectation, with all of their members."""


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
    """Return what is expected to change from one plan to the other; ``of`` is what the cluster is called."""
    runs = as_documented(before), as_documented(after)
    nodes = join_nodes(before.facts, after.facts)
    all_changes = tuple(check_changes(*runs, nodes))
    decided = [change for change in all_changes if change.after.verdict is not Verdict.UNKNOWN]
    applying = _applying(before), _applying(after)
    every = (
        _expected(change, applying, changes) for change in decided if change.kind is not Kind.SAME
    )
    expected = tuple(
        change for change in every if change.kind is not Coming.MEMBERS or change.members
    )
    undecided = tuple(undecided_checks(before, after, changes))
    unsure = {check.id for run in runs for check in run.checks if check.verdict is Verdict.UNKNOWN}
    facts = tuple(_minors(fact_changes(*runs, nodes), changes))
    old, new = (_without(run, unsure) for run in runs)
    limitations = limitation_changes(old, new, all_changes)
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
        entries=tuple(entries_of(manifests, _named(expected, undecided, limitations))),
        manifests=tuple(digests),
        same=len({change.id for change in decided} - _spoken_of(expected, undecided)),
    )


def _spoken_of(changes: Iterable[ExpectedChange], undecided: Iterable[Undecided]) -> set[str]:
    return {change.id for change in changes} | {
        name for lacking in undecided for name in lacking.checks
    }


def _expected(
    change: CheckChange, applying: tuple[Applying, Applying], changes: Iterable[Change]
) -> ExpectedChange:
    applied, applies = (entries[change.id] for entries in applying)
    kind = Coming.MEMBERS if change.kind is Kind.MEMBERS else _coming(change)
    causes = tuple(_minors(change.why.causes, changes)) if change.why else ()
    return ExpectedChange(
        id=change.id,
        kind=kind,
        before=_expects(change.before),
        after=_expects(change.after),
        members=tuple(each for each in change.members if each.after is not Verdict.UNKNOWN),
        applies=tuple(sorted(applies - applied)),
        ends=tuple(sorted(applied - applies)),
        causes=causes,
        settled_by=tuple(_stating(causes)) if kind is Coming.OPENS else (),
    )


def _stating(causes: Iterable[Cause]) -> Iterator[str]:
    """Yield the keys of cluster facts that are unknown then: a condition can leave the outcome open because of that."""
    for cause in causes:
        key = settling(Dependency(cause.fact), None) if cause.after == UNKNOWN else None
        if key is not None:
            yield key


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


def _applying(planned: Planned) -> Applying:
    """Return the entries that apply to each check, or to one of its members."""
    return {
        check.id: {
            name for member in check.each for name in planned.expectations[member.id].entries
        }
        for check in planned.plan.checks
    }


def _minors(facts: Iterable[Valued], changes: Iterable[Change]) -> Iterator[Valued]:
    """Yield facts or causes without the patch release that stands for a whole minor."""
    minors = {
        str(change.value): str(change.value).rpartition(".")[0]
        for change in changes
        if change.names_no_patch
    }
    for fact in facts:
        yield replace(fact, after=minors.get(fact.after, fact.after))


def _only(run: RecordedRun, other: Planned) -> Iterator[OnlyCheck]:
    """Yield the checks that only one plan has, and why the other leaves them out."""
    planned_ids = {check.id for check in other.plan.checks}
    for check in run.checks:
        if check.id not in planned_ids:
            yield OnlyCheck(
                id=check.id,
                verdict=check.verdict,
                message=f"expected: {check.expected.text}",
                reason=_reason(check, other) or NO_REASON,
            )


def _reason(check: RecordedCheck, other: Planned) -> str | None:
    skips = {skip.id: skip.reason for skip in other.plan.skips if skip.flow == check.flow}
    return skipped_because(check.id, skips)


def _without(run: RecordedRun, ids: set[str]) -> RecordedRun:
    return replace(run, checks=tuple(check for check in run.checks if check.id not in ids))


def _named(
    changes: Iterable[ExpectedChange],
    undecided: Iterable[Undecided],
    limitations: Iterable[LimitationChange],
) -> set[str]:
    ids = {name for change in changes for name in (*change.applies, *change.ends)}
    ids |= {
        name for each in changes for name in (each.before.limitation, each.after.limitation) if name
    }
    ids |= {name for lacking in undecided for name in lacking.entries}
    return ids | {limitation.id for limitation in limitations}
