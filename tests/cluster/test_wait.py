"""Waiting for pods: what a pod's status means, on recorded pods, and the watch over real sockets."""

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.cluster import Connection, connect
from nettests.cluster.wait import PodWait, is_ready, wait_for_addresses, wait_for_pods
from nettests.model.json_text import Object
from nettests.model.labels import NEVER_READY, READINESS_LABEL
from nettests.model.pod_problem import problem_of, reason_of
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig
from tests.cluster.recorded import (
    body,
)


def pod(name: str, *, ready: bool) -> Object:
    """Return the recorded running pod under a name, Ready or only acknowledged."""
    found = body("pod state: hostnet")
    found["metadata"]["name"] = name
    if not ready:
        found["status"] = {"phase": "Pending", "startTime": "2026-11-21T14:04:12Z"}
    return found


def test_a_running_pod_is_ready() -> None:
    """The recorded hostNetwork pod is Ready."""
    assert is_ready(body("pod state: hostnet"))


@pytest.mark.parametrize(
    ("note", "reason", "problem"),
    [
        ("pod state: noimg", "ImagePullBackOff", "container c: ImagePullBackOff: "),
        ("pod state: nofit", "Unschedulable", "not scheduled: 0/2 nodes are available"),
        ("pod state: once", "", "container c: Error, exit code 1"),
        ("pod state: badcmd", "", "container c: Error, exit code 1"),
    ],
)  # fmt: skip
def test_the_reason_is_in_the_pods_status(note: str, reason: str, problem: str) -> None:
    """Recorded pods that are not Ready say why, briefly and for people."""
    found = body(note)
    assert not is_ready(found)
    assert reason_of(found) == reason
    assert problem in problem_of(found)


def test_a_pod_that_is_meant_to_be_unready_is_settled_when_it_runs() -> None:
    """Its label says so; the same pod without the label is waited for, and so is one that starts."""
    running = pod("unready", ready=True)
    for condition in running["status"]["conditions"]:
        condition["status"] = "False"
    meant = {
        **running,
        "metadata": {**running["metadata"], "labels": {READINESS_LABEL: NEVER_READY}},
    }
    starting = {**meant, "status": {"phase": "Pending"}}
    for item, settled in ((running, False), (starting, False), (meant, True)):
        waited = PodWait(names=frozenset({"unready"}))
        waited.see(item, now=0)
        assert ("unready" in waited.ready) is settled


def test_stuck_is_a_matter_of_time() -> None:
    """ImagePullBackOff is forgiven until it has lasted; a state that passes starts anew."""
    waited = PodWait(names=frozenset({"noimg"}))
    stuck = body("pod state: noimg")
    waited.see(stuck, now=100)
    assert waited.stuck(longer_than=10, now=105) == []
    waited.see(pod("noimg", ready=False), now=106)
    waited.see(stuck, now=107)
    assert waited.stuck(longer_than=10, now=116) == []
    assert waited.stuck(longer_than=10, now=117) == ["noimg"]


def test_a_pod_that_its_kubelet_does_not_act_on_is_stuck() -> None:
    """A kubelet acknowledges a pod by its start time; one that is silent is not waited for until the end."""
    waited = PodWait(names=frozenset({"unseen"}))
    unseen = {**pod("unseen", ready=False), "status": {"phase": "Pending"}}
    unseen["spec"]["nodeName"] = "win-2"
    waited.see(unseen, now=100)
    assert waited.stuck(longer_than=10, now=110) == ["unseen"]
    assert problem_of(unseen) == "the kubelet of win-2 does not act on it"
    waiting = {"type": "Warning", "reason": "NodeNotReady", "message": "Node is not ready"}
    assert problem_of(unseen, [waiting]).endswith("not act on it (NodeNotReady: Node is not ready)")
    seen = {**unseen, "status": {"phase": "Pending", "startTime": "2026-11-21T14:04:12Z"}}
    waited.see(seen, now=111)
    assert waited.stuck(longer_than=10, now=200) == []


def test_a_kubelet_that_does_not_act_is_waited_for_shorter_than_a_pull() -> None:
    """It writes a Pod's status within moments; what it has acted on may be pulled again and again."""
    waited = PodWait(names=frozenset({"unseen", "noimg"}), acknowledged=4)
    unseen = {**pod("unseen", ready=False), "status": {"phase": "Pending"}}
    unseen["spec"]["nodeName"] = "win-2"
    for one in (unseen, body("pod state: noimg")):
        waited.see(one, now=100)
    assert waited.stuck(longer_than=10, now=103) == []
    assert waited.stuck(longer_than=10, now=104) == ["unseen"]
    assert set(waited.stuck(longer_than=3, now=103)) == {"unseen", "noimg"}
    assert set(waited.stuck(longer_than=10, now=110)) == {"unseen", "noimg"}


def test_a_pull_that_is_tried_again_is_still_stuck() -> None:
    """Between two back-offs the kubelet says ErrImagePull: that is no progress."""
    waited = PodWait(names=frozenset({"noimg"}))
    backing_off = body("pod state: noimg")
    failing = copy.deepcopy(backing_off)
    (container,) = failing["status"]["containerStatuses"]
    container["state"]["waiting"]["reason"] = "ErrImagePull"
    for now, state in ((100, failing), (101, backing_off), (108, failing), (109, backing_off)):
        waited.see(state, now=now)
    assert waited.stuck(longer_than=10, now=109) == []
    assert waited.stuck(longer_than=10, now=110) == ["noimg"]


def without_image(name: str, node: str) -> Object:
    """Return the recorded pod whose image cannot be pulled, on a node."""
    found = copy.deepcopy(body("pod state: noimg"))
    found["metadata"]["name"] = name
    found["spec"]["nodeName"] = node
    return found


def test_a_node_whose_pods_all_lack_their_images_is_given_up_sooner() -> None:
    """Three pods that were pulled for twice each tell as much as one that was pulled for thrice."""
    waited = PodWait(names=frozenset({"a", "b", "c", "d"}))
    for name, node in (("a", "win-1"), ("b", "win-1"), ("c", "win-1"), ("d", "linux-1")):
        waited.see(without_image(name, node), now=100)
    assert waited.stuck(longer_than=10, now=105) == []
    assert sorted(waited.stuck(longer_than=10, now=106)) == ["a", "b", "c"]
    assert sorted(waited.stuck(longer_than=10, now=110)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("other", ["ready", "starting", "few"])
def test_a_node_on_which_something_starts_has_a_registry(other: str) -> None:
    """One pod that is Ready, or got further, shows that images come; and two pods are no evidence."""
    waited = PodWait(names=frozenset({"a", "b", "c", "other"}))
    for name in ("a", "b") if other == "few" else ("a", "b", "c"):
        waited.see(without_image(name, "win-1"), now=100)
    if other != "few":
        one = pod("other", ready=other == "ready")
        one["spec"]["nodeName"] = "win-1"
        waited.see(one, now=100)
    assert waited.stuck(longer_than=10, now=109) == []
    assert len(waited.stuck(longer_than=10, now=110)) == (2 if other == "few" else 3)


def test_a_deleted_pod_is_a_problem() -> None:
    """A pod that somebody deletes is not waited for any longer, whether it was seen before or not."""
    waited = PodWait(names=frozenset({"a", "b", "c"}))
    waited.look({"a": pod("a", ready=False), "c": pod("c", ready=False)}, now=0)
    waited.look({"c": pod("c", ready=False)}, now=1)
    gone = "was deleted while it was waited for"
    assert waited.problems == {"a": gone, "b": gone}
    assert waited.pending == {"c"}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[tuple[Connection, dict[str, list[Reply]]]]:
    """A server that answers lists and watches from queues; the last answer is kept."""
    queues: dict[str, list[Reply]] = {"list": [], "watch": []}

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        if "/events" in request.path:
            return Reply(body={"metadata": {}, "items": []})
        queue = queues["watch" if "watch=true" in request.path else "list"]
        return queue.pop(0) if len(queue) > 1 else queue[0]

    with serving(answer) as api:
        yield connect(write_kubeconfig(tmp_path / "k", api.url), None), queues


def listing(*pods: Object) -> Reply:
    """Return a list of pods."""
    return Reply(body={"metadata": {"resourceVersion": "5"}, "items": list(pods)})


def wait(
    connection: Connection, *names: str, ready: float = 5, stuck: float = 5
) -> tuple[dict[str, Object], dict[str, str], list[tuple[int, int]]]:
    """Wait for pods and return what came, with the progress that was told."""
    told: list[tuple[int, int]] = []
    found, problems = wait_for_pods(
        connection,
        "ns",
        names,
        ready=ready,
        stuck=stuck,
        on_change=lambda done, total: told.append((done, total)),
    )
    return found, problems, told


def test_pods_become_ready_during_the_watch(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """A pod listed as pending is Ready as soon as its event comes."""
    api, queues = connection
    queues["list"] = [listing(pod("a", ready=True), pod("b", ready=False))]
    queues["watch"] = [
        Reply(chunks=({"type": "BOOKMARK", "object": {}},
                      {"type": "MODIFIED", "object": pod("b", ready=True)}))
    ]  # fmt: skip
    found, problems, told = wait(api, "a", "b")
    assert sorted(found) == ["a", "b"]
    assert problems == {}
    assert told[0] == (1, 2)
    assert told[-1] == (2, 2)


def test_an_expired_watch_is_listed_again(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """An ERROR event (410) leads to a new list, not to a failure."""
    api, queues = connection
    queues["list"] = [listing(pod("a", ready=False)), listing(pod("a", ready=True))]
    queues["watch"] = [Reply(chunks=({"type": "ERROR", "object": {"code": 410}},))]
    assert sorted(wait(api, "a")[0]) == ["a"]


def test_a_cut_watch_is_resumed(connection: tuple[Connection, dict[str, list[Reply]]]) -> None:
    """A lost connection during a watch does not lose the wait."""
    api, queues = connection
    queues["list"] = [listing(pod("a", ready=False)), listing(pod("a", ready=True))]
    queues["watch"] = [Reply(cut=True)]
    assert sorted(wait(api, "a")[0]) == ["a"]


def test_the_deadline_ends_the_wait(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """Pods that are not Ready in time are problems with their reasons."""
    api, queues = connection
    queues["list"] = [listing(body("pod state: nofit"))]
    queues["watch"] = [Reply(chunks=({"type": "BOOKMARK", "object": {}},))]
    found, problems, _ = wait(api, "nofit", "nosuch", ready=0.2)
    assert found == {}
    assert "not scheduled" in problems["nofit"]
    assert problems["nosuch"] == "was deleted while it was waited for"


def test_a_missing_namespace_is_raised(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """What cannot heal by waiting is an error at once."""
    api, queues = connection
    queues["list"] = [status(404, "NotFound", "namespaces ns not found")]
    with pytest.raises(Exception, match="namespaces ns not found"):
        wait(api, "a")


def balanced(name: str, *addresses: str) -> Object:
    """Return a Service with what its load balancer was assigned."""
    ingress = [{"ip": address} for address in addresses]
    return {"metadata": {"name": name}, "status": {"loadBalancer": {"ingress": ingress}}}


def test_services_are_waited_for_until_each_has_an_address(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """It ends with the last address, and another Service of the namespace is not waited for."""
    api, queues = connection
    other = balanced("other")
    queues["list"] = [
        listing(balanced("a", "203.0.113.1"), balanced("b"), other),
        listing(balanced("a", "203.0.113.1"), balanced("b", "203.0.113.2"), other),
    ]
    polls: list[int] = []
    found = wait_for_addresses(
        api, "ns", ["a", "b"], seconds=60, on_poll=lambda: polls.append(len(queues["list"]))
    )
    assert found == {
        "a": balanced("a", "203.0.113.1"),
        "b": balanced("b", "203.0.113.2"),
    }
    assert polls == [2, 1]


def test_what_has_no_address_in_time_is_returned_as_it_is(
    connection: tuple[Connection, dict[str, list[Reply]]],
) -> None:
    """Who waited reads from the Services that nobody assigned anything."""
    api, queues = connection
    queues["list"] = [listing(balanced("a"))]
    found = wait_for_addresses(api, "ns", ["a"], seconds=0, on_poll=lambda: None)
    assert found == {"a": balanced("a")}
