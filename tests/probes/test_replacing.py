"""Pods that replace each other: made like a server, beside it, and nobody else's."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.labels import MEMBER_LABEL, POD_LABEL, PURPOSE_LABEL, RUN_LABEL
from nettests.probes.objects import Blank
from nettests.probes.replacing import NotReplacedError, Replacing
from tests.probes.made import FACTS, NAMESPACE, deployed

Object = dict[str, Any]
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
FAILED = {"status": {"phase": "Failed"}}
SERVER = "server-windows-1-1"


@dataclass(slots=True)
class Pods:
    """The cluster: each Pod that is followed comes to the same end."""

    end: Object
    made: list[Object] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def create(self, item: Object) -> Object:
        """Keep the Pod."""
        self.made.append(item)
        return item

    def delete_pod(self, namespace: str, name: str) -> None:
        """Note who went."""
        assert namespace == NAMESPACE
        self.gone.append(name)

    def follow_pod(
        self, namespace: str, name: str, *, settled: Callable[[Object], bool], **_: float
    ) -> Object:
        """Return the end that is settled; a Pod that never comes to one is a channel's error."""
        assert (namespace, name) == (NAMESPACE, self.made[-1]["metadata"]["name"])
        if not self.end:
            raise ChannelError("the watch was lost")
        assert settled(self.end)
        return self.end


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
    [(FAILED, "Pod web-1 did not become Ready: it is Failed"), ({}, "the watch was lost")],
)
def test_a_pod_that_does_not_start_is_no_observation(end: Object, says: str) -> None:
    """It is an error of the check, and says what became of the Pod."""
    with pytest.raises(NotReplacedError, match=says):
        replacing(Pods(end=end)).replace("", "web-1", "web", beside=SERVER)
    assert issubclass(NotReplacedError, ClusterError)
