"""Services that change are watched from every node of a node pool: members of checks whose ids name node pools."""

from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.facts import SAMPLE, ClusterFacts, FleetScope
from nettests.model.words import CheckClass, Question
from nettests.plan import build, load
from nettests.plan.peers import WATCHERS
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node

FLOWS = {flow.name: flow for flow in load([suites_path()]).flows if flow.question is Question.CHURN}
ALL = frozenset(CheckClass)


def nodes(linux: int, windows: int, scope: FleetScope | None = None) -> ClusterFacts:
    """Return a cluster of so many nodes in two node pools."""
    found = (
        *(node("linux-1", member) for member in range(1, linux + 1)),
        *(node("windows-1", member) for member in range(1, windows + 1)),
    )
    return replace(cluster(*found), fleet=scope or FleetScope())


def checks(name: str, facts: ClusterFacts) -> dict[str, Check]:
    """Return the checks of a flow by their ids."""
    return {one.id: one for one in build(facts, [FLOWS[name]], ALL).checks}


@pytest.mark.parametrize("name", sorted(FLOWS))
def test_every_node_of_both_node_pools_watches_what_changes(name: str) -> None:
    """Each is a client of a member, or the node whose address is dialled; ids are those of pairs of node pools."""
    facts = nodes(3, 5)
    found = checks(name, facts)
    assert set(found) == {
        f"{name}/{source}/{target}/other-node/tcp"
        for source in ("linux-1", "windows-1")
        for target in ("linux-1", "windows-1")
    }
    for check in found.values():
        source, target = check.id.split("/")[1:3]
        clients = {one.source.node for one in check.each}
        assert clients == {one.name for one in facts.nodes if one.pool == source}
        owners = {one.target.node for one in check.each} - {None}
        every = {one.name for one in facts.nodes if one.pool == target}
        assert owners == (every if name == "nodeport-endpoints-changed" else set())


def test_members_of_one_check_watch_one_service_and_no_other_check_does() -> None:
    """What one check takes away must not be what another one looks at."""
    for name in FLOWS:
        found = checks(name, nodes(3, 4)).values()
        services = [{one.target.service for one in check.each} for check in found]
        assert all(len(one) == 1 for one in services)
        assert len(set.union(*services)) == len(services)


def test_a_node_port_is_watched_at_other_nodes_than_the_client_s_own() -> None:
    """A node's own NodePort is documented otherwise on Windows."""
    for check in checks("nodeport-endpoints-changed", nodes(2, 5)).values():
        assert all(one.source.node != one.target.node for one in check.each)


def test_of_a_large_node_pool_a_bounded_number_of_nodes_watches_and_others_in_the_next_run() -> (
    None
):
    """The first one always does, so that a history of it has no gaps; the cost does not grow with nodes."""
    seen: set[str | None] = set()
    for seed in range(3):
        found = checks("service-endpoints-changed", nodes(2, 60, FleetScope(seed=seed)))
        check = found["service-endpoints-changed/windows-1/linux-1/other-node/tcp"]
        clients = [one.source.node for one in check.each]
        assert len(clients) == len(set(clients)) == WATCHERS
        assert clients[0] == "node-windows-1-1-x7"
        seen |= set(clients)
    assert len(seen) > 2 * WATCHERS


def test_a_fleet_that_is_a_sample_is_watched_from_the_sample() -> None:
    """What is chosen holds here, too."""
    found = checks("service-endpoints-changed", nodes(4, 6, FleetScope(chosen=SAMPLE)))
    assert {len(check.members) for check in found.values()} == {2}


def test_the_only_node_of_a_cluster_watches_itself() -> None:
    """There is nobody else, and its id says that it is the same node."""
    facts = cluster(node("linux-1", 1))
    for name in FLOWS:
        (check,) = checks(name, facts).values()
        assert check.id == f"{name}/linux-1/linux-1/same-node/tcp"
        assert len(check.each) == 1


def crowd(facts: ClusterFacts) -> dict[str, Check]:
    """Return the checks of many new Pods at once, by their ids."""
    flows = [flow for flow in load([suites_path()]).flows if flow.name == "new-pods-at-once"]
    return {one.id: one for one in build(facts, flows, ALL).checks}


@pytest.mark.parametrize(("windows", "share"), [(1, 30), (2, 15), (4, 8), (40, 2)])
def test_thirty_pods_are_spread_over_the_nodes_of_a_node_pool(windows: int, share: int) -> None:
    """Each node is a member and gets its share; what it reaches is on another node."""
    check = crowd(nodes(2, windows))["new-pods-at-once/windows-1/thirty"]
    assert {one.action.connections for one in check.each} == {share}
    assert len(check.each) * share >= 30
    for one in check.each:
        assert one.action.makes_many_pods
        assert one.target.node not in {None, one.source.node}
        assert [control.action.connections for control in one.controls] == [1, 1]


def test_many_new_pods_are_of_class_costly_and_need_another_node() -> None:
    """By default none is made; on the only node of a cluster there is nobody to reach."""
    flows = [flow for flow in load([suites_path()]).flows if flow.name == "new-pods-at-once"]
    assert not build(nodes(2, 2), flows).checks
    alone = build(cluster(node("linux-1", 1)), flows, ALL)
    assert not alone.checks
    assert any("only one usable node" in skip.reason for skip in alone.skips)
