"""Which request comes next: scripts of targets that answer as their ports or their backends would."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse.ports import differing_ports
from nettests.probes.series import next_attempt

OK, LOST, REFUSED = Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.REFUSED
Target = Callable[[int, int], Outcome]
"""What a target says at a port to the connection of a number, from 0."""


def probed(
    target: Target, ports: tuple[int, ...] = (80, 82), *, successes: int = 3, failures: int = 2
) -> list[Attempt]:
    """Probe until it is enough, alternating over the ports as a Service's requests do."""
    turns: list[int] = []
    seen: list[Attempt] = []
    turn: int | None = 0
    while turn is not None:
        port, number = ports[turn % len(ports)], len(seen)
        turns.append(turn)
        seen.append(
            Attempt(
                number=number + 1,
                outcome=target(port, number),
                detail="",
                started=0,
                elapsed=0,
                channel="",
                port=port,
            )
        )
        turn = next_attempt(turns, seen, successes=successes, failures=failures)
        assert len(seen) < 20, "it never has enough"
    return seen


def shown(seen: list[Attempt]) -> list[tuple[int | None, Outcome]]:
    """Return ports and outcomes in the order of probing."""
    return [(attempt.port, attempt.outcome) for attempt in seen]


def test_what_goes_well_alternates() -> None:
    """Three successes, by turns, are enough."""
    assert shown(probed(lambda *_: OK)) == [(80, OK), (82, OK), (80, OK)]


def test_what_fails_at_every_port_alternates() -> None:
    """Two failures of one kind are enough, whichever ports they are of."""
    assert shown(probed(lambda *_: LOST)) == [(80, LOST), (82, LOST)]


def test_a_port_that_fails_is_probed_in_a_row_and_the_other_often_enough() -> None:
    """The failing port is probed twice, the one that answers three times."""
    first = probed(lambda port, _: LOST if port == 80 else OK)
    assert shown(first) == [(80, LOST), (82, OK), (80, LOST), (82, OK), (82, OK)]
    second = probed(lambda port, _: LOST if port == 82 else OK)
    assert shown(second) == [(80, OK), (82, LOST), (82, LOST), (80, OK), (80, OK)]


def test_ports_that_fail_differently_are_each_probed_twice() -> None:
    """One time-out and one refusal are not two failures of a kind."""
    seen = probed(lambda port, _: LOST if port == 80 else REFUSED)
    assert sorted(shown(seen)) == sorted([(80, LOST), (80, LOST), (82, REFUSED), (82, REFUSED)])


def test_at_a_single_port_nothing_changes() -> None:
    """Failures are counted, successes have to come in a row."""
    assert shown(probed(lambda _, number: LOST if number == 0 else OK, (80,))) == [
        (80, LOST),
        *[(80, OK)] * 3,
    ]
    assert len(probed(lambda _, number: LOST if number % 2 else OK, (80,))) == 4


@pytest.mark.parametrize("dead", [0, 1])
def test_backends_that_take_turns_are_not_taken_for_ports(dead: int) -> None:
    """A balancer that goes round two backends, one dead, contradicts itself at a port."""
    seen = probed(lambda _, number: LOST if number % 2 == dead else OK)
    assert differing_ports(seen) == ()
    assert len(seen) <= 6


@pytest.mark.parametrize("failures", [1, 2, 3])
@pytest.mark.parametrize("successes", [2, 3, 4])
def test_a_profile_may_request_more(successes: int, failures: int) -> None:
    """However often a result has to show, a dead port is believed once it has."""
    seen = probed(
        lambda port, _: LOST if port == 82 else OK, successes=successes, failures=failures
    )
    by_port = {port: [one.port for one in seen].count(port) for port in (80, 82)}
    if successes == 2 and failures == 1:
        assert by_port == {80: 2, 82: 2}
    else:
        assert by_port == {80: max(2, successes), 82: max(2, failures)}


@given(st.lists(st.sampled_from([OK, LOST, REFUSED]), min_size=20, max_size=20))
def test_every_target_is_run_to_an_end(outcomes: list[Outcome]) -> None:
    """Whatever a target says, probing ends, and ends with a result, a contradiction or ports that differ."""
    seen = probed(lambda _, number: outcomes[number])
    said = {one.outcome for one in seen}
    kept = [{one.outcome for one in seen if one.port == port} for port in (80, 82)]
    assert len(said) == 1 or differing_ports(seen) or any(len(one) > 1 for one in kept)
