"""Who plays: two usable members of each node pool, and reasons for those who do not."""

from dataclasses import replace

from nettests.plan.node_pools import choose_pools
from tests.plan.clusters import cluster, mixed, node, without


def test_every_member_of_a_node_pool_is_a_probe_node() -> None:
    """However many nodes a node pool has, each is tested."""
    many = cluster(*(node("linux-1", member) for member in (3, 1, 4, 2)))
    assert [n.member for n in choose_pools(many).nodes] == [1, 2, 3, 4]


def test_the_next_member_stands_in_for_an_unusable_one() -> None:
    """A cordoned or NotReady member is passed over."""
    first, second, third = (node("linux-1", member) for member in (1, 2, 3))
    node_pools = choose_pools(
        cluster(replace(first, ready=False), replace(second, schedulable=False), third)
    )
    assert node_pools.pools[0].first is third


def test_a_node_pool_without_usable_nodes_is_absent_with_the_reasons() -> None:
    """Each unusable node of the node pool is named with what it lacks."""
    one, two = node("windows-1", 1), node("windows-1", 2)
    facts = cluster(node("linux-1", 1), replace(one, ready=False), replace(two, schedulable=False))
    assert choose_pools(facts).absent == (
        ("windows-1", f"no usable node: {one.name} is not Ready, {two.name} is cordoned"),
    )


def test_a_missing_operating_system_is_absent() -> None:
    """A cluster without Windows says so, once."""
    assert choose_pools(without(mixed(), "windows-1")).absent == (
        ("windows", "the cluster has no Windows node"),
    )


def test_a_single_node_holds_two_servers() -> None:
    """A node pool of one node still has two backends, so that a distribution can be seen."""
    pool = choose_pools(cluster(node("linux-1", 1))).pools[0]
    assert pool.servers == ("server-linux-1-1", "server-linux-1-1-b")
