"""Trains of many connections: what ended at a number, and what was lost on the way."""

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse.lost_packets import BESIDE
from nettests.parse.many_flows import AT_LAST, IN_ORDER, count

CONNECTED, SILENT, NO_PORT = Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.NO_PORT


def trains(*lost: int, error: Outcome = SILENT) -> list[Attempt]:
    """Return trains of eight connections, each with so many that failed."""
    return [
        Attempt(
            number=number,
            outcome=CONNECTED if gone < AT_LAST else error,
            detail="",
            started=0.0,
            elapsed=0.1,
            channel="x",
            tries=AT_LAST if error is SILENT or gone < AT_LAST else 1,
            lost=gone if error is SILENT or gone < AT_LAST else 0,
        )
        for number, gone in enumerate(lost, 1)
    ]


WHOLE = [0] * (IN_ORDER // AT_LAST + 1)


@pytest.mark.parametrize(
    ("lost", "ended"),
    [
        ([0, 0, 0], False),
        ([0, 8], True),  # none of the last is answered
        ([8, 8], False),  # none ever was
        ([*WHOLE, *[4] * BESIDE, 0], True),  # ports came free again meanwhile
        ([*WHOLE, *[3] * BESIDE, 0], False),  # too few of the round failed
        ([*WHOLE[:-1], *[4] * BESIDE, 0], False),  # too few were in order before
        ([*WHOLE, 1, *[0] * BESIDE], False),
        ([*WHOLE, 1, 0, 2, 0, 1, 0, 0, 3, 1], False),
    ],
)
def test_what_ends_is_told_from_what_is_lost(lost: list[int], ended: bool) -> None:
    """By the train that was sent alone, or by a round that fails after many that did not."""
    assert count(2000, trains(*lost)).ran_out is ended


def test_the_number_is_that_before_the_first_that_failed() -> None:
    """Whatever connected after it is counted beside."""
    found = count(2000, trains(0, 0, 3, 0, 8))
    assert (found.before, found.connected, found.tried) == (16, 29, 40)
    assert str(found) == "connections fail from about number 17 on, of 2,000"


def test_ports_that_are_taken_end_it() -> None:
    """An error of the client's own system has no number of connections."""
    found = count(2000, trains(0, 8, 8, error=NO_PORT))
    assert (found.ran_out, found.before) == (True, 8)


def test_nothing_sent_is_no_end() -> None:
    """Of no train there is no last one."""
    assert count(2000, []).ran_out is False
