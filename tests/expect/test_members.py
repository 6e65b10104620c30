"""What is expected of the members of a check: of each by its own nodes, of the check what most are to show."""

from dataclasses import replace
from datetime import date

import pytest

from nettests.expect import resolve
from nettests.expect.resolve import expectation, kinds_of
from nettests.model.check import Check
from nettests.model.codec import data_of, record_of
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.history import History
from nettests.model.journal_records import Planned, expectations_of_members
from nettests.model.words import OS
from nettests.plan import build, load
from nettests.resources import suites_path
from nettests.session.blueprint import read_manifests
from tests.expect.entries import manifest
from tests.facts import cluster_facts

MANIFESTS = read_manifests()[0]
TODAY = date(2026, 11, 24)
NAMES = ("pod-to-pod-ip", "nodeport-from-pod-own-node", "icmp-egress", "session-affinity")
FLOWS = [flow for flow in load([suites_path()]).flows if flow.name in NAMES]


def grown(facts: ClusterFacts) -> ClusterFacts:
    """Return the cluster with three more nodes beside each, alike but for what is a node's own."""
    nodes = [
        replace(node, name=f"{node.name}-{more}", hostname="", member=10 * node.member + more)
        for node in facts.nodes
        for more in range(4)
    ]
    return replace(facts, nodes=tuple(nodes))


@pytest.mark.parametrize("profile", ["win2019-l2bridge", "mixed-builds", "win2022-overlay-dsr"])
def test_each_member_is_expected_what_a_check_of_its_own_would_be(profile: str) -> None:
    """Nodes that are alike are resolved once; no member is given what another one is to show."""
    facts = grown(cluster_facts(profile))
    limitations = [entry for manifest in MANIFESTS for entry in manifest.limitations]
    made = build(facts, FLOWS)
    found = resolve(made.checks, facts, MANIFESTS, today=TODAY)
    for check in made.checks:
        for one in (check.each[0], check.each[len(check.each) // 2], check.each[-1]):
            assert found[one.id] == expectation(one, facts, limitations), one.id


def test_where_a_known_fact_was_read_tells_no_nodes_apart() -> None:
    """The Pod of each kube-proxy has a name of its own, but why a fact is unknown is quoted."""
    node = cluster_facts("mixed-builds").nodes[0]

    def read_of(pod: str, mode: str | None) -> NodeFacts:
        proxy = replace(node.kube_proxy, mode=Fact(mode, f"log of {pod}"))
        return replace(node, name=pod, kube_proxy=proxy)

    known = kinds_of([read_of("a", "iptables"), read_of("b", "iptables"), read_of("c", "ipvs")])
    assert known["a"] == known["b"] != known["c"]
    unknown = kinds_of([read_of("a", None), read_of("b", None)])
    assert unknown["a"] != unknown["b"]


def deviating(facts: ClusterFacts) -> tuple[Check, dict[str, Expectation]]:
    """Return a check of whose members not the same is expected."""
    made = build(facts, FLOWS)
    old = manifest(old_build="when: {source: {build: '<20348'}}\nexpected: {outcome: timed_out}")
    (entry,) = old.limitations
    of_pods = replace(entry, flows=("pod-to-pod-ip",))
    found = resolve(made.checks, facts, [replace(old, limitations=(of_pods,))], today=TODAY)
    return next((one, found) for one in made.checks if expectations_of_members(one, found))


def test_mixed_builds_differ_by_member_and_the_journal_tells_which() -> None:
    """The record holds what most are to show, and the others beside it; read again it is the same."""
    facts = grown(cluster_facts("mixed-builds"))
    pinned = [replace(n, pool=f"{n.os.value}-1", member=i) for i, n in enumerate(facts.nodes)]
    facts = replace(facts, nodes=tuple(pinned))
    check, found = deviating(facts)
    planned = Planned(
        check=check, expectation=found[check.id], others=expectations_of_members(check, found)
    )
    assert 0 < sum(len(one.labels) for one in planned.others) < len(check.members)
    history = History.of([record_of(data_of(planned))])
    assert history.expectations() == {
        name: one for name, one in found.items() if name.partition("#")[0] == check.id
    }
    assert {one.os for one in facts.nodes} == set(OS)
