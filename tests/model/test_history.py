"""The records of a journal, put together to a run."""

from dataclasses import replace

from nettests.model.history import TWICE, History
from nettests.model.journal_records import (
    Answer,
    Begin,
    Discovered,
    Done,
    End,
    Judged,
    Planned,
    Reading,
    Record,
    Revised,
    Skipped,
    Unknown,
)
from nettests.model.observation import NodeReading
from nettests.model.words import Verdict
from tests.report.scenario import QUIET, plan, records

WHOLE = tuple(records(QUIET))
PLANNED = tuple(one for one in WHOLE if isinstance(one, Planned))
ANSWERS = tuple(one for one in WHOLE if isinstance(one, Answer))
CHECK = ANSWERS[0].raw.check


def of(*told: Record) -> History:
    return History.of(told)


def test_a_whole_run_is_put_together() -> None:
    """Head, facts, plan, answers, verdicts and end are each in their place."""
    history = of(*WHOLE)
    due = plan()
    assert history.begin.run_id
    assert history.facts == QUIET.facts
    assert list(history.planned) == [check.id for check in due.checks]
    assert list(history.skips) == [skip.id for skip in due.skips]
    assert sum(map(len, history.raws.values())) == len(ANSWERS)
    assert set(history.judged) == set(history.done) == set(history.planned)
    assert history.convergence
    assert history.end is not None


def test_nothing_is_known_of_an_empty_journal() -> None:
    """There is no end, and a head that says nothing."""
    history = of()
    assert (history.begin, history.end, history.facts) == (Begin(), None, None)
    assert history.verdicts() == {}


def test_the_last_of_what_is_repeated_counts() -> None:
    """Facts that were completed, a verdict that was replaced, an end that was written again."""
    judged = next(one for one in WHOLE if isinstance(one, Judged))
    again = replace(judged.judgement, verdict=Verdict.FAIL)
    completed = replace(QUIET.facts, context="completed")
    history = of(*WHOLE, Judged(judgement=again), Discovered(facts=completed), End(exit_code=1))
    assert history.judged[again.check] == again
    assert history.facts == completed
    assert history.end == End(exit_code=1)


def test_an_expectation_that_was_revised_counts() -> None:
    """Of a check that was planned; of others nobody expects anything."""
    other = replace(PLANNED[0].expectation, undecided="an unknown fact")
    history = of(
        *PLANNED,
        Revised(check=PLANNED[0].check.id, expectation=other),
        Revised(check="never planned", expectation=other),
    )
    assert history.planned[PLANNED[0].check.id].expectation == other
    assert len(history.planned) == len(PLANNED)


def test_answers_are_counted() -> None:
    """A record that counts other answers than are there is not trusted, whatever it says itself."""
    told = Done(check=CHECK, answers=2, distrust="the exec hung")
    assert of(ANSWERS[0], told).done[CHECK].distrust == "the journal holds 1 of its 2 answers"
    three = of(*[ANSWERS[0]] * 3, told)
    assert three.done[CHECK].distrust == "the journal holds 3 of its 2 answers"
    assert of(*[ANSWERS[0]] * 2, told).done[CHECK].distrust == "the exec hung"
    uncounted = replace(told, answers=None, distrust=None)
    assert of(ANSWERS[0], uncounted).done[CHECK].distrust is None


def test_an_observation_that_stands_there_twice_is_not_trusted() -> None:
    """It belongs to nobody knows which run."""
    done = Done(check=CHECK, answers=1)
    assert of(ANSWERS[0], done, done).done[CHECK].distrust == TWICE


def test_an_answer_that_comes_too_late_is_no_part_of_the_observation() -> None:
    """It is kept as evidence: nobody had it when the check was judged."""
    late = replace(ANSWERS[0], raw=replace(ANSWERS[0].raw, attempt=9))
    history = of(ANSWERS[0], Done(check=CHECK, answers=1), late)
    assert history.answers(CHECK) == (ANSWERS[0].raw,)
    assert history.raws[CHECK] == [ANSWERS[0].raw, late.raw]
    assert history.done[CHECK].distrust is None


def test_answers_of_a_check_that_was_cut_off_are_there() -> None:
    """All that were written, and none of a check that was never run."""
    history = of(ANSWERS[0])
    assert history.answers(CHECK) == (ANSWERS[0].raw,)
    assert history.answers("never run") == ()


def test_all_that_was_planned_has_a_verdict() -> None:
    """Skipped beforehand or while it was probed, judged, or unknown."""
    skipped = next(one for one in WHOLE if isinstance(one, Skipped))
    judged = next(one for one in WHOLE if isinstance(one, Judged))
    lost, without_ping = PLANNED[1].check.id, PLANNED[2].check.id
    history = of(*PLANNED[:3], skipped, Done(check=without_ping, skip="no ping"), judged)
    assert history.verdicts() == {
        judged.judgement.check: judged.judgement.verdict,
        lost: Verdict.UNKNOWN,
        without_ping: Verdict.SKIPPED,
        skipped.skip.id: Verdict.SKIPPED,
    }


def test_what_nobody_requests_changes_nothing() -> None:
    """Readings are followed by the facts that they completed; a later version's kinds are left alone."""
    reading = NodeReading(node="n", reading="proxy-mode", probe="p", command=())
    assert of(*WHOLE, Reading(reading=reading), Unknown(data={"record": "weather"})) == of(*WHOLE)
