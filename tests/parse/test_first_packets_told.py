"""First packets of a new Pod, word for word: when each path first answered, how it went on, and what incidents read of it."""

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse.first_packets import (
    BUSY,
    SLOWLY,
    lost_later,
    shows_busy_node,
    without_busy_nodes,
)
from tests.parse.test_first_packets import AT_ONCE, ENDED, TIMED_OUT, attempt, of

FAILED = "first-packets 000 1.000000\n"
"""An attempt of which curl says nothing."""
OTHERS = "ClusterIP after 4 ms, Service by its name after 4 ms"


def ending(outcome: Outcome, detail: str) -> Attempt:
    """Return an attempt that ended so."""
    return Attempt(number=1, outcome=outcome, detail=detail, started=0, elapsed=0, channel="exec")


@pytest.mark.parametrize(
    ("pod", "told"),
    [
        (AT_ONCE, f"from its first moment on: Pod after 4 ms, {OTHERS}"),
        ("first-packets 200 0,004100\n", f"from its first moment on: Pod after 4 ms, {OTHERS}"),
        ("first-packets 200 0.600000\n", f"from its first moment on: Pod after 600 ms, {OTHERS}"),
        (FAILED * 3, f"it reached no Pod: Pod never in 3.0 s (no answer), {OTHERS}"),
        (
            FAILED * 3 + AT_ONCE,
            f"it reached no Pod for its first 3.0 s: Pod after 3.0 s, {OTHERS}",
        ),
        (
            AT_ONCE * 9 + FAILED * 2,
            f"from its first moment on: Pod after 4 ms, then 2 of 10 requests failed (no answer), {OTHERS}",
        ),
        (
            AT_ONCE + FAILED * 3,
            (
                "3 of 3 requests to Pod failed after a first answer: "
                f"Pod after 4 ms, then 3 of 3 requests failed (no answer), {OTHERS}"
            ),
        ),
    ],
)
def test_each_path_is_told(pod: str, told: str) -> None:
    """Whether at once, late, never or with failures; a decimal comma is read as a point."""
    seen = attempt(pod, AT_ONCE, AT_ONCE)
    assert seen.detail == told


def test_several_paths_are_named_together() -> None:
    """What was lacked, lost or not told of names each kind of path."""
    never = attempt(AT_ONCE, FAILED * 3, FAILED * 3)
    assert never.detail.startswith("it reached no ClusterIP and no Service by its name: Pod")
    lossy = attempt(AT_ONCE * 9, AT_ONCE + FAILED * 4, AT_ONCE + FAILED * 5)
    assert lossy.detail.startswith(
        "9 of 9 requests to ClusterIP and Service by its name failed after a first answer: Pod"
    )
    assert lost_later(lossy.detail) == "ClusterIP and Service by its name"
    silent = of({"status": ENDED, "then": {"logs": {"pod": AT_ONCE}}})
    assert "no log tells of the first packets to service, name: " in silent.detail


@pytest.mark.parametrize(
    "detail",
    ["", "it reached no Pod: Pod never in 3.0 s", "from its first moment on: Pod after 4 ms"],
)
def test_nothing_was_lost_later_where_it_is_not_said(detail: str) -> None:
    """Only the sentence of failures after a first answer speaks of it."""
    assert lost_later(detail) == ""


@pytest.mark.parametrize(
    ("outcome", "detail", "busy"),
    [
        (Outcome.PROBE_FAILED, f"{BUSY}: Pod after 4 ms", True),
        (Outcome.PROBE_FAILED, f"{SLOWLY}: Pod after 4 ms", True),
        (Outcome.PROBE_FAILED, "no log tells of the first packets", False),
        (Outcome.DEVIATES, f"{BUSY}: Pod after 4 ms", False),
    ],
)
def test_a_busy_node_is_known_by_outcome_and_words(
    outcome: Outcome, detail: str, *, busy: bool
) -> None:
    """What could not be judged for another reason, and what was judged, is no busy node's."""
    assert shows_busy_node(ending(outcome, detail)) is busy


def test_attempts_of_busy_nodes_are_left_out_beside_others() -> None:
    """Where none tells something else, all of them are kept: then nothing is known."""
    busy = ending(Outcome.PROBE_FAILED, f"{BUSY}: Pod after 4 ms")
    good = ending(Outcome.CONFORMS, "from its first moment on")
    assert without_busy_nodes([busy, good, busy]) == (good,)
    assert without_busy_nodes([busy, busy]) == (busy, busy)


def test_three_answers_tell_how_long_a_path_takes() -> None:
    """Three later answers of 0.3 s are slow, and two are too few to tell."""
    first = "first-packets 200 0.000000\n"
    slow = "first-packets 200 0.300000\n"
    assert "Pod after 0.0 s, and slowly," in attempt(first + slow * 3, AT_ONCE, AT_ONCE).detail
    assert "Pod after 0 ms, " in attempt(first + slow * 2, AT_ONCE, AT_ONCE).detail


def test_slow_answers_have_to_take_half_of_the_time_that_they_explain() -> None:
    """Answers that were slow for two of six seconds, among many that were prompt, show no busy node."""
    slow = "first-packets 200 0.800000\n"
    some = slow * 3 + AT_ONCE * 12
    seen = attempt(some, some, TIMED_OUT * 6 + AT_ONCE * 9)
    assert seen.outcome is Outcome.DEVIATES
    most = slow * 4 + AT_ONCE * 12
    assert attempt(most, most, TIMED_OUT * 6 + AT_ONCE * 9).outcome is Outcome.CONFORMS
