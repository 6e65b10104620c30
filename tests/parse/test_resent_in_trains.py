"""Connections in a row that took as long as lost SYNs, while their probe answered for itself at once."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.model.observation import Raw
from nettests.model.words import Question
from nettests.parse.late_answers import resent
from nettests.parse.lost_packets import late_trains
from nettests.parse.overload import FEWEST_REFERENCES, REFERENCE
from tests.parse.test_resent import answers, check


def trains(*rounds: Sequence[float], tries: int = 10) -> list[Raw]:
    """Return trains of ``tries`` connections each, all answered; those of a round were sent side by side."""
    told = json.dumps({"responses": ["server-1"] * tries})
    command = (
        "GET",
        f"/dial?host=10.244.2.5&port=18080&protocol=http&request=hostname&tries={tries}",
    )
    return [
        replace(one, tool="train", command=command, stdout=told, started=10.0 * number)
        for number, elapsed in enumerate(rounds, 1)
        for one in answers(*elapsed)
    ]


COUNTING = replace(check(), action=replace(check().action, question=Question.LOSS, connections=200))
EASY = [0.05] * 8


def itself(*elapsed: float) -> list[Raw]:
    """Return what the probe answered for itself during the second round, from 0.3 s on and 0.2 s apart."""
    return [
        replace(raw, purpose=REFERENCE, started=20.3 + 0.2 * number, elapsed=seconds)
        for number, seconds in enumerate(elapsed)
        for raw in answers(seconds)
    ]


AT_ONCE = itself(0.02, 0.02, 0.03)


def test_trains_that_waited_for_lost_syns_are_told() -> None:
    """Two of sixteen trains that took a second, beside others that took milliseconds, are more than an accident."""
    told = resent(COUNTING, [*trains(EASY, [*EASY[:6], 1.05, 2.04]), *AT_ONCE], [])
    assert told is not None
    assert told.startswith("2 of 16 trains, of 160 connections in all, took 1.1 s and more")


@pytest.mark.parametrize(
    ("rounds", "references"),
    [
        ([EASY, [*EASY[:7], 1.05]], AT_ONCE),
        ([EASY, [1.2, 1.05, 2.04, 1.5]], AT_ONCE),
        ([EASY, [*EASY[:6], 1.05, 2.04]], []),
        ([EASY, [*EASY[:6], 1.05, 2.04]], AT_ONCE[:1]),
        ([EASY, [*EASY[:6], 1.05, 2.04]], itself(0.02, 0.6, 0.4, 0.02)),
        ([EASY, [*EASY[:6], 0.9, 0.8]], AT_ONCE),
    ],
    ids=[
        "one",
        "a busy machine",
        "the way to the probe may be slow",
        "nothing shows that it was not",
        "the machine stood still meanwhile",
        "no SYN waits so long",
    ],
)
def test_trains_that_prove_nothing_are_not_told(
    rounds: list[list[float]], references: list[Raw]
) -> None:
    """One late train, a round late as a whole, a probe late for itself as well, or less than a lost SYN's second."""
    assert resent(COUNTING, [*trains(*rounds), *references], []) is None


def test_longer_trains_are_not_late_beside_shorter_ones() -> None:
    """Twelve connections of 85 ms take a second, whatever four of them take in that time."""
    long = trains(EASY, [1.02, 1.03, 1.05, 1.05, 1.05], tries=12)
    short = [replace(raw, attempt=raw.attempt + 20) for raw in trains([], [0.2, 0.22], tries=4)]
    assert resent(COUNTING, [*long, *short, *AT_ONCE], []) is None


def test_a_lost_syn_shows_on_a_path_that_takes_its_time() -> None:
    """Trains that take 0.6 s without loss take 1.6 s with it."""
    told = resent(COUNTING, [*trains(EASY, [0.6, 0.65, 0.7, 1.65, 1.62, 2.7]), *AT_ONCE], [])
    assert told is not None
    assert told.startswith("3 of 14 trains")


def test_a_train_that_began_as_another_ended_was_not_beside_it() -> None:
    """Times are rounded to the millisecond: 1.114 and 1.105 s make a little more than 2.219."""
    first = [replace(raw, started=1.114) for raw in trains([1.105] * 4)]
    then = [replace(raw, started=2.219, attempt=raw.attempt + 4) for raw in trains([0.03] * 8)]
    references = [replace(raw, started=raw.started - 19) for raw in AT_ONCE]
    assert late_trains(COUNTING, [*first, *then, *references]) is None
    beside = [replace(raw, started=2.216) for raw in then]
    assert late_trains(COUNTING, [*first, *beside, *references]) is not None


def test_only_trains_of_connections_are_looked_at() -> None:
    """Of another question nothing is told, and a train whose channel broke is none."""
    raws = [*trains(EASY, [*EASY[:6], 1.05, 2.04]), *AT_ONCE]
    assert late_trains(COUNTING, raws) is not None
    assert late_trains(check(), raws) is None
    broken = [replace(raw, error="HTTP 500") if raw.elapsed > 2 else raw for raw in raws]
    assert late_trains(COUNTING, broken) is None
    dialled = [replace(raw, tool="dial") if raw.elapsed > 2 else raw for raw in raws]
    assert late_trains(COUNTING, dialled) is None


def test_as_many_answers_as_are_needed_show_that_a_probe_was_not_busy() -> None:
    """Exactly so many are enough."""
    raws = trains(EASY, [*EASY[:6], 1.05, 2.04])
    enough = itself(*[0.02] * FEWEST_REFERENCES)
    assert late_trains(COUNTING, [*raws, *enough]) is not None
    assert late_trains(COUNTING, [*raws, *enough[1:]]) is None
