"""Members of checks: every usable node is a source and a target of every flow, in checks whose ids name node pools."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts, ExistingService, FleetScope, NodeFacts, known
from nettests.model.words import CheckClass, Placement, Protocol, Question, VantageKind
from nettests.plan import Flow, Matrix, Members, build, load
from nettests.plan.node_pools import choose_pools
from nettests.plan.peers import EVERY_PAIR, PEERS, cover, every
from nettests.plan.selection import select
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node

FLOWS = load([suites_path()]).flows
DEFAULT = [flow for flow in FLOWS if flow.check_class is CheckClass.DEFAULT]
WHOLE = FleetScope()
POOLS = ("linux-1", "windows-1", "windows-2")
SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def nodes(*sizes: int) -> list[NodeFacts]:
    """Return so many nodes of each node pool."""
    return [
        node(pool, member, build=f"17763.{pool[-1]}000")
        for pool, size in zip(POOLS, sizes, strict=False)
        for member in range(1, size + 1)
    ]


def fleet(linux: int = 4, windows: int = 8, scope: FleetScope = WHOLE) -> ClusterFacts:
    """Return a cluster of so many nodes, tested as ``scope`` says."""
    return replace(cluster(*nodes(linux, windows)), fleet=scope)


def plan(facts: ClusterFacts, *names: str) -> Plan:
    """Return the plan of the named flows, or of all of the default class."""
    return build(facts, [flow for flow in DEFAULT if not names or flow.name in names])


def ends(checks: Iterable[Check]) -> list[tuple[str | None, str | None]]:
    """Return source and target node of each member of some checks."""
    return [(m.source.node, m.target.node) for check in checks for m in check.each]


@given(sizes=SIZES, turn=st.integers(0, 2**32))
def test_a_cover_has_every_source_and_every_target_and_no_more_pairs_than_that_takes(
    sizes: list[int], turn: int
) -> None:
    """Whatever the sizes of two node pools, also of one with itself."""
    pools = choose_pools(cluster(*nodes(*sizes))).pools
    for source in pools:
        for target in pools:
            pairs = list(cover(source.members, target.members, turn))
            assert all(one.name != other.name for one, other in pairs)
            assert len(set(map(str, pairs))) == len(pairs)
            if source is target and len(source.members) == 1:
                assert pairs == []
                continue
            assert {one.name for one, _ in pairs} == {one.name for one in source.members}
            assert {other.name for _, other in pairs} == {one.name for one in target.members}
            assert len(pairs) == max(len(source.members), len(target.members))


@given(sizes=SIZES, seed=st.integers(0, 2**32))
def test_up_to_a_limit_every_ordered_pair_meets_and_once_is_one_direction_at_least(
    sizes: list[int], seed: int
) -> None:
    """Of every two nodes, in whatever node pools."""
    pools = choose_pools(cluster(*nodes(*sizes)))
    names = [one.name for one in pools.nodes]
    both, single = (
        Counter(
            (one.name, other.name)
            for source in pools.pools
            for target in pools.pools
            for one, other in every(source.members, target.members, pools.nodes, seed, 7, once=once)
        )
        for once in (False, True)
    )
    assert both == Counter((a, b) for a in names for b in names if a != b)
    assert set(map(frozenset, single)) == set(map(frozenset, both))
    assert set(single) <= set(both)


@given(seed=st.integers(0, 2**32), linux=st.integers(1, 20))
@settings(max_examples=20)
def test_of_a_large_cluster_every_node_has_equally_many_peers_either_way_in_every_run(
    seed: int, linux: int
) -> None:
    """And a pair of node pools that the graph leaves out has its cover, so that ids stay."""
    facts = fleet(linux, EVERY_PAIR, FleetScope(seed=seed))
    checks = [check for check in plan(facts, "pod-to-pod-ip").checks if check.id.endswith("/tcp")]
    away = [pair for pair in ends(checks) if pair[0] != pair[1]]
    assert min(Counter(source for source, _ in away).values()) >= PEERS
    assert min(Counter(target for _, target in away).values()) >= PEERS
    assert len(away) <= len(facts.nodes) * (PEERS + 4)
    assert {check.id for check in checks} == {
        check.id for check in plan(fleet(2, 2), "pod-to-pod-ip").checks if check.id.endswith("tcp")
    } - ({"pod-to-pod-ip/linux-1/linux-1/other-node/tcp"} if linux == 1 else set())


@settings(max_examples=6, deadline=None)
@given(sizes=st.lists(st.integers(1, 5), min_size=2, max_size=3))
def test_every_node_is_a_source_and_a_target_of_every_default_flow(sizes: list[int]) -> None:
    """By each protocol and in each of its placements, unless the flow says that few stand for the others."""
    facts = cluster(*nodes(*sizes))
    names = {one.name for one in facts.nodes}
    windows = {one.name for one in facts.nodes if one.pool != "linux-1"}
    for flow in DEFAULT:
        if flow.members in {Members.ONE, Members.FEW} or flow.matrix is Matrix.CLUSTER:
            continue
        checks = build(facts, [flow]).checks
        if not checks or flow.matrix is Matrix.EMPTY_NODES:
            continue
        on_windows = all(check.source.pool != "linux-1" for check in checks)
        wanted = windows if on_windows and flow.source is not VantageKind.EXTERNAL else names
        lone = {one.name for one in facts.nodes if sizes[POOLS.index(one.pool)] == 1}
        if flow.source is not VantageKind.EXTERNAL:
            assert {source for source, _ in ends(checks)} == wanted, flow.name
        targets = {target for _, target in ends(checks)} - {None}
        if targets and not flow.owns_services and flow.question is not Question.START:
            assert targets | lone >= wanted, flow.name


@pytest.mark.parametrize(
    ("flow", "protocols"),
    [
        ("pod-to-pod-ip", (Protocol.TCP, Protocol.UDP)),
        ("icmp-pod-to-pod", (Protocol.ICMP,)),
        ("payload-pod-to-pod", (Protocol.TCP, Protocol.UDP)),
    ],
)
def test_every_ordered_pair_is_tested_by_each_quality_of_a_path(
    flow: str, protocols: tuple[Protocol, ...]
) -> None:
    """TCP and UDP with the source's address, ICMP, large packets: 132 pairs of twelve nodes, and each node itself."""
    facts = fleet()
    names = [one.name for one in facts.nodes]
    for protocol in protocols:
        checks = [c for c in plan(facts, flow).checks if c.action.protocol is protocol]
        assert Counter(ends(checks)) == Counter((a, b) for a in names for b in names)


def test_losses_are_counted_between_every_two_nodes() -> None:
    """A train that comes back shows the pair, whoever sent it."""
    facts = fleet()
    names = [one.name for one in facts.nodes]
    for protocol in (Protocol.TCP, Protocol.UDP):
        checks = [c for c in plan(facts, "path-loss").checks if c.action.protocol is protocol]
        met = set(map(frozenset, ends(checks)))
        assert met == {frozenset((a, b)) for a in names for b in names if a != b}
        assert len(ends(checks)) < 1.5 * len(met)


OF_KUBELETS = {
    *("pod-host-aliases", "pod-hostname-fqdn", "pod-node-selector", "pod-of-other-os"),
    *("pod-service-links", "pod-service-variables", "windows-huge-pages"),
    *("windows-pod-linux-fields", "windows-run-as-non-root", "windows-run-as-user-name"),
}
"""What kubelet, scheduler and runtime do, in whichever Pod: one node of each pool shows it."""
OF_FEW = {"service-unready-backend"}
"""Its backend is a Pod that is never Ready, and serves nothing else: two nodes of each pool have one."""


@pytest.mark.parametrize("flow", DEFAULT, ids=lambda flow: flow.name)
def test_of_twelve_nodes_a_default_flow_leaves_none_out(flow: Flow) -> None:
    """Each is an end of one of its members, if it is of a system that the flow is about, but for what no node decides."""
    facts = fleet()
    checks = plan(facts, flow.name).checks
    about = {one.name for one in facts.nodes if any(one.os is c.source.os for c in checks)}
    about |= {one.name for one in facts.nodes if any(one.os is c.target.os for c in checks)}
    met = {name for pair in ends(checks) for name in pair if name}
    if not met or flow.matrix is Matrix.EMPTY_NODES:
        assert not checks or flow.matrix in {Matrix.CLUSTER, Matrix.EMPTY_NODES}
    elif flow.name in OF_KUBELETS:
        assert len(met) <= 2
    elif flow.name in OF_FEW:
        assert len(met) == 4
    else:
        assert about
        assert met >= about


def test_ids_and_titles_name_no_node() -> None:
    """Histories are keyed by ids: a node that is replaced changes none."""
    facts = fleet()
    renamed = tuple(replace(one, name=f"other-{i}") for i, one in enumerate(facts.nodes))
    assert [(c.id, c.title) for c in plan(replace(facts, nodes=renamed)).checks] == [
        (c.id, c.title) for c in plan(facts).checks
    ]


def test_ids_do_not_depend_on_how_many_nodes_a_node_pool_has() -> None:
    """Two nodes of each system have the same checks as twelve; only their members differ."""
    assert [c.id for c in plan(fleet(2, 2)).checks] == [c.id for c in plan(fleet(5, 9)).checks]


def test_another_run_has_the_same_members() -> None:
    """What changes between two nights is the cluster, not the plan; only of a large one the seed chooses pairs."""
    runs = [plan(fleet(scope=FleetScope(seed=seed))) for seed in (1, 2)]
    assert runs[0] == runs[1]


def test_a_member_says_which_nodes_it_is_about() -> None:
    """Its label is its pair; where a node's own pair is tested the placement says so."""
    checks = {one.id: one for one in plan(fleet(), "pod-to-pod-ip").checks}
    away = checks["pod-to-pod-ip/windows-1/windows-1/other-node/tcp"]
    assert "node-windows-1-3-x7 → node-windows-1-7-x7" in {one.label for one in away.members}
    assert {one.placement for one in away.members} == {Placement.OTHER_NODE}
    assert len({one.label for one in away.members}) == len(away.members) == 56


def test_one_member_alone_is_the_check_itself() -> None:
    """A node pool of one node has no members to name."""
    checks = plan(fleet(1, 1), "pod-to-own-ip").checks
    assert checks
    assert all(check.members == () and check.source.node for check in checks)


def test_services_of_a_flow_s_own_stand_before_few_nodes_and_are_reached_by_all() -> None:
    """Each takes rules on every node: their number does not grow with nodes."""
    few, many = (plan(fleet(2, size), "service-named-port") for size in (16, 30))
    assert [one.name for one in many.services] == [one.name for one in few.services]
    assert len({source for source, _ in ends(many.checks)}) == 32


def test_where_attempts_are_processes_backends_are_dealt_out() -> None:
    """Each node and each backend occurs, but not each with each."""
    facts = fleet()
    dealt, crossed = (
        ends(plan(facts, name).checks)
        for name in ("nodeport-from-other-node", "nodeport-from-pod-other-node")
    )
    assert set(dealt) == set(crossed) or len(set(dealt)) >= len(facts.nodes)
    assert 2 * len(dealt) < len(crossed)


@pytest.mark.parametrize(
    ("scope", "counts"),
    [
        (WHOLE, {"linux-1": 4, "windows-1": 8}),
        (FleetScope(chosen="sample"), {"linux-1": 2, "windows-1": 2}),
        (
            FleetScope(chosen="zone=a", nodes=("node-linux-1-2-x7", "node-windows-1-3-x7")),
            {"linux-1": 1, "windows-1": 1},
        ),
    ],
)
def test_the_user_chooses_the_nodes_of_every_flow(
    scope: FleetScope, counts: dict[str, int]
) -> None:
    """All, two of each node pool, or those of a label selector."""
    pools = choose_pools(fleet(scope=scope)).pools
    assert {pool.name: len(pool.members) for pool in pools} == counts


def test_a_node_pool_of_which_no_node_was_chosen_is_skipped_with_the_reason() -> None:
    """Nothing is left out silently."""
    scope = FleetScope(chosen="zone=a", nodes=("node-linux-1-2-x7",))
    skips = {skip.id: skip.reason for skip in plan(fleet(scope=scope), "pod-to-own-ip").skips}
    assert skips["pod-to-own-ip/windows-1"] == "none of its nodes was chosen (zone=a)"


def test_a_selected_check_needs_what_its_members_need() -> None:
    """The Pods of all of them, and no others."""
    facts = fleet(2, 3)
    whole = plan(facts)
    part = select(whole, facts, {"pod-to-own-ip/windows-1/windows-1/same-node/tcp"})
    assert {pod.node for pod in part.pods} >= {n.name for n in facts.nodes if n.pool != "linux-1"}
    assert len(part.pods) < len(whole.pods)


def test_every_node_dials_each_existing_service() -> None:
    """Each Service has a check of its own, named by it, with each node of a pool as a member; without any there is a skip."""
    services = tuple(
        ExistingService(name=name, address=ip_address("10.96.0.1"), port=443)
        for name in ("default/kubernetes", "shop/web")
    )
    facts = replace(fleet(2, 3), existing_services=known(services, "test"))
    planned = plan(facts, "pod-to-existing-service")
    assert {check.id.partition("/")[2]: len(check.each) for check in planned.checks} == {
        f"{pool}/tcp/{name}": size
        for pool, size in (("linux-1", 2), ("windows-1", 3))
        for name in ("default.kubernetes", "shop.web")
    }
    assert not planned.services
    without = plan(fleet(2, 3), "pod-to-existing-service")
    assert not without.checks
    assert all("no existing Service" in skip.reason for skip in without.skips)
