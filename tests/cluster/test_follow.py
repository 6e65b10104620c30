"""Following one pod: what ends it, over real sockets."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster import follow as follow_module
from nettests.cluster.follow import (
    delete_pod,
    follow_end,
    follow_pod,
    follow_pods,
    log_of,
    wait_gone,
)
from nettests.cluster.shared_watch import SharedWatch
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig

LONG = 60.0


def pod(phase: str) -> Object:
    """Return a pod in that phase."""
    return {"metadata": {"name": "one"}, "status": {"phase": phase}}


def listing(*pods: Object) -> Reply:
    """Return a list of pods."""
    return Reply(body={"metadata": {"resourceVersion": "5"}, "items": list(pods)})


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Connection, dict[str, list[Reply]], Api]]:
    """An API server whose lists and watches answer in turn, the last one for ever."""
    queues: dict[str, list[Reply]] = {"list": [listing()], "watch": [], "other": [Reply(body={})]}

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        kind = "watch" if "watch=" in request.path else "list"
        queue = queues[kind if request.method == "GET" else "other"]
        return queue.pop(0) if len(queue) > 1 else queue[0]

    with serving(answer) as api:
        yield connect(write_kubeconfig(tmp_path / "k", api.url), None), queues, api


def follow(
    connection: Connection,
    settled: Callable[[Object], bool],
    *,
    seconds: float = 5,
    stuck: float = 5,
    namespace: str = "ns",
) -> Object:
    """Follow the pod ``one``."""
    return follow_pod(connection, namespace, "one", settled=settled, seconds=seconds, stuck=stuck)


def running(found: Object) -> bool:
    """Whether the pod runs."""
    return bool(found["status"]["phase"] == "Running")


def test_the_pod_is_returned_as_soon_as_it_is_settled(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """Its event ends the waiting; the namespace is watched for all that follow a Pod of it."""
    connection, queues, api = served
    queues["list"] = [listing(pod("Pending"))]
    queues["watch"] = [
        Reply(chunks=({"type": "BOOKMARK", "object": {}},
                      {"type": "MODIFIED", "object": pod("Running")}))
    ]  # fmt: skip
    assert follow(connection, running) == pod("Running")
    probed = [one.path for one in api.requests if "/pods" in one.path]
    assert probed
    assert not any("fieldSelector" in path for path in probed)


def test_expired_and_cut_watches_are_resumed(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """Neither ends the waiting."""
    connection, queues, _ = served
    queues["list"] = [listing(pod("Pending")), listing(pod("Pending")), listing(pod("Running"))]
    queues["watch"] = [Reply(chunks=({"type": "ERROR", "object": {"code": 410}},)), Reply(cut=True)]
    assert follow(connection, running) == pod("Running")


def test_a_pod_that_never_settles_is_returned_as_it_is(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """The deadline ends the waiting with the last state."""
    connection, queues, _ = served
    queues["list"] = [listing(pod("Pending"))]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    assert follow(connection, running, seconds=0.2) == pod("Pending")


def test_a_stuck_pod_is_given_up_before_the_deadline(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """A state that does not heal ends the waiting after its own time."""
    connection, queues, _ = served
    state = {"waiting": {"reason": "ImagePullBackOff"}}
    stuck = pod("Pending")
    stuck["status"]["containerStatuses"] = [{"name": "c", "state": state}]
    queues["list"] = [listing(stuck)]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    deadline = time.monotonic() + 60
    assert follow(connection, running, seconds=60, stuck=0.1) == stuck
    assert time.monotonic() < deadline


@pytest.mark.parametrize("told", ["event", "list"])
def test_a_pod_that_goes_ends_the_wait(
    served: tuple[Connection, dict[str, list[Reply]], Api], told: str
) -> None:
    """An interrupted run removes its pods, and must not wait minutes for one of them to start."""
    connection, queues, _ = served
    queues["list"] = [listing(pod("Pending")), listing()]
    kind = "DELETED" if told == "event" else "ERROR"
    queues["watch"] = [Reply(chunks=({"type": kind, "object": pod("Pending")},))]
    with pytest.raises(ClusterError, match="pod one was deleted"):
        follow(connection, running, seconds=600)


def test_a_pod_that_comes_and_goes_between_two_looks_has_gone() -> None:
    """Whoever begins to follow it only then is told, and not that it never appeared."""
    watch = SharedWatch(lambda: iter([{"one": pod("Pending")}, {}]))
    for _ in watch.follow("one", seconds=5, look=0.01):
        if watch.has_gone("one", None):
            break
    assert watch.has_gone("one", None)
    assert not watch.has_gone("one", watch.last["one"])
    assert not watch.has_gone("two", None)


def follow_many(connection: Connection, **how: float) -> list[Object]:
    """Follow all pods of a label until two are there and run."""
    times = {"appear": 5.0, "seconds": 5.0, "stuck": 5.0, **how}
    return follow_pods(
        connection,
        "ns",
        "set=s",
        settled=lambda pods: len(pods) == 2 and all(map(running, pods)),
        **times,
    )


def test_pods_of_a_label_are_followed_until_they_are_settled(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """What is settled is decided of all of them together."""
    connection, queues, api = served
    two = {**pod("Running"), "metadata": {"name": "two"}}
    queues["list"] = [listing(pod("Running"))]
    queues["watch"] = [Reply(chunks=({"type": "ADDED", "object": two},))]
    assert follow_many(connection) == [pod("Running"), two]
    probed = [one.path for one in api.requests if "/pods" in one.path]
    assert all("labelSelector=set%3Ds" in path for path in probed)


def test_that_no_pod_comes_is_an_answer_soon(
    served: tuple[Connection, dict[str, list[Reply]], Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that does nothing is not waited for as long as an image."""
    monkeypatch.setattr(follow_module, "LOOK_OF_MANY_SECONDS", 0.05)
    connection, queues, _ = served
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    deadline = time.monotonic() + 60
    assert follow_many(connection, appear=0.1, seconds=120) == []
    assert time.monotonic() < deadline


def test_pods_that_are_all_stuck_are_given_up(
    served: tuple[Connection, dict[str, list[Reply]], Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as one of them gets on, the others are waited for."""
    monkeypatch.setattr(follow_module, "LOOK_OF_MANY_SECONDS", 0.05)
    connection, queues, _ = served
    queues["list"] = [listing(pod("Running"))]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    deadline = time.monotonic() + 60
    assert follow_many(connection, stuck=0.1, seconds=120) == [pod("Running")]
    assert time.monotonic() < deadline
    pending = {**pod("Pending"), "metadata": {"name": "two"}}
    queues["list"] = [listing(pod("Running"), pending)]
    assert len(follow_many(connection, stuck=0.05, seconds=0.5)) == 2


def test_a_pod_that_never_appears_is_an_error(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """Nothing is known of it, and a missing permission is said at once."""
    connection, queues, _ = served
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    with pytest.raises(ClusterError, match="never appeared"):
        follow(connection, running, seconds=0.1)
    queues["list"] = [status(403, "Forbidden", "pods is forbidden")]
    with pytest.raises(ClusterError, match="pods is forbidden"):
        follow(connection, running, namespace="other")


def test_a_pod_that_does_not_appear_is_waited_for_as_one_that_is_stuck(
    served: tuple[Connection, dict[str, list[Reply]], Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A StatefulSet's, say, that a quota refuses: nobody waits for as long as images may take to be pulled."""
    monkeypatch.setattr(follow_module, "LOOK_SECONDS", 0.05)
    connection, queues, _ = served
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    deadline = time.monotonic() + 60
    with pytest.raises(ClusterError, match="never appeared"):
        follow(connection, running, stuck=0.1, seconds=120)
    assert time.monotonic() < deadline


def test_a_deletion_that_fails_is_left_to_the_end_of_the_run(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """The answer of the check does not depend on it."""
    connection, queues, api = served
    queues["other"] = [status(403, "Forbidden", "pods is forbidden")]
    delete_pod(connection, "ns", "one")
    assert api.requests[-1].path == "/api/v1/namespaces/ns/pods/one"


def test_a_pod_is_gone_with_its_event_or_when_no_list_has_it(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """Cut and expired watches do not lose the wait; the deadline says that it is still there."""
    connection, queues, _ = served
    queues["list"] = [listing(pod("Running"))]
    queues["watch"] = [
        Reply(chunks=({"type": "ERROR", "object": {"code": 410}},)),
        Reply(cut=True),
        Reply(chunks=({"type": "DELETED", "object": pod("Running")},)),
    ]
    assert wait_gone(connection, "ns", "one", seconds=10)
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    assert not wait_gone(connection, "ns", "one", seconds=0.2)
    queues["list"] = [listing()]
    assert wait_gone(connection, "ns", "one", seconds=10)


def test_the_last_state_of_a_pod_tells_how_it_ended(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """What the kubelet wrote before it removed the Pod; one that stays is not gone, one that was never seen is."""
    connection, queues, _ = served
    queues["list"] = [listing(pod("Running"))]
    queues["watch"] = [
        Reply(
            chunks=(
                {"type": "MODIFIED", "object": pod("Succeeded")},
                {"type": "DELETED", "object": pod("Succeeded")},
            )
        ),
    ]
    assert follow_end(connection, "ns", "one", seconds=LONG) == (pod("Succeeded"), True)
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    assert follow_end(connection, "other", "one", seconds=0.2) == (pod("Running"), False)
    queues["list"] = [listing(), status(404, "NotFound", "pods not found")]
    assert follow_end(connection, "third", "one", seconds=LONG) == (None, True)


def test_a_log_with_times_is_requested_as_such(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """The API server puts them before each line."""
    connection, _, api = served
    log_of(connection, "ns", "one", "first")
    log_of(connection, "ns", "one", "first", timed=True)
    assert ["timestamps=true" in one.path for one in api.requests[-2:]] == [False, True]


def test_a_pod_whose_place_another_took_is_gone(
    served: tuple[Connection, dict[str, list[Reply]], Api],
) -> None:
    """A StatefulSet makes the next one of that name before a slow API server tells of the gap."""
    connection, queues, _ = served
    queues["list"] = [listing({"metadata": {"name": "one", "uid": "second"}})]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    assert wait_gone(connection, "ns", "one", seconds=LONG, uid="first")
    assert not wait_gone(connection, "ns", "one", seconds=0.2, uid="second")
