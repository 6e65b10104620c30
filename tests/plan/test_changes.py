"""Flows that change Services: which Services they need, of whose they are, and which classes have to be enabled."""

import pytest

from nettests.model.check import Check, Plan
from nettests.model.permission import DELETE_POD, DELETE_SERVICE, UPDATE_SERVICE
from nettests.model.service import LOAD_BALANCER, Change, sibling_of
from nettests.model.words import CheckClass, Question, TargetKind
from nettests.plan import build, load
from nettests.plan.permissions import needed
from nettests.resources import suites_path
from tests.plan.clusters import alone, mixed

FLOWS = [flow for flow in load([suites_path()]).flows if flow.question is Question.CHURN]
ALL = frozenset(CheckClass)


def plan(name: str, enabled: frozenset[CheckClass] = ALL) -> Plan:
    """Return the plan of one of these flows."""
    return alone(build(mixed(), [flow for flow in FLOWS if flow.name == name], enabled))


def members(whole: Plan) -> list[Check]:
    """Return who watches, one for each node or pair of nodes."""
    return [one for check in whole.checks for one in check.each]


def change_of(check: Check) -> Change:
    """Return what happens before a check."""
    assert check.target.settings is not None
    return check.target.settings.change


def test_each_change_is_made_by_a_flow() -> None:
    """No word of the closed set is left over."""
    assert {flow.service.change for flow in FLOWS if flow.service} == set(Change)


def test_a_sibling_stands_in_front_of_the_same_pods() -> None:
    """Each check has a sibling of its own, which is an ordinary Service without changes of its own."""
    whole = plan("service-sibling-deleted")
    services = {one.name: one for one in whole.services}
    for check in members(whole):
        name = check.target.service or ""
        twin = services[sibling_of(name)]
        assert twin.backends == services[name].backends == check.target.backends
        assert twin.settings.change is Change.RECREATED
    assert len({check.target.service for check in members(whole)}) == len(whole.checks)


def test_no_other_change_has_a_sibling() -> None:
    """Services without a check are not created."""
    for flow in FLOWS:
        names = {service.name for service in plan(flow.name).services}
        twins = {name for name in names if name.endswith(sibling_of(""))}
        assert bool(twins) is (flow.name == "service-sibling-deleted")


def test_a_load_balancer_is_changed_at_its_own_address() -> None:
    """It is one Service for each pair of node pools, with the other servers before the last one."""
    whole = plan("loadbalancer-endpoints-changed")
    assert whole.checks
    for check in members(whole):
        assert check.target.kind is TargetKind.LOADBALANCER
        assert check.target.settings is not None
        assert check.target.settings.type == LOAD_BALANCER
        assert check.target.former
    assert len({check.target.service for check in members(whole)}) == len(whole.checks)


@pytest.mark.parametrize("enabled", [CheckClass.DISRUPTIVE, CheckClass.EXPOSED])
def test_a_load_balancer_that_changes_needs_both_classes(enabled: CheckClass) -> None:
    """Who enables changes has not said yet that outsiders may reach something, and the other way round."""
    whole = plan("loadbalancer-endpoints-changed", frozenset({enabled}))
    missing = {CheckClass.DISRUPTIVE, CheckClass.EXPOSED} - {enabled}
    assert not whole.checks
    assert {skip.reason.rpartition("=")[2] for skip in whole.skips} == {
        one.value for one in missing
    }
    assert not plan("service-endpoints-changed", frozenset({CheckClass.EXPOSED})).checks
    assert plan("service-endpoints-changed", frozenset({CheckClass.DISRUPTIVE})).checks


def test_a_change_needs_the_permission_that_it_takes() -> None:
    """What is changed in place is updated; what goes is deleted."""
    for flow in FLOWS:
        for check in members(plan(flow.name)):
            found = needed(check.action, mixed())
            pods = {Change.POD, Change.SAME_ADDRESS}
            updated = change_of(check) in {Change.ENDPOINTS, Change.PORT_NAME, *pods}
            assert (UPDATE_SERVICE in found) is updated
            assert (DELETE_SERVICE in found) is not updated
            assert (DELETE_POD in found) is (change_of(check) in pods)


def test_silent_connections_go_to_services_of_other_nodes() -> None:
    """Each has the ports for them, and the Pod behind it is on another node than the client."""
    flows = [one for one in load([suites_path()]).flows if one.name == "pod-to-service-idle"]
    whole = build(mixed(), flows, ALL)
    assert whole.checks
    for check in whole.each:
        assert check.target.node != check.source.node
        assert len(check.target.backends) == 1
    idle = [one for one in whole.services if one.settings.idle_ports]
    assert {one.name for one in idle} >= {check.target.service for check in whole.each}
