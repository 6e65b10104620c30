"""The sampling rule: what a cluster costs follows from its node pools, and from the many of them not in pairs."""

from collections import Counter

import pytest

from nettests.model.check import Check
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import Matrix, Members, build, load
from nettests.plan.node_pools import choose_pools
from nettests.resources import suites_path
from tests.plan.clusters import cluster, mixed, node

FLOWS = load([suites_path()]).flows
CROSSED = {Matrix.PAIRS, Matrix.ELSEWHERE, Matrix.POOLS, Matrix.OWN_NODE, Matrix.OTHER_NODES}
"""Matrices that cross the node pools with each other, probed from inside."""


def large(pools: int, *, kinds: int = 1) -> ClusterFacts:
    """Return a cluster of one Linux node pool, and Windows node pools of so many builds in turn."""
    builds = [f"17763.{1000 + number % kinds}" for number in range(pools - 1)]
    return cluster(
        *(node("linux-1", member) for member in (1, 2)),
        *(
            node(f"windows-{number:02}", member, build=build)
            for number, build in enumerate(builds, 1)
            for member in (1, 2)
        ),
    )


def per_source(facts: ClusterFacts, matrix: Matrix) -> Counter[str]:
    """Return how many checks of one flow of that matrix each source node pool has."""
    flow = next(flow for flow in FLOWS if flow.matrix is matrix and not flow.dual_stack)
    return Counter(
        check.source.pool or "" for check in build(facts, [flow], set(CheckClass)).checks
    )


def test_the_cost_of_thirty_nodes_is_linear_in_nodes() -> None:
    """Every node has as many Pods as one of four has; Services and what takes a process grow no faster than nodes."""
    thirty = cluster(
        *(node(pool, member) for pool in ("linux-1", "windows-1") for member in range(1, 16))
    )
    few, many = build(mixed(), FLOWS), build(thirty, FLOWS)
    assert [c.id for c in many.checks] == [c.id for c in few.checks]
    assert len(many.pods) <= 7.5 * len(few.pods)
    assert len(many.services) <= 7.5 * len(few.services)
    paired = {flow.name for flow in FLOWS if flow.members is Members.EACH_PAIR}
    processes = [
        sum(each.action.is_process and each.flow not in paired for each in plan.each)
        for plan in (few, many)
    ]
    assert processes[1] <= 7.5 * processes[0]


@pytest.mark.parametrize("pools", [2, 4, 6])
def test_of_a_few_node_pools_every_pair_is_probed(pools: int) -> None:
    """However alike they are, six node pools are crossed with each other."""
    flow = next(flow for flow in FLOWS if flow.name == "pod-to-pod-ip")
    plan = build(large(pools), [flow])
    met = {(c.source.pool, c.target.pool) for c in plan.checks}
    assert len(met) == pools * pools
    assert [skip.id for skip in plan.skips] == []


@pytest.mark.parametrize("matrix", sorted(CROSSED))
@pytest.mark.parametrize("kinds", [1, 20])
def test_the_cost_of_a_source_does_not_grow_with_node_pools(matrix: Matrix, kinds: int) -> None:
    """In a cluster of many node pools each source has no more checks than in one of six."""
    few = max(per_source(large(6, kinds=5), matrix).values())
    for pools in (10, 30):
        assert max(per_source(large(pools, kinds=kinds), matrix).values()) <= few


def test_node_pools_of_one_kind_stand_for_each_other() -> None:
    """A source meets itself, and the first node pool of each kind."""
    node_pools = choose_pools(large(10, kinds=2))
    source = node_pools.pools[-1]
    assert [pool.name for pool in node_pools.met_by(source)] == [
        "linux-1",
        "windows-01",
        "windows-02",
        "windows-09",
    ]


def test_every_node_pool_is_met_by_another_where_kinds_are_many() -> None:
    """When no node pool can stand for another, sources begin with those that follow them."""
    node_pools = choose_pools(large(20, kinds=20))
    met = {
        pool.name
        for source in node_pools.pools
        for pool in node_pools.met_by(source)
        if pool != source
    }
    assert met == {pool.name for pool in node_pools.pools}


def test_what_is_left_out_is_said() -> None:
    """Each source of a flow has one skip that names the node pools it does not meet."""
    flow = next(flow for flow in FLOWS if flow.name == "pod-to-pod-ip")
    plan = build(large(8), [flow])
    skips = {skip.id: skip.reason for skip in plan.skips}
    assert skips["pod-to-pod-ip/linux-1/sampled"] == (
        "of 8 node pools linux-1 meets 2, one of each kind; left out: windows-02, windows-03, "
        "windows-04, windows-05, windows-06, windows-07"
    )
    probed: list[Check] = [c for c in plan.checks if c.source.pool == "linux-1"]
    assert {c.target.pool for c in probed} == {"linux-1", "windows-01"}
