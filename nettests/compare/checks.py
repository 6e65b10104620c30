"""Checks that both runs have: the kind of change, the changed members, and the reason. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from nettests.compare.explanation import Why
from nettests.compare.members import MemberChange, alone, member_changes
from nettests.compare.nodes import JoinedNodes
from nettests.compare.reasons import why
from nettests.compare.recorded import Members, RecordedCheck, RecordedRun, Seen
from nettests.model.verdict import ACCEPTED, DEVIATING
from nettests.model.words import Verdict


class Kind(StrEnum):
    """How a check changed; each kind has a mirror, which holds if the runs are compared the other way round."""

    NEW_FAILURE = "new-failure"
    """Was accepted, and deviates."""
    REPAIRED = "repaired"
    """Deviated, and is accepted."""
    FAILS_NOW_JUDGED = "fails-now-judged"
    """Was not judged, and deviates."""
    FAILURE_NOT_JUDGED = "failure-not-judged"
    """Deviated, and was not judged."""
    NOT_JUDGED = "not-judged"
    """Was accepted, and was not judged."""
    NOW_JUDGED = "now-judged"
    """Was not judged, and is accepted."""
    VERDICT = "verdict"
    """Another verdict that is worth the same."""
    OUTCOME = "outcome"
    """The same verdict on something else: of what the documents leave open, most of all."""
    LIMITATION = "limitation"
    """The same was observed, and another limitation says so."""
    MEMBERS = "members"
    """The same verdict, of other members."""
    SAME = "same"


MIRROR = {
    Kind.NEW_FAILURE: Kind.REPAIRED,
    Kind.REPAIRED: Kind.NEW_FAILURE,
    Kind.FAILS_NOW_JUDGED: Kind.FAILURE_NOT_JUDGED,
    Kind.FAILURE_NOT_JUDGED: Kind.FAILS_NOW_JUDGED,
    Kind.NOT_JUDGED: Kind.NOW_JUDGED,
    Kind.NOW_JUDGED: Kind.NOT_JUDGED,
}
"""The kinds that are not their own mirror."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a check was in one run."""

    verdict: Verdict
    message: str
    next_step: str
    expected: str
    observed: str
    limitation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """One check that both runs planned; ``why`` is ``None`` where nothing changed."""

    id: str
    kind: Kind
    before: State
    after: State
    members: tuple[MemberChange, ...] = ()
    why: Why | None = None

    @property
    def worse(self) -> bool:
        """Whether it, or one of its members, deviates and did not before."""
        newly = self.after.verdict in DEVIATING and self.before.verdict not in DEVIATING
        return newly or any(member.newly_deviates for member in self.members)

    @property
    def lost_sight(self) -> bool:
        """Whether it was judged, and is ``unknown``."""
        judged = self.before.verdict not in {Verdict.UNKNOWN, Verdict.SKIPPED}
        return judged and self.after.verdict is Verdict.UNKNOWN


def check_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> Iterator[CheckChange]:
    """Yield each check that both runs have, in the later run's order."""
    olds = {check.id: check for check in before.checks}
    for new in after.checks:
        old = olds.get(new.id)
        if old is not None:
            members = tuple(member_changes(*_members(old, new), nodes))
            kind = kind_of(old, new, members)
            reason = None if kind is Kind.SAME else why((before, old), (after, new), members)
            yield CheckChange(
                id=new.id,
                kind=kind,
                before=_state(old),
                after=_state(new),
                members=members,
                why=reason,
            )


def _members(old: RecordedCheck, new: RecordedCheck) -> tuple[Members, Members]:
    """Return the members of both; a check of one path or node has itself beside one of several."""
    if not (old.members.each or new.members.each):
        return old.members, new.members
    held = [check.members if check.members.each else alone(check) for check in (old, new)]
    return held[0], held[1]


def kind_of(old: RecordedCheck, new: RecordedCheck, members: tuple[MemberChange, ...]) -> Kind:
    """Return how a check changed."""
    if _worth(old) != _worth(new):
        return _KINDS[_worth(old), _worth(new)]
    if old.verdict is not new.verdict:
        return Kind.VERDICT
    if _seen_differs(old, new):
        return Kind.OUTCOME
    if old.limitation_id != new.limitation_id:
        return Kind.LIMITATION
    return Kind.MEMBERS if any(member.tells for member in members) else Kind.SAME


_FINE, _WRONG, _BLIND = "accepted", "deviating", "not judged"
_KINDS = {
    (_FINE, _WRONG): Kind.NEW_FAILURE,
    (_WRONG, _FINE): Kind.REPAIRED,
    (_BLIND, _WRONG): Kind.FAILS_NOW_JUDGED,
    (_WRONG, _BLIND): Kind.FAILURE_NOT_JUDGED,
    (_FINE, _BLIND): Kind.NOT_JUDGED,
    (_BLIND, _FINE): Kind.NOW_JUDGED,
}


def _worth(check: RecordedCheck) -> str:
    if check.verdict in ACCEPTED:
        return _FINE
    return _WRONG if check.verdict in DEVIATING else _BLIND


def _seen_differs(old: RecordedCheck, new: RecordedCheck) -> bool:
    """Whether something else was seen; of several members only the outcome that all have in common is recorded."""
    if not (old.members.each or new.members.each):
        return seen(old) != seen(new)
    outcomes = {old.observed.outcome, new.observed.outcome}
    return None not in outcomes and len(outcomes) > 1


def seen(check: RecordedCheck) -> Seen:
    """Return what was seen and matters: what no one asserts of an answer may differ from one to the next."""
    expected, observed = check.expected, check.observed
    return Seen(
        outcome=observed.outcome,
        source_seen=observed.source_seen if expected.open or expected.source_seen else None,
        distribution=observed.distribution if expected.open or expected.distribution else None,
    )


def _state(check: RecordedCheck) -> State:
    return State(
        verdict=check.verdict,
        message=check.message,
        next_step=check.next_step,
        expected=check.expected.text,
        observed=_words(check.observed),
        limitation=check.limitation_id,
    )


def _words(observed: Seen) -> str:
    """Return what was observed without the addresses of one run."""
    if observed.outcome is None:
        return observed.text
    source = f"source = {observed.source_seen}" if observed.source_seen else None
    return ", ".join(filter(None, (observed.outcome, source, observed.distribution)))
