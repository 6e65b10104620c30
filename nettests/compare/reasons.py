"""Why a check changed: a fact that its expectation depends on, the manifests, or no known reason. Pure.

A change is ``explained`` if the expectation changed together with a fact in a condition of the deciding limitation
(or with the manifests), and the cluster now does what is expected, or does what it always did. A changed fact alone
explains nothing: if documents expected the same before and after, a check that behaves differently is
``unexplained``, whatever else changed.
"""

from collections.abc import Sequence
from dataclasses import replace

from nettests.compare.dependencies import Cause, causes, dependencies
from nettests.compare.explanation import Explained, Why, by_manifests, explained, unexplained
from nettests.compare.member_reasons import why_of_members
from nettests.compare.members import MemberChange
from nettests.compare.recorded import Expecting, RecordedCheck, RecordedRun
from nettests.model.verdict import ACCEPTED
from nettests.model.words import Verdict

Of = tuple[RecordedRun, RecordedCheck]
"""A check in its run."""
_NOT_JUDGED = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})


def why(before: Of, after: Of, members: Sequence[MemberChange] = ()) -> Why:
    """Return why a check that both runs have changed; ``members`` are the changes of its members."""
    old, new = before[1], after[1]
    blind = [check for check in (old, new) if check.verdict in _NOT_JUDGED]
    if blind:
        reason = blind[-1].message or "no reason is told"
        return Why(explained=Explained.NOT_JUDGED, text=f"{blind[-1].verdict.value}: {reason}")
    several = old.members.each and new.members.each
    if members and several and not _as_one(members, old, new):
        return why_of_members((before[0], after[0]), (old, new), members)
    changed = causes(
        (before[0].facts, after[0].facts),
        ((old.source, old.target), (new.source, new.target)),
        (*dependencies(old), *dependencies(new)),
    )
    if _expected(old) == _expected(new):
        return _without_another_expectation(old, changed)
    changed = changed or by_manifests(before[0], after[0], old, new)
    if not changed:
        return unexplained("the expectation changed, and no recorded fact or manifest tells why")
    if new.verdict in ACCEPTED:
        return explained("the expectation changed, and it is met", changed)
    if old.observed.outcome == new.observed.outcome and Verdict.FLAKY not in {
        old.verdict,
        new.verdict,
    }:
        return explained("the expectation changed, and the cluster did not", changed)
    return unexplained(
        "the expectation changed, and neither the old nor the new outcome was observed"
    )


def _as_one(members: Sequence[MemberChange], old: RecordedCheck, new: RecordedCheck) -> bool:
    """Whether all members changed in the same way, by the limitations of their check: then it tells why."""
    ways = {(change.before, change.after) for change in members}
    limitations = {(change.limitation_before, change.limitation_after) for change in members}
    every = len(members) == len(old.members.each) == len(new.members.each)
    return every and len(ways) == 1 and limitations == {(old.limitation_id, new.limitation_id)}


def _without_another_expectation(old: RecordedCheck, changed: tuple[Cause, ...]) -> Why:
    """Return why the observation changed although the expectation did not: an open outcome may depend on a fact."""
    if not old.expected.open:
        return unexplained("the expectation did not change")
    if not changed:
        return unexplained("the documents leave it open, and no fact that they name changed")
    return explained("the documents leave it open, and a fact that they name changed", changed)


def _expected(check: RecordedCheck) -> tuple[Expecting, str | None]:
    """Return the parts of an expectation that decide, without its sentences."""
    return replace(check.expected, text=""), check.limitation_id
