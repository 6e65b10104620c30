"""Which nodes the fleet sweep takes by what a user chose, and which are about to go."""

import re
from typing import Any

import pytest

from nettests.cluster import nodes
from nettests.cluster.nodes import LEAVING, scope_of
from nettests.errors import ManifestError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import FleetScope
from tests.cluster.recorded import linux_node, windows_node


def labelled(name: str, **labels: str) -> dict[str, Any]:
    """Return a node with these labels."""
    return {"metadata": {"name": name, "labels": labels}}


NODES: list[dict[str, Any]] = [
    labelled("a", pool="win", stage="prod"),
    labelled("b", pool="win", stage="canary"),
    labelled("c", pool="linux"),
    {"metadata": {"name": "d"}},
]


@pytest.mark.parametrize(
    ("chosen", "matched"),
    [
        ("pool=win", ("a", "b")),
        ("pool==win", ("a", "b")),
        ("pool!=win", ("c", "d")),
        ("stage", ("a", "b")),
        ("pool=win,stage!=canary", ("a",)),
        ("pool=win, stage=canary", ("b",)),
        ("pool=nothing", ()),
        ("a", ("a",)),
        ("d, a", ("a", "d")),
    ],
)
def test_nodes_are_chosen_by_names_or_as_kubectls_selector_does(
    chosen: str, matched: tuple[str, ...]
) -> None:
    """Names where each part is one; else equality, inequality and presence of labels, all of which have to hold."""
    assert scope_of(NODES, chosen) == FleetScope(chosen=chosen, nodes=matched)


@pytest.mark.parametrize("chosen", ["all", "sample"])
def test_words_name_no_nodes(chosen: str) -> None:
    """Who takes part is decided by planning, from each node's own facts."""
    assert scope_of(NODES, chosen) == FleetScope(chosen=chosen)


@pytest.mark.parametrize("chosen", ["pool in (a)", "=x", "a=b,,c", "pool=win;rm", ""])
def test_what_is_no_selector_is_refused_with_what_is(chosen: str) -> None:
    """A typing error must not sweep another part of a cluster than was meant."""
    with pytest.raises(ManifestError, match="cannot be chosen by") as caught:
        scope_of(NODES, chosen)
    assert "sample" in str(caught.value)


@pytest.mark.parametrize(
    ("chosen", "excluded", "says"),
    [
        ("win-1,win-22", (), "win-22 is no node.*did you mean 'win-2'"),
        ("wni-2", (), "did you mean 'win-2'"),
        ("win-1,stage", (), "win-1 is a node, and no node has such a label.*not both"),
        ("all", ("win-4",), "--exclude-node: the cluster has no node 'win-4'.*did you mean 'win-"),
    ],
)
def test_a_node_that_is_not_there_is_an_error_with_near_misses(
    chosen: str, excluded: tuple[str, ...], says: str
) -> None:
    """A misspelt name must not test another part of the cluster, or nothing."""
    nodes_there = [labelled("win-1", stage="a"), labelled("win-2"), labelled("linux-1")]
    with pytest.raises(ManifestError) as caught:
        scope_of(nodes_there, chosen, excluded)
    assert re.search(says, str(caught.value), re.DOTALL)


def test_an_excluded_node_takes_no_part() -> None:
    """It is left out as a drained node is, by name and with the reason."""
    node = windows_node()
    profile = ClusterProfile(excluded_nodes=(nodes.name_of(node),))
    assert nodes.left_out(node, profile) == "excluded by --exclude-node"
    assert nodes.left_out(linux_node(), profile) == ""


@pytest.mark.parametrize("key", LEAVING)
def test_a_node_that_is_being_removed_takes_no_part(key: str) -> None:
    """What an autoscaler drains would be red for going, and no fault of the network."""
    node = windows_node()
    assert nodes.left_out(node, ClusterProfile()) == ""
    node["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    assert nodes.left_out(node, ClusterProfile()) == f"being drained and removed (taint {key})"
    assert nodes.left_out(linux_node(), ClusterProfile()) == ""
