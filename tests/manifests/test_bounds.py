"""Bounds of entries that one report alone supports: the builds that it can have seen."""

import pytest

from tests.facts import Shape, cluster_facts
from tests.manifests.shipped import expectations


@pytest.mark.parametrize(
    ("build", "is_open"),
    [
        ("20348.4528", False),
        ("20348.4529", True),
        ("20348.4647", True),
        ("20348.4648", False),
        ("26100.7462", True),
        ("26100.32230", False),
    ],
)
def test_one_report_opens_pings_for_the_builds_that_it_can_have_seen(
    build: str, *, is_open: bool
) -> None:
    """The report of 8 January 2026 speaks of Calico and no later update than December's."""
    shape = Shape(
        kubernetes="1.33.5", backend="vxlan", driver="overlay", plugin="calico", build=build
    )
    one = expectations(cluster_facts(shape))["icmp-egress/windows-1/external/outside/icmp"]
    assert (one.expected is None) is is_open
