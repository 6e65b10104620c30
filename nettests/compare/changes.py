"""Checks in both runs: the kind of change, the changed members, and why. Pure.

A change is ``explained`` if the expectation changed together with a fact in a condition of the
deciding limitation (or with the manifests), and the cluster now does what is expected, or the same
as before. A changed fact alone explains nothing: with the same expectation, another behaviour is
``unexplained``. Each member has its own expectation, from the facts of its nodes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nettests.compare.fact_changes import PAIR, JoinedNodes, manifest_changes
from nettests.compare.known_facts import Cause, Ends, causes, dependencies, of_limitation
from nettests.compare.recorded import End, Member, Members, RecordedCheck, RecordedRun, Seen
from nettests.model.check import counted
from nettests.model.check_id import EXTERNAL, parts_of
from nettests.model.verdict import ACCEPTED, DEVIATING
from nettests.model.words import Placement, Verdict

Runs = tuple[RecordedRun, RecordedRun]
Checks = tuple[RecordedCheck, RecordedCheck]
NOT_JUDGED = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})
_WITHOUT_LIMITATION = frozenset({Verdict.PASS, Verdict.SKIPPED})
"""Verdicts of members for which no limitation is recorded."""


class Kind(StrEnum):
    """How a check changed; each kind has a mirror, for the opposite order of the runs."""

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
    """Another verdict of the same value."""
    OUTCOME = "outcome"
    """The same verdict on another outcome, mostly one that the documents leave open."""
    LIMITATION = "limitation"
    """The same observation, by another limitation."""
    MEMBERS = "members"
    """The same verdict, with changes of members."""
    SAME = "same"


_FINE, _WRONG, _BLIND = "accepted", "deviating", "not judged"
_KINDS = {
    (_FINE, _WRONG): Kind.NEW_FAILURE,
    (_WRONG, _FINE): Kind.REPAIRED,
    (_BLIND, _WRONG): Kind.FAILS_NOW_JUDGED,
    (_WRONG, _BLIND): Kind.FAILURE_NOT_JUDGED,
    (_FINE, _BLIND): Kind.NOT_JUDGED,
    (_BLIND, _FINE): Kind.NOW_JUDGED,
}
MIRROR = {kind: _KINDS[now, was] for (was, now), kind in _KINDS.items()}
"""The kinds that are not their own mirror."""


class Explained(StrEnum):
    """Whether a change is explained."""

    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"
    NOT_JUDGED = "not-judged"
    """One of the two runs did not judge it."""


@dataclass(frozen=True, slots=True)
class Why:
    """Whether a change is explained, by which facts, in one sentence."""

    explained: Explained
    text: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """A member that changed; its verdict is ``None`` in a run without it.

    ``label`` has the node names of the later run, ``earlier`` those of the earlier one.
    """

    label: str
    earlier: str
    before: Verdict | None
    after: Verdict | None
    limitation_before: str | None = None
    limitation_after: str | None = None

    @property
    def in_both(self) -> bool:
        """Whether both runs have it."""
        return self.before is not None and self.after is not None

    @property
    def newly_deviates(self) -> bool:
        """Whether it deviates now and did not before."""
        return self.after in DEVIATING and self.before not in DEVIATING

    @property
    def tells(self) -> bool:
        """Whether its check changed: for a node in one run only, whether it deviates there."""
        return self.in_both or self.before in DEVIATING or self.after in DEVIATING


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The result of a check in one run."""

    verdict: Verdict
    message: str
    next_step: str
    expected: str
    observed: str
    limitation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """One check that both runs planned; ``why`` is ``None`` if nothing changed."""

    id: str
    kind: Kind
    before: State
    after: State
    members: tuple[MemberChange, ...] = ()
    why: Why | None = None

    @property
    def worse(self) -> bool:
        """Whether it, or one of its members, deviates now and did not before."""
        newly = self.after.verdict in DEVIATING and self.before.verdict not in DEVIATING
        return newly or any(member.newly_deviates for member in self.members)

    @property
    def lost_sight(self) -> bool:
        """Whether it was judged before and is ``unknown`` now."""
        return self.before.verdict not in NOT_JUDGED and self.after.verdict is Verdict.UNKNOWN

    @property
    def unexplained(self) -> bool:
        """Whether no changed fact explains it."""
        return self.why is not None and self.why.explained is Explained.UNEXPLAINED


def check_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> Iterator[CheckChange]:
    """Yield each check of both runs, in the later run's order."""
    olds = before.by_id
    for new in after.checks:
        if old := olds.get(new.id):
            of_members = old.members or new.members
            # A check without members is compared as its own member if the other has several.
            held = [check.members or alone(check) if of_members else {} for check in (old, new)]
            members = tuple(member_changes(held[0], held[1], nodes))
            kind = kind_of(old, new, members)
            yield CheckChange(
                id=new.id,
                kind=kind,
                before=_state(old),
                after=_state(new),
                members=members,
                why=None if kind is Kind.SAME else why((before, after), (old, new), members),
            )


def alone(check: RecordedCheck) -> Members:
    """Return a check without members as its only one, with the label from ``plan.cell``."""
    source, target = check.source.node or EXTERNAL, check.target.node
    placed = {*Placement} & {*parts_of(check.id)}
    label = f"{source} → {target}" if target and placed else source
    limitation = None if check.verdict in _WITHOUT_LIMITATION else check.limitation_id
    return {label: Member(verdict=check.verdict, limitation=limitation)}


def member_changes(before: Members, after: Members, nodes: JoinedNodes) -> Iterator[MemberChange]:
    """Yield the members whose verdict or limitation changed, and those in only one run."""
    was = {nodes.later(label): (label, member) for label, member in before.items()}
    for label in dict.fromkeys((*was, *after)):
        earlier, old = was.get(label, (label, None))
        new = after.get(label)
        change = MemberChange(
            label=label,
            earlier=earlier,
            before=old.verdict if old else None,
            after=new.verdict if new else None,
            limitation_before=old.limitation if old else None,
            limitation_after=new.limitation if new else None,
        )
        if (change.before, change.limitation_before) != (change.after, change.limitation_after):
            yield change


def kind_of(old: RecordedCheck, new: RecordedCheck, members: tuple[MemberChange, ...]) -> Kind:
    """Return how a check changed."""
    worth = tuple(
        _FINE if check.verdict in ACCEPTED else _WRONG if check.verdict in DEVIATING else _BLIND
        for check in (old, new)
    )
    if worth in _KINDS:
        return _KINDS[worth]
    if old.verdict is not new.verdict:
        return Kind.VERDICT
    if old.members or new.members:
        # With several members only their common outcome is recorded.
        outcomes = {old.observed.outcome, new.observed.outcome}
        differs = None not in outcomes and len(outcomes) > 1
    else:
        differs = seen(old) != seen(new)
    if differs:
        return Kind.OUTCOME
    if old.limitation_id != new.limitation_id:
        return Kind.LIMITATION
    return Kind.MEMBERS if any(member.tells for member in members) else Kind.SAME


def seen(check: RecordedCheck) -> Seen:
    """Return the asserted parts of an observation; other parts may differ between answers."""
    expected, observed = check.expected, check.observed
    return Seen(
        outcome=observed.outcome,
        source_seen=observed.source_seen if expected.open or expected.source_seen else None,
        distribution=observed.distribution if expected.open or expected.distribution else None,
    )


def _state(check: RecordedCheck) -> State:
    observed = check.observed
    # Without addresses, which differ between runs.
    source = f"source = {observed.source_seen}" if observed.source_seen else None
    words = ", ".join(filter(None, (observed.outcome, source, observed.distribution)))
    return State(
        verdict=check.verdict,
        message=check.message,
        next_step=check.next_step,
        expected=check.expected.text,
        observed=words if observed.outcome else observed.text,
        limitation=check.limitation_id,
    )


def why(runs: Runs, checks: Checks, members: Sequence[MemberChange] = ()) -> Why:
    """Return why a check in both runs changed; ``members`` are the changes of its members."""
    old, new = checks
    blind = [check for check in checks if check.verdict in NOT_JUDGED]
    if blind:
        reason = blind[-1].message or "no reason is given"
        return Why(Explained.NOT_JUDGED, f"{blind[-1].verdict.value}: {reason}")
    several = old.members and new.members
    if members and several and not _as_one(members, old, new):
        return _why_of_members(runs, checks, members)
    ends = ((old.source, old.target), (new.source, new.target))
    changed = causes((runs[0].facts, runs[1].facts), ends, (*dependencies(old), *dependencies(new)))
    expected = [(replace(check.expected, text=""), check.limitation_id) for check in checks]
    if expected[0] == expected[1]:
        return _without_another_expectation(old, changed)
    changed = changed or _by_manifests(runs, checks)
    same = old.observed.outcome == new.observed.outcome
    if not changed:
        text = "the expectation changed, and no recorded fact or manifest tells why"
    elif new.verdict in ACCEPTED:
        return Why(Explained.EXPLAINED, "the expectation changed, and it is met", changed)
    elif same and Verdict.FLAKY not in {old.verdict, new.verdict}:
        text = "the expectation changed, and the cluster did not"
        return Why(Explained.EXPLAINED, text, changed)
    else:
        text = "the expectation changed, and neither the old nor the new outcome was observed"
    return Why(Explained.UNEXPLAINED, text)


def _as_one(members: Sequence[MemberChange], old: RecordedCheck, new: RecordedCheck) -> bool:
    """Whether all members changed alike, with the limitations of their check, which tells why."""
    ways = {(change.before, change.after) for change in members}
    limitations = {(change.limitation_before, change.limitation_after) for change in members}
    every = len(members) == len(old.members) == len(new.members)
    return every and len(ways) == 1 and limitations == {(old.limitation_id, new.limitation_id)}


def _without_another_expectation(old: RecordedCheck, changed: tuple[Cause, ...]) -> Why:
    """Return why only the observation changed: an open outcome may depend on a fact."""
    if not old.expected.open:
        return Why(Explained.UNEXPLAINED, "the expectation did not change")
    if not changed:
        text = "the documents leave it open, and no fact that they name changed"
        return Why(Explained.UNEXPLAINED, text)
    text = "the documents leave it open, and a fact that they name changed"
    return Why(Explained.EXPLAINED, text, changed)


def _why_of_members(runs: Runs, checks: Checks, changes: Sequence[MemberChange]) -> Why:
    deviating = [
        change for change in changes if change.before is None and change.after in DEVIATING
    ]
    if deviating:
        text = f"what deviates at {counted([change.label for change in deviating])} is not in the other run"
        return Why(Explained.UNEXPLAINED, text)
    shared = [change for change in changes if change.in_both]
    if not shared:
        sizes = [str(len(check.members)) for check in checks]
        cause = Cause(fact="nodes or pairs of nodes", before=sizes[0], after=sizes[1])
        return Why(Explained.EXPLAINED, "nodes came or went", (cause,))
    all_causes: list[Cause] = []
    for change in shared:
        reasons = _of_member(runs, checks, change)
        if not reasons:
            text = f"what is expected at {change.label} did not change, or not by a fact"
            return Why(Explained.UNEXPLAINED, text)
        all_causes += reasons
    text = "what is expected there changed, and it was observed"
    return Why(Explained.EXPLAINED, text, tuple(dict.fromkeys(all_causes)))


def _of_member(runs: Runs, checks: Checks, change: MemberChange) -> tuple[Cause, ...]:
    """Return the facts that changed a member's expectation; none if it is the same or not met."""
    names = (change.limitation_before, change.limitation_after)
    if names[0] == names[1] or change.after not in ACCEPTED:
        return ()
    # Each place (line) of a limitation that decides checks of a run.
    places = {
        (at, check.limitation.line): check.limitation
        for at, run in enumerate(runs)
        for check in run.checks
        if check.limitation is not None and check.limitation.id == names[at]
    }
    named = [dependency for applied in places.values() for dependency in of_limitation(applied)]
    ends = (_ends(change.earlier, runs[0], checks[0]), _ends(change.label, runs[1], checks[1]))
    return causes((runs[0].facts, runs[1].facts), ends, named) or _by_manifests(runs, checks)


def _ends(label: str, run: RecordedRun, check: RecordedCheck) -> Ends:
    """Return the ends of a member: its nodes, or the check's end if the label names a Service."""
    nodes = {node.name for node in run.facts.nodes} if run.facts else set()
    source, _, target = label.partition(PAIR)
    return (
        End(node=source) if source in nodes else check.source,
        End(node=target or source) if (target or source) in nodes else check.target,
    )


def _by_manifests(runs: Runs, checks: Iterable[RecordedCheck]) -> tuple[Cause, ...]:
    """Return the changed manifests, of deciding limitations if possible, or nettests' versions."""
    changes = list(manifest_changes(*runs))
    files = {f"manifest {check.limitation.file}" for check in checks if check.limitation}
    if changes:
        return tuple(
            Cause(fact=change.name, before=change.before, after=change.after)
            for change in [change for change in changes if change.name in files] or changes
        )
    versions = [run.run.nettests for run in runs]
    if len({check.expected.claim for check in checks}) > 1 and versions[0] != versions[1]:
        return (Cause(fact="nettests", before=versions[0], after=versions[1]),)
    return ()
