"""What rules of configuration are about: which nodes and clusters are tested, and why others are not."""

from dataclasses import replace

import pytest

from nettests.errors import PlanError
from nettests.model.facts import ClusterFacts, NodeFacts, known, unknown
from nettests.rules.subjects import L2BRIDGE, OVERLAY, subject_of, why_not_about
from tests.plan.clusters import mixed


def windows(facts: ClusterFacts) -> NodeFacts:
    """Return a Windows node with every fact known."""
    node = next(node for node in facts.nodes if node.pool.startswith("windows"))
    proxy = replace(
        node.kube_proxy, mode=known("kernelspace", "test"), dsr=known(value=True, origin="test")
    )
    return replace(node, cni_driver=known("overlay", "test"), kube_proxy=proxy)


@pytest.mark.parametrize("word", ["overlay", "hns", "kernelspace", "dsr", "windows"])
def test_a_rule_about_what_is_there_is_run(word: str) -> None:
    """Nothing speaks against it."""
    facts = mixed()
    assert why_not_about(subject_of(word), facts, windows(facts)) == ""


def test_a_rule_about_something_else_is_skipped_with_both_values() -> None:
    """The reason says what the node has and what the rule is about."""
    facts = mixed()
    reason = why_not_about(L2BRIDGE, facts, windows(facts))
    assert reason == f"the driver of {windows(facts).name} is overlay; the rule is about l2bridge"


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
