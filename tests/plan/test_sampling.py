"""The sampling rule: what a cluster costs follows from its roles, and from the many of them not in pairs."""

from collections import Counter

import pytest

from nettests.model.check import Check
from nettests.model.facts import ClusterFacts
from nettests.model.words import CheckClass
from nettests.plan import Matrix, build, load
from nettests.plan.cast import cast
from nettests.resources import suites_path
from tests.plan.clusters import cluster, mixed, node

FLOWS = load([suites_path()]).flows
CROSSED = {Matrix.PAIRS, Matrix.ELSEWHERE, Matrix.ROLES, Matrix.OWN_NODE, Matrix.OTHER_NODES}
"""Matrices that cross the roles with each other, asked from inside."""


def large(roles: int, *, kinds: int = 1) -> ClusterFacts:
    """Return a cluster of one Linux role, and Windows roles of so many builds in turn."""
    builds = [f"17763.{1000 + number % kinds}" for number in range(roles - 1)]
    return cluster(
        *(node("linux-1", member) for member in (1, 2)),
        *(
            node(f"windows-{number:02}", member, build=build)
            for number, build in enumerate(builds, 1)
            for member in (1, 2)
        ),
    )


def per_source(facts: ClusterFacts, matrix: Matrix) -> Counter[str]:
    """Return how many checks of one flow of that matrix each source role has."""
    flow = next(flow for flow in FLOWS if flow.matrix is matrix and not flow.dual_stack)
    return Counter(
        check.source.role or "" for check in build(facts, [flow], set(CheckClass)).checks
    )


def test_thirty_nodes_cost_as_much_as_four() -> None:
    """Further members of a role change neither checks nor pods nor Services."""
    thirty = cluster(
        *(node(role, member) for role in ("linux-1", "windows-1") for member in range(1, 16))
    )
    few, many = build(mixed(), FLOWS), build(thirty, FLOWS)
    assert [c.id for c in many.checks] == [c.id for c in few.checks]
    assert (many.pods, many.services, many.skips) == (few.pods, few.services, few.skips)


@pytest.mark.parametrize("roles", [2, 4, 6])
def test_of_a_few_roles_every_pair_is_asked(roles: int) -> None:
    """However alike they are, six roles are crossed with each other."""
    flow = next(flow for flow in FLOWS if flow.name == "pod-to-pod-ip")
    plan = build(large(roles), [flow])
    met = {(c.source.role, c.target.role) for c in plan.checks}
    assert len(met) == roles * roles
    assert [skip.id for skip in plan.skips] == []


@pytest.mark.parametrize("matrix", sorted(CROSSED))
@pytest.mark.parametrize("kinds", [1, 20])
def test_the_cost_of_a_source_does_not_grow_with_roles(matrix: Matrix, kinds: int) -> None:
    """In a cluster of many roles each source has no more checks than in one of six."""
    few = max(per_source(large(6, kinds=5), matrix).values())
    for roles in (10, 30):
        assert max(per_source(large(roles, kinds=kinds), matrix).values()) <= few


def test_roles_of_one_kind_stand_for_each_other() -> None:
    """A source meets itself, and the first role of each kind."""
    players = cast(large(10, kinds=2))
    source = players.roles[-1]
    assert [role.name for role in players.met_by(source)] == [
        "linux-1",
        "windows-01",
        "windows-02",
        "windows-09",
    ]


def test_every_role_is_met_by_another_where_kinds_are_many() -> None:
    """When no role can stand for another, sources begin with those that follow them."""
    players = cast(large(20, kinds=20))
    met = {
        role.name for source in players.roles for role in players.met_by(source) if role != source
    }
    assert met == {role.name for role in players.roles}


def test_what_is_left_out_is_said() -> None:
    """Each source of a flow has one skip that names the roles it does not meet."""
    flow = next(flow for flow in FLOWS if flow.name == "pod-to-pod-ip")
    plan = build(large(8), [flow])
    skips = {skip.id: skip.reason for skip in plan.skips}
    assert skips["pod-to-pod-ip/linux-1/sampled"] == (
        "of 8 roles linux-1 meets 2, one of each kind; left out: windows-02, windows-03, "
        "windows-04, windows-05, windows-06, windows-07"
    )
    asked: list[Check] = [c for c in plan.checks if c.source.role == "linux-1"]
    assert {c.target.role for c in asked} == {"linux-1", "windows-01"}
