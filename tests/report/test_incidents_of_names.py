"""Names that fail on one node: rules of the DNS' Service, the way to the DNS, or the search list, not the DNS."""

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from nettests.model.check import Check
from nettests.model.facts import known, unknown
from nettests.model.words import Outcome, Protocol, Question, TargetKind, Verdict
from nettests.report import Results, build_results
from nettests.report.incidents import find_incidents
from nettests.report.incidents.traits import queries_cluster_dns
from nettests.report.results import CheckResult
from tests.report.cluster import FACTS
from tests.report.scenario import QUIET, records
from tests.report.test_incidents import (
    LINUX,
    WIN,
    broken,
    crossing,
    hash_of,
    holding,
    without_dns,
)


@pytest.fixture(scope="module")
def probed_directly() -> Results:
    """A quiet run on a cluster whose DNS has a Pod that is known, so that it is probed directly too."""
    facts = replace(FACTS, dns_pods=known((IPv4Address("10.244.0.9"),), "EndpointSlices"))
    return build_results(records(replace(QUIET, facts=facts)))


def through_its_service(check: Check) -> bool:
    """Whether the Service proxy of one node leads the check to the cluster's DNS."""
    direct = check.target.kind is TargetKind.DNS_POD
    return queries_cluster_dns(check) and check.source.node == WIN and not direct


def test_rules_of_the_dns_that_one_node_lacks_are_named(probed_directly: Results) -> None:
    """DNS Pods answer that node directly, and other nodes by the Service: its rules are the cause."""
    (found,) = broken(probed_directly, through_its_service).incidents
    assert found.traits == {"dns-service": WIN}
    assert found.cause == f"Cluster DNS does not answer at its Service address from {WIN}"
    assert f"on {WIN}, compare its HNS load balancers (Get-HnsPolicyList)" in found.next_step
    assert "10.96.0.10" in found.next_step


def queried_over_tcp(check: Check) -> bool:
    """Whether the check itself queries the cluster's DNS over TCP; what dials names over TCP has them resolved over UDP."""
    resolves = check.action.question is Question.RESOLVE
    return queries_cluster_dns(check) and resolves and check.action.protocol is Protocol.TCP


def test_a_protocol_in_which_the_dns_is_silent_is_named(probed_directly: Results) -> None:
    """Queries over TCP fail from all nodes, and names resolve over UDP: whoever stands before port 53 lets UDP alone pass."""
    (found,) = broken(probed_directly, queried_over_tcp).incidents
    assert found.traits == {"dns": "cluster DNS", "query-protocol": "tcp"}
    assert found.cause == "Cluster DNS does not answer over TCP"
    assert "NetworkPolicies" in found.next_step


def test_a_protocol_in_which_the_dns_is_silent_to_one_node_is_named(
    probed_directly: Results,
) -> None:
    """What stands before port 53 may stand on a node."""

    def struck(check: Check) -> bool:
        return queried_over_tcp(check) and check.source.node == WIN

    (found,) = broken(probed_directly, struck).incidents
    assert found.cause == f"Cluster DNS does not answer from {WIN} over TCP"


def test_the_tool_fits_the_node(probed_directly: Results) -> None:
    """On Linux there is no HNS."""

    def struck(check: Check) -> bool:
        direct = check.target.kind is TargetKind.DNS_POD
        return queries_cluster_dns(check) and check.source.node == LINUX and not direct

    (found,) = broken(probed_directly, struck).incidents
    assert found.traits == {"dns-service": LINUX}
    assert "Hns" not in found.next_step


def test_a_probe_that_is_given_the_address_of_the_dns_probes_it(quiet: Results) -> None:
    """A run writes that address into the dnsConfig of its Pods with policy None."""
    of = {one.flow: one.check for one in quiet.checks if one.ran and one.check}
    assert queries_cluster_dns(of["dns-policy-none"])
    assert not queries_cluster_dns(of["dns-policy-default"])


def test_pods_of_the_dns_that_do_not_answer_either_clear_its_service(
    probed_directly: Results,
) -> None:
    """Where a node reaches no DNS at all, its rules are not in question."""
    (found,) = broken(
        probed_directly, lambda check: queries_cluster_dns(check) and check.source.node == WIN
    ).incidents
    assert found.traits == {"dns": "cluster DNS", "source-node": WIN}


def test_one_gone_backend_of_the_dns_is_loss_from_one_node(probed_directly: Results) -> None:
    """Rules that keep a Pod which has gone lose some queries: said of the node, with what to compare."""

    def of(one: CheckResult) -> CheckResult:
        seen = one.observation
        if not one.check or not one.ran or not seen or not through_its_service(one.check):
            return one
        if one.verdict is not Verdict.PASS or not seen.attempts or hash_of(one.id) % 3:
            return one
        if seen.loss is not None:
            return one  # it counts tries, not attempts
        silent = replace(seen.attempts[0], outcome=Outcome.TIMED_OUT)
        answered = tuple(
            replace(seen.attempts[0], number=number, outcome=Outcome.RESOLVED) for number in (2, 3)
        )
        lossy = replace(seen, agreed=False, attempts=(silent, *answered))
        return replace(one, verdict=Verdict.FLAKY, observation=lossy)

    (found,) = holding(probed_directly, [of(one) for one in probed_directly.checks]).incidents
    count = len(found.checks)
    assert count >= 3
    assert found.traits == {"dns-service": WIN}
    assert found.cause == (
        f"Queries to the cluster DNS at its Service address from {WIN} are lost now and then: {count} of {3 * count} attempts got no answer"
    )
    assert found.next_step.endswith("one of its backends may have gone")


def test_queries_that_are_lost_between_nodes_are_no_fault_of_the_dns(
    probed_directly: Results,
) -> None:
    """UDP is lost between a node and the one of the DNS: names belong to the same cause, TCP is up."""
    assert probed_directly.facts is not None

    def struck(check: Check) -> bool:
        itself = check.target.kind in {TargetKind.DNS_SERVICE, TargetKind.DNS_POD}
        over_udp = not itself or check.action.protocol is Protocol.UDP
        lost = without_dns(check) and check.source.node == WIN and over_udp
        return lost or crossing(WIN, LINUX, Protocol.UDP)(check)

    (found,) = broken(probed_directly, struck).incidents
    assert found.traits == {"link": f"{LINUX} ↔ {WIN}", "protocol": "udp"}
    assert any(name.startswith("dns-via-pod") for name in found.checks)
    assert any(name.startswith("stateful-set-names") for name in found.checks)
    nowhere = replace(probed_directly.facts, dns_pods=unknown("nobody said"))
    guessed = find_incidents(broken(probed_directly, struck).checks, nowhere)
    assert len(guessed) > 1


@pytest.mark.parametrize(("node", "tool"), [(WIN, "ipconfig /all"), (LINUX, "/etc/resolv.conf")])
def test_a_wrong_search_list_is_named_with_its_node(quiet: Results, node: str, tool: str) -> None:
    """Full names resolve there, short ones elsewhere; Windows takes those with a dot as they stand anyway."""
    dotted = {"pod-to-service-partial-name", "dns-other-namespace-partial"}

    def struck(check: Check) -> bool:
        completed = {"pod-to-service-pqdn", *(dotted if node == LINUX else ())}
        return check.flow in completed and check.source.node == node

    (found,) = broken(quiet, struck, outcome=Outcome.NXDOMAIN).incidents
    assert found.traits == {"search-list": node}
    assert found.cause == (
        f"Short names, which need the DNS search list, of Pods on {node} get the answer “no such name”"
    )
    assert tool in found.next_step
    assert "cluster.local" in found.next_step


def test_udp_to_name_servers_that_a_node_lost_is_one_incident(probed_directly: Results) -> None:
    """Queries over TCP are answered, and neither the DNS Pods themselves nor other servers answer over UDP: no proxy is blamed."""

    def struck(check: Check) -> bool:
        sends = check.target.descriptor.name_server or check.action.question is Question.RESOLVE
        over = check.action.protocol if sends else Protocol.UDP
        queries = queries_cluster_dns(check) or check.queries_dns
        return queries and check.source.node == WIN and over is Protocol.UDP

    def unanswered(one: CheckResult) -> CheckResult:
        if one.observation is None or one.check is None or not struck(one.check):
            return one
        silent = (replace(each, outcome=Outcome.TIMED_OUT) for each in one.observation.attempts)
        return replace(one, observation=replace(one.observation, attempts=tuple(silent)))

    results = broken(probed_directly, struck)
    (found,) = holding(results, [*map(unanswered, results.checks)]).incidents
    assert found.cause == f"Cluster DNS does not answer from {WIN} over UDP"
    assert f"drops packets to UDP port 53 between {WIN} and them" in found.next_step
