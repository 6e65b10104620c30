"""Attempts that disagree because the ports of their target do, and those that disagree by accident."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.observation import Attempt, Observation, PortSeen, Raw
from nettests.model.words import Distribution, Outcome, Question
from nettests.parse import observe
from nettests.parse.ports import by_port, differing_ports
from tests.parse.test_observe import check, fails, mixed_target_ports, says

OK, LOST, REFUSED = Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.REFUSED
REFUSED_TEXT = "connect: connection refused"
ATTEMPTS = st.lists(st.tuples(st.sampled_from([80, 82]), st.sampled_from([OK, LOST, REFUSED])))


def made(*seen: tuple[int | None, Outcome]) -> list[Attempt]:
    """Return attempts at these ports with these outcomes."""
    return [
        Attempt(
            number=number, outcome=outcome, detail="", started=0, elapsed=0, channel="", port=port
        )
        for number, (port, outcome) in enumerate(seen, 1)
    ]


def at(port: int, raw: Raw) -> Raw:
    """Return the answer as one of a port."""
    return replace(raw, context={**raw.context, "port": str(port)})


def dialled(*raws: Raw) -> Observation:
    """Observe these answers of one check, numbered in order."""
    return observe(check(), [replace(raw, attempt=n) for n, raw in enumerate(raws, 1)])


def test_ports_that_differ_each_have_their_outcome() -> None:
    """What each port brought is told, lowest port first, whichever was queried first."""
    assert differing_ports(made((82, LOST), (80, OK), (82, LOST), (80, OK))) == (
        PortSeen(port=80, outcome=OK),
        PortSeen(port=82, outcome=LOST),
    )


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [(80, OK), (82, OK)],
        [(80, LOST), (82, LOST), (80, LOST), (82, LOST)],
        [(80, OK), (80, LOST), (80, OK)],
        [(80, OK), (82, LOST), (80, OK), (82, LOST), (82, OK)],
        [(None, OK), (None, LOST), (80, OK), (80, OK)],
        [(80, OK), (80, OK), (82, LOST)],
        [(80, OK), (82, LOST), (82, LOST)],
    ],
    ids=[
        "nothing",
        "well",
        "all lost",
        "one port",
        "torn",
        "no port",
        "one failure",
        "one success",
    ],
)
def test_nothing_else_is_explained_by_ports(seen: list[tuple[int | None, Outcome]]) -> None:
    """Ports that agree, that contradict themselves, or that were run once, explain nothing."""
    assert differing_ports(made(*seen)) == ()


@given(ATTEMPTS)
def test_ports_never_hide_a_contradiction(seen: list[tuple[int, Outcome]]) -> None:
    """Where ports explain a disagreement, the outcome follows from the port, for every attempt."""
    told = {one.port: one.outcome for one in differing_ports(made(*seen))}
    if told:
        assert all(told[port] is outcome for port, outcome in seen)
        assert len(set(told.values())) > 1
        assert by_port(made(*seen)).keys() == told.keys()


def test_an_observation_of_ports_that_differ_is_a_negative_one() -> None:
    """Its outcome is the failure, whatever was probed last, and its controls are missed as beside one."""
    one = check("vantage")
    raws = [at(80, says("server-1")), at(82, fails()), at(82, fails()), at(80, says("server-1"))]
    seen = observe(one, [replace(raw, attempt=n) for n, raw in enumerate(raws, 1)])
    assert [(port.port, port.outcome) for port in seen.differing_ports] == [(80, OK), (82, LOST)]
    assert seen.outcome is LOST
    assert not seen.agreed
    assert seen.trusted
    assert [(control.proves, control.ok) for control in seen.controls] == [("vantage", False)]


def test_a_journal_without_ports_disagrees_as_before() -> None:
    """Answers that do not say which port was probed are one kind of attempt."""
    seen = dialled(says("server-1"), fails(), says("server-1"), fails())
    assert not seen.agreed
    assert seen.differing_ports == ()


def test_different_sources_at_one_port_are_a_contradiction() -> None:
    """A port that was seen from two addresses does not agree with itself."""
    torn = dialled(
        at(80, fails()),
        at(80, fails()),
        at(82, says("10.244.3.2:1")),
        at(82, says("172.30.0.13:2")),
    )
    assert torn.differing_ports == ()
    assert not torn.agreed


def test_a_port_that_is_always_refused_is_no_share_of_refusals() -> None:
    """Some connections are refused only where answers and refusals meet at one port."""
    answered = [at(80, says("server-1", n)) for n in range(1, 9)]
    refused = [at(82, fails(REFUSED_TEXT, number=n)) for n in (9, 10)]
    apart = mixed_target_ports(*answered, *refused)
    assert apart.distribution is None
    assert [one.outcome for one in apart.differing_ports] == [OK, REFUSED]
    mixed = mixed_target_ports(*answered, at(80, fails(REFUSED_TEXT, number=9)), refused[1])
    assert mixed.distribution is Distribution.SOME_REFUSED
    assert mixed.agreed


def test_a_distribution_whose_second_port_fails_is_divided() -> None:
    """Connections that all answer do not make up for the port that tells whom it saw."""
    probed = check(question=Question.DISTRIBUTE, connections=4)
    answered = [at(80, says("server-1", n)) for n in range(1, 5)]
    seen = observe(probed, [*answered, at(82, fails(number=5)), at(82, fails(number=6))])
    assert [(one.port, one.outcome) for one in seen.differing_ports] == [(80, OK), (82, LOST)]
    assert seen.distribution is None
