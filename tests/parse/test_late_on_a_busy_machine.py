"""What is late on a busy machine, as labs recorded it: lost SYNs are told or followed up, delays are not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nettests.model.words import Protocol, Question, TargetKind
from nettests.parse.late_answers import resent
from nettests.parse.lost_packets import unclear_trains
from nettests.parse.overload import REFERENCE, Carried
from tests.parse.test_resent import answers, check

RECORDED = json.loads(Path(__file__).with_name("late_on_a_busy_machine.json").read_text("utf-8"))
"""Of labs whose machine had one or two more busy processes: one in twenty TCP packets from win-1 to linux-2 was lost,
or none was. Of dials of one check the seconds that they took, and start and seconds of what their probe answered beside
the one asked about; of trains number, tries, start and seconds, and the same of what the probe answered for itself."""


@pytest.mark.parametrize("recorded", RECORDED["dials"], ids=lambda dial: f"{dial['elapsed'][0]} s")
def test_a_lost_syn_is_told_on_a_busy_machine(recorded: dict[str, Any]) -> None:
    """What was late is told where most answers beside it came at once, and others of its check well before."""
    dials = answers(*recorded["elapsed"])
    started = dials[recorded["attempt"] - 1].started
    others = [Carried(started + after, seconds) for after, seconds in recorded["beside"]]
    told = resent(check(), dials, others)
    assert (told is not None) is recorded["told"]
    assert told is None or told.startswith(f"attempt {recorded['attempt']} took ")


@pytest.mark.parametrize("recorded", RECORDED["trains"], ids=lambda one: f"{one['trains'][0][3]} s")
def test_a_train_that_may_have_waited_is_followed_by_others(recorded: dict[str, Any]) -> None:
    """None of the runs with losses on the path passes it, and none without is held up."""
    first = answers(1.0)[0]
    trains = [
        replace(
            first,
            tool="train",
            attempt=number,
            command=("GET", f"/dial?host=10.244.3.7&port=18080&protocol=http&tries={tries}"),
            stdout=json.dumps({"responses": ["server-1"] * tries}),
            started=started,
            elapsed=elapsed,
        )
        for number, tries, started, elapsed in recorded["trains"]
    ]
    itself = [
        replace(first, purpose=REFERENCE, started=started, elapsed=elapsed)
        for started, elapsed in recorded["itself"]
    ]
    counting = replace(
        check(), action=replace(check().action, question=Question.LOSS, connections=80)
    )
    assert (unclear_trains(counting, [*trains, *itself]) is not None) is recorded["unclear"]


@pytest.mark.parametrize(("seconds", "is_told"), [(5.25, True), (5.26, False), (1.7, False)])
def test_a_name_that_takes_its_time_is_no_lost_packet(seconds: float, *, is_told: bool) -> None:
    """Resolvers may go through a list of suffixes: only what took as long as a second query is told."""
    by_name = check(Protocol.TCP, TargetKind.SERVICE_FQDN)
    told = resent(by_name, answers(seconds, 0.02, 0.03), [Carried(10.3, 0.02)])
    assert (told is not None) is is_told
