"""What a record of many Services says: of the last one, of one beside them, of what is left."""

import json
from typing import Any

import pytest

from nettests.model.words import Outcome
from nettests.parse.many_services import SERVICES, figure_of
from nettests.parse.read import read_raw
from tests.parse.raws import raw

ANSWER = '{"responses": ["server-linux-1-1"]}'
SILENT = '{"errors": ["dial tcp 10.96.9.1:80: i/o timeout"]}'
SERVED = {
    "part": "served",
    "number": 500,
    "seconds": 3.25,
    "within": 110.0,
    "body": ANSWER,
    "backend": "server-linux-1-1",
    "sampled": 20,
    "unserved": [],
    "making": 9.0,
}
BESIDE = {
    "part": "beside",
    "number": 500,
    "tries": 120,
    "failures": 0,
    "failed": [],
    "slowest": 0.4,
    "backend": "server-linux-1-1",
}
REMOVED = {
    "part": "removed",
    "number": 500,
    "seconds": 2.0,
    "within": 110.0,
    "sampled": 20,
    "answering": [],
    "listed": [],
    "unlisted": "",
    "beside": ANSWER,
}


def read(record: dict[str, Any], **changes: Any) -> tuple[Outcome, str]:
    """Return outcome and detail of a record with changes."""
    one = read_raw(raw(SERVICES, stdout=json.dumps({**record, **changes})))
    return one.outcome, one.detail


def test_the_last_service_is_served_after_so_long() -> None:
    """The figure says when; the backend that answered is told."""
    one = read_raw(raw(SERVICES, stdout=json.dumps(SERVED)))
    assert (one.outcome, one.backend) == (Outcome.CONNECTED, "server-linux-1-1")
    assert one.detail == "the last of 500 Services was served 3.2 s after it was made"


def test_a_last_service_that_is_not_served_brings_what_its_dial_brought() -> None:
    """With the number from which on those that were picked out are not served."""
    unserved = [{"number": number, "body": SILENT} for number in (264, 500)]
    changes = {"seconds": None, "body": SILENT, "unserved": unserved}
    outcome, detail = read(SERVED, **changes)
    assert outcome is Outcome.TIMED_OUT
    figure = figure_of([raw(SERVICES, stdout=json.dumps({**SERVED, **changes}))])
    assert figure == "the last of 500 Services was not served within 110 s"
    assert "2 of 20 that were picked out were not served, from number 264 on" in detail


@pytest.mark.parametrize(
    ("record", "changes", "lost"),
    [
        (SERVED, {"unserved": [{"number": 27, "body": SILENT}]}, (20, 1)),
        (SERVED, {"unserved": [{"number": n, "body": SILENT} for n in range(20)]}, (20, 20)),
        (BESIDE, {"failures": 120, "failed": [SILENT] * 5}, (120, 120)),
    ],
)
def test_a_failure_counts_what_failed_with_it(
    record: dict[str, Any], changes: dict[str, Any], lost: tuple[int, int]
) -> None:
    """Nothing at all that works is another thing than a limit."""
    one = read_raw(raw(SERVICES, stdout=json.dumps({**record, **changes})))
    assert (one.tries, one.lost) == lost


def test_one_that_was_picked_out_fails_though_the_last_is_served() -> None:
    """A hole among the others is no service of all."""
    outcome, detail = read(SERVED, unserved=[{"number": 27, "body": SILENT}])
    assert outcome is Outcome.TIMED_OUT
    assert "from number 27 on" in detail


def test_a_service_that_came_at_the_last_moment_is_served() -> None:
    """Between the last look at it and the look at all."""
    assert read(SERVED, seconds=None, body=ANSWER)[0] is Outcome.CONNECTED


def test_one_connection_beside_many_services_may_fail() -> None:
    """Two of them are no chance, and bring what the last of them brought."""
    assert read(BESIDE)[0] is Outcome.CONNECTED
    assert read(BESIDE, failures=1, failed=[SILENT])[0] is Outcome.CONNECTED
    suffers = {"failures": 2, "failed": [SILENT, SILENT]}
    assert read(BESIDE, **suffers) == (Outcome.TIMED_OUT, "dial tcp 10.96.9.1:80: i/o timeout")
    figure = figure_of([raw(SERVICES, stdout=json.dumps({**BESIDE, **suffers}))])
    assert figure is not None
    assert figure.startswith("118 of 120 connections beside 500 Services were answered, ")
    assert read(BESIDE, tries=0)[0] is Outcome.PROBE_FAILED


def test_nothing_is_left_where_nobody_answers_and_hns_lists_nothing() -> None:
    """Where nobody can look at HNS that is said."""
    outcome, detail = read(REMOVED)
    assert outcome is Outcome.CONFORMS
    assert "HNS lists none of them" in detail
    outcome, detail = read(REMOVED, listed=None, unlisted="HNS was not looked at: none")
    assert outcome is Outcome.CONFORMS
    assert "HNS was not looked at" in detail


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answering": ["10.96.9.1"]}, "still answered at 10.96.9.1"),
        ({"listed": ["10.96.9.1"]}, "HNS still lists load balancers of 10.96.9.1"),
        (
            {"answering": [f"10.96.9.{n}" for n in range(1, 9)], "listed": None, "unlisted": ""},
            "10.96.9.5 and 3 more",
        ),
    ],
)
def test_what_is_left_deviates(changes: dict[str, Any], said: str) -> None:
    """Whether it answers, or is listed alone."""
    outcome, detail = read(REMOVED, **changes)
    assert outcome is Outcome.DEVIATES
    assert said in detail


def test_silence_beside_a_dead_service_shows_no_removal() -> None:
    """The vantage has to reach what is still there."""
    assert read(REMOVED, beside=SILENT)[0] is Outcome.PROBE_FAILED


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"part": "other", "number": 1}'])
def test_what_is_no_record_says_nothing(text: str) -> None:
    """Neither outcome nor figure."""
    of = raw(SERVICES, stdout=text)
    assert read_raw(of).outcome is Outcome.PROBE_FAILED
    assert figure_of([of]) is None
