"""What is read of a Pod that was deleted: whether its server got the time that it takes."""

import json
from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.observation import Attempt
from nettests.model.words import Outcome
from nettests.parse import endings, read_raw
from tests.parse.raws import raw

LOG = (
    "2026-11-21T01:08:14.139424000Z I1121 01:08:14.139424   20732 log.go:244] Started HTTP server on port 8083\n"
    "2026-11-21T01:08:15.303023123Z I1121 01:08:15.303023   20732 log.go:244] "
    "Sleeping 10 seconds before terminating...\n"
)
TOLD = "2026-11-21T01:08:15.303023123Z"
STATUS: Object = {"conditions": [{"type": "Ready", "status": "True"}]}


def attempt(**then: Any) -> Attempt:
    """Return what an end reads as whose server takes ten seconds of thirty."""
    record = {"status": STATUS, "then": {"seconds": 14.0, "gone": True, "grace": 30, **then}}
    context = {"then": "terminates", "says": "10"}
    return read_raw(raw("start", stdout=json.dumps(record), client_os="windows", context=context))


@pytest.mark.parametrize(
    ("finished", "outcome"),
    [
        ("2026-11-21T01:08:25Z", Outcome.CONFORMS),  # 10 s, of which the status tells whole seconds
        ("2026-11-21T02:08:26+01:00", Outcome.CONFORMS),
        ("2026-11-21T01:08:20Z", Outcome.CUT_SHORT),
        ("2026-11-21T01:08:22Z", Outcome.CUT_SHORT),
        ("2026-11-21T01:08:46Z", Outcome.DEVIATES),
    ],
    ids=["its time", "elsewhere on earth", "five seconds", "seven seconds", "all of its grace"],
)
def test_a_server_has_its_time_by_the_clock_of_its_node(finished: str, outcome: Outcome) -> None:
    """That its Pod goes later proves nothing: what the kubelet does afterwards takes seconds too."""
    read = attempt(told=TOLD, finished=finished, code=0)
    assert read.outcome is outcome
    assert "after its server was told to" in read.detail


def test_a_pod_that_goes_late_had_its_time_all_the_same() -> None:
    """Its grace is over before the kubelet has taken its network down."""
    assert (
        attempt(seconds=41.0, told=TOLD, finished="2026-11-21T01:08:25Z", code=0).outcome
        is Outcome.CONFORMS
    )
    stays = attempt(seconds=60.0, gone=False, told=TOLD, finished="2026-11-21T01:08:25Z", code=0)
    assert stays.outcome is Outcome.DEVIATES


@pytest.mark.parametrize(
    ("then", "outcome"),
    [
        ({"seconds": 6.0, "told": ""}, Outcome.DEVIATES),
        ({"told": "", "finished": "2026-11-21T01:08:20Z", "code": 137}, Outcome.DEVIATES),
        ({"told": "", "finished": "2026-11-21T01:08:20Z", "code": 0}, Outcome.PROBE_FAILED),
        ({"told": TOLD}, Outcome.PROBE_FAILED),
        ({"told": TOLD, "finished": "", "code": 0}, Outcome.PROBE_FAILED),
        ({"told": "yesterday", "finished": "2026-11-21T01:08:20Z"}, Outcome.PROBE_FAILED),
    ],
    ids=["gone too soon", "killed", "never told", "no end", "no time", "no clock"],
)
def test_a_time_that_is_not_known_passes_nothing(then: Object, outcome: Outcome) -> None:
    """A Pod that is gone too soon, and a server that did not end by itself, show it without."""
    assert attempt(**then).outcome is outcome


def test_the_detail_says_how_a_server_was_ended() -> None:
    """Its time, its exit code, and what it takes."""
    read = attempt(told=TOLD, finished="2026-11-21T01:08:20Z", code=1067)
    assert read.detail == (
        "its container ended 4.7 s after its server was told to with exit code 1067, and it was gone after 14.0 s: "
        "its server takes 10 s, its grace is 30 s"
    )


def test_a_server_says_in_its_log_when_it_was_told() -> None:
    """The time is that at the beginning of its line; who was not told says nothing."""
    assert endings.told_to_end(LOG) == TOLD
    assert endings.told_to_end(LOG.splitlines()[0]) == ""


def test_a_status_tells_how_its_container_ended() -> None:
    """Of the container in question alone; one that runs has not ended."""
    end = {"exitCode": 0, "finishedAt": "2026-11-21T01:08:25Z"}
    pod = {
        "status": {
            "containerStatuses": [
                {"name": "other", "state": {"running": {}}},
                {"name": "first", "state": {"terminated": end}},
            ]
        }
    }
    assert endings.end_of(pod, "first") == {"code": 0, "finished": "2026-11-21T01:08:25Z"}
    assert endings.end_of(pod, "other") == endings.end_of({}, "first") == {}
