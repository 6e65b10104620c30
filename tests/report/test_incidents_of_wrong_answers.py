"""Names that lead to an address which is the address of none of them': one cause, whoever was led there and how."""

from dataclasses import replace

import pytest

from nettests.model.observation import Attempt
from nettests.model.target_kinds import Naming
from nettests.model.words import OS, Outcome, Resolver, Verdict
from nettests.report import Results
from nettests.report.incidents.traits import is_named_outside, queries_cluster_dns
from nettests.report.results import CheckResult
from tests.report.test_incidents import holding

ELSEWHERE = "198.51.100.10"
DIALLED = (
    f'Get "http://{ELSEWHERE}:80/hostname": dial tcp {ELSEWHERE}:80: connect: connection refused'
)


def led_astray(one: CheckResult) -> CheckResult:
    """Return a check of a name as a wildcard record makes it end."""
    check, seen = one.check, one.observation
    if check is None or seen is None or not queries_cluster_dns(check):
        return one
    if check.target.descriptor.naming is Naming.ABSENT:
        found = replace(seen, outcome=Outcome.RESOLVED)
    elif seen.outcome is Outcome.RESOLVED:
        found = replace(seen, unexpected_addresses=(ELSEWHERE,))
    elif check.target.descriptor.by_name:
        refused = Attempt(
            number=1,
            outcome=Outcome.REFUSED,
            detail=DIALLED,
            started=1.0,
            elapsed=0.1,
            channel="port-forward",
        )
        found = replace(seen, outcome=Outcome.REFUSED, attempts=(refused,))
    else:
        return one
    return replace(one, verdict=Verdict.FAIL, observation=found)


def test_a_wildcard_record_is_one_cause(quiet: Results) -> None:
    """Names that exist, names that do not, and what was dialled by name: the address tells that it is one record."""
    results = holding(quiet, [led_astray(one) for one in quiet.checks])
    (incident,) = results.incidents
    assert incident.cause == (
        f"Cluster DNS answers wrongly: names resolve to {ELSEWHERE}, which is the address of none of them"
    )
    assert incident.traits == {"wrong-answer": ELSEWHERE}
    assert "wildcard" in incident.next_step
    flows = {name.split("/")[0] for name in incident.checks}
    assert {"dns-no-such-name", "pod-to-service-fqdn"} <= flows


def test_a_name_that_leads_to_a_strange_server_is_of_the_same_cause(quiet: Results) -> None:
    """A server outside that answers at the wrong address is told by its name alone."""

    def answered(one: CheckResult) -> CheckResult:
        led = led_astray(one)
        if not (led.check and led.observation and led.check.target.descriptor.by_name):
            return led
        if led.observation.outcome is not Outcome.REFUSED:
            return led
        seen = replace(led.observation, outcome=Outcome.CONNECTED, attempts=(), backends=("shop",))
        return replace(led, observation=seen)

    (incident,) = holding(quiet, [answered(one) for one in quiet.checks]).incidents
    assert incident.traits == {"wrong-answer": ELSEWHERE}
    assert any(name.startswith("pod-to-service-fqdn") for name in incident.checks)


def test_names_that_are_denied_are_no_wrong_answer(quiet: Results) -> None:
    """Where no address was wrong, nothing is said of one."""
    denied = [
        replace(
            one,
            verdict=Verdict.FAIL,
            observation=replace(one.observation, outcome=Outcome.NXDOMAIN),
        )
        if one.check and one.observation and queries_cluster_dns(one.check)
        else one
        for one in quiet.checks
    ]
    incidents = holding(quiet, denied).incidents
    assert incidents
    assert not any("wrong-answer" in one.traits for one in incidents)


def denied(
    one: CheckResult, *, also_well: bool = False, outcome: Outcome = Outcome.NXDOMAIN
) -> CheckResult:
    """Return a check of a name that exists as a DNS makes it end that knows no Services, or cannot find them out."""
    check, seen = one.check, one.observation
    if check is None or seen is None or not queries_cluster_dns(check):
        return one
    if check.target.descriptor.naming is Naming.ABSENT:
        return one
    last = replace(seen.attempts[-1], outcome=outcome)
    attempts = (*seen.attempts, last) if also_well else (last,)
    found = replace(seen, outcome=outcome, attempts=attempts)
    verdict = Verdict.FLAKY if also_well else Verdict.FAIL
    return replace(one, verdict=verdict, observation=found)


@pytest.mark.parametrize(("also_well", "end"), [(False, ""), (True, " now and then")])
def test_a_dns_that_denies_what_exists_is_one_cause(
    quiet: Results, *, also_well: bool, end: str
) -> None:
    """Full names are denied, too: it is no search list; of several replicas one may know nothing."""
    checks = [
        denied(one, also_well=also_well)
        if one.check and one.check.target.descriptor.naming is Naming.CLUSTER
        else one
        for one in quiet.checks
    ]
    first = holding(quiet, checks).incidents[0]
    assert first.cause == f"Cluster DNS{end} denies names that exist"
    assert first.traits == {"denial": "names that exist"}
    assert "API server" in first.next_step


@pytest.mark.parametrize(("every", "end"), [(1, ""), (3, " now and then")])
def test_a_dns_that_answers_with_errors_is_one_cause(quiet: Results, every: int, end: str) -> None:
    """It is not silent: one replica of several may be so, and then names resolve meanwhile."""
    named = [
        one.id
        for one in quiet.checks
        if one.check and one.check.target.descriptor.naming is Naming.CLUSTER
    ]
    struck = set(named[::every])
    checks = [
        denied(one, also_well=every > 1, outcome=Outcome.SERVFAIL) if one.id in struck else one
        for one in quiet.checks
    ]
    first = holding(quiet, checks).incidents[0]
    assert first.cause == f"Cluster DNS{end} answers with errors (SERVFAIL)"
    assert "log" in first.next_step


def between(one: CheckResult) -> bool:
    """Whether a check is of a name between the short and the whole one, by nslookup of a Windows Pod."""
    check = one.check
    return (
        check is not None
        and check.flow in {"pod-to-service-partial-name", "dns-other-namespace-partial"}
        and check.action.resolver is Resolver.NSLOOKUP
        and check.source.os is OS.WINDOWS
    )


@pytest.mark.parametrize("alone", [True, False], ids=["two flows", "a whole run"])
def test_a_tool_that_completes_no_names_is_one_cause(quiet: Results, *, alone: bool) -> None:
    """The DNS has answered: no packet was lost, also where no other check of the run says that packets pass."""
    flows = {one.flow for one in quiet.checks if between(one)}
    checks = [
        denied(one) if between(one) else one
        for one in quiet.checks
        if not alone or one.flow in flows
    ]
    (incident,) = holding(quiet, checks).incidents
    assert incident.cause == (
        "nslookup in Windows Pods adds no DNS suffix to names that contain a dot"
    )
    assert {one.partition("/")[0] for one in incident.checks} == flows
    assert len(flows) == 2
    assert "ipconfig /all" in incident.next_step


def test_a_tool_that_completes_names_on_other_nodes_is_named_with_its_node(quiet: Results) -> None:
    """There the suffixes are others."""
    first, *others = [one for one in quiet.checks if between(one)]
    assert first.check is not None
    action = first.check.action
    moved = replace(action, source=replace(action.source, node="win-9"))
    elsewhere = replace(others[0], check=replace(first.check, action=moved))
    checks = [denied(first), *(denied(one) for one in others[1:]), elsewhere]
    incident = holding(quiet, checks).incidents[0]
    node = first.check.source.node
    assert incident.cause == (
        f"nslookup in Windows Pods on {node} adds no DNS suffix to names that contain a dot"
    )


def test_names_outside_are_a_cause_of_their_own(quiet: Results) -> None:
    """What the DNS forwards fails on every node, names in the cluster resolve: its upstream is out of reach."""
    checks = [
        replace(
            one,
            verdict=Verdict.FAIL,
            observation=replace(one.observation, outcome=Outcome.SERVFAIL, attempts=()),
        )
        if one.observation and one.check and is_named_outside(one.check)
        else one
        for one in quiet.checks
    ]
    (incident,) = holding(quiet, checks).incidents
    assert incident.cause == "Names outside the cluster do not resolve"
    assert "Corefile" in incident.next_step


def test_an_error_now_and_then_for_a_name_outside_blames_no_service_proxy(quiet: Results) -> None:
    """The server of the cluster's DNS answered, so the way to it is up."""
    struck = next(
        one
        for one in quiet.checks
        if one.check and is_named_outside(one.check) and queries_cluster_dns(one.check)
    )
    checks = [
        denied(one, also_well=True, outcome=Outcome.SERVFAIL) if one is struck else one
        for one in quiet.checks
    ]
    (incident,) = holding(quiet, checks).incidents
    assert "proxy" not in incident.cause, incident.cause
