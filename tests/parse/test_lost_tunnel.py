"""A connection between nodes without an answer: a tunnel that carries nothing shows in captures at both of its ends."""

from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.observation import Subject
from nettests.model.words import Outcome
from nettests.parse.read import read_raw
from tests.parse.test_witness import compared, frame, of, overlay, tunnelled

SENT = [frame("win-1", "Pod", "in"), tunnelled(frame("win-1", "wire", "out"))]
GOT = tunnelled(frame("linux-1", "wire", "in"))


def silent(*frames: Object, **changes: Any) -> Object:
    """Return the record of a connection over VXLAN without an answer."""
    said = {
        "exit_code": 28,
        "stdout": "",
        "stderr": "curl: (28) Connection timed out after 5001 ms",
    }
    return {**overlay(*frames), **said, "tunnel_port": 4789, **changes}


def test_a_tunnel_that_carries_nothing_is_told_with_its_port() -> None:
    """What was sent, from where and where to, and who got none of it."""
    read = read_raw(of(silent(*SENT)))
    assert read.outcome is Outcome.TIMED_OUT
    lost = compared(silent(*SENT))[Subject.TUNNEL]
    assert str(lost) == (
        "tunnel: the capture on win-1, uplink says VXLAN 4096 to 172.30.0.11 (UDP 4789), "
        "the capture on linux-1 shows none of it"
    )
    unstated = compared(silent(*SENT, tunnel_port=None))[Subject.TUNNEL]
    assert unstated.says == "VXLAN 4096 to 172.30.0.11"


@pytest.mark.parametrize(
    ("frames", "changes"),
    [
        ([*SENT, GOT], {}),
        ([*SENT, frame("linux-1", "Pod", "out")], {}),
        (SENT[:1], {}),
        ([SENT[0], frame("win-1", "wire", "out")], {}),
        (SENT, {"outside": True}),
        (SENT, {"backend_node": "win-1"}),
        (SENT, {"doubts": ["the capture breaks off"]}),
    ],
    ids=[
        "arrives",
        "arrives decapsulated",
        "never sent",
        "no tunnel",
        "outside",
        "on one node",
        "in doubt",
    ],
)
def test_nothing_is_said_of_a_tunnel_that_may_have_carried_it(
    frames: list[Object], changes: Object
) -> None:
    """The missing answer may then have any reason."""
    assert compared(silent(*frames, **changes)) == {}
