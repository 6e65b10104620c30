"""The journal records of one run, combined by kind and by check. Pure.

Used wherever a whole run is read: reports (``report``) and verdicts by other manifests
(``session.rejudge``). Nothing is parsed or judged here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self, assert_never

from nettests.model.calibration import Calibration
from nettests.model.check import Skip
from nettests.model.check_id import member_id, member_of
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import (
    Accepted,
    AcceptedFailure,
    Answer,
    Begin,
    Calibrated,
    Convergence,
    Diagnostics,
    Discovered,
    Done,
    End,
    Event,
    Judged,
    Limitations,
    OfRun,
    Planned,
    Pulled,
    Reading,
    Record,
    Revised,
    Round,
    Skipped,
    Unknown,
    UnusedLimitation,
)
from nettests.model.observation import Pull, Raw
from nettests.model.verdict import Judgement, verdicts_of
from nettests.model.words import Verdict

TWICE = "the journal holds its observation twice"


@dataclass(slots=True)
class History:
    """A run's records; the last of repeated ones counts."""

    begin: Begin = field(default_factory=Begin)
    end: End | None = None
    """``None`` for an aborted run."""
    facts: ClusterFacts | None = None
    planned: dict[str, Planned] = field(default_factory=dict)
    skips: dict[str, Skip] = field(default_factory=dict)
    raws: dict[str, list[Raw]] = field(default_factory=dict)
    """All answers of a check, including those that arrived after it was done."""
    done: dict[str, Done] = field(default_factory=dict)
    """By check; ``distrust`` also covers inconsistent answers in the journal."""
    judged: dict[str, Judgement] = field(default_factory=dict)
    unused: tuple[UnusedLimitation, ...] = ()
    calibrations: list[Calibration] = field(default_factory=list)
    pulls: list[Pull] = field(default_factory=list)
    convergence: list[Convergence] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    """The rounds of a watch, in order; empty for a run."""
    events: list[Event] = field(default_factory=list)
    diagnostics: list[Diagnostics] = field(default_factory=list)
    accepted: dict[str, AcceptedFailure] = field(default_factory=dict)
    """Accepted failures of the baseline, by check."""
    excused: bool = False
    """Whether the run's exit code ignores them."""
    _counted: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        """Build the history from records."""
        history = cls()
        for record in records:
            history.add(record)
        return history

    def add(self, record: Record) -> None:
        """Add one record; a kind that this version does not know is ignored."""
        match record:
            case Planned():
                self.planned[record.check.id] = record
            case Skipped():
                self.skips[record.skip.id] = record.skip
            case Revised():
                if planned := self.planned.get(record.check):
                    self.planned[record.check] = replace(
                        planned, expectation=record.expectation, others=record.others
                    )
            case Answer():
                self.raws.setdefault(record.raw.check, []).append(record.raw)
            case Done():
                self._end(record)
            case Judged():
                self.judged[record.judgement.check] = record.judgement
            case Unknown():
                pass
            case _:
                self._add_of_the_run(record)

    def _add_of_the_run(self, record: OfRun) -> None:
        match record:
            case Begin():
                self.begin = record
            case End():
                self.end = record
            case Discovered():
                self.facts = record.facts
            case Limitations():
                self.unused = record.unused
            case Pulled():
                self.pulls.append(record.pull)
            case Convergence():
                self.convergence.append(record)
            case Round():
                self.rounds.append(record)
            case Event():
                self.events.append(record)
            case Diagnostics():
                self.diagnostics.append(record)
            case Accepted():
                self.accepted = {failure.check: failure for failure in record.failures}
                self.excused = record.excused
            case _:
                self._add_reading(record)

    def _add_reading(self, record: Reading | Calibrated) -> None:
        match record:
            case Calibrated():
                self.calibrations.append(record.calibration)
            case Reading():
                pass  # completed facts follow the reading
            case _:
                assert_never(record)

    def _end(self, done: Done) -> None:
        """Record that a check is done; distrust it if its answers are not those counted."""
        held = len(self.raws.get(done.check, ()))
        distrust = TWICE if done.check in self.done else _lacking(done, held) or done.distrust
        self.done[done.check] = replace(done, distrust=distrust)
        self._counted[done.check] = held

    def answers(self, check: str) -> tuple[Raw, ...]:
        """Return the answers a check had when it was done, or all of them if it never was."""
        raws = self.raws.get(check, [])
        return tuple(raws[: self._counted.get(check)])

    def expectations(self) -> dict[str, Expectation]:
        """Return the expectation of every planned check and its members."""
        expectations: dict[str, Expectation] = {}
        for planned in self.planned.values():
            check = planned.check
            expectations[check.id] = planned.expectation
            for member in check.members:
                expectations[member_id(check.id, member.label)] = planned.expectation
            for other in planned.others:
                for label in other.labels:
                    expectations[member_id(check.id, label)] = other.expectation
        return expectations

    @property
    def skipped(self) -> tuple[str, ...]:
        """Planned checks that do not apply or could not run."""
        unfit = (
            finished.check
            for finished in self.done.values()
            if finished.skip and not member_of(finished.check)
        )
        return (*self.skips, *unfit)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdict of every planned check."""
        judged = {judgement.check: judgement.verdict for judgement in self.judged.values()}
        return verdicts_of(self.planned, self.skipped, judged)


def _lacking(done: Done, held: int) -> str | None:
    """Return which counted answers are missing: the rest alone may agree too easily."""
    if done.answers is None or done.answers == held:
        return None
    return f"the journal holds {held} of its {done.answers} answers"
