"""Nodes that do not stay Ready while a run tests: what is told, and which checks it concerns."""

from collections.abc import Mapping
from threading import Event

import pytest

from nettests.cluster.readiness import Readiness
from nettests.errors import ClusterError
from nettests.session import node_monitor
from nettests.session.node_monitor import FRESH_SECONDS, NodeMonitor

WELL = Readiness(ready=True, since="10:00:00")
LOST = Readiness(ready=False, since="10:00:30", why="NodeStatusUnknown: Kubelet stopped")
FOUND = Readiness(ready=True, since="10:01:00")


class Nodes:
    """Two nodes on which the clock stands until it is told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.looks = 0
        self.events: list[str] = []
        self.held: dict[str, Readiness] = {"a": WELL, "b": WELL}
        self.silent = False
        self.watch = NodeMonitor(
            names=["a", "b"],
            read=self.read,
            tell=self.events.append,
            began=100.0,
            clock=lambda: self.now,
        )

    def read(self) -> Mapping[str, Readiness]:
        self.looks += 1
        if self.silent:
            raise ClusterError("no answer")
        return dict(self.held)

    def at(self, seconds: float, **states: Readiness) -> None:
        """Let nodes be so, and look, so many seconds after the run began."""
        self.now = 100.0 + seconds
        self.held |= states
        self.watch.look()

    def why(self, *names: str, since: float) -> str:
        return self.watch.why_unready(names, since, fresh=False)


@pytest.fixture
def nodes() -> Nodes:
    """Both Ready at 5 s; ``a`` is not at 10 s."""
    made = Nodes()
    made.at(5)
    made.at(10, a=LOST)
    return made


def test_a_node_that_turns_not_ready_is_told_once_with_its_reason(nodes: Nodes) -> None:
    """And again when it is back."""
    nodes.at(15)
    assert nodes.events == [f"node a turned NotReady: {LOST.why}"]
    nodes.at(20, a=FOUND)
    nodes.at(25)
    assert nodes.events[1:] == ["node a is Ready again"]


def test_it_concerns_what_was_sent_meanwhile_of_that_node(nodes: Nodes) -> None:
    """Whatever began before it was back: nobody knows when between two looks it went."""
    assert nodes.why("a", since=2) == f"node a was not Ready while this was probed ({LOST.why})"
    assert nodes.why("b", since=2) == ""
    nodes.at(20, a=FOUND)
    assert nodes.why("b", "a", since=19)
    assert nodes.why("a", since=21) == ""


def test_a_spell_between_two_looks_shows_by_its_last_change() -> None:
    """A node that is Ready since another time than before was not Ready in between."""
    nodes = Nodes()
    nodes.at(5)
    nodes.at(10, a=FOUND)
    assert nodes.events == ["node a was not Ready for a moment, until 10:01:00"]
    assert nodes.why("a", since=7)
    assert nodes.why("a", since=11) == ""


def test_a_node_that_is_gone_is_not_ready() -> None:
    """Whatever took it from the API."""
    nodes = Nodes()
    nodes.at(5)
    del nodes.held["b"]
    nodes.at(10)
    assert nodes.events == ["node b turned NotReady: it is no longer in the API"]
    assert nodes.why("b", since=9)


def test_nodes_that_are_ready_all_the_time_are_no_event() -> None:
    """Nor does a look that nobody answers say anything."""
    nodes = Nodes()
    nodes.at(5)
    nodes.silent = True
    nodes.at(10)
    assert (nodes.events, nodes.why("a", "b", since=0)) == ([], "")


def test_failures_look_again_unless_somebody_just_did() -> None:
    """So a hundred of them cost no hundred requests, and what concerns no node costs none."""
    nodes = Nodes()
    nodes.at(5)
    nodes.watch.why_unready(["a"], 0, fresh=True)
    assert nodes.looks == 1
    nodes.now += FRESH_SECONDS
    nodes.watch.why_unready(["elsewhere"], 0, fresh=True)
    assert nodes.looks == 1
    nodes.held["a"] = LOST
    assert nodes.watch.why_unready(["a"], 0, fresh=True)
    assert nodes.looks == 2


def test_the_last_look_is_at_the_end() -> None:
    """What happened since the one before is told; nothing looks any more then, and ending twice is none."""
    nodes = Nodes()
    nodes.at(5)
    nodes.watch.start()
    nodes.held["a"] = LOST
    nodes.watch.stop()
    nodes.watch.stop()
    assert nodes.events == [f"node a turned NotReady: {LOST.why}"]


def test_an_api_server_that_answers_nothing_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks every few seconds is the one who notices; what is silent for less is waited for."""
    monkeypatch.setattr(node_monitor, "LOOK_SECONDS", 0.01)
    silences, told = [0.0, 119.0, 120.0], list[tuple[str, int]]()
    looked = Event()

    def silence() -> float:
        return silences.pop(0)

    def read() -> Mapping[str, Readiness]:
        if told:
            looked.set()  # it looks on
        return {}

    watch = NodeMonitor(
        names=["a"],
        read=read,
        tell=lambda _: None,
        began=0.0,
        silence=silence,
        gone=lambda why: told.append((why, len(silences))),
    )
    watch.start()
    assert looked.wait(60)
    watch.stop(last=False)
    assert told == [("the API server has answered nothing for 120 s", 0)]
