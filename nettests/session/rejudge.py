"""Verdicts recomputed from a run's journal, without a cluster: newer manifests, the same answers.

The other way into ``judge``: raw answers, facts and checks come from the journal, expectations from
manifests of today. It tests nothing and writes nothing.
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
from nettests.model.facts import ClusterFacts
from nettests.model.history import History
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.parse import observation_of
from nettests.session.journal import read_journal, understood


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a journal holds of one run: facts, checks in their order, observations, its own verdicts.

    Checks that turned out not to apply while they were run are left out.
    """

    facts: ClusterFacts
    checks: tuple[Check, ...]
    observations: Mapping[str, Observation]
    verdicts: Mapping[str, Verdict]


def read_recorded(journal: Path) -> Recorded:
    """Read a journal; ``NettestsError`` when it is not one, or no run began."""
    records = read_journal(journal)
    with understood(journal):
        return recorded(History.of(records), journal)


def recorded(history: History, journal: Path) -> Recorded:
    """Read what was answered in a run; ``NettestsError`` when none began."""
    if history.facts is None:
        raise NettestsError(
            f"{journal} holds no facts of a cluster", hint="the run could not start; see its events"
        )
    planned = [one.check for one in history.planned.values() if one.check.id not in history.skipped]
    return Recorded(
        facts=history.facts,
        checks=tuple(planned),
        observations={
            check.id: observation_of(check, history.done[check.id], history.answers(check.id))
            for check in planned
            if check.id in history.done
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
    return judge_run(recorded.checks, expectations, recorded.observations)
