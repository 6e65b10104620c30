"""The fleet sweep: every usable node is a source and a target, in checks whose ids name systems and never nodes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts, FleetScope, NodeFacts, known
from nettests.model.words import OS, Placement, Question
from nettests.plan import build, load
from nettests.plan.fleet import ALL_PAIRS, ALL_PEERS, PEERS, hosts, peers, share
from nettests.plan.node_pools import swept
from nettests.plan.selection import select
from nettests.probes.service_pairs import pairs_of
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node

FLOWS = [flow for flow in load([suites_path()]).flows if flow.name.startswith("fleet-")]
WHOLE = FleetScope()


def nodes(linux: int, windows: int) -> list[NodeFacts]:
    """Return so many nodes of two node pools."""
    return [
        *(node("linux-1", member) for member in range(1, linux + 1)),
        *(node("windows-1", member) for member in range(1, windows + 1)),
    ]


def fleet(linux: int = 4, windows: int = 8, scope: FleetScope = WHOLE) -> ClusterFacts:
    """Return a cluster of so many nodes, swept as ``scope`` says."""
    return replace(cluster(*nodes(linux, windows)), fleet=scope)


def plan(facts: ClusterFacts, *names: str) -> Plan:
    """Return the plan of the fleet's flows, or of the named ones."""
    return build(facts, [flow for flow in FLOWS if not names or flow.name in names])


def ends(checks: Iterable[Check]) -> list[tuple[str | None, str | None]]:
    """Return source and target node of each member of some checks."""
    return [(m.action.source.node, m.action.target.node) for c in checks for m in c.members]


def test_every_ordered_pair_of_twelve_nodes_is_tested_by_each_protocol() -> None:
    """Twelve nodes have 132 pairs, and each reaches itself: in four checks a protocol, one for each pair of systems."""
    facts = fleet()
    checks = plan(facts, "fleet-pod-to-pod").checks
    assert {one.id for one in checks} == {
        f"fleet-pod-to-pod/{source}/{target}/{protocol}"
        for source in OS
        for target in OS
        for protocol in ("tcp", "udp")
    }
    names = [one.name for one in facts.nodes]
    tcp = [one for one in checks if one.id.endswith("/tcp")]
    assert Counter(ends(tcp)) == Counter((a, b) for a in names for b in names)


def test_ids_and_titles_name_no_node() -> None:
    """Histories are keyed by ids: a node that is replaced changes none."""
    facts = fleet()
    renamed = tuple(replace(one, name=f"other-{i}") for i, one in enumerate(facts.nodes))
    assert [(c.id, c.title) for c in plan(replace(facts, nodes=renamed)).checks] == [
        (c.id, c.title) for c in plan(facts).checks
    ]


def test_a_member_says_which_nodes_it_is_about() -> None:
    """Its label is its pair; where a node's own pair is tested the placement says so."""
    (check,) = (
        one for one in plan(fleet()).checks if one.id == "fleet-pod-to-pod/windows/windows/tcp"
    )
    labels = {one.label: one.placement for one in check.members}
    assert labels["node-windows-1-3-x7 → node-windows-1-7-x7"] is Placement.OTHER_NODE
    assert labels["node-windows-1-3-x7 → node-windows-1-3-x7"] is Placement.SAME_NODE
    assert len(labels) == len(check.members) == 64


@pytest.mark.parametrize("flow", [one.name for one in FLOWS])
def test_every_node_is_a_source_of_every_flow(flow: str) -> None:
    """What breaks on one node of many is seen by whatever it breaks."""
    facts = fleet()
    assert {source for source, _ in ends(plan(facts, flow).checks)} == {
        one.name for one in facts.nodes
    }


@pytest.mark.parametrize(
    "flow",
    [
        *("fleet-pod-to-pod", "fleet-nodeport", "fleet-nodeport-own", "fleet-pod-source-address"),
        *("fleet-payload", "fleet-path-loss", "fleet-new-pod"),
        *("fleet-pod-to-node", "fleet-node-to-pod"),
    ],
)
def test_every_node_is_a_target(flow: str) -> None:
    """It is found by others, and at its own NodePort."""
    facts = fleet()
    assert {target for _, target in ends(plan(facts, flow).checks)} == {
        one.name for one in facts.nodes
    }


def test_sizes_are_tested_between_all_pairs_both_ways_and_losses_once() -> None:
    """A tunnel's MTU is a matter of the pair and its direction; a train that comes back shows the pair, whoever sent it."""
    facts = fleet()
    names = [one.name for one in facts.nodes]
    pairs = Counter((a, b) for a in names for b in names if a != b)
    by_protocol = [one for one in plan(facts, "fleet-payload").checks if one.id.endswith("/tcp")]
    assert Counter(ends(by_protocol)) == pairs
    checks = plan(facts, "fleet-path-loss").checks
    echoes, trains = (
        ends(one for one in checks if one.id.endswith(f"/{protocol}"))
        for protocol in ("udp", "tcp")
    )
    assert Counter(map(frozenset, trains)) == Counter({frozenset(pair) for pair in pairs})
    sources, targets = ([*Counter(side).values()] for side in zip(*trains, strict=True))
    assert min(sources) >= 3
    assert min(targets) >= 3
    assert set(echoes) < set(trains)
    assert len(echoes) == len(names)


def test_losses_of_many_nodes_are_counted_between_each_and_one_other() -> None:
    """A train of hundreds for every pair would grow with pairs: each node of more sends one and is sent one."""
    facts = fleet(8, ALL_PEERS - 7)
    names = sorted(one.name for one in facts.nodes)
    trains = [one for one in plan(facts, "fleet-path-loss").checks if one.id.endswith("/udp")]
    sources, targets = zip(*ends(trains), strict=True)
    assert sorted(sources) == sorted(targets) == names


def test_another_run_has_another_ring_under_the_same_ids() -> None:
    """Within some nights each pair of one system is met, and histories go on."""
    rings = [
        plan(fleet(scope=replace(WHOLE, seed=seed)), "fleet-new-pod").checks for seed in (1, 2)
    ]
    assert ends(rings[0]) != ends(rings[1])
    assert [one.id for one in rings[0]] == [one.id for one in rings[1]]


def test_a_node_opens_as_many_connections_as_tell_two_backends_from_one() -> None:
    """All of 21 meet one of two backends by chance once in a million times; they go to servers of one node pool."""
    checks = plan(fleet(), "fleet-session-affinity").checks
    assert [one.id for one in checks] == [
        "fleet-session-affinity/linux/tcp",
        "fleet-session-affinity/windows/tcp",
    ]
    members = [one for check in checks for one in check.members]
    assert {one.action.connections for one in members} == {21}
    assert {one.action.target.backends for one in members} == {
        ("server-linux-1-1", "server-linux-1-2")
    }
    assert len({one.action.target.service for one in members}) == 1


def test_services_have_a_backend_of_either_system() -> None:
    """Each node reaches a Service before a Linux node and one before a Windows node."""
    checks = plan(fleet(), "fleet-pod-to-service").checks
    met: dict[str | None, set[OS | None]] = {}
    for check in checks:
        for one in check.members:
            met.setdefault(one.action.source.node, set()).add(one.action.target.os)
    assert set(map(frozenset, met.values())) == {frozenset(OS)}


def test_controls_accompany_each_member() -> None:
    """A negative result of a member counts beside positive controls, as that of any check does."""
    for check in plan(fleet()).checks:
        for one in check.members:
            of_pod = one.action.question is Question.START
            wanted = {"path" if of_pod else "vantage", "target"}
            assert {control.proves for control in one.controls} == wanted, one.label


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ready": False}, "not Ready"),
        ({"schedulable": False}, "cordoned"),
        ({"left_out": "drained"}, "drained"),
    ],
)
def test_a_node_that_cannot_be_used_is_left_out(change: dict[str, Any], why: str) -> None:
    """It is neither a source nor a target, and nobody else is lost with it."""
    facts = fleet()
    gone = replace(facts.nodes[-1], **change)
    rest = plan(replace(facts, nodes=(*facts.nodes[:-1], gone))).checks
    assert rest, why
    assert all(gone.name not in pair for pair in ends(rest))
    assert len({one for pair in ends(rest) for one in pair if one}) == 11


def test_the_sample_is_the_nodes_that_stand_for_their_pools() -> None:
    """``sample`` keeps a sweep as small as the other flows: two nodes of each node pool."""
    found = {
        one for pair in ends(plan(fleet(scope=FleetScope(chosen="sample"))).checks) for one in pair
    }
    assert found - {None} == {
        f"node-{pool}-{n}-x7" for pool in ("linux-1", "windows-1") for n in (1, 2)
    }


def test_a_selector_takes_the_nodes_that_it_matched_and_says_whom_it_left_out() -> None:
    """A system of which no node was chosen is skipped with the reason, never in silence."""
    chosen = ("node-windows-1-4-x7", "node-windows-1-6-x7")
    made = plan(fleet(scope=FleetScope(chosen="pool=canary", nodes=chosen)), "fleet-pod-to-pod")
    assert {one for pair in ends(made.checks) for one in pair} == set(chosen)
    assert [(skip.id, skip.reason) for skip in made.skips] == [
        ("fleet-pod-to-pod/linux", "the fleet that was chosen holds no usable Linux node")
    ]


def test_pods_grow_with_nodes() -> None:
    """Two Pods a node, and one Service: not one for each pair."""
    for many in (6, 12, 24):
        made = plan(fleet(many // 2, many // 2), "fleet-pod-to-pod", "fleet-pod-to-service")
        assert len(made.pods) == 2 * many
        assert len(made.services) == 2


def test_what_is_waited_for_grows_with_nodes() -> None:
    """Members wait for a server on its own node and for Services of their own node: pairs cost no polls."""
    for many in (6, 12, 24):
        facts = fleet(many // 2, many // 2)
        made = plan(facts)
        probes = {pod.node: pod.name for pod in made.pods if pod.purpose == "probe"}
        awaited = {
            pair
            for check in made.checks
            for one in check.each
            for pair in pairs_of(one, probes, "sentinel")
        }
        assert len(awaited) <= 8 * many


def test_a_selected_part_needs_the_objects_of_its_members() -> None:
    """Selecting everything gives the plan itself; selecting one check gives what its members need."""
    facts = fleet()
    whole = plan(facts)
    assert (
        select(whole, facts, {one.id for one in whole.checks} | {one.id for one in whole.skips})
        == whole
    )
    part = select(whole, facts, {"fleet-dns/linux/udp/nslookup"})
    sources = {pod.node for pod in part.pods if pod.purpose == "probe"}
    assert sources == {one.name for one in facts.nodes if one.os is OS.LINUX}


def test_without_an_external_target_one_skip_says_so() -> None:
    """A reason that holds for all members is told once for the check."""
    facts = replace(fleet(), external_target=None)
    made = plan(facts, "fleet-external")
    assert made.checks == ()
    assert [skip.id for skip in made.skips] == [
        f"fleet-external/{os}/{protocol}"
        for os in ("linux", "windows")
        for protocol in ("tcp", "udp")
    ]


@pytest.mark.parametrize("many", [ALL_PAIRS + 1, 137, 200])
def test_each_node_of_a_large_fleet_has_its_peers_in_either_direction(many: int) -> None:
    """The graph is regular: eight peers as a source and eight as a target, never itself, no pair twice."""
    found = [(a.name, b.name) for a, b in peers(nodes(many // 2, many - many // 2), seed=7)]
    assert len(found) == len(set(found)) == many * PEERS == share(many)[0]
    assert set(Counter(a for a, _ in found).values()) == {PEERS}
    assert set(Counter(b for _, b in found).values()) == {PEERS}
    assert all(a != b for a, b in found)


def test_another_run_tests_another_part_and_the_same_seed_the_same() -> None:
    """Nightly runs cover all pairs; a worker with the same facts makes the same plan."""
    every = nodes(60, 60)
    first, again, other = ({(a.name, b.name) for a, b in peers(every, seed)} for seed in (1, 1, 2))
    assert first == again
    assert len(first & other) < len(first) / 4


def test_all_pairs_are_covered_after_some_runs() -> None:
    """Of 110 nodes each run tests one pair in fourteen: after seventy runs next to none was never tested."""
    every = nodes(55, 55)
    covered = {(a.name, b.name) for seed in range(70) for a, b in peers(every, seed)}
    assert len(covered) > 0.98 * share(110)[1]


def test_the_bound_is_where_all_pairs_end() -> None:
    """A hundred nodes are tested against each other, all of them."""
    assert share(ALL_PAIRS) == (9900, 9900)
    assert share(ALL_PAIRS + 1) == (808, 10100)


def test_node_ports_of_many_nodes_are_tested_by_some_peers() -> None:
    """Rules for a NodePort are the target node's: with many nodes each is requested by eight others."""
    facts = fleet(8, ALL_PEERS - 7)
    found = ends(one for one in plan(facts, "fleet-nodeport").checks if one.id.endswith("/tcp"))
    assert set(Counter(target for _, target in found).values()) == {PEERS}


def test_nodes_themselves_are_tested_in_a_ring_of_all_and_of_some_where_there_are_many() -> None:
    """A Pod on each node's own network and processes there are bounded; another run takes other nodes."""
    every = nodes(ALL_PAIRS // 2, ALL_PAIRS // 2)
    assert {a.name for a, _ in hosts(every, 1)} == {one.name for one in every}
    many = nodes(ALL_PAIRS, ALL_PAIRS)
    first, again, other = ([(a.name, b.name) for a, b in hosts(many, seed)] for seed in (1, 1, 2))
    assert first == again
    assert {a for a, _ in first} == {b for _, b in first}
    assert len(first) == ALL_PEERS
    assert {a for a, _ in first} != {a for a, _ in other}


@pytest.mark.parametrize("seed", range(4))
def test_of_many_nodes_few_windows_nodes_are_tested_themselves_in_every_run(seed: int) -> None:
    """Both systems take turns as long as there are nodes of both, so that the same systems meet in every run."""
    every = nodes(2 * ALL_PAIRS, 3)
    windows = [a.name for a, _ in hosts(every, seed) if a.os is OS.WINDOWS]
    assert sorted(windows) == sorted(one.name for one in every if one.os is OS.WINDOWS)
    half = [a for a, _ in hosts(nodes(2 * ALL_PAIRS, ALL_PAIRS), seed) if a.os is OS.WINDOWS]
    assert len(half) == ALL_PEERS / 2


def test_nodes_without_host_process_are_no_source_themselves() -> None:
    """Where a node takes no HostProcess container, the reason stands beside the nodes that are tested."""
    facts = fleet()
    lacking = replace(facts.nodes[-1], host_process=known(False, "containerd 1.5"))
    made = plan(replace(facts, nodes=(*facts.nodes[:-1], lacking)), "fleet-node-to-pod")
    assert lacking.name not in {source for source, _ in ends(made.checks)}
    assert len({source for source, _ in ends(made.checks)}) == 11
    assert {skip.reason for skip in made.skips} == {
        f"{lacking.name} has no HostProcess containers: containerd 1.5"
    }


def test_a_run_says_how_much_of_the_fleet_it_takes() -> None:
    """Nodes, pairs, and the seed where it decides anything."""
    assert swept(fleet()) == "fleet (all): 12 of 12 nodes, 132 of 132 ordered pairs"
    large = fleet(60, 60, FleetScope(seed=42))
    assert swept(large) == (
        "fleet (all): 120 of 120 nodes, 960 of 14280 ordered pairs, chosen by seed 42"
    )


def test_a_fleet_of_a_hundred_nodes_can_be_planned() -> None:
    """Its plan has all pairs, in as many checks as that of three nodes."""
    large, small = plan(fleet(40, 60), "fleet-pod-to-pod"), plan(fleet(2, 2), "fleet-pod-to-pod")
    assert [one.id for one in large.checks] == [one.id for one in small.checks]
    assert sum(len(one.members) for one in large.checks) == 2 * 100 * 100


def test_a_cluster_without_a_usable_node_has_no_fleet() -> None:
    """Nothing is planned of the sweep where no probe can stand, and preflight gets to say why."""
    nodes = (node("linux-1", 1), node("windows-1", 1))
    away = cluster(*(replace(one, ready=False) for one in nodes))
    planned = build(away, load([suites_path()]).flows).checks
    assert not any(check.members for check in planned)
