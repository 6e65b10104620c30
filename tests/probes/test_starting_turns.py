"""Which Pod of a check's own is made next on a node, and what nobody waits for meanwhile."""

import json
import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from nettests.bounds import Bounds, for_starts
from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Afterwards
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.probes.starting import Starting
from tests.probes.made import FACTS
from tests.probes.test_starting import (
    BLANK,
    READY,
    Cluster,
    case,
    examine,
    question,
)

pytestmark = pytest.mark.usefixtures("removed_at_once")


@pytest.mark.parametrize("existing", [True, False])
def test_a_pod_that_goes_holds_up_none_that_comes(existing: bool) -> None:
    """Its room on the node is free while the API server is told to delete it, unless a quota counts it."""
    cluster, room, free = Cluster(READY), for_starts(Bounds()), list[bool]()
    blank = replace(BLANK, existing=existing)
    probing = Starting(pods=cluster, blank=blank, facts=FACTS, timing=Timing(), _slots={"w1": room})

    cluster.on_delete = lambda: free.append(not room._inside)
    probing.examine(question(case()))
    assert free == [not existing]


@dataclass(slots=True)
class Deaf(Cluster):
    """Answers no request until the Pod was looked at again."""

    looked: threading.Event = field(default_factory=threading.Event)

    def follow_pod(self, namespace: str, name: str, **how: Any) -> Object:
        """Be followed a second time after the request, not after its answer."""
        if self.requested.is_set():
            self.looked.set()
        return Cluster.follow_pod(self, namespace, name, **how)

    requested: threading.Event = field(default_factory=threading.Event)

    def port_forward(self, _namespace: str, _pod: str, _port: int) -> Cluster:
        """Be the channel."""
        self.requested.set()
        return self

    pod_proxy = port_forward

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Say nothing for as long as nobody looks."""
        assert self.looked.wait(60), "the restart was not looked for while the request waited"
        raise ChannelError(path)


def test_a_restart_is_looked_for_while_the_request_waits() -> None:
    """A node that no request reaches costs one wait, not two in a row."""
    cluster = Deaf(status={**READY, "containerStatuses": [{"name": "first", "restartCount": 0}]})
    done = examine(cluster, case(Afterwards(how="restart", words=("1", "/exit"))))
    assert json.loads(done.stdout)["then"]["restarts"] == 0


@pytest.mark.parametrize(("how", "first"), [("restart", True), ("log", False)])
def test_what_takes_several_steps_is_begun_first(how: str, first: bool) -> None:
    """Where a node has no room, a Pod that is restarted waits ahead of those that only start."""
    cluster, room = Cluster(READY, answer="x"), for_starts(replace(Bounds(), starts_per_node=1))
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing(), _slots={"w1": room})
    probed = question(case(Afterwards(how=how, words=("1", "/exit"))))
    waiting = threading.Thread(target=probing.examine, args=(probed,))
    with room:
        waiting.start()
        queue = room.first if first else room._queue
        while not queue and waiting.is_alive():
            threading.Event().wait(0.005)
        assert len(queue) == 1
    waiting.join(60)
    assert cluster.deleted == ["start-1"]
