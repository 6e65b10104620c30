"""One round of a watch, in memory until ``rounds`` decides what is recorded, and a tally of rounds.

A sheet replaces the journal: ``Judging`` writes to it and judges. Twelve hours of equal answers are
too much to record. ``RoundTally`` counts, for the exit code, in how many rounds each check and
member was judged or unknown; lost rounds and checks that do not apply do not count.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nettests.judge import judge_run
from nettests.judge.verdicts import NOT_JUDGED
from nettests.model.check import Check
from nettests.model.check_id import member_id, parent_of
from nettests.model.expectation import Expectation
from nettests.model.journal_records import Done, Judged
from nettests.model.observation import Raw
from nettests.model.verdict import Judgement, MembersJudged
from nettests.model.words import Verdict
from nettests.parse import observation_of
from nettests.probes.sending import STOPPED
from nettests.session.journal import Journal

_NOTHING_SAID = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})


@dataclass(slots=True)
class RoundSheet:
    """The records of one round, by check and member; ``first`` is true in round 1. Thread-safe."""

    journal: Journal
    first: bool
    _raws: defaultdict[str, list[Raw]] = field(default_factory=lambda: defaultdict(list))
    _done: dict[str, Done] = field(default_factory=dict)
    _stopped: set[str] = field(default_factory=set)
    """Checks that were stopped, or one of whose members was."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def raw(self, raw: Raw) -> Raw:
        """Keep a request and its answer; return it without secrets."""
        redacted = self.journal.as_written(raw)
        with self._lock:
            self._raws[raw.check].append(redacted)
        return redacted

    def finish(self, done: Done) -> None:
        """Keep the ``done`` record of a check."""
        with self._lock:
            self._done[done.check] = done
            if (done.distrust or "").startswith(STOPPED):
                self._stopped.add(parent_of(done.check))

    def without_secrets(self, done: Done) -> Done:
        """Return a ``done`` record as it would be written."""
        return self.journal.without_secrets(done)

    def event(self, text: str, *, notable: bool = False) -> None:
        """Write an event; one that is not ``notable`` only in the first round."""
        if self.first or notable:
            self.journal.event(text, notable=notable)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to converge, in the first round only."""
        if self.first:
            self.journal.convergence(
                service=service, probe=probe, seconds=seconds, converged=converged
            )

    def over(self, check: Check) -> bool:
        """Whether a check was run, or does not apply, in this round; false if it was stopped."""
        return check.id in self._done and check.id not in self._stopped

    def judgement(self, check: Check) -> Judgement | None:
        """Return the judgement of a check in this round, or ``None``."""
        done = self._done.get(check.id)
        return done.judgement if done else None

    def verdicts_of(self, check: Check) -> dict[str, Verdict]:
        """Return, by id, the verdicts of a check and of its members that did not simply pass."""
        judgement = self.judgement(check)
        if judgement is None:
            return {}
        members = {
            member_id(check.id, label): group.verdict
            for group in judgement.members
            for label in group.labels
        }
        return {check.id: judgement.verdict, **members}

    def distrust(
        self, check: Check, why: Mapping[str, str], expectations: Mapping[str, Expectation]
    ) -> Judgement:
        """Judge a check again as distrusted, for the reasons in ``why``, by check or member id."""
        for member in check.each:
            if member.id in why:
                done = self._done.get(member.id) or Done(check=member.id)
                self._done[member.id] = self.without_secrets(replace(done, distrust=why[member.id]))
        done_of = {
            member: self._done[member.id] for member in check.each if member.id in self._done
        }
        (judgement,) = judge_run(
            [check],
            expectations,
            {
                member.id: observation_of(member, done, self._raws.get(member.id, ()))
                for member, done in done_of.items()
                if done.skip is None
            },
            {member.id: done.skip for member, done in done_of.items() if done.skip is not None},
        )
        self._done[check.id] = replace(self._done[check.id], judgement=judgement)
        return judgement

    def lost(self, checks: Sequence[Check]) -> str:
        """Return why nothing was judged in this round; empty if something was."""
        judged = [self.judgement(check) for check in checks]
        if any(
            judgement and _judged(check, judgement)
            for check, judgement in zip(checks, judged, strict=True)
        ):
            return ""
        return next(
            (judgement.message for judgement in judged if judgement is not None),
            "no check was run to its end",
        )

    def write(self, check: Check) -> None:
        """Write the kept records of a check and its members to the journal, with its verdict."""
        for member in check.each:
            for raw in self._raws.get(member.id, ()):
                self.journal.raw(raw)
            if member.id != check.id and member.id in self._done:
                self.journal.finish(self._done[member.id])
        if check.id in self._done:
            self.journal.finish(self._done[check.id])
        if judgement := self.judgement(check):
            self.journal.write(Judged(judgement=judgement))


def _judged(check: Check, judgement: Judgement) -> bool:
    """Whether a check or any of its members was judged; members that passed are not listed."""
    if judgement.verdict is not Verdict.UNKNOWN:
        return True
    nothing = [member for member in judgement.members if member.verdict in _NOTHING_SAID]
    return sum(len(group.labels) for group in nothing) < len(check.members)


@dataclass(slots=True)
class _Count:
    judged: int = 0
    unknown: int = 0
    why: str = ""
    """Why it could not be judged, the last time."""


@dataclass(slots=True)
class RoundTally:
    """Counts rounds by check and by member id."""

    _counts: defaultdict[str, _Count] = field(default_factory=lambda: defaultdict(_Count))

    def take(self, check: Check, judgement: Judgement) -> None:
        """Count a round with this judgement of a check."""
        for name, verdict, why in _each(check, judgement):
            count = self._counts[name]
            count.judged += verdict not in {Verdict.UNKNOWN, Verdict.SKIPPED}
            if verdict is Verdict.UNKNOWN:
                count.unknown += 1
                count.why = why

    def mostly_unknown(self, check: Check) -> Mapping[str, str]:
        """Return, by id, what was unknown in more rounds than judged, and why, with the numbers."""
        counts = {
            member.id: self._counts[member.id] for member in check.each if member.id in self._counts
        }
        return {
            name: f"{count.why} (unknown in {count.unknown} of {count.unknown + count.judged} rounds)"
            for name, count in counts.items()
            if count.unknown > count.judged
        }


def _each(check: Check, judgement: Judgement) -> Iterator[tuple[str, Verdict, str]]:
    """Yield the verdict of the check, or of each member; members that passed are not listed."""
    if not check.members:
        yield check.id, judgement.verdict, _why(judgement)
        return
    named = {label: group for group in judgement.members for label in group.labels}
    for member in check.members:
        name, group = member_id(check.id, member.label), named.get(member.label)
        if group is None:
            yield name, Verdict.PASS, ""
        else:
            yield name, group.verdict, _why(group)


def _why(judgement: Judgement | MembersJudged) -> str:
    """Return why something was not judged, without the expectation and observation before it."""
    # samples: … - fleet - expected connected, observed refused: the DNS …, … - fleet - cannot be judged: node win-2 was …
    why = judgement.message.rpartition(f"observed {judgement.observed}: ")[2]
    return why.rpartition(f" - {NOT_JUDGED}")[2]
