"""Answers to many tries in a row, in the form that agnhost gives them."""

import json
from dataclasses import replace

import pytest

from nettests.model.observation import Observation, Raw
from nettests.model.words import Outcome, Protocol, Question
from nettests.parse import observe
from nettests.parse.read import read_raw
from tests.parse.raws import raw
from tests.parse.test_resent import check

SILENT = (
    "reading from udp connection failed. err:'read udp 10.244.1.2:5->10.244.2.5:18081: i/o timeout'"
)


def train(tries: int, answered: int, errors: list[str], protocol: str = "udp") -> Raw:
    """Return the answer to a train; ``responses`` are left out where there are none."""
    told: dict[str, list[str]] = {"responses": ["server-1"] * answered} if answered else {}
    told |= {"errors": errors} if errors else {}
    path = f"/dial?host=10.244.2.5&port=18081&protocol={protocol}&request=hostname&tries={tries}"
    return raw("train", command=("GET", path), status=200, stdout=json.dumps(told))


@pytest.mark.parametrize(
    ("protocol", "outcome"), [("udp", Outcome.REPLIED), ("http", Outcome.CONNECTED)]
)
def test_lost_tries_are_counted(protocol: str, outcome: Outcome) -> None:
    """A train of which some tries are silent was answered, and says how many were lost."""
    seen = read_raw(train(10, 8, [SILENT, SILENT], protocol))
    assert (seen.outcome, seen.tries, seen.lost, seen.backend) == (outcome, 10, 2, "server-1")


def test_what_a_name_server_answers_names_no_backend() -> None:
    """Only ``hostname`` is answered with a name; the answers to queries are counted."""
    path = "/dial?host=10.96.0.10&port=53&protocol=udp&request=nt%01&tries=2"
    seen = read_raw(replace(train(2, 2, []), command=("GET", path)))
    assert (seen.outcome, seen.tries, seen.backend) == (Outcome.REPLIED, 2, None)


def test_answers_that_are_left_out_count_all_the_same() -> None:
    """agnhost names no answers where the last try failed: what has no error was answered."""
    seen = read_raw(train(10, 0, [SILENT]))
    assert (seen.outcome, seen.tries, seen.lost) == (Outcome.REPLIED, 10, 1)


def test_a_train_of_silence_timed_out() -> None:
    """Where every try is silent, nothing answers."""
    assert read_raw(train(4, 0, [SILENT] * 4)).outcome is Outcome.TIMED_OUT


def test_another_error_than_silence_is_what_the_train_brought() -> None:
    """A refusal is no lost packet."""
    refused = "dial tcp 10.244.2.5:18080: connect: connection refused"
    seen = read_raw(train(4, 3, [refused], "http"))
    assert (seen.outcome, seen.lost) == (Outcome.REFUSED, 0)


@pytest.mark.parametrize("answer", [train(4, 2, [SILENT]), train(1, 0, [SILENT] * 2)])
def test_answers_that_do_not_add_up_are_not_read(answer: Raw) -> None:
    """As many answers and errors come as there were tries, or the probe failed."""
    assert read_raw(answer).outcome is Outcome.PROBE_FAILED


def test_what_does_not_add_up_is_told_with_its_numbers() -> None:
    """Who reads the evidence sees which count is wrong."""
    told = read_raw(train(4, 2, [SILENT])).detail
    assert told == "/dial brought 2 answers and 1 errors to 4 tries"


@pytest.mark.parametrize(
    ("lost", "tries", "share"), [([SILENT], 10, (20, 1)), ([], 12, (24, 0))], ids=["some", "none"]
)
def test_losses_of_all_trains_are_added_up(
    lost: list[str], tries: int, share: tuple[int, int]
) -> None:
    """A check's loss is that of its trains together."""
    of = check(Protocol.UDP)
    of = replace(of, action=replace(of.action, question=Question.LOSS))
    second = replace(train(tries, tries, []), attempt=2)
    seen = observe(of, [train(tries, tries - len(lost), lost), second])
    assert seen.loss is not None
    assert (seen.loss.sent, seen.loss.lost) == share


def of_trains(*trains: Raw) -> Observation:
    """Return what is known of a check that counts losses."""
    of = check(Protocol.UDP)
    of = replace(of, action=replace(of.action, question=Question.LOSS))
    return observe(of, [replace(one, attempt=number) for number, one in enumerate(trains, 1)])


def test_a_train_of_which_all_is_lost_counts_and_one_that_is_refused_does_not() -> None:
    """Silence is loss; whoever refuses lost nothing, and then no share is told."""
    lost = of_trains(train(4, 4, []), train(4, 0, [SILENT] * 4))
    assert lost.loss is not None
    assert (lost.loss.sent, lost.loss.lost, lost.outcome) == (8, 4, Outcome.REPLIED)
    refused = "read udp 10.244.1.2:5->10.244.2.5:18081: read: connection refused"
    assert of_trains(train(4, 0, [refused] * 4)).loss is None


def test_trains_without_an_answer_are_silent_together() -> None:
    """What the first of them brought is what all brought."""
    seen = of_trains(train(4, 0, [SILENT] * 4), train(4, 0, [SILENT] * 4))
    assert (seen.outcome, seen.agreed) == (Outcome.TIMED_OUT, True)
