"""What many new Pods tell that were made at once: who was late is named, and who told nothing is counted apart."""

import json
from typing import Any

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse import read_raw
from nettests.parse.first_packets import lateness, longest, shows_busy_node
from nettests.parse.pods_at_once import NAMED
from tests.parse.raws import raw
from tests.parse.test_first_packets import AT_ONCE, ENDED, SLOWLY, TIMED_OUT

LATE = TIMED_OUT * 6 + AT_ONCE
LATER = TIMED_OUT * 8 + AT_ONCE
UNSCHEDULABLE = {
    "phase": "Pending",
    "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "full"}
    ],
}
NO_SANDBOX = {
    "phase": "Pending",
    "containerStatuses": [
        {"name": "pod", "state": {"waiting": {"reason": "ContainerCreating"}}, "restartCount": 0}
    ],
}
SANDBOX = [{"type": "Warning", "reason": "FailedCreatePodSandBox", "message": "hcn: no endpoint"}]


def pod(number: int, log: str = AT_ONCE) -> dict[str, Any]:
    """Return the record of a Pod whose containers all logged the same."""
    logs = dict.fromkeys(("pod", "service", "name"), log)
    return {"name": f"start-7-{number:02}", "status": ENDED, "then": {"logs": logs}}


def busy(number: int) -> dict[str, Any]:
    """Return the record of a Pod whose node was busy: what answered did so slowly, and names never came."""
    logs = {"pod": SLOWLY * 5, "service": SLOWLY * 5, "name": TIMED_OUT * 5}
    return {**pod(number), "then": {"logs": logs}}


def read(*pods: dict[str, Any]) -> Attempt:
    """Return what the record of these Pods reads as."""
    record = {"node": "win-1", "pods": list(pods)}
    return read_raw(raw("crowd", stdout=json.dumps(record), context={"then": "first"}))


def test_pods_that_reach_everything_at_once_conform() -> None:
    """How many there were, and how long the slowest of all paths took, is told."""
    seen = read(*(pod(number) for number in range(1, 16)))
    assert seen.outcome is Outcome.CONFORMS
    assert "15 of 15 Pods" in seen.detail
    assert "after 4 ms" in seen.detail


def test_one_late_pod_of_many_deviates_and_is_named() -> None:
    """The others were in time; incidents find the seconds in the same words as of a single new Pod."""
    seen = read(*(pod(number) for number in range(1, 15)), pod(15, LATE))
    assert seen.outcome is Outcome.DEVIATES
    assert "1 of 15 Pods made at once deviate (start-7-15)" in seen.detail
    late = lateness(seen.detail)
    assert late is not None
    assert (late.what, late.seconds) == ("nothing", 6.0)


def test_of_many_late_pods_the_latest_speaks_and_some_are_named() -> None:
    """A sentence has room for some names only."""
    seen = read(*(pod(number, LATER if number == 4 else LATE) for number in range(1, 11)))
    assert f"start-7-05 and {10 - NAMED} more" in seen.detail
    assert "of start-7-04: it reached nothing for its first 8.0 s" in seen.detail


def test_a_pod_that_gets_no_sandbox_beside_others_deviates() -> None:
    """That a network cannot be given to as many Pods at once is what is looked for."""
    lacking = {"name": "start-7-02", "status": NO_SANDBOX, "events": SANDBOX}
    seen = read(pod(1), lacking, pod(3))
    assert seen.outcome is Outcome.DEVIATES
    assert "FailedCreatePodSandBox: hcn: no endpoint" in seen.detail


@pytest.mark.parametrize(
    "mute",
    [
        {"name": "start-7-09", "status": UNSCHEDULABLE, "events": []},
        {"name": "start-7-09", "error": "the watch was lost"},
        busy(9),
    ],
    ids=["no-room", "channel", "busy"],
)
def test_pods_that_tell_nothing_are_told_and_excuse_nobody(mute: dict[str, Any]) -> None:
    """Fewer than half of them leave the others their say; half and more leave nothing."""
    seen = read(pod(1), pod(2), mute)
    assert seen.outcome is Outcome.CONFORMS
    assert "2 of 3 Pods" in seen.detail
    assert "1 more told nothing" in seen.detail
    assert read(pod(1), pod(2, LATE), mute).outcome is Outcome.DEVIATES
    assert read(pod(1), mute).outcome is Outcome.PROBE_FAILED
    assert read(mute).outcome is Outcome.PROBE_FAILED


def test_a_node_that_was_busy_for_most_of_them_is_told_as_one() -> None:
    """So that they are made once more, as a single new Pod is."""
    assert shows_busy_node(read(busy(1), busy(2), pod(3)))


def test_no_pod_is_no_observation() -> None:
    """Nothing passes on an empty set."""
    assert read().outcome is Outcome.PROBE_FAILED


def test_what_is_no_record_is_no_observation() -> None:
    """Whatever a journal holds."""
    for text in ("", "[]", "{}", '{"pods": [{}]}', '{"pods": [{"name": "x"}]}'):
        found = read_raw(raw("crowd", stdout=text, context={"then": "first"}))
        assert found.outcome is Outcome.PROBE_FAILED


def test_the_longest_path_is_that_which_was_answered_last() -> None:
    """What was never answered has no time."""
    logs = {"pod": AT_ONCE, "service": TIMED_OUT + AT_ONCE, "name": TIMED_OUT}
    assert longest(logs) == pytest.approx(1.005, abs=0.01)
    assert longest({}) == 0.0
