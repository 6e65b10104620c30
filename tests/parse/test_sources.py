"""Whose address a server saw."""

import pytest

from nettests.model.words import SourceSeen, VantageKind
from nettests.parse.sources import classify_source

CLUSTER = {"target-node": "172.30.0.13", "cluster": "172.30.0.11,172.30.0.13,10.244.3.0/24"}


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("172.30.0.13", SourceSeen.TARGET_NODE),
        ("172.30.0.11", SourceSeen.OTHER),
        ("10.244.3.2", SourceSeen.OTHER),
        ("198.51.100.20", SourceSeen.EXTERNAL_CLIENT),
    ],
)
def test_an_outside_client_is_who_is_not_of_the_cluster(address: str, seen: SourceSeen) -> None:
    """What is no node's, pod's or source VIP's address came from outside as it is."""
    assert classify_source(address, CLUSTER, VantageKind.EXTERNAL) is seen


def test_from_inside_a_foreign_address_is_nobodys() -> None:
    """A pod's flow never counts as an outside client's."""
    assert classify_source("198.51.100.20", CLUSTER, VantageKind.POD) is SourceSeen.OTHER


def test_without_the_clusters_networks_nobody_is_an_outside_client() -> None:
    """Answers that were recorded without them prove nothing."""
    assert classify_source("198.51.100.20", {}, VantageKind.EXTERNAL) is SourceSeen.OTHER
