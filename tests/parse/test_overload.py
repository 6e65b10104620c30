"""Silence that an overloaded probe explains, beside an attempt that was answered."""

import json
from dataclasses import replace

import pytest

from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.journal_records import Done
from nettests.model.observation import Raw
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    Protocol,
    Question,
    TargetKind,
    VantageKind,
)
from nettests.parse.observe import observation_of
from nettests.parse.overload import Carried, carried, overloaded, prompt_beside, too_busy

ANSWERED = json.dumps({"responses": ["server-1"]})
SILENT = json.dumps({"errors": ["dial tcp 10.244.2.5:80: i/o timeout"]})
REFUSED = json.dumps({"errors": ["dial tcp 10.244.2.5:80: connect: connection refused"]})
LATE = [Carried(1.0, 1.3), Carried(3.0, 2.1), Carried(4.5, 1.9)]
"""What else the probe answered while the first attempt was on its way: three questions, each late."""


def attempts(*bodies: str) -> list[Raw]:
    """Return attempts that took 5 s each, one after another."""
    return [
        Raw(
            check="f",
            purpose="check",
            attempt=number,
            tool="dial",
            client_os="linux",
            probe="probe-linux-1-1",
            channel="port-forward",
            command=("GET", "/dial"),
            started=10.0 * (number - 1),
            elapsed=5.0,
            status=200,
            stdout=body,
            context={"request": "hostname"},
        )
        for number, body in enumerate(bodies, 1)
    ]


def checking(size: int | None = None) -> Check:
    """Return a check from a Pod over TCP, of a payload of that size."""
    source = Vantage(kind=VantageKind.POD, probe="probe-linux-1-1", os=OS.LINUX)
    return Check(
        id="f",
        flow="f",
        title="f",
        action=Action(
            source=source,
            target=Target(kind=TargetKind.POD_IP),
            protocol=Protocol.TCP,
            question=Question.REACH,
            size=size,
        ),
        placement=Placement.OTHER_NODE,
        claim=Expected(outcome=Outcome.CONNECTED),
        controls=(),
        sources=(),
    )


def test_silence_of_an_overloaded_probe_says_nothing_beside_an_answer() -> None:
    """An attempt without an answer, while the probe answered all else late, is left out where another was answered."""
    assert overloaded(attempts(SILENT, ANSWERED), LATE) == (1,)
    assert overloaded(attempts(SILENT, REFUSED), LATE) == (1,)


@pytest.mark.parametrize(
    ("bodies", "others"),
    [
        ((SILENT, SILENT), LATE),
        ((REFUSED, ANSWERED), LATE),
        ((SILENT, ANSWERED), LATE[:2]),
        ((SILENT, ANSWERED), [*LATE, *(Carried(at, 0.02) for at in (1.0, 2.0, 3.0, 4.0))]),
        ((SILENT, ANSWERED), [replace(one, answered=False) for one in LATE]),
        ((ANSWERED, SILENT), LATE),
        ((SILENT, ANSWERED), []),
    ],
    ids=[
        "no attempt was answered",
        "a refusal is an answer",
        "too few others",
        "most others came at once",
        "what is silent takes as long as its time-out",
        "the others were late at another time",
        "nothing else was sent",
    ],
)
def test_silence_counts_where_overload_does_not_explain_it(
    bodies: tuple[str, ...], others: list[Carried]
) -> None:
    """Packets that are lost leave most other answers prompt, and a dead target answers no attempt."""
    assert overloaded(attempts(*bodies), others) == ()


def test_what_is_left_out_makes_no_disagreement_and_stays_on_record() -> None:
    """The observation agrees on the attempts that tell something, and names the one that does not."""
    check = checking()
    seen = observation_of(check, Done(check="f", overloaded=(1,)), attempts(SILENT, ANSWERED))
    assert (seen.outcome, seen.agreed) == (Outcome.CONNECTED, True)
    assert [one.overloaded for one in seen.attempts] == [True, False]
    torn = observation_of(check, Done(check="f"), attempts(SILENT, ANSWERED))
    assert not torn.agreed


def test_a_transfer_without_an_answer_from_an_overloaded_probe_proves_nothing() -> None:
    """Large transfers need CPU all the while; small questions, and transfers of a probe that has time, are believed."""
    large = checking(size=523264)
    silent = attempts(SILENT, SILENT)
    late = [*LATE, *(replace(one, started=one.started + 10) for one in LATE)]
    told = too_busy(large, silent, late)
    assert told is not None
    assert told.startswith("the probe was overloaded: its other answers took 1.9 s in the median")
    assert too_busy(checking(), silent, late) is None
    assert too_busy(large, silent, LATE) is None
    assert too_busy(large, attempts(SILENT, REFUSED), late) is None
    assert too_busy(large, [], late) is None


def test_a_channel_tells_when_it_was_busy_and_whether_it_was_answered() -> None:
    """A raw answer counts from its start for as long as it took; a refusal is no answer of the target."""
    told, silent = attempts(ANSWERED, SILENT)
    assert carried(told) == Carried(0.0, 5.0, answered=True)
    assert carried(silent) == Carried(10.0, 5.0, answered=False)


def test_prompt_answers_count_where_most_were_prompt() -> None:
    """Those within the time of the slow one are counted, itself never, and none where the median is late."""
    (slow,) = attempts(ANSWERED)
    itself = Carried(0.0, 5.0)
    assert prompt_beside(slow, [itself, Carried(1.0, 0.02)]) == 1
    assert prompt_beside(slow, [itself, Carried(1.0, 0.02), *LATE[:2]]) == 0
    assert prompt_beside(slow, [Carried(6.0, 0.02)]) == 0
