"""Checks that cannot be forecast because a fact will be unknown, and the fact that would settle each. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nettests.compare.dependencies import Dependency, entries_in, unknown_in
from nettests.forecast.as_documented import Planned
from nettests.forecast.keys import Change, settling
from nettests.model.check import Check

_Alike = tuple[tuple[str, ...], tuple[str, ...], tuple[Dependency, ...]]
"""The entries, the keys of what would settle it, and the facts that are not known."""


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


def undecided_checks(
    before: Planned, after: Planned, changes: Sequence[Change]
) -> Iterator[Undecided]:
    """Yield what is undecided, alike checks together: those with the same entries, and the same facts to settle it.

    A fact of the source settles other checks than that of the target, in a place of its own of one entry.
    """
    lacking = tuple(change.key.name for change in changes if change.names_no_patch)
    alike: dict[_Alike, dict[str, str]] = {}
    for check in after.plan.checks:
        for member in check.each:
            why = after.expectations[member.id].undecided
            if why:
                keys = tuple(_keys(member, why)) or lacking
                grouping = (entries_in(why), keys, unknown_in(why))
                alike.setdefault(grouping, {}).setdefault(check.id, why)
    for (entries, keys, _), checks in alike.items():
        yield Undecided(
            entries=entries,
            why=next(iter(checks.values())),
            settled_by=keys,
            checks=tuple(checks),
            already=all(_was_undecided(name, before) for name in checks),
        )


def _keys(check: Check, undecided: str) -> Iterator[str]:
    """Yield the keys of the facts that a check lacks, for the OS of the node that lacks them."""
    for dependency in dict.fromkeys(unknown_in(undecided)):
        end = check.target if dependency.side == "target" else check.source
        key = settling(dependency, end.os)
        if key is not None:
            yield key


def _was_undecided(check: str, before: Planned) -> bool:
    expectation = before.expectations.get(check)
    return expectation is not None and expectation.undecided is not None
