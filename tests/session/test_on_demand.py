"""What ``nettests diagnose`` looks at: the subjects of a demand, and where it may put Pods."""

from dataclasses import replace

import pytest

from nettests.diagnose.subjects import DNS, NODE
from nettests.errors import PlanError
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.plan import build, load
from nettests.resources import suites_path
from nettests.session.diagnose_now import Demand, _may_stand_on, _pod, _wanted
from tests.plan.clusters import mixed, node

FLOWS = load([suites_path()]).flows
FACTS: ClusterFacts = mixed()
PLAN: Plan = build(FACTS, FLOWS)
PATH = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
SERVICE = "pod-to-service-clusterip/windows-1/linux-1/other-node/tcp"


def kinds(demand: Demand) -> dict[str, set[str]]:
    """Return the names of what is wanted, by kind of subject."""
    found: dict[str, set[str]] = {}
    for one in _wanted(demand, FACTS, PLAN):
        found.setdefault(one.subject.kind, set()).add(one.subject.name)
    return found


def test_without_a_choice_all_nodes_and_the_dns_are_looked_at() -> None:
    """That is what anybody tests first; no check is behind it."""
    wanted = _wanted(Demand(), FACTS, PLAN)
    nodes = [one.subject.name for one in wanted if one.subject.kind == NODE]
    assert nodes == [one.name for one in FACTS.nodes]
    assert [one.subject.name for one in wanted if one.subject.kind == DNS] == ["kube-dns"]
    assert {one.checks for one in wanted} == {()}


def test_a_node_is_looked_at_alone() -> None:
    """In the order in which nodes are named; nothing else is looked at."""
    names = (FACTS.nodes[2].name, FACTS.nodes[0].name)
    wanted = _wanted(Demand(nodes=names), FACTS, PLAN)
    assert [(one.subject.kind, one.subject.name) for one in wanted] == [
        (NODE, name) for name in names
    ]


def test_a_check_leads_to_its_nodes_and_names_itself() -> None:
    """Both ends of a path; Services and Pods stand only where a run was kept."""
    check = next(one for one in PLAN.checks if one.id == SERVICE)
    plain = kinds(Demand(checks=(SERVICE,)))
    assert set(plain) <= {NODE, DNS}
    assert {one.source.node for one in check.each} <= plain[NODE]
    kept = kinds(Demand(checks=(SERVICE,), run="20261121-140412-ab12"))
    assert plain.items() <= kept.items()
    assert len(kept) > len(plain)
    for one in _wanted(Demand(checks=(SERVICE,)), FACTS, PLAN):
        assert one.checks == (SERVICE,)


def test_a_check_of_the_fleet_leads_to_the_nodes_of_its_members() -> None:
    """All of them by its own id, and by a member's the two that this one is about."""
    fleet = "pod-to-pod-ip/windows-1/windows-1/other-node/tcp"
    one, other = (node.name for node in FACTS.nodes if node.pool == "windows-1")
    assert kinds(Demand(checks=(fleet,))) == {NODE: {one, other}}
    member = f"{fleet}#{one} → {other}"
    assert kinds(Demand(checks=(member,))) == {NODE: {one, other}}
    wanted = _wanted(Demand(checks=(member,)), FACTS, PLAN)
    assert [found.checks for found in wanted] == [(member,)] * 2


def test_what_several_checks_pass_names_them_all() -> None:
    """A node of two checks is one subject; a node that was named itself keeps its place."""
    source = next(one.each[0].source.node for one in PLAN.checks if one.id == PATH)
    demand = Demand(checks=(PATH, SERVICE), nodes=(source or "",))
    first, *_ = _wanted(demand, FACTS, PLAN)
    assert (first.subject.name, first.checks) == (source, (PATH, SERVICE))


@pytest.mark.parametrize(
    ("demand", "said", "hint"),
    [
        (Demand(nodes=("node-linux-1-1-x8",)), "the cluster has no node 'node-linux-1-1-x8'", "node-linux-1-1-x7"),
        (Demand(checks=(PATH.replace("tcp", "tpc"),)), "this cluster has no check", PATH),
    ],
)  # fmt: skip
def test_what_there_is_not_is_refused_with_the_nearest(
    demand: Demand, said: str, hint: str
) -> None:
    """Before anything is read or created."""
    with pytest.raises(PlanError, match=said) as caught:
        _wanted(demand, FACTS, PLAN)
    assert f"did you mean '{hint}'?" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("pool", "host_process", "ready", "may"),
    [
        ("linux-1", False, True, True),
        ("linux-1", False, False, False),
        ("windows-1", True, True, True),
        ("windows-1", False, True, False),
        ("windows-1", None, True, False),
        ("windows-1", True, False, False),
    ],
)
def test_a_pod_stands_for_a_node_that_takes_it(
    pool: str,
    host_process: bool | None,
    *,
    ready: bool,
    may: bool,
) -> None:
    """Windows has to run HostProcess Pods, and it has to be known; a node that is not Ready takes none."""
    fact = unknown("nobody said") if host_process is None else known(host_process, "test")
    one = replace(node(pool, 1), host_process=fact, ready=ready)
    assert _may_stand_on(one) is may


def test_a_pod_that_stands_for_a_node_is_of_its_system() -> None:
    """On the node itself."""
    pod = _pod(node("windows-1", 2))
    assert (pod.node, pod.pool, pod.os, pod.purpose) == (
        "node-windows-1-2-x7",
        "windows-1",
        "windows",
        "node",
    )
    assert pod.name != _pod(node("windows-1", 1)).name
