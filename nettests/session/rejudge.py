"""Recompute verdicts from a run's journal, without a cluster: the same answers, newer manifests.

Raw answers, facts and checks come from the journal, expectations from the current manifests. It tests nothing and
writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from nettests import expect
from nettests.errors import NettestsError
from nettests.expect import Manifest
from nettests.judge import judge_run
from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.facts import ClusterFacts
from nettests.model.history import History
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.parse import observation_of
from nettests.parse.doubts import Doubts


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a journal holds of one run: facts, checks in their order, observations, its own verdicts.

    Checks that turned out not to apply while they were run are left out.
    """

    facts: ClusterFacts
    checks: tuple[Check, ...]
    observations: Mapping[str, Observation]
    """By check, or by member of a check."""
    verdicts: Mapping[str, Verdict]
    not_run: Mapping[str, str]
    """The members that turned out not to apply, and why."""

    def observed(self, check: Check) -> bool:
        """Whether a check, or one of its members, was observed."""
        return any(member.id in self.observations for member in check.each)


def recorded(history: History, journal: Path) -> Recorded:
    """Read what was answered in a run; ``NettestsError`` when none began."""
    if history.facts is None:
        raise NettestsError(
            f"{journal} holds no facts of a cluster", hint="the run could not start; see its events"
        )
    doubts = Doubts.of(history.calibrations)
    planned = [
        record.check
        for record in history.planned.values()
        if record.check.id not in history.skipped
    ]
    return Recorded(
        facts=history.facts,
        checks=tuple(planned),
        observations={
            member.id: observation_of(
                member, history.done[member.id], history.answers(member.id), doubts
            )
            for check in planned
            for member in check.each
            if member.id in history.done and not history.done[member.id].skip
        },
        not_run={
            done.check: done.skip
            for done in history.done.values()
            if done.skip and member_of(done.check)
        },
        verdicts={
            check.id: history.judged[check.id].verdict
            for check in planned
            if check.id in history.judged
        },
    )


def rejudged(
    recorded: Recorded, manifests: Sequence[Manifest], *, today: date | None = None
) -> list[Judgement]:
    """Judge every recorded check by ``manifests``; a check that was not observed is ``unknown``.

    ``today`` is needed as soon as an entry has a review date.
    """
    expectations = expect.resolve(recorded.checks, recorded.facts, manifests, today=today)
    return judge_run(recorded.checks, expectations, recorded.observations, recorded.not_run)
