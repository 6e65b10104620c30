"""Limitations that decide checks in only one of two runs, or decide other checks than before. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from nettests.compare.checks import CheckChange
from nettests.compare.dependencies import Cause
from nettests.compare.recorded import RecordedRun
from nettests.model.expectation import AppliedLimitation, Source


class Moved(StrEnum):
    """What became of a limitation."""

    CAME = "came"
    WENT = "went"
    MOVED = "moved"
    """It decides other checks than before, among those that both runs have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitationChange:
    """One limitation; ``gained`` and ``lost`` are the ids of checks that it decides now, or did before."""

    id: str
    summary: str
    what: Moved
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    sources: tuple[Source, ...]
    with_checks: bool
    """Whether it came or went with its checks: the other run has none of them."""
    causes: tuple[Cause, ...]


def limitation_changes(
    before: RecordedRun, after: RecordedRun, changes: Iterable[CheckChange]
) -> tuple[LimitationChange, ...]:
    """Return the limitations that came, went or moved, by id."""
    why = {change.id: change.why.causes for change in changes if change.why}
    return tuple(_changed(before, after, why))


def _changed(
    before: RecordedRun, after: RecordedRun, why: Mapping[str, tuple[Cause, ...]]
) -> Iterator[LimitationChange]:
    old, new = _decided(before), _decided(after)
    shared = {check.id for check in before.checks} & {check.id for check in after.checks}
    entries = {**_entries(before), **_entries(after)}
    for name in sorted({*old, *new}):
        had, has = old.get(name, set()), new.get(name, set())
        if had and has:
            had, has = had & shared, has & shared
        touched = had ^ has
        if not touched:
            continue
        came = Moved.CAME if name in new else Moved.WENT
        yield LimitationChange(
            id=name,
            summary=entries[name].summary,
            what=Moved.MOVED if name in old and name in new else came,
            gained=tuple(sorted(has - had)),
            lost=tuple(sorted(had - has)),
            sources=entries[name].sources,
            with_checks=not touched & shared,
            causes=tuple(
                dict.fromkeys(cause for check in sorted(touched) for cause in why.get(check, ()))
            ),
        )


def _decided(run: RecordedRun) -> dict[str, set[str]]:
    by_limitation: defaultdict[str, set[str]] = defaultdict(set)
    for check in run.checks:
        if check.limitation:
            by_limitation[check.limitation.id].add(check.id)
    return dict(by_limitation)


def _entries(run: RecordedRun) -> dict[str, AppliedLimitation]:
    return {check.limitation.id: check.limitation for check in run.checks if check.limitation}
