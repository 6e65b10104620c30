"""Nodes of one node pool agree with each other; one that differs is named beside those that it differs from."""

import json
from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest

from nettests.model.facts import known, unknown
from nettests.model.versions import KubernetesVersion
from nettests.rules import RULES, Evidence, NothingThereError
from nettests.rules.peers import COMPARED, of_peer, spelled_alike
from tests.plan.clusters import node

RULE = RULES["like-its-peers"]
KUBELET, *OTHERS = COMPARED


def evidence(inspected: str, **kubelets: str) -> Evidence:
    """Return what was read of the kubelets of some nodes; the other readings are the same everywhere."""
    texts = {reading.name: json.dumps(dict.fromkeys(kubelets, "{}")) for reading in OTHERS}
    return Evidence(texts={KUBELET.name: json.dumps(kubelets), **texts}, facts={"node": inspected})


def test_a_node_that_differs_from_most_is_named_with_both_values() -> None:
    """Its peers conform."""
    kubelets = {"a": '{"hairpinMode": "none"}', "b": "{}", "c": "{}"}
    found = RULE.demand(evidence("a", **kubelets))
    assert not found.conforms
    assert (
        'kubelet-settings of a has "hairpinMode": "none", and of b, c has nothing more'
        in found.detail
    )
    assert RULE.demand(evidence("b", **kubelets)).conforms


def test_of_two_nodes_that_differ_one_is_reported() -> None:
    """Nothing tells which of them is wrong, and the finding names both."""
    kubelets = {"a": '{"x": 1}', "b": '{"x": 2}'}
    assert RULE.demand(evidence("a", **kubelets)).conforms
    detail = RULE.demand(evidence("b", **kubelets)).detail
    assert 'of b has "x": 2, and of a has "x": 1' in detail


def test_order_is_no_difference_and_a_node_alone_is_not_compared() -> None:
    """A rule that looked at nothing never passes."""
    assert RULE.demand(evidence("b", a='{"x": 1, "y": 2}', b='{"y": 2, "x": 1}')).conforms
    with pytest.raises(NothingThereError):
        RULE.demand(evidence("a", a="{}"))


def test_a_node_s_name_addresses_and_ids_are_its_own() -> None:
    """An address of another network is not."""
    one = replace(
        node("windows-1", 1),
        addresses=(ip_address("172.30.0.13"),),
        pod_cidrs=(ip_network("10.244.3.0/24"),),
    )
    text = f"{one.name} 172.30.0.13 10.244.3.1/24 10.96.0.10 00-15-5D-1E-00-0D"
    assert spelled_alike(text, one) == "(its name) (its address) (its address) 10.96.0.10 (an id)"


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("10.244.87.64/26", "(its address)"),
        ("10.244.0.0/16", "10.244.0.0/16"),
        ("10.96.0.0/12", "10.96.0.0/12"),
        ("fd00:10:244:3::/64", "(its address)"),
        ("fd00:10:244::/56", "fd00:10:244::/56"),
        ("vpcbr0a1b2c3d4e5f", "vpcbr(an id)"),
        ("NODE-1.example", "(its name).example"),
    ],
)
def test_a_node_s_part_of_the_network_of_all_pods_is_its_own(text: str, alike: str) -> None:
    """Calico deals it in blocks that no Node object shows; the whole is the same for all nodes."""
    one = replace(node("windows-1", 1), name="node-1", pod_cidrs=())
    of_pods = (ip_network("10.244.0.0/16"), ip_network("fd00:10:244::/56"))
    assert spelled_alike(text, one, of_pods) == alike


def test_facts_of_the_node_are_compared_beside_the_kubelet() -> None:
    """They cost no reading: versions, kube-proxy's settings and DNS suffixes."""
    one = node("windows-1", 1)
    suffixes = replace(one, dns_suffixes=known(("svc.cluster.local", "cluster.local"), "read"))
    assert f"kubelet: {one.kubelet.value}" in of_peer(KUBELET, "", one, ())
    assert "DNS suffixes: svc.cluster.local cluster.local" in of_peer(KUBELET, "", suffixes, ())
    assert of_peer(OTHERS[0], "", one, ()) == ""


@pytest.mark.parametrize(
    ("mine", "conforms"), [("v1.33.5", True), ("v1.32.9", False), (None, True)]
)
def test_a_fact_that_is_not_known_of_every_node_is_no_difference(
    mine: str | None, conforms: bool
) -> None:
    """A log that was rotated on one node says nothing about kube-proxy there."""
    versions = {"a": mine, "b": "v1.33.5", "c": "v1.33.5"}
    one = node("windows-1", 1)
    texts = {}
    for name, text in versions.items():
        version = known(KubernetesVersion.parse(text), "log") if text else unknown("no log")
        proxy = replace(one.kube_proxy, version=version)
        texts[name] = of_peer(KUBELET, "", replace(one, kube_proxy=proxy), ())
    assert RULE.demand(evidence("a", **texts)).conforms is conforms
