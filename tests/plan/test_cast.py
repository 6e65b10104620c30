"""Who plays: two usable members of each role, and reasons for those who do not."""

from dataclasses import replace

from nettests.plan.cast import cast
from tests.plan.clusters import cluster, mixed, node, without


def test_two_members_of_each_role_play() -> None:
    """However many nodes a role has, its first two members are enough to ask every question."""
    many = cluster(*(node("linux-1", member) for member in (3, 1, 4, 2)))
    assert [n.member for n in cast(many).nodes] == [1, 2]


def test_the_next_member_stands_in_for_an_unusable_one() -> None:
    """A cordoned or NotReady member is passed over."""
    first, second, third = (node("linux-1", member) for member in (1, 2, 3))
    players = cast(cluster(replace(first, ready=False), replace(second, schedulable=False), third))
    assert players.roles[0].first is third


def test_a_role_without_usable_nodes_is_absent_with_the_reasons() -> None:
    """Each unusable node of the role is named with what it lacks."""
    one, two = node("windows-1", 1), node("windows-1", 2)
    facts = cluster(node("linux-1", 1), replace(one, ready=False), replace(two, schedulable=False))
    assert cast(facts).absent == (
        ("windows-1", f"no usable node: {one.name} is not Ready, {two.name} is cordoned"),
    )


def test_a_missing_operating_system_is_absent() -> None:
    """A cluster without Windows says so, once."""
    assert cast(without(mixed(), "windows-1")).absent == (
        ("windows", "the cluster has no Windows node"),
    )


def test_a_single_node_holds_two_servers() -> None:
    """A role of one node still has two backends, so that a distribution can be seen."""
    role = cast(cluster(node("linux-1", 1))).roles[0]
    assert role.servers == ("server-linux-1-1", "server-linux-1-1-b")
