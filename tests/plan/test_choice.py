"""Flows and checks by patterns, and what failed in a former run: what is chosen, and what a slip is answered with."""

from dataclasses import replace

import pytest

from nettests.errors import PlanError
from nettests.model.facts import FleetScope
from nettests.model.words import CheckClass
from nettests.plan import Choice, build, load
from nettests.plan.selection import chosen_of
from nettests.resources import suites_path
from tests.facts import cluster_facts

NAMES = ("dns-fqdn", "dns-pqdn", "pod-to-pod-ip", "pod-to-node", "pod-to-service")
FACTS = cluster_facts("win2019-l2bridge")
FLOWS = load([suites_path()]).select(["pod-to-pod-ip", "icmp-egress"]).flows
PLAN = build(FACTS, FLOWS)
COSTLY = load([suites_path()]).select(["connection-loss", "pod-to-pod-ip"]).flows


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], set(NAMES)),
        (["pod-to-node"], {"pod-to-node"}),
        (["pod-to-*"], {"pod-to-pod-ip", "pod-to-node", "pod-to-service"}),
        (["!dns-*"], {"pod-to-pod-ip", "pod-to-node", "pod-to-service"}),
        (["pod-to-*", "!*-ip", "dns-fqdn"], {"pod-to-node", "pod-to-service", "dns-fqdn"}),
        (["dns-?qdn", "!dns-p*"], {"dns-fqdn"}),
    ],
)
def test_patterns_choose_and_leave_out(patterns: list[str], chosen: set[str]) -> None:
    """What one without ``!`` matches, all if there is none, less what those with it match."""
    assert chosen_of(NAMES, patterns, "no flow") == chosen


@pytest.mark.parametrize(
    ("patterns", "says"),
    [
        (["pod-to-pdo"], "no flow 'pod-to-pdo'\n  → did you mean 'pod-to-pod-ip' or"),
        (["pod-to-s*", "!dsn-*"], "no flow '!dsn-*'\n  → did you mean 'dns-"),
        (["*-node-*"], "did you mean 'pod-to-node'?"),
        (["pod-to-node,dns-*"], "repeat the option for each one: pod-to-node and dns-*"),
        (["dns-*", "!dns-*"], "nothing matches all of dns-* !dns-*"),
    ],
)
def test_a_pattern_that_matches_nothing_is_an_error(patterns: list[str], says: str) -> None:
    """A misspelt exclusion, too: it would run what was not to be run."""
    with pytest.raises(PlanError) as caught:
        chosen_of(NAMES, patterns, "no flow")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "pattern", ["pod-to-*", "*/udp", "!pod-to-node/*", "pod-to-pod-ip/linux-1/*", "dns-fqdn"]
)
def test_what_can_match_a_check_needs_a_cluster_to_tell(pattern: str) -> None:
    """Ids begin with their flow; the rest is made of node pools."""
    Choice(patterns=(pattern,)).require_flows(NAMES)


@pytest.mark.parametrize("pattern", ["pod-to-dop-ip/*", "pods-*", "!dns-fqdn-*", "pod-to-pod/x"])
def test_what_matches_no_flows_check_is_said_before_there_is_a_plan(pattern: str) -> None:
    """No cluster is contacted for a slip."""
    with pytest.raises(PlanError, match="--check: no flow has a check that matches") as caught:
        Choice(patterns=(pattern,)).require_flows(NAMES)
    assert "did you mean" in caught.value.hint


def test_a_plan_is_reduced_to_checks_that_match_and_what_they_need() -> None:
    """Ids stay; Pods and Services of the rest go."""
    part = Choice(patterns=("pod-to-pod-ip/*/tcp", "!*/linux-1/linux-1/*")).of(PLAN, FACTS)
    assert {check.id.rpartition("/")[2] for check in part.checks} == {"tcp"}
    assert {check.id for check in part.checks} < {check.id for check in PLAN.checks}
    assert len(part.pods) <= len(PLAN.pods)
    assert Choice().of(PLAN, FACTS) is PLAN
    with pytest.raises(PlanError, match=r"this cluster has no check that matches '.*sctp'"):
        Choice(patterns=("pod-to-pod-ip/*/sctp",)).of(PLAN, FACTS)


def test_what_failed_before_is_repeated_with_its_members_alone() -> None:
    """Of a check that names none of its members, all are; what is not planned any more is left aside."""
    check = max(PLAN.checks, key=lambda check: len(check.members))
    first = check.members[0].label
    other = next(one for one in PLAN.checks if one.id != check.id)
    again = {check.id: (first, "gone → gone"), other.id: (), "gone/x": ()}
    part = Choice(run="r", again=again).of(PLAN, FACTS)
    by_id = {one.id: one for one in part.checks}
    assert by_id == {check.id: replace(check, members=check.members[:1]), other.id: other}
    with pytest.raises(PlanError, match="no check that failed in r is planned here"):
        Choice(run="r", again={"gone/x": ()}).of(PLAN, FACTS)


@pytest.mark.parametrize("number", [1, 2])
def test_a_sample_bounds_the_members_of_checks_beyond_the_default(number: int) -> None:
    """A run's seed chooses them, another run's others; default checks keep every member."""
    facts = cluster_facts("fleet")
    plan = build(facts, COSTLY, {CheckClass.COSTLY})
    chosen = [
        {
            check.id: [member.label for member in check.members]
            for check in Choice(sample=number)
            .of(plan, replace(facts, fleet=FleetScope(seed=seed)))
            .checks
        }
        for seed in (1, 1, 2)
    ]
    assert chosen[0] == chosen[1] != chosen[2]
    for check in plan.checks:
        default = check.check_class is CheckClass.DEFAULT
        assert len(chosen[0][check.id]) == (len(check.members) if default else number)
