"""Pods that replace each other: made like a server, beside it, and nobody else's."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import OUTSIDE_MESHES, Timing
from nettests.model.json_text import Object
from nettests.model.labels import MEMBER_LABEL, POD_LABEL, PURPOSE_LABEL, RUN_LABEL
from nettests.probes.addresses import NotOfferedError
from nettests.probes.objects import Blank
from nettests.probes.replacing import ADDRESS_TRIES, NotReplacedError, Replacing
from tests.probes.made import FACTS, NAMESPACE, deployed

READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
FAILED = {"status": {"phase": "Failed"}}
SERVER = "server-windows-1-1"


@dataclass(slots=True)
class Pods:
    """The cluster: each Pod that is followed comes to the same end."""

    end: Object
    made: list[Object] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    """What the network gives to the Pods, one after the other."""
    awaited: list[str] = field(default_factory=list)

    def create(self, item: Object) -> Object:
        """Keep the Pod."""
        self.made.append(item)
        return item

    def delete_pod(self, namespace: str, name: str) -> None:
        """Note who went."""
        assert namespace == NAMESPACE
        self.gone.append(name)

    def events_of(self, namespace: str, pod: str) -> list[Object]:
        """Return no events."""
        return []

    def follow_pod(
        self, namespace: str, name: str, *, settled: Callable[[Object], bool], **_: float
    ) -> Object:
        """Return the end that is settled; a Pod that never comes to one is a channel's error."""
        assert (namespace, name) == (NAMESPACE, self.made[-1]["metadata"]["name"])
        if not self.end:
            raise ChannelError("the watch was lost")
        assert settled(self.end)
        if self.addresses:
            return {"status": {**self.end["status"], "podIP": self.addresses.pop(0)}}
        return self.end

    def wait_gone(self, namespace: str, name: str, *, seconds: float, uid: str = "") -> bool:
        """Note who was waited for."""
        assert (namespace, uid) == (NAMESPACE, "")
        assert seconds > 0
        self.awaited.append(name)
        return True


def replacing(pods: Pods) -> Replacing:
    """Return who replaces Pods on that cluster."""
    return Replacing(
        pods=pods,  # type: ignore[arg-type]
        blank=Blank(namespace=NAMESPACE, labels={RUN_LABEL: "r"}),
        facts=FACTS,
        standing=deployed().pods,
        timing=Timing(),
    )


def test_another_pod_is_made_like_the_server_beside_which_it_stands() -> None:
    """On its node, under a name of its own, behind no Service of the run and no server to those that select all."""
    pods = Pods(end=READY)
    replacing(pods).replace("", "web-1", "web", beside=SERVER)
    (made,) = pods.made
    labels = made["metadata"]["labels"]
    assert (made["metadata"]["name"], made["spec"]["hostname"]) == ("web-1", "web-1")
    assert (labels[POD_LABEL], labels[PURPOSE_LABEL], labels[RUN_LABEL]) == ("web", "replaced", "r")
    assert not [key for key in labels if key.startswith(MEMBER_LABEL)]
    assert made["spec"]["nodeSelector"]["kubernetes.io/hostname"] == "w1"
    assert made["spec"]["containers"][0]["args"][0] == "netexec"
    assert not pods.gone


def test_the_former_pod_goes_before_the_next_one_comes() -> None:
    """So that a rollout leaves no time in which both are there."""
    pods = Pods(end=READY)
    replacing(pods).replace("web-1", "web-2", "web", beside=SERVER)
    assert pods.gone == ["web-1"]
    assert [one["metadata"]["name"] for one in pods.made] == ["web-2"]
    replacing(pods).replace("web-2", "", "web", beside=SERVER)
    assert pods.gone == ["web-1", "web-2"]
    assert len(pods.made) == 1


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (FAILED, "Pod web-1 did not become Ready: phase Failed: no reason given"),
        ({}, "the watch was lost"),
    ],
)
def test_a_pod_that_does_not_start_is_no_observation(end: Object, says: str) -> None:
    """It is an error of the check, and says what became of the Pod."""
    with pytest.raises(NotReplacedError, match=says):
        replacing(Pods(end=end)).replace("", "web-1", "web", beside=SERVER)
    assert issubclass(NotReplacedError, ClusterError)


def test_a_pod_requests_the_address_of_the_one_before_it_once_that_is_gone() -> None:
    """In the words of Calico, which alone knows any; another one would be refused as long as it is in use."""
    pods = Pods(end=READY, addresses=["10.244.3.20", "10.244.3.20"])
    who = replacing(pods)
    who.replace("", "web-1", "web", beside=SERVER)
    assert pods.made[0]["metadata"]["annotations"] == OUTSIDE_MESHES["annotations"]
    who.replace("web-1", "web-2", "web", beside=SERVER, keeping_address=True)
    wanted = pods.made[1]["metadata"]["annotations"]
    calico = {"cni.projectcalico.org/ipAddrs": '["10.244.3.20"]'}
    assert wanted == OUTSIDE_MESHES["annotations"] | calico
    assert (pods.gone, pods.awaited) == (["web-1"], ["web-1"])


def test_a_pod_is_made_again_until_it_has_the_address() -> None:
    """Each that has another one goes before the next one comes."""
    pods = Pods(end=READY, addresses=["10.244.3.20", "10.244.3.21", "10.244.3.20"])
    who = replacing(pods)
    who.replace("", "web-1", "web", beside=SERVER)
    who.replace("web-1", "web-2", "web", beside=SERVER, keeping_address=True)
    assert [one["metadata"]["name"] for one in pods.made] == ["web-1", "web-2", "web-2"]
    assert pods.gone == pods.awaited == ["web-1", "web-2"]


def test_an_address_that_never_comes_again_is_nothing_that_can_be_tested() -> None:
    """After a few tries; the reason names the addresses, and the last Pod is gone."""
    given = [f"10.244.3.{last}" for last in range(20, 21 + ADDRESS_TRIES)]
    pods = Pods(end=READY, addresses=given)
    who = replacing(pods)
    who.replace("", "web-1", "web", beside=SERVER)
    with pytest.raises(
        NotOfferedError, match=r"no new Pod on w1 got 10\.244\.3\.20, .* they got 10\.244\.3\.21, "
    ):
        who.replace("web-1", "web-2", "web", beside=SERVER, keeping_address=True)
    assert len(pods.made) == 1 + ADDRESS_TRIES
    assert pods.gone == ["web-1", *(["web-2"] * ADDRESS_TRIES)]
