"""Many new Pods at once: all are created before the first is looked at, each is written down, and all of them go."""

import json
import threading
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any

import pytest

from nettests.bounds import Bounds
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.words import CheckClass, Question
from nettests.plan import build, load, pods
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.pods_at_once import followed
from nettests.probes.short_lived import short_lived_objects
from nettests.probes.starting import Starting
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node
from tests.probes.made import FACTS
from tests.probes.test_starting import BLANK, Cluster, question

pytestmark = pytest.mark.usefixtures("removed_at_once")

SEVEN = 7


@dataclass(slots=True)
class Counting(Cluster):
    """A cluster that says how many Pods were there when each one was first followed."""

    there: list[int] = field(default_factory=list)

    def follow_pod(self, namespace: str, name: str, **settings: Any) -> dict[str, Any]:
        """Count, and follow."""
        self.there.append(len(self.created))
        return Cluster.follow_pod(self, namespace, name, **settings)


def starting(cluster: Cluster) -> Any:
    """Let several Pods log their first packets to a server and its Service."""
    other = StandingPod(
        name="server",
        node="w2",
        purpose="server",
        addresses=(ip_address("10.244.4.9"),),
        host_addresses=(),
    )
    service = StandingService(name="svc", addresses=(ip_address("10.96.7.7"),), node_ports={})
    probing = Starting(
        pods=cluster,
        blank=BLANK,
        facts=FACTS,
        timing=Timing(),
        standing={"server": other},
        services={"svc": service},
    )
    action = question(pods.reaching("thirty", pods=30))
    target = replace(action.target, pod="server", service="svc")
    return probing.examine(replace(action, target=target, connections=SEVEN))


def test_all_pods_are_there_before_the_first_one_is_followed() -> None:
    """Each has a name of its own, and they stand where a single Pod of the check would."""
    cluster = Counting(status={"phase": "Succeeded"}, answer="first-packets 200 0.01\n")
    done = starting(cluster)
    names = [one["metadata"]["name"] for one in cluster.created]
    assert sorted(names) == [f"start-1-{number:02}" for number in range(1, SEVEN + 1)]
    assert set(cluster.there) == {SEVEN}
    record = json.loads(done.stdout)
    assert [one["name"] for one in record["pods"]] == sorted(names)
    assert all(len(one["then"]["logs"]) == 3 for one in record["pods"])
    assert (done.tool, done.context["then"]) == ("crowd", "first")


def test_all_pods_go_afterwards() -> None:
    """Whatever became of them."""
    for phase in ("Succeeded", "Pending"):
        cluster = Counting(status={"phase": phase})
        starting(cluster)
        assert sorted(cluster.deleted) == [f"start-1-{one:02}" for one in range(1, SEVEN + 1)]


@pytest.mark.parametrize("fails", ["create", "watch"])
def test_a_pod_that_is_refused_or_lost_says_why_and_leaves_the_others(fails: str) -> None:
    """Its record has the words of the API server, or of the channel."""
    made = [{"metadata": {"name": f"pod-{number}"}} for number in range(3)]
    seen: list[str] = []
    lock = threading.Lock()

    def create(item: dict[str, Any]) -> None:
        if fails == "create" and item["metadata"]["name"] == "pod-1":
            raise ClusterError("exceeded quota")

    def watch(item: dict[str, Any]) -> dict[str, Any]:
        name = item["metadata"]["name"]
        if fails == "watch" and name == "pod-1":
            raise ChannelError("the watch was lost")
        with lock:
            seen.append(name)
        return {"status": {}}

    found = followed(made, Bounds(), create=create, watch=watch)
    assert [one["name"] for one in found] == ["pod-0", "pod-1", "pod-2"]
    assert found[1]["error"] in {"exceeded quota", "the watch was lost"}
    assert sorted(seen) == ["pod-0", "pod-2"]


def test_preflight_counts_all_pods_that_are_made_at_once() -> None:
    """A node holds its share of them at the same time, and not so few as of single checks."""
    flows = [one for one in load([suites_path()]).flows if one.question is Question.START]
    facts = cluster(node("linux-1", 1), node("linux-1", 2))
    blank = replace(BLANK, namespace="nettests-1")

    def most(enabled: frozenset[CheckClass]) -> set[int]:
        found = short_lived_objects(build(facts, flows, enabled), facts, blank, Bounds())
        return {at_once for _, at_once in found}

    assert most(frozenset()) == {Bounds().starts_per_node}
    assert most(frozenset({CheckClass.COSTLY})) == {15}
