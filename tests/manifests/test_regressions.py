"""Regressions of builds of Windows: which builds an entry opens, and every flow that crosses the broken path."""

import pytest

from tests.facts import Shape, cluster_facts
from tests.manifests.shipped import expectations

NODEPORTS = (
    "nodeport-from-other-node",
    "nodeport-from-external",
    "nodeport-from-pod-other-node",
    "nodeport-from-pod-own-node",
    "nodeport-source-address",
)


def overlay(build: str, kubernetes: str) -> Shape:
    """Return the shape of an overlay cluster."""
    return Shape(
        kubernetes=kubernetes, backend="vxlan", build=build, driver="overlay", source_vip=True
    )


@pytest.mark.parametrize("kubernetes", ["1.22.17", "1.28.15", "1.32.0", "1.33.5", "1.36.2"])
@pytest.mark.parametrize(
    ("build", "is_open"),
    [
        ("20348.1", True),
        ("20348.2966", True),
        ("20348.2967", False),
        ("17763.5000", False),
        ("26100.1", False),
    ],
)
def test_nodeports_of_overlay_nodes_are_open_by_build_alone(
    build: str, kubernetes: str, *, is_open: bool
) -> None:
    """Builds that were documented as broken are left open, other builds are not, on any Kubernetes."""
    found = expectations(cluster_facts(overlay(build, kubernetes)))
    for flow in NODEPORTS:
        asked = {check: one for check, one in found.items() if _aims(check, flow, "windows-1")}
        assert asked
        for check, one in asked.items():
            named = one.limitation.id if one.limitation else ""
            assert (named == "nodeport-overlay-ws2022-bug") is is_open, check
            assert (one.expected is None) is is_open, check


def _aims(check: str, flow: str, target: str) -> bool:
    name, _source, role, *_ = check.split("/")
    return (name, role) == (flow, target)
