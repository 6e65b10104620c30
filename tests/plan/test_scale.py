"""Checks that look for a limit: how many connections and Services they make, and who looks at nodes for them."""

from dataclasses import replace

import pytest

from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts, Scale, known
from nettests.model.words import OS, CheckClass, Question
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.test_members import fleet

FLOWS = [
    flow
    for flow in load([suites_path() / "test_scale.py"]).flows
    if flow.question in {Question.FLOWS, Question.SCALE}
]


def on_windows(facts: ClusterFacts) -> set[str]:
    """Return the names of the Windows nodes."""
    return {node.name for node in facts.nodes if node.os is OS.WINDOWS}


def planned(facts: ClusterFacts, *names: str) -> Plan:
    """Return the plan of some of the flows, or of all, where costly ones are enabled."""
    chosen = [flow for flow in FLOWS if flow.name in names or not names]
    return build(facts, chosen, (CheckClass.COSTLY,))


def test_they_are_costly() -> None:
    """Without their class none is run."""
    assert build(fleet(), FLOWS).checks == ()


@pytest.mark.parametrize("scale", [Scale(), Scale(flows=100, services=2000)])
def test_the_facts_say_how_many_there_are(scale: Scale) -> None:
    """Each check, and each member of one, makes as many."""
    plan = planned(replace(fleet(), scale=scale))
    numbers = {
        (one.action.question, one.action.connections) for check in plan.checks for one in check.each
    }
    assert numbers == {(Question.FLOWS, scale.flows), (Question.SCALE, scale.services)}


def test_every_node_looks_at_many_services() -> None:
    """Each as a member, at a Service of its own pool."""
    (windows,) = [
        one
        for one in planned(fleet(), "many-services").checks
        if one.id == "many-services/windows-1/tcp"
    ]
    assert {one.action.source.node for one in windows.members} == on_windows(fleet())


@pytest.mark.parametrize("allowed", [True, False])
def test_where_hns_can_be_searched_a_pod_stands_that_does(allowed: bool) -> None:
    """On each Windows node; where no Pod may see all of a node, the check is run without."""
    facts = fleet()
    facts = replace(
        facts,
        privileged=known(value=allowed, origin="test"),
        nodes=tuple(
            replace(one, host_process=known(value=True, origin="t")) for one in facts.nodes
        ),
    )
    plan = planned(facts, "many-services-removed")
    searching = {pod.node for pod in plan.pods if pod.purpose == "node"}
    assert searching == (on_windows(facts) if allowed else set())
    assert len(plan.checks) == 2
