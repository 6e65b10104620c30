"""One datagram of a run that got no answer: when it is followed up, and when it is no finding."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.journal_records import Done
from nettests.model.observation import Attempt
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse import observation_of, observe
from nettests.parse.lost_packets import ALONE, ANSWERED, loses, lost_alone, wants_more
from tests.parse.raws import UDP, raw
from tests.probes.made import action, check

OVER_UDP = check(action("probe-windows-1-1", TargetKind.POD_IP, protocol=Protocol.UDP))
OVER_TCP = check(action("probe-windows-1-1", TargetKind.POD_IP))
TRAIN = replace(OVER_UDP, action=replace(OVER_UDP.action, question=Question.LOSS))


def attempts(outcomes: str) -> list[Attempt]:
    """Return attempts: ``+`` was answered, ``-`` was not, ``r`` was refused."""
    named = {"+": Outcome.REPLIED, "-": Outcome.TIMED_OUT, "r": Outcome.REFUSED}
    return [
        Attempt(number=number, outcome=named[one], detail="", started=0, elapsed=0, channel="exec")
        for number, one in enumerate(outcomes, 1)
    ]


@pytest.mark.parametrize(
    ("outcomes", "wanted", "alone"),
    [
        ("++-", True, None),
        ("-++", True, None),
        ("-+", True, None),
        ("+-" + "+" * (ANSWERED - 2), True, None),
        ("+-" + "+" * (ANSWERED - 1), False, 2),
        ("-" + "+" * ANSWERED, False, 1),
        ("-" + "+" * ANSWERED + "-", False, None),
        ("--+", False, None),
        ("-", False, None),
        ("+++", False, None),
        ("+r+", False, None),
        ("+-r", False, None),
    ],
)
def test_one_lost_datagram_is_followed_up_until_enough_are_answered(
    outcomes: str, *, wanted: bool, alone: int | None
) -> None:
    """A second loss ends it, as does any other outcome; silence alone is no lost datagram."""
    seen = attempts(outcomes)
    assert wants_more(OVER_UDP, seen) is wanted
    assert lost_alone(OVER_UDP, seen) == alone


@pytest.mark.parametrize("of", [OVER_TCP, TRAIN], ids=["tcp", "a train"])
def test_tcp_and_trains_are_not_followed_up(of: Check) -> None:
    """A SYN is sent again by its kernel, and a train counts its losses itself."""
    seen = attempts("-" + "+" * ANSWERED)
    assert not wants_more(of, seen[:3])
    assert lost_alone(of, seen) is None


@pytest.mark.parametrize(
    ("of", "seen", "lossy"),
    [
        (OVER_UDP, attempts("+-+"), True),
        (OVER_UDP, attempts("--"), False),
        (OVER_UDP, attempts("++"), False),
        (OVER_TCP, attempts("+-+"), False),
        (TRAIN, [replace(attempts("+")[0], tries=12, lost=1)], True),
        (TRAIN, [replace(attempts("+")[0], tries=12)], False),
    ],
    ids=["some", "all", "none", "tcp", "of a train", "none of a train"],
)
def test_datagrams_are_lost_where_others_are_answered(
    of: Check, seen: Sequence[Attempt], *, lossy: bool
) -> None:
    """What is never answered is blocked, or nobody's: that tells nothing of loss."""
    assert loses(of, seen) is lossy


def test_the_only_datagram_that_a_run_lost_is_told_and_changes_nothing() -> None:
    """It stays among the attempts, with what it is; the others agree."""
    answered = [
        raw(
            "dial",
            attempt=number,
            command=UDP,
            status=200,
            stdout='{"responses":["server-linux-1-1"]}',
        )
        for number in range(2, ANSWERED + 2)
    ]
    lost = raw(
        "dial", command=UDP, status=200, stdout='{"errors":["read udp 10.1.1.1: i/o timeout"]}'
    )
    of = replace(OVER_UDP, controls=())
    seen = observe(of, [lost, *answered])
    assert not seen.agreed
    seen = observe(of, [lost, *answered], alone=1)
    assert (seen.outcome, seen.agreed, seen.trusted) == (Outcome.REPLIED, True, True)
    assert seen.attempts[0].outcome is Outcome.TIMED_OUT
    assert seen.attempts[0].detail.startswith(ALONE)


def test_what_a_run_lost_alone_is_read_from_the_record_of_its_check() -> None:
    """Documents and verdicts are made of a check's record, which says which datagram it was."""
    answer = raw("dial", command=UDP, status=200, stdout='{"responses":["server-linux-1-1"]}')
    answered = [replace(answer, attempt=number) for number in range(2, ANSWERED + 2)]
    lost = replace(answer, stdout='{"errors":["read udp 10.1.1.1: i/o timeout"]}')
    done = Done(check=OVER_UDP.id, alone=1)
    seen = observation_of(replace(OVER_UDP, controls=()), done, [lost, *answered])
    assert (seen.agreed, seen.attempts[0].detail.startswith(ALONE)) == (True, True)


@pytest.mark.parametrize("question", Question)
def test_only_single_datagrams_are_followed_up(question: Question) -> None:
    """Resolvers repeat their queries, trains count, and what is no packet loses none."""
    of = replace(OVER_UDP, action=replace(OVER_UDP.action, question=question))
    wanted = question in {Question.REACH, Question.DISTRIBUTE}
    assert wants_more(of, attempts("++-")) is wanted
