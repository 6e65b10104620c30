"""Which Pods are not worth waiting for by their events, and how seldom that is looked up."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster.follow import follow_pod, follow_pods
from nettests.cluster.wait import LOOK_SECONDS, Hopeless, wait_for_pods
from nettests.model.json_text import Object
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig


def pod(name: str, **status_fields: Any) -> Object:
    """Return a Pod that its kubelet has taken up."""
    states = {"phase": "Pending", "startTime": "t", **status_fields}
    return {"metadata": {"name": name, "uid": f"u-{name}", "resourceVersion": "1"}, "spec": {"nodeName": "w"}, "status": states}  # fmt: skip


def failed(name: str, *, uid: str = "", count: int = 2) -> Object:
    """Return the event of a sandbox that was not made."""
    return {
        "type": "Warning",
        "reason": "FailedCreatePodSandBox",
        "message": "hcnCreateEndpoint failed",
        "count": count,
        "involvedObject": {"name": name, "uid": uid or f"u-{name}"},
    }


class Api:
    """A server that answers lists of events and of Pods, and notes what was asked of the events."""

    def __init__(self) -> None:
        self.events: list[Object] = []
        self.pods: list[Object] = []
        self.asked: list[str] = []
        self.forbidden = False

    def answer(self, request: Request) -> Reply:
        """Return what stands; a watch ends without news."""
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.33.0"})
        if "/events" in request.path:
            self.asked.append(request.path.partition("fieldSelector=")[2])
            return status(403, "Forbidden", "events") if self.forbidden else Reply(body={"metadata": {}, "items": self.events})  # fmt: skip
        if "watch=true" in request.path:
            return Reply(chunks=({"type": "BOOKMARK", "object": {}},))
        return Reply(body={"metadata": {"resourceVersion": "5"}, "items": self.pods})


@pytest.fixture
def api() -> Api:
    """The server's answers."""
    return Api()


@pytest.fixture
def connection(api: Api, tmp_path: Path) -> Iterator[Connection]:
    """A connection to the server."""
    with serving(api.answer) as server:
        yield connect(write_kubeconfig(tmp_path / "k", server.url), None)


def test_events_are_read_now_and_then(api: Api, connection: Connection) -> None:
    """Not before most Pods have started, once for all of them, and once more for each that may be hopeless."""
    api.events = [failed("a")]
    hopeless, starting = Hopeless(connection, "ns"), [pod("a"), pod("b")]
    assert hopeless.among(starting, now=0) == frozenset()
    assert hopeless.among(starting, now=LOOK_SECONDS - 1) == frozenset()
    assert api.asked == []
    assert hopeless.among(starting, now=LOOK_SECONDS) == {"a"}
    assert hopeless.among(starting, now=LOOK_SECONDS + 1) == {"a"}
    assert api.asked == ["type%3DWarning", "involvedObject.name%3Da"]


@pytest.mark.parametrize(
    "other",
    [
        pod("a", phase="Running"),
        {**pod("a"), "spec": {}},
        {**pod("a"), "status": {"phase": "Pending"}},
        {**pod("a"), "metadata": {"name": "a", "uid": "u-a", "deletionTimestamp": "t"}},
    ],
    ids=["running", "unbound", "unacknowledged", "leaving"],
)
def test_only_a_pod_that_starts_is_looked_up(
    api: Api, connection: Connection, other: Object
) -> None:
    """No request is sent for what runs, waits for a node or its kubelet, or leaves."""
    hopeless = Hopeless(connection, "ns")
    for now in (0, 100, 200):
        assert hopeless.among([other], now=now) == frozenset()
    assert api.asked == []


def test_events_of_another_pod_of_that_name_do_not_count(api: Api, connection: Connection) -> None:
    """A Pod that was replaced leaves its events behind; and without the right to read any, all are waited for."""
    api.events = [failed("a", uid="before")]
    hopeless = Hopeless(connection, "ns")
    hopeless.among([pod("a")], now=0)
    assert hopeless.among([pod("a")], now=10) == frozenset()
    api.events, api.forbidden = [failed("a")], True
    assert hopeless.among([pod("a")], now=20) == frozenset()
    api.forbidden = False
    assert hopeless.among([pod("a")], now=30) == {"a"}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are read at every look."""
    monkeypatch.setattr("nettests.cluster.wait.LOOK_SECONDS", 0.0)
    monkeypatch.setattr("nettests.cluster.list_watch.PAUSE_SECONDS", 0.01)


def test_each_wait_ends_with_it(api: Api, connection: Connection, at_once: None) -> None:
    """Those of a run's Pods, of a check's own Pod and of a workload's Pods: long before they are over."""
    api.pods, api.events = [pod("a")], [failed("a")]
    ready, problems = wait_for_pods(connection, "ns", ["a"], ready=60, stuck=60, on_change=lambda *_: None)  # fmt: skip
    assert (ready, problems) == ({}, {"a": "FailedCreatePodSandBox: hcnCreateEndpoint failed"})
    api.pods = [pod("a"), pod("b")]
    api.events = [failed("a"), failed("b")]
    of_a_workload = follow_pods(connection, "ns", "x=y", settled=lambda _: False, appear=60, seconds=60, stuck=60)  # fmt: skip
    assert [item["metadata"]["name"] for item in of_a_workload] == ["a", "b"]


def test_the_wait_for_a_checks_own_pod_ends_with_it(api: Api, connection: Connection, at_once: None) -> None:  # fmt: skip
    """It is returned as it is: that it does not start is its result."""
    api.pods, api.events = [pod("a")], [failed("a")]
    own = follow_pod(connection, "ns", "a", settled=lambda _: False, seconds=60, stuck=60)
    assert own["metadata"]["name"] == "a"
