"""A packet that names a load balancer reaches a Pod that does not hold its address: what a capture tells of it."""

from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.observation import Subject
from nettests.model.words import Outcome
from nettests.parse.read import read_raw
from tests.parse.test_witness import NODE, POD, back, compared, frame, of, record

BALANCER, SERVER = "203.0.113.9", "10.244.3.9"
KEPT = {"destination": BALANCER, "destination_port": 80}


def way() -> list[Object]:
    """Return the packet as it leaves its Pod and as it reaches the other one, on one node."""
    return [frame("win-1", "Pod", "in", **KEPT), frame("win-1", "Pod", "out", **KEPT)]


def unanswered(**changes: Any) -> Object:
    """Return the record of a connection without an answer."""
    usual = {
        "exit_code": 28,
        "stdout": "",
        "stderr": "curl: (28) Connection timed out after 5001 milliseconds",
        "backend_node": "win-1",
        "backend": SERVER,
        "preserved": True,
        "client": POD,
        "requested": f"{BALANCER}:80",
        "frames": way(),
    }
    return record(**{**usual, **changes})


def test_packets_arrive_as_the_client_sent_them() -> None:
    """The outcome is that no answer comes; the frames at the Pod show what reached it."""
    read = read_raw(of(unanswered()))
    assert read.outcome is Outcome.TIMED_OUT
    found = compared(unanswered())
    assert found.keys() == {Subject.DESTINATION, Subject.SOURCE}
    assert all(each.agree for each in found.values())
    assert str(found[Subject.DESTINATION]) == (
        f"destination: {BALANCER}:80, as the annotation preserve-destination says, "
        "and the capture on win-1, port shows"
    )


@pytest.mark.parametrize(
    ("change", "subject", "shows"),
    [
        ({"source": NODE}, Subject.SOURCE, NODE),
        ({"destination": SERVER}, Subject.DESTINATION, f"{SERVER}:80"),
        ({"destination_port": 8080}, Subject.DESTINATION, f"{BALANCER}:8080"),
    ],
    ids=["another client", "another address", "another port"],
)
def test_what_was_rewritten_on_the_way_is_told(
    change: Object, subject: Subject, shows: str
) -> None:
    """Of client and destination each by itself."""
    first, last = way()
    found = compared(unanswered(frames=[first, {**last, **change}]))
    assert {each.subject for each in found.values() if not each.agree} == {subject}
    assert found[subject].shows == shows


@pytest.mark.parametrize(
    "changes",
    [
        {"frames": way()[:1]},
        {"frames": []},
        {"backend_node": "win-2"},
        {"doubts": ["the capture breaks off"]},
    ],
    ids=["left alone", "nothing", "on another node", "in doubt"],
)
def test_a_packet_that_was_not_seen_to_arrive_proves_nothing(changes: Object) -> None:
    """Silence would be the same where no policy sends it there."""
    assert read_raw(of(unanswered(**changes))).outcome is Outcome.PROBE_FAILED


def test_where_the_annotation_has_no_effect_the_server_tells_its_client() -> None:
    """The packet was translated, and the answer is the other witness."""
    first, last = way()
    moved = {"destination": SERVER, "destination_port": 8080}
    answered = unanswered(
        exit_code=0,
        stdout=f"{POD}:28002",
        stderr="",
        frames=[first, {**last, **moved}, back("win-1", "Pod", "in")],
    )
    assert read_raw(of(answered)).outcome is Outcome.CONNECTED
    assert compared(answered)[Subject.SOURCE].agree
    hidden = {**answered, "frames": [first, {**last, **moved, "source": NODE}]}
    assert not compared(hidden)[Subject.SOURCE].agree


def test_other_connections_without_an_answer_have_no_witnesses() -> None:
    """Nothing says of them where their packets should be."""
    assert compared(unanswered(preserved=False)) == {}
    assert read_raw(of(unanswered(preserved=False))).outcome is Outcome.TIMED_OUT
