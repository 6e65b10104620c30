"""The lab is no table: one rule changed by hand in a switch changes exactly what it stands for."""

import pytest

from tests.lab.network.clusters import NODE_ADDRESS, VIP, WIN_A, WIN_B, backend, profile, service
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory

OTHER_VIP = "10.96.7.8"


@pytest.fixture
def lab(start_lab: StartLab) -> Laboratory:
    """Two Services, of which the table knows nothing but the backends."""
    lab = start_lab(profile())
    lab.attach(WIN_A, "client")
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    lab.program(
        service(server, name="web", vip=VIP),
        service(server, name="other", vip=OTHER_VIP, node_port=30081),
    )
    return lab


def test_a_rule_on_the_host_port_lets_the_node_reach_the_service(lab: Laboratory) -> None:
    """node → ClusterIP times out for want of a rule on the host's port, and works with one."""
    assert lab.request(WIN_A, VIP, 80) == "timed out"
    lab.nft(
        f"{WIN_A}/switch",
        f'insert rule ip hns load-balancing iifname "host" ip daddr {VIP} tcp dport 80'
        " goto ClusterIP/default/web/tcp",
    )
    assert lab.request(WIN_A, VIP, 80) == f"server sees {NODE_ADDRESS[WIN_A]}"
    assert lab.request(WIN_A, OTHER_VIP, 80) == "timed out"


def test_an_emptied_chain_takes_the_service_from_the_nodes_pods(lab: Laboratory) -> None:
    """pod → ClusterIP times out once the Service's chain is empty; the other Service still works."""
    assert lab.request("client", VIP, 80) == f"server sees {NODE_ADDRESS[WIN_A]}"
    lab.nft(f"{WIN_A}/switch", "flush chain ip hns ClusterIP/default/web/tcp")
    assert lab.request("client", VIP, 80) == "timed out"
    assert lab.request("client", OTHER_VIP, 80) == f"server sees {NODE_ADDRESS[WIN_A]}"


def test_a_resync_without_changes_keeps_what_was_done_by_hand(lab: Laboratory) -> None:
    """Programming the same Services again loads nothing."""
    server = backend(lab.attach(WIN_B, "server-2"), WIN_B)
    table = [service(server)]
    lab.program(*table)
    lab.nft(f"{WIN_A}/switch", "flush chain ip hns ClusterIP/default/web/tcp")
    lab.program(*table)
    assert lab.request("client", VIP, 80) == "timed out"


def test_a_table_deleted_by_hand_is_built_anew_with_the_next_change(lab: Laboratory) -> None:
    """A difference that no longer fits makes the whole table be programmed again."""
    lab.nft(f"{WIN_A}/switch", "delete table ip hns")
    assert lab.request("client", VIP, 80) == "timed out"
    server = backend(lab.attach(WIN_B, "server-3"), WIN_B)
    lab.program(service(server))
    assert lab.request("client", VIP, 80) == f"server-3 sees {NODE_ADDRESS[WIN_A]}"
