"""Incidents of settings that deviate, and of nodes that are not at the addresses in their status."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from nettests.judge.distrust import misaddressed_node
from nettests.model.words import Outcome, Question, Verdict
from nettests.report import Results
from nettests.report.results import CheckResult
from tests.report.test_incidents import WIN, broken, holding


def rule_of(one: CheckResult) -> str:
    """Return the rule of configuration that a check is about; empty for other checks."""
    action = one.check.action if one.check and one.ran else None
    return (
        action.case.label if action and action.case and action.question is Question.INSPECT else ""
    )


def deviating(results: Results, rules: Collection[str], outcome: Outcome) -> Results:
    """Return the results with checks of these rules red."""
    checks = [
        replace(one, verdict=Verdict.FAIL, observation=replace(one.observation, outcome=outcome))
        if one.observation and rule_of(one) in rules
        else one
        for one in results.checks
    ]
    return holding(results, checks)


def test_rules_of_one_node_are_one_cause(quiet: Results) -> None:
    """Of different flows, whatever else conforms there; the rules are named."""
    rules = ("windows-build-label", "hostname-override")
    (incident,) = deviating(quiet, rules, Outcome.DEVIATES).incidents
    assert incident.traits == {"settings": WIN}
    assert incident.cause == (
        f"Settings of {WIN} are not as documented (hostname-override and windows-build-label)"
    )
    assert len(incident.checks) == 2


def test_what_could_not_be_read_deviates_from_nothing(quiet: Results) -> None:
    """A probe that failed shows no setting."""
    rules = ("windows-build-label", "hostname-override")
    incidents = deviating(quiet, rules, Outcome.PROBE_FAILED).incidents
    assert not any("settings" in one.traits for one in incidents)


def test_settings_lead_before_as_many_checks_of_which_nothing_is_known(quiet: Results) -> None:
    """What was read word for word is a cause; that checks of a flow fail alike is none."""
    flows = ("pod-to-own-ip", "node-to-external-name")
    found = deviating(quiet, ("windows-build-label", "hostname-override"), Outcome.DEVIATES)
    for flow in flows:
        probed = [one for one in found.checks if one.ran and one.flow == flow][:2]
        ids = {one.id for one in probed}
        both = broken(found, lambda check, ids=ids: check.id in ids)  # type: ignore[misc]
        sizes = [len(one.checks) for one in both.incidents]
        if sizes[:2] != [2, 2]:
            continue
        assert both.incidents[0].traits == {"settings": WIN}
        return
    pytest.fail("no two checks of a flow share a cause in this plan")


@pytest.mark.parametrize(
    ("why", "node"),
    [
        ("server-windows-1-1 saw 172.30.0.13 from node-windows-1-1, which is no address of w", "w"),
        ("there is no IPv4 address of win-1 among fd00:172:30::15", "win-1"),
        ("there is no IPv6 address among 10.244.1.11", None),
        ("the Pod has gone", None),
    ],
)
def test_a_node_without_its_address_is_read_off_the_reason(why: str, node: str | None) -> None:
    """A Pod's address is another matter."""
    assert misaddressed_node(why) == node


def test_a_node_that_is_not_at_its_address_is_one_cause(quiet: Results) -> None:
    """Whoever cannot prove where it runs, and whatever could not be probed there."""
    why = f"server-windows-1-1 saw 172.30.0.99 from node-windows-1-1, which is no address of {WIN}"
    checks = [
        replace(
            one,
            verdict=Verdict.UNKNOWN,
            observation=replace(one.observation, trusted=False, distrust=why),
            distrust=why,
        )
        if one.observation and one.check and WIN in {one.check.source.node, one.check.target.node}
        else one
        for one in quiet.checks
    ]
    (incident,) = holding(quiet, checks).incidents
    assert incident.cause == f"Node {WIN} does not answer at the addresses in its status"
    assert incident.traits == {"node-addresses": WIN}
    assert "--node-ip" in incident.next_step
