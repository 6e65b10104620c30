"""Images pulled beforehand: one Pod for each image and node, gone as soon as the image is there."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.model.check import Plan, ProbePod
from nettests.model.cluster_profile import AGNHOST, Images, Timing
from nettests.model.json_text import Object
from nettests.model.permission import PULL_SECRET
from nettests.model.words import OS
from nettests.probes import StoppedError
from nettests.probes.objects import Blank
from nettests.probes.pulling import image_is_there, pull_images, pulling_pods
from tests.probes.made import FACTS

BLANK = Blank(namespace="run", labels={"nettests.dev/run": "r"}, images=Images(registry="mirror"))
PLAN = Plan(
    checks=(),
    skips=(),
    services=(),
    pods=tuple(
        ProbePod(name=f"server-{node.name}-{number}", purpose="server", node=node.name, os=node.os, pool=node.pool)
        for node in FACTS.nodes
        for number in (1, 2)
    ),
)  # fmt: skip


def pod(state: Object) -> Object:
    """Return a pod whose only container is in a state."""
    return {"status": {"phase": "Pending", "containerStatuses": [{"name": "pull", "state": state}]}}


@dataclass
class Pods:
    """Pods whose containers are in a given state at once; counts what is created and removed."""

    states: dict[str, Object] = field(default_factory=dict)
    refused: str = ""
    created: list[Object] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def create(self, item: Object) -> Object:
        if self.refused:
            raise ClusterError(self.refused)
        self.created.append(item)
        return item

    def follow_pod(
        self,
        namespace: str,
        name: str,
        *,
        settled: Callable[[Object], bool],
        seconds: float,
        stuck: float,
    ) -> Object:
        (item,) = [one for one in self.created if one["metadata"]["name"] == name]
        node = item["spec"]["nodeSelector"]["kubernetes.io/hostname"]
        return pod(self.states.get(node, {"running": {}}))

    def events_of(self, namespace: str, pod: str) -> list[Object]:
        return []

    def delete_pod(self, namespace: str, name: str) -> None:
        self.removed.append(name)


def pulled(pods: Any, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> Any:
    """Pull what the plan needs."""
    return pull_images(
        pods, PLAN, FACTS, blank=BLANK, timing=Timing(ready=5, stuck=1), on_progress=on_progress
    )


def test_each_image_comes_once_to_each_node() -> None:
    """Two pods of a node share an image: it is pulled once there, and its Pod is removed."""
    pods = Pods()
    told: list[tuple[int, int]] = []
    pulls = pulled(pods, lambda done, total: told.append((done, total)))
    assert {one.node for one in pulls} == {node.name for node in FACTS.nodes}
    assert len(pulls) == len(pods.created) == len(FACTS.nodes)
    assert {one.problem for one in pulls} == {""}
    assert sorted(pods.removed) == sorted(one["metadata"]["name"] for one in pods.created)
    assert (told[0], told[-1]) == ((0, len(pulls)), (len(pulls), len(pulls)))


def test_a_pulling_pod_is_as_every_pod_of_a_run(tmp_path: Any) -> None:
    """Pinned, tolerating its node's taints, from the mirror, with the pull Secret, and marked."""
    images = replace(BLANK.images, pull_secret_file=tmp_path / "config.json")
    for item in pulling_pods(PLAN, FACTS, replace(BLANK, images=images)):
        spec = item["spec"]
        node = FACTS.node(spec["nodeSelector"]["kubernetes.io/hostname"])
        assert spec["os"] == {"name": node.os.value}
        assert {one["key"] for one in spec["tolerations"]} == {one.key for one in node.taints}
        assert spec["imagePullSecrets"] == [{"name": PULL_SECRET}]
        assert item["metadata"]["labels"]["nettests.dev/run"] == "r"
        (container,) = spec["containers"]
        assert container["image"] == AGNHOST.replace("registry.k8s.io", "mirror")


@pytest.mark.parametrize(
    ("state", "there"),
    [
        ({}, False),
        ({"waiting": {"reason": "ContainerCreating"}}, False),
        ({"waiting": {"reason": "ErrImagePull"}}, False),
        ({"waiting": {"reason": "ImagePullBackOff"}}, False),
        ({"waiting": {"reason": "CreateContainerConfigError"}}, True),
        ({"running": {}}, True),
        ({"terminated": {"reason": "StartError"}}, True),
    ],
)
def test_an_image_is_there_when_its_container_got_past_it(state: Object, there: bool) -> None:
    """What its program does then is of no account."""
    assert image_is_there(pod(state)) is there


def test_what_does_not_come_is_told_and_the_rest_goes_on() -> None:
    """The kubelet's words for one node, nothing for the others, and no Pod left."""
    bad = FACTS.nodes[0].name
    pods = Pods(
        states={bad: {"waiting": {"reason": "ImagePullBackOff", "message": "no such host"}}}
    )
    problems = {one.node: one.problem for one in pulled(pods)}
    assert problems.pop(bad) == "container pull: ImagePullBackOff: no such host"
    assert set(problems.values()) == {""}
    assert len(pods.removed) == len(pods.created)


def test_a_refused_pod_is_a_problem_of_its_image() -> None:
    """The API server's words are kept."""
    assert {one.problem for one in pulled(Pods(refused="exceeded quota"))} == {"exceeded quota"}


def test_a_run_that_is_stopped_pulls_no_further() -> None:
    """Whoever hears of the progress may end it, while images are still coming."""
    coming = threading.Event()

    class Slow(Pods):
        def follow_pod(self, namespace: str, name: str, **_: Any) -> Object:
            coming.wait(20)
            return pod({"running": {}})

    def stop(_done: int, _total: int) -> None:
        raise StoppedError("stopped")

    try:
        with pytest.raises(StoppedError):
            pulled(Slow(), stop)
    finally:
        coming.set()


def test_windows_nodes_pull_too() -> None:
    """There is a Pod for each operating system."""
    items = pulling_pods(PLAN, FACTS, BLANK)
    assert {item["spec"]["os"]["name"] for item in items} == {os.value for os in OS}
