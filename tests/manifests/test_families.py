"""Clusters of two IP families: which Pods have both, and what Services then answer, by plugin, build and version."""

import re
from dataclasses import replace

import pytest

from nettests.model.facts import ClusterFacts, known, unknown
from nettests.model.versions import KubernetesVersion
from nettests.model.words import Family
from tests.facts import Shape, cluster_facts, with_windows
from tests.manifests.shipped import expectations

BOTH = (Family.IPV4, Family.IPV6)
IPV4_ONLY = "deviates"
OPEN = "unspecified"
CLAIMED = "as claimed"
SOMEHOW = "refused or timed_out or unreachable"


def dual(**changes: str) -> ClusterFacts:
    """Return a dual-stack cluster on which nothing but the plugin stands in the way of IPv6."""
    usual = {
        "kubernetes": "1.36.2",
        "backend": "routes",
        "build": "20348.3207",
        "driver": "l2bridge",
    }
    return cluster_facts(Shape(families=BOTH, **{**usual, **changes}))  # type: ignore[arg-type]


def said(facts: ClusterFacts, pattern: str) -> set[str]:
    """Return what is expected of the checks with such an id."""
    found = {
        CLAIMED if one.expected == one.claim else str(one.expected or one.undecided or OPEN)
        for check, one in expectations(facts).items()
        if re.match(pattern, check)
    }
    assert found, pattern
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"plugin": "sdnbridge"}, CLAIMED),
        ({"plugin": "azure-cni"}, CLAIMED),
        ({"plugin": "flannel", "backend": "host-gw"}, IPV4_ONLY),
        ({"plugin": "flannel", "backend": "vxlan", "driver": "overlay"}, IPV4_ONLY),
        ({"plugin": "calico", "backend": "windows-bgp"}, IPV4_ONLY),
        ({"plugin": "calico", "backend": "vxlan", "driver": "overlay"}, IPV4_ONLY),
        ({"plugin": "aws-vpc-cni"}, IPV4_ONLY),
        ({"plugin": "ovn-kubernetes", "driver": "overlay"}, IPV4_ONLY),
        ({"plugin": "antrea", "driver": "transparent", "mode": "none"}, IPV4_ONLY),
        ({"plugin": "sdnbridge", "build": "17763.6000"}, IPV4_ONLY),
        ({"plugin": "flannel", "build": "17763.6000"}, IPV4_ONLY),
        ({"plugin": "sdnbridge", "build": "18363.1256"}, IPV4_ONLY),
        ({"plugin": "sdnbridge", "build": "19041.572"}, IPV4_ONLY),
        ({"plugin": "sdnbridge", "build": "19041.610"}, CLAIMED),
        ({"plugin": "sdnbridge", "kubernetes": "1.20"}, OPEN),
        ({"plugin": "calico", "kubernetes": "1.20"}, IPV4_ONLY),
        ({"plugin": "sdnbridge", "kubernetes": "1.18"}, IPV4_ONLY),
    ],
    ids=str,
)
def test_which_windows_pods_have_both_families(changes: dict[str, str], expected: str) -> None:
    """The plugin decides beside driver, build and version; Pods on Linux have both whatever it is."""
    facts = dual(**changes)
    assert said(facts, "dual-stack-pods/windows-1/pod-families") == {expected}
    assert said(facts, "dual-stack-pods/linux-1/pod-families") == {CLAIMED}


def test_an_unknown_plugin_leaves_the_families_of_pods_undecided() -> None:
    """Nobody guesses what an unknown plugin gives: the fact is named, and can be stated."""
    facts = dual(plugin="sdnbridge")
    facts = replace(facts, cni=replace(facts.cni, plugin=unknown("no DaemonSet")))
    (undecided,) = said(facts, "dual-stack-pods/windows-1/pod-families")
    assert "CNI plugin" in undecided
    assert "no DaemonSet" in undecided


SERVICE = "dual-stack-service/windows-1/linux-1/.*/tcp/ipv6"
NODEPORT = "nodeport-from-pod-other-node/linux-1/windows-1/.*/tcp/.*/?ipv6"
LOCAL = "dual-stack-nodeport-local/linux-1/windows-1/.*/ipv6"


@pytest.mark.parametrize(
    ("changes", "service", "port", "local"),
    [
        ({}, CLAIMED, CLAIMED, CLAIMED),
        ({"kubernetes": "1.35.0"}, CLAIMED, CLAIMED, OPEN),
        ({"kubernetes": "1.35.1"}, CLAIMED, CLAIMED, CLAIMED),
        ({"kubernetes": "1.26.2"}, CLAIMED, CLAIMED, OPEN),
        ({"kubernetes": "1.20"}, OPEN, OPEN, OPEN),
        ({"build": "17763.6000"}, SOMEHOW, "refused or timed_out", "refused or timed_out"),
        ({"build": "18363.1256"}, SOMEHOW, "refused or timed_out", "refused or timed_out"),
        ({"build": "19041.572"}, SOMEHOW, "refused or timed_out", "refused or timed_out"),
        (
            {"driver": "overlay", "backend": "vxlan"},
            SOMEHOW,
            "refused or timed_out",
            "refused or timed_out",
        ),
        ({"plugin": "flannel", "backend": "host-gw"}, CLAIMED, OPEN, CLAIMED),
        ({"plugin": "antrea", "driver": "transparent", "mode": "none"}, CLAIMED, SOMEHOW, SOMEHOW),
    ],
    ids=str,
)
def test_where_services_answer_over_ipv6(
    changes: dict[str, str], service: str, port: str, local: str
) -> None:
    """Where kube-proxy falls back to one family no Service of the other answers; IPv4 stays as it is."""
    facts = dual(**{"plugin": "sdnbridge", **changes})
    assert said(facts, SERVICE) == {service}
    assert said(facts, NODEPORT) == {port}
    assert said(facts, LOCAL) == {local}
    assert said(facts, "dual-stack-service/windows-1/linux-1/[a-z-]*/tcp$") == {CLAIMED}


@pytest.mark.parametrize(
    ("proxy", "service", "local"), [("1.26.2", CLAIMED, OPEN), ("1.35.0", CLAIMED, OPEN)]
)
def test_what_kube_proxy_decides_hangs_on_its_own_version(
    proxy: str, service: str, local: str
) -> None:
    """Behind an API server of 1.36 an older kube-proxy on the node keeps its bugs; the kubelet has no part."""
    facts = dual(plugin="sdnbridge", kubernetes="1.36.2")
    older = with_windows(
        facts, kube_proxy={"version": known(KubernetesVersion.parse(proxy), "test")}
    )
    assert said(older, SERVICE) == {service}
    assert said(older, LOCAL) == {local}
    assert said(facts, SERVICE) == said(facts, LOCAL) == {CLAIMED}


@pytest.mark.parametrize(("kubernetes", "near"), [("1.26.2", OPEN), ("1.26.3", CLAIMED)])
def test_endpoints_of_the_clients_own_node_are_open_until_picked(
    kubernetes: str, near: str
) -> None:
    """Local Pods' second address was not read before March 2023; those of other nodes always were."""
    facts = dual(plugin="sdnbridge", kubernetes=kubernetes)
    assert said(facts, "dual-stack-service/windows-1/windows-1/same-node/tcp/ipv6") == {near}
    assert said(facts, "dual-stack-service/windows-1/windows-1/other-node/tcp/ipv6") == {CLAIMED}
