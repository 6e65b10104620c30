"""What the lab states of itself in its cluster profile."""

from dataclasses import replace

import pytest
import yaml

from nettests.lab.kubeconfig import documents
from nettests.lab.topology import profiles


@pytest.mark.parametrize(
    ("nodes", "stated"),
    [
        (documents.MANY_NODES, None),
        (documents.MANY_NODES + 1, documents.SHARED_SECONDS),
    ],
)
def test_a_lab_of_hundreds_of_nodes_states_that_its_proxies_share_a_machine(
    nodes: int, stated: int | None
) -> None:
    """New Services are waited for longer there, on both systems; every other lab is waited for as a cluster is."""
    fleet = profiles.load("fleet")
    large = replace(fleet, nodes=(fleet.nodes * nodes)[:nodes])
    text = documents.cluster_profile(
        large, "http://x:1", "socks5://x:2", mtu=1500, nat_exceptions=()
    )
    timing = yaml.safe_load(text)["timing"]
    assert timing.get("convergence") == timing.get("convergenceLinux") == stated
