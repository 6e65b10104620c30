"""What rules of configuration are about: which nodes and clusters are tested, and why others are not."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.errors import PlanError
from nettests.model.facts import ClusterFacts, Fact, NodeFacts, known, unknown
from nettests.rules.subjects import (
    DSR,
    KERNELSPACE,
    KUBE_PROXY,
    KUBE_PROXY_ON_HOST,
    KUBE_PROXY_POD,
    L2BRIDGE,
    OVERLAY,
    is_reported_later,
    subject_of,
    why_not_about,
)
from tests.plan.clusters import mixed


def windows(facts: ClusterFacts) -> NodeFacts:
    """Return a Windows node with every fact known."""
    node = next(node for node in facts.nodes if node.pool.startswith("windows"))
    proxy = replace(
        node.kube_proxy, mode=known("kernelspace", "test"), dsr=known(value=True, origin="test")
    )
    return replace(node, cni_driver=known("overlay", "test"), kube_proxy=proxy)


def test_a_cloud_is_known_by_its_platform() -> None:
    """What is about Google's managed service is skipped elsewhere, with the name of what is there."""
    facts = replace(mixed(), platform=known("gke", "test"))
    assert why_not_about(subject_of("gke"), facts, windows(facts)) == ""
    elsewhere = replace(facts, platform=known("aks", "test"))
    assert "the managed service is aks" in why_not_about(
        subject_of("gke"), elsewhere, windows(facts)
    )


@pytest.mark.parametrize("word", ["overlay", "hns", "kernelspace", "dsr", "windows"])
def test_a_rule_about_what_is_there_is_run(word: str) -> None:
    """Nothing speaks against it."""
    facts = mixed()
    assert why_not_about(subject_of(word), facts, windows(facts)) == ""


def test_a_rule_about_something_else_is_skipped_with_both_values() -> None:
    """The reason says what the node has and what the rule is about."""
    facts = mixed()
    reason = why_not_about(L2BRIDGE, facts, windows(facts))
    assert (
        reason
        == f"the driver of {windows(facts).name} is overlay; the rule applies where it is l2bridge"
    )


def test_an_unknown_subject_is_skipped_with_the_reason() -> None:
    """Where it is not known whether the rule is expected, it is not taken for good."""
    facts = mixed()
    node = replace(windows(facts), cni_driver=unknown("Calico does not tell"))
    assert why_not_about(OVERLAY, facts, node) == (
        f"the driver of {node.name} is not known: Calico does not tell"
    )


def test_a_misspelt_subject_is_an_error() -> None:
    """A case that would never be run is not declared silently."""
    with pytest.raises(PlanError, match="overly"):
        subject_of("overly")


def without_pod(**facts: Fact[Any]) -> NodeFacts:
    """Return a Windows node whose kube-proxy is no Pod, and of which no object tells more."""
    node = windows(mixed())
    why: Fact[Any] = unknown("no kube-proxy Pod runs")
    told: dict[str, Any] = {"mode": why, "dsr": why, "version": why, "as_pod": known(False, "test")}
    return replace(node, kube_proxy=replace(node.kube_proxy, **{**told, **facts}))


def test_what_a_node_is_to_tell_of_its_kube_proxy_is_waited_for() -> None:
    """Mode and DSR of one without a Pod; what is never told, and what is known, is not."""
    facts = mixed()
    assert is_reported_later(KERNELSPACE, facts, without_pod())
    assert is_reported_later(DSR, facts, without_pod())
    assert not is_reported_later(KUBE_PROXY_POD, facts, without_pod())
    assert not is_reported_later(KERNELSPACE, facts, without_pod(mode=known("userspace", "test")))
    assert not is_reported_later(KERNELSPACE, facts, without_pod(as_pod=known(True, "test")))
    assert not is_reported_later(KERNELSPACE, facts, without_pod(as_pod=unknown("not listed")))
    assert not is_reported_later(KERNELSPACE, facts, None)


@pytest.mark.parametrize(
    ("told", "anywhere", "on_host"),
    [
        ({}, True, True),
        ({"as_pod": known(True, "test"), "version": known("1.29", "test")}, True, False),
        ({"as_pod": unknown("not listed")}, False, False),
        ({"mode": known("none", "test")}, False, False),
    ],
)
def test_kube_proxy_is_read_in_its_pod_or_on_its_host(
    told: dict[str, Fact[Any]], anywhere: bool, on_host: bool
) -> None:
    """Where Antrea serves Services, or Pods may not be listed, in neither."""
    facts, node = mixed(), without_pod(**told)
    assert (why_not_about(KUBE_PROXY, facts, node) == "") is anywhere
    assert (why_not_about(KUBE_PROXY_ON_HOST, facts, node) == "") is on_host
