"""On which facts an expectation depends is read from the sentences of its conditions, of every part of one."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from nettests.compare.known_facts import OF_CLUSTER, OF_NODE, Dependency, named_in
from nettests.expect.condition import evaluate
from nettests.expect.manifest import Condition, NodeCondition
from nettests.model.facts import ClusterFacts, unknown
from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import OS, NatException, Placement, Resolver, Setting, SuffixList
from tests.expect.entries import check
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
VERSIONS = VersionRange.parse(">=1.20", KubernetesVersion)
BUILDS = VersionRange.parse("<20348", WindowsBuild)
CLUSTER: dict[str, tuple[Any, str]] = {
    "kubernetes": (VERSIONS, "Kubernetes"),
    "platform": (("other",), "platform"),
    "cni": (("flannel",), "CNI plugin"),
    "backend": (("host-gw",), "CNI backend"),
    "loopback_dsr": ((Setting.OFF,), "loopbackDSR"),
    "nat_exception": ((NatException.UNKNOWN,), "OutBoundNAT exceptions"),
}
NODE: dict[str, tuple[Any, str]] = {
    "build": (BUILDS, "build"),
    "kubelet": (VERSIONS, "kubelet"),
    "kube_proxy": (VERSIONS, "kube-proxy"),
    "mode": (("kernelspace",), "kube-proxy mode"),
    "dsr": (False, "DSR"),
    "driver": (("l2bridge",), "network driver"),
    "runtime": (("containerd",), "runtime"),
    "runtime_version": (VERSIONS, "runtime's version"),
    "host_process": (True, "HostProcess"),
    "firewall": ((Setting.UNKNOWN,), "firewall"),
    "localhost_node_ports": ((Setting.UNKNOWN,), "NodePorts at loopback"),
    "dns_suffixes": ((SuffixList.UNKNOWN,), "DNS suffixes"),
    "terminating_endpoints": ((Setting.UNKNOWN,), "terminating endpoints"),
    "policies": ((Setting.UNKNOWN,), "NetworkPolicies enforced"),
}
NO_FACT: dict[str, Any] = {
    "placement": (Placement.OTHER_NODE,),
    "backend_placement": (Placement.OTHER_NODE,),
    "resolver": (Resolver.SYSTEM,),
}
"""Parts of a condition that are about the check, which no upgrade changes."""


def sentences(condition: Condition, facts: ClusterFacts = FACTS) -> tuple[str, ...]:
    return evaluate(condition, check(), facts).sentences


def test_every_part_of_a_condition_is_in_these_tables() -> None:
    """A part that conditions get must be found in its sentences, or be said to name no fact."""
    assert {one.name for one in fields(Condition)} == {*CLUSTER, *NO_FACT, "source", "target"}
    assert {one.name for one in fields(NodeCondition)} == {*NODE, "os"}


@pytest.mark.parametrize("part", CLUSTER)
def test_a_fact_of_the_cluster_is_found(part: str) -> None:
    """Its sentence begins with the name under which runs are compared."""
    value, name = CLUSTER[part]
    (told,) = sentences(replace(Condition(), **{part: value}))
    assert Dependency(name) in set(named_in(told))


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("part", NODE)
def test_a_fact_of_an_end_is_found(part: str, side: str) -> None:
    """Its sentence names the side, too: only that end's nodes are compared."""
    value, name = NODE[part]
    node: Any = replace(NodeCondition(), **{part: value})
    for told in sentences(replace(Condition(), **{side: node})):
        assert list(named_in(told)) == [Dependency(name, side)]


@pytest.mark.parametrize("part", NO_FACT)
def test_what_is_about_the_check_names_no_fact(part: str) -> None:
    """Nothing that differs between two runs of one check."""
    told = sentences(replace(Condition(), **{part: NO_FACT[part]}))
    assert [list(named_in(one)) for one in told] == [[]]
    assert not list(named_in(sentences(Condition(source=NodeCondition(os=OS.WINDOWS)))[0]))


def unread() -> Iterator[tuple[Condition, ClusterFacts, set[Dependency]]]:
    """Conditions on what nobody shows, with what they are decided by instead."""
    nodes = FACTS.nodes
    hidden = tuple(
        replace(
            one,
            kube_proxy=replace(one.kube_proxy, version=unknown("a service of its host")),
            cni_driver=unknown("no object tells it"),
        )
        for one in nodes
    )
    azure = replace(FACTS.cni, plugin=replace(FACTS.cni.plugin, value="azure-cni"))
    facts = replace(FACTS, nodes=hidden, cni=azure)
    proxy = NodeCondition(kube_proxy=VersionRange.parse("<1.10", KubernetesVersion))
    yield (
        Condition(source=proxy),
        facts,
        {Dependency("kube-proxy", "source"), Dependency("Kubernetes")},
    )
    driver = NodeCondition(driver=("l2bridge", "l2tunnel"))
    yield (
        Condition(source=driver),
        facts,
        {Dependency("network driver", "source"), Dependency("CNI plugin")},
    )


@pytest.mark.parametrize(("condition", "facts", "expected"), [*unread()])
def test_what_is_decided_by_another_fact_depends_on_both(
    condition: Condition, facts: ClusterFacts, expected: set[Dependency]
) -> None:
    """A version by the skew policy, a driver by the plugin: the fact that decided is one of the causes."""
    (told,) = sentences(condition, facts)
    assert set(named_in(told)) == expected


def test_each_name_is_one_that_runs_are_compared_by() -> None:
    """No dependency is on a fact whose value cannot be read."""
    assert {name for _, name in CLUSTER.values()} <= set(OF_CLUSTER)
    assert {name for _, name in NODE.values()} <= set(OF_NODE)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "some-entry (base.yaml:12) expects the same",
        "the nodes of the source, windows-1, differ in it",
        "source runs linux, which has no such setting",
        "source building blocks",
    ],
)
def test_other_sentences_name_none(told: str) -> None:
    """What only looks like a fact is none."""
    assert list(named_in(told)) == []
