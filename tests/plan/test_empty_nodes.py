"""NodePorts of nodes without Pods: where such nodes are known, from whom, by which backends, beside which controls."""

from dataclasses import replace

import pytest

from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts, NodeFacts, known, unknown
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import alone, cluster, mixed, node

NAME = "nodeport-at-empty-node"
FLOWS = [flow for flow in load([suites_path()]).flows if flow.name == NAME]


def empty(member: int, pool: str = "windows-1") -> NodeFacts:
    """Return a cordoned node that is known to have no Pods."""
    return replace(node(pool, member), schedulable=False, empty=known(value=True, origin="test"))


def planned(*more: NodeFacts) -> Plan:
    """Return the plan of the flow for two Linux and two Windows nodes, and these."""
    return alone(build(replace(mixed(), nodes=(*mixed().nodes, *more)), FLOWS))


def test_every_pool_uses_the_node_port_of_an_empty_node() -> None:
    """One of each pool, by a Linux backend, which is not the client's neighbour where another one is."""
    plan = planned(empty(4), empty(3))
    assert [check.id for check in plan.checks] == [
        f"{NAME}/linux-1/windows-1/other-node/tcp/backend-linux-1",
        f"{NAME}/windows-1/windows-1/other-node/tcp/backend-linux-1",
    ]
    assert {check.target.node for check in plan.checks} == {empty(3).name}
    assert [check.target.backends for check in plan.checks] == [
        ("server-linux-1-2",),
        ("server-linux-1-1",),
    ]


def test_nothing_stands_on_an_empty_node() -> None:
    """A Pod of the run would end what is tested."""
    plan = planned(empty(3))
    assert plan.checks
    assert empty(3).name not in {pod.node for pod in plan.pods}


def test_the_backends_own_node_shows_that_the_service_is_served() -> None:
    """The empty node's own NodePort may answer nobody, so that no other client proves anything there."""
    check: Check = planned(empty(3)).checks[0]
    (shown,) = (control.action for control in check.controls if control.proves == "target")
    assert shown.source == check.source
    assert shown.target.service == check.target.service
    assert shown.target.node == mixed().nodes[1].name


@pytest.mark.parametrize(
    "other",
    [
        replace(empty(3), empty=unknown("pods is forbidden")),
        replace(empty(3), empty=known(value=False, origin="Pods: web/iis")),
        replace(empty(3), ready=False),
        replace(empty(3), left_out="a virtual node"),
    ],
    ids=["not known", "with Pods", "not Ready", "no machine"],
)
def test_without_an_empty_node_the_skip_says_so(other: NodeFacts) -> None:
    """What is not known to be empty is no place to look at."""
    plan = planned(other)
    assert not plan.checks
    assert [(skip.id, skip.reason) for skip in plan.skips] == [
        (
            f"{NAME}/windows",
            "no Windows node is known to be cordoned and without Pods of its network",
        )
    ]


def test_a_cluster_that_takes_no_pods_at_all_has_no_checks() -> None:
    """No source, no backend: the skip is that of the absent pool."""
    alone: ClusterFacts = cluster(empty(1))
    plan = build(alone, FLOWS)
    assert not plan.checks
    assert plan.skips
