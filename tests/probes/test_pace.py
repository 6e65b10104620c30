"""Refusals by ICMP come at the rate of a Linux kernel, and no faster."""

import pytest

from nettests.model.words import Protocol, TargetKind
from nettests.probes.pace import BURST, ON_THE_WAY, SECONDS, UNHEARD, Pace, left, may_be_icmp
from tests.probes.made import action

PROBE = "probe-linux-1-1"


def test_a_burst_is_told_at_once_and_then_one_a_second() -> None:
    """Six questions may be run now; each later one a second after the one before, with room for what is on the way."""
    pace = Pace()
    times = [pace.reserve(PROBE, 100.0).since for _ in range(BURST + 3)]
    assert times[:BURST] == [100.0] * BURST
    later = [100.0 + ON_THE_WAY + number * SECONDS for number in (1, 2, 3)]
    assert times[BURST:] == later


def test_each_probe_has_a_limit_of_its_own() -> None:
    """The kernel counts by destination: what one probe was told takes nothing from another."""
    pace = Pace()
    for _ in range(BURST):
        pace.note_refusal(PROBE, 100.0, 100.0)
    assert pace.spent(PROBE, 100.1)
    assert not pace.spent("probe-linux-1-2", 100.1)


def test_a_refusal_that_nobody_heard_may_have_been_the_last() -> None:
    """Who gave up a connection does not hear that its last SYN was refused: of six some may be gone."""
    pace = Pace()
    for _ in range(BURST - UNHEARD):
        pace.note_refusal(PROBE, 100.0, 100.0)
    assert pace.spent(PROBE, 100.0 + SECONDS / 2)
    assert not pace.spent(PROBE, 100.0 + SECONDS)


def test_what_is_spent_comes_back() -> None:
    """After a second one refusal is told again, after six as many as at first."""
    told = [100.0] * BURST
    assert [left(told, at) for at in (100.0, 101.0, 106.0, 200.0)] == [0, 1, BURST, BURST]


def test_what_was_sent_later_explains_nothing() -> None:
    """A refusal told after a question was run was not told instead of its answer."""
    pace = Pace()
    for _ in range(BURST):
        pace.note_refusal(PROBE, 100.5, 100.5)
    assert not pace.spent(PROBE, 100.0)


def test_a_refusal_that_was_read_late_counts_at_the_worst_moment() -> None:
    """On a busy machine six that were sent a while ago may as well have been told just before the next question."""
    pace = Pace()
    for _ in range(BURST):
        pace.note_refusal(PROBE, 90.0, 100.0)
    assert pace.spent(PROBE, 100.0)
    assert pace.spent(PROBE, 95.0)
    assert not pace.spent(PROBE, 105.0)


def test_a_question_that_waited_for_its_turn_counts_when_it_was_sent() -> None:
    """What was reserved seconds before may be refused any time until it is sent; then it counts by its own times."""
    pace = Pace()
    reserved = [pace.reserve(PROBE, 100.0) for _ in range(BURST)]
    assert pace.spent(PROBE, 110.0)
    for one in reserved:
        pace.sent(one, 101.0)
    assert pace.spent(PROBE, 101.5)
    assert not pace.spent(PROBE, 110.0)


def test_silent_questions_take_nothing_from_later_ones() -> None:
    """What has been silent for seconds is not refused any more, however many still wait for their time-out."""
    pace = Pace()
    for number in range(BURST):
        pace.sent(pace.reserve(PROBE, 100.0 + 2 * number), 100.0 + 2 * number)
    assert not pace.spent(PROBE, 112.0)


def test_a_refusal_that_is_heard_late_counts_until_then() -> None:
    """An answer that a busy machine read three seconds later may have come just then."""
    pace = Pace()
    for _ in range(BURST):
        one = pace.reserve(PROBE, 100.0)
        pace.sent(one, 100.0)
        pace.heard(one, 104.0)
    assert pace.spent(PROBE, 104.0)
    assert not pace.spent(PROBE, 109.0)


@pytest.mark.parametrize(
    ("probe", "kind", "protocol", "by_icmp"),
    [
        ("probe-linux-1-1", TargetKind.POD_IP, Protocol.UDP, True),
        ("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, Protocol.UDP, True),
        ("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP, Protocol.TCP, True),
        ("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, Protocol.TCP, False),
        ("probe-linux-1-1", TargetKind.POD_IP, Protocol.TCP, False),
        ("probe-windows-1-1", TargetKind.NODE_IP, Protocol.TCP, False),
    ],
)
def test_what_is_refused_by_rst_takes_nothing_from_the_limit(
    probe: str, kind: TargetKind, protocol: Protocol, *, by_icmp: bool
) -> None:
    """A SYN to a closed port is answered by a reset; only kube-proxy of a Linux node rejects one by ICMP."""
    assert may_be_icmp(action(probe, kind, protocol)) is by_icmp
