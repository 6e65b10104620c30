"""Flows that are run in each IP family: ids, Services of the family, and clusters of one family."""

from dataclasses import replace

from nettests.model.check import Check, Plan
from nettests.model.words import Family
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import mixed

FLOWS = load([suites_path()]).flows
SECOND = tuple(flow for flow in FLOWS if flow.each_family)


def plan(*families: Family) -> Plan:
    """Return the plan of the shipped flows on a cluster of these families, the first being primary."""
    return build(replace(mixed(), families=families), FLOWS)


def in_second(made: Plan) -> list[Check]:
    """Return the checks of the second family."""
    return [check for check in made.checks if check.id.endswith("/ipv6")]


def test_a_second_family_adds_checks_and_changes_no_other() -> None:
    """Ids of the first family are those of a cluster of one; the second one's name it last."""
    one, two = plan(Family.IPV4), plan(Family.IPV4, Family.IPV6)
    alone = {flow.name for flow in FLOWS if flow.dual_stack}
    of_first = {check.id: check.action for check in two.checks if not check.id.endswith("/ipv6")}
    kept = {check.id: check.action for check in one.checks}
    assert kept.items() <= of_first.items()
    skipped = {skip.flow for skip in two.skips}
    assert {name.partition("/")[0] for name in of_first.keys() - kept.keys()} == alone - skipped
    assert {check.flow for check in in_second(two)} == {flow.name for flow in SECOND}


def test_checks_of_the_second_family_probe_in_it_to_their_controls() -> None:
    """Question and positive controls are of one family, and so are the Services that they probe."""
    made = plan(Family.IPV4, Family.IPV6)
    stand = {service.name: service.settings for service in made.services}
    for check in in_second(made):
        for action in (check.action, *(control.action for control in check.controls)):
            assert action.family is Family.IPV6, check.id
            settings = stand.get(action.target.service or "")
            if settings is not None:
                both = settings.ip_family_policy == "RequireDualStack"
                assert both or settings.ip_families == (Family.IPV6,), check.id


def test_where_ipv6_is_first_ipv4_is_named() -> None:
    """The family that is not the cluster's primary one stands in the id, whichever it is."""
    made = plan(Family.IPV6, Family.IPV4)
    named = [check for check in made.checks if check.id.endswith("/ipv4")]
    assert {check.action.family for check in named} == {Family.IPV4}
    assert not in_second(made)


def test_one_family_leaves_one_skip_for_each_flow_of_two() -> None:
    """Flows about two families are skipped once each on a cluster of one, with the reason."""
    skipped = {skip.id: skip.reason for skip in plan(Family.IPV4).skips}
    alone = {flow.name for flow in FLOWS if flow.dual_stack}
    assert {name: skipped.get(name) for name in alone} == dict.fromkeys(
        alone, "the cluster has IPv4 only"
    )
