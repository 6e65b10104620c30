"""Until when what is silent may begin to answer, by the OS of the node and by what the node shows."""

import pytest

from nettests.model.cluster_profile import Timing
from nettests.model.words import OS
from nettests.probes.convergence import OVERSLEPT_SECONDS, Deadlines, overslept

TIMING = Timing(convergence=60, convergence_linux=30, listening=15)
LINUX, WINDOWS, OTHER = "probe-linux-1-1", "probe-windows-1-1", "probe-windows-2-1"


def deadlines(timing: Timing = TIMING) -> Deadlines:
    """Return those of a run with probes on a Linux node and on two Windows nodes."""
    return Deadlines(timing, {LINUX: OS.LINUX, WINDOWS: OS.WINDOWS, OTHER: OS.WINDOWS})


def test_windows_has_a_minute_and_linux_half_of_it() -> None:
    """HNS takes up to a minute to program Services, a kube-proxy on Linux no more than 30 s."""
    found = deadlines()
    assert (found.of_service(WINDOWS, 100), found.of_service(LINUX, 100)) == (160, 130)


def test_a_shorter_convergence_is_one_for_linux_too() -> None:
    """Whoever states less means all nodes."""
    assert deadlines(Timing(convergence=5)).of_service(LINUX, 100) == 105


def test_what_was_made_before_the_sentinel_has_no_whole_minute_after_it() -> None:
    """The Service that was made last answers on this node: the others follow soon, or not at all."""
    found = deadlines()
    found.sentinel_answered(WINDOWS, 103, 3)
    assert found.of_service(WINDOWS, 100) == 133
    assert found.of_service(LINUX, 100) == 130


def test_a_late_sentinel_does_not_move_the_deadline() -> None:
    """A minute is the longest, whatever comes last."""
    found = deadlines()
    found.sentinel_answered(WINDOWS, 155, 55)
    assert found.of_service(WINDOWS, 100) == 160


def test_what_is_tested_after_the_sentinel_has_its_time_from_then_on() -> None:
    """A question that had to wait for its turn is not late for that."""
    found = deadlines()
    found.sentinel_answered(WINDOWS, 103, 3)
    assert found.of_service(WINDOWS, 200) == 230


def test_a_node_has_no_whole_minute_where_another_of_its_os_was_quick() -> None:
    """Both program the same Services: half a minute after the other one, this one has had its time."""
    found = deadlines()
    found.sentinel_answered(OTHER, 104, 4)
    assert found.of_service(WINDOWS, 100) == 134


def test_a_node_may_take_three_times_as_long_as_another() -> None:
    """Where the quickest takes 18 s, the minute is near; nobody is late at 48 s."""
    found = deadlines()
    found.sentinel_answered(OTHER, 118, 18)
    assert found.of_service(WINDOWS, 100) == 154


def test_what_is_sent_later_than_on_another_node_has_its_time() -> None:
    """The time runs from the first question, not from the other node's answer."""
    found = deadlines()
    found.sentinel_answered(OTHER, 104, 4)
    assert found.of_service(WINDOWS, 150) == 180


def test_nodes_of_another_os_show_nothing() -> None:
    """A Linux proxy takes a second where HNS takes a minute."""
    found = deadlines()
    found.sentinel_answered(LINUX, 101, 1)
    assert found.of_service(WINDOWS, 100) == 160


def test_servers_have_the_time_to_listen() -> None:
    """A Pod that is Ready needs no proxy."""
    assert deadlines().of_server(100) == 115


@pytest.mark.parametrize(
    ("planned", "took", "lost"),
    [
        (1.0, 1.0, 0.0),
        (1.0, 0.2, 0.0),
        (1.0, 1.0 + OVERSLEPT_SECONDS / 2, 0.0),
        (1.0, 4.5, 3.5),
        (0.0, 2.0, 2.0),
    ],
)
def test_what_a_wait_took_beyond_its_plan_is_lost_by_this_machine(
    planned: float, took: float, lost: float
) -> None:
    """An answer ends a wait early; a few milliseconds more are every system's; all beyond is starvation."""
    assert overslept(planned, took) == pytest.approx(lost)
