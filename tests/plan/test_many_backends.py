"""Services with many backends: which pods stand behind them, and where."""

from collections import Counter

from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass, Placement
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import cluster, mixed, node

FLOWS = tuple(f for f in load([suites_path()]).flows if f.backends)
COSTLY = frozenset({CheckClass.COSTLY})


def plan(facts: ClusterFacts, *names: str) -> Plan:
    """Return the plan of the flows with many backends."""
    return build(facts, [flow for flow in FLOWS if not names or flow.name in names], COSTLY)


def test_sixty_five_pods_stand_on_linux_nodes_in_turn() -> None:
    """The pods are spread over the members of a Linux node pool, however many Windows nodes there are."""
    many_backends = [pod for pod in plan(mixed()).pods if pod.name.startswith("backends-")]
    linux = [n.name for n in mixed().nodes if n.pool == "linux-1"]
    assert Counter(pod.node for pod in many_backends) == {linux[0]: 33, linux[1]: 32}


def test_the_smaller_service_is_part_of_the_larger() -> None:
    """Both Services share their pods, so that one backend more is all that differs."""
    few, many = plan(mixed()).services
    assert (few.name, many.name) == ("backends-64-linux-1", "backends-65-linux-1")
    assert many.backends[:64] == few.backends
    assert len(many.backends) == 65


def test_the_smaller_service_alone_needs_no_further_pod() -> None:
    """A flow that is queried alone deploys what it needs and no more."""
    pods = plan(mixed(), "service-64-backends").pods
    assert len([pod for pod in pods if pod.name.startswith("backends-")]) == 64


def test_every_node_pool_is_a_client() -> None:
    """Each node pool probes both Services, over TCP and UDP."""
    checks = plan(mixed()).checks
    assert Counter(check.source.pool for check in checks) == {"linux-1": 4, "windows-1": 4}
    assert {check.target.pool for check in checks} == {"linux-1"}


def test_without_linux_a_windows_node_pool_holds_the_pods() -> None:
    """A cluster of one Windows node is probed too, on that node."""
    checks = plan(cluster(node("windows-1", 1))).checks
    assert {check.target.pool for check in checks} == {"windows-1"}
    assert {check.placement for check in checks} == {Placement.SAME_NODE}
