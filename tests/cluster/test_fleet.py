"""Which nodes the fleet sweep takes by what a user chose, and which are about to go."""

from typing import Any

import pytest

from nettests.cluster import nodes
from nettests.cluster.fleet import LEAVING, scope_of
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
    ],
)
def test_a_selector_matches_as_kubectls_does(chosen: str, matched: tuple[str, ...]) -> None:
    """Equality, inequality and presence of labels; all parts have to hold."""
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


@pytest.mark.parametrize("key", LEAVING)
def test_a_node_that_is_being_removed_takes_no_part(key: str) -> None:
    """What an autoscaler drains would be red for going, and no fault of the network."""
    node = windows_node()
    assert nodes.left_out(node, ClusterProfile()) == ""
    node["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    assert nodes.left_out(node, ClusterProfile()) == f"being drained and removed (taint {key})"
    assert nodes.left_out(linux_node(), ClusterProfile()) == ""
