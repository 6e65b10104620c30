"""A node without a route to the Pods of another: who sends what to whom is told from all that got through."""

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from nettests.model.check import Check
from nettests.model.facts import known
from nettests.model.observation import ControlResult
from nettests.model.words import Family, Protocol, Question, TargetKind, VantageKind, Verdict
from nettests.report import Results, build_results
from nettests.report.incidents import find_incidents
from nettests.report.incidents.traits import targets_service
from nettests.report.results import CheckResult
from tests.report.cluster import FACTS
from tests.report.scenario import QUIET, records
from tests.report.test_incidents import (
    LINUX,
    OTHER_LINUX,
    OTHER_WIN,
    RUNS_ON,
    WIN,
    Trouble,
    broken,
    crossing,
    holding,
    on_path,
)

IPV6 = Family.IPV6
SERVICE = "svc-server-windows-1-2"
PODS = {TargetKind.POD_IP, TargetKind.POD_NAME, TargetKind.POD_CLOSED_PORT}


def routes(check: Check) -> set[tuple[str, str]]:
    """The pairs of nodes of which the first sends to Pods of the second, there and back again.

    Who is probed at its NodePort answers under its own address, to the node or Pod that probes.
    """
    source, target = check.source.node or "", check.target
    if not on_path(check) or check.action.question is Question.RESOLVE:
        return set()
    headless = target.settings is not None and target.settings.headless
    ways: set[tuple[str, str]] = set()
    answering = {target.node or ""}
    if target.kind in PODS or headless:
        ways = {(source, target.node or "")}
    elif targets_service(check):
        proxy = source if target.kind is not TargetKind.NODEPORT else target.node or ""
        behind = target.settings.behind if target.settings else "server"
        backends = {RUNS_ON[pod] for pod in target.backends if pod in RUNS_ON}
        ways = {(proxy, node) for node in backends if behind != "node"}
        if target.kind is not TargetKind.NODEPORT:
            answering = backends
    if check.source.kind is VantageKind.POD:
        ways |= {(node, source) for node in answering}
    return {(start, end) for start, end in ways if start and end and start != end}


def missing(start: str, end: str) -> Trouble:
    """Everything that needs the route of one node to the Pods of another."""
    return lambda check: (start, end) in routes(check)


@pytest.mark.parametrize(("start", "end"), [(WIN, OTHER_WIN), (LINUX, OTHER_LINUX)])
def test_a_missing_route_is_named_with_its_direction(quiet: Results, start: str, end: str) -> None:
    """The other node's own address answers, and others reach its Pods: the Service proxy is not blamed."""
    (found,) = broken(quiet, missing(start, end)).incidents
    assert found.traits == {"pod-route": f"{start} → {end}"}
    assert found.cause == f"Packets from {start} to Pods of {end} get no answer"


def test_a_node_whose_pods_reach_none_elsewhere_is_named(quiet: Results) -> None:
    """Where no Pod network carries to or from a node, as without its tunnel, its own address still answers."""

    def struck(check: Check) -> bool:
        return any(OTHER_WIN in route for route in routes(check))

    found = broken(quiet, struck).incidents
    assert found[0].traits == {"pod-network": OTHER_WIN}
    assert found[0].cause == f"Packets of Pods between {OTHER_WIN} and other nodes get no answer"
    assert len(found) == 1


def test_a_missing_way_back_is_named_as_such(quiet: Results) -> None:
    """Answers to Pods of the source node are lost; its own address is answered."""
    found = broken(quiet, missing(OTHER_WIN, WIN)).incidents
    assert found[0].traits == {"pod-route": f"{OTHER_WIN} → {WIN}"}


@pytest.mark.parametrize("protocols", [set(Protocol), {Protocol.UDP}])
def test_packets_between_a_host_and_the_pods_of_another_node_are_named(
    quiet: Results, protocols: set[Protocol]
) -> None:
    """Either may send first; Pods of both nodes reach each other, and NodePorts of that host are only translated there."""

    hosts = {TargetKind.NODE_IP, TargetKind.NODE_CLOSED_PORT}

    def struck(check: Check) -> bool:
        source, target = check.source, check.target
        sends = (source.kind, source.node, target.node) == (VantageKind.NODE, WIN, LINUX)
        answers = (source.kind, source.node, target.node) == (VantageKind.POD, LINUX, WIN)
        between = (sends and target.kind in PODS) or (answers and target.kind in hosts)
        return between and check.action.protocol in protocols

    (found,) = broken(quiet, struck).incidents
    carried = "UDP packets" if protocols == {Protocol.UDP} else "Packets"
    assert found.cause == f"{carried} between {WIN} itself and Pods of {LINUX} get no answer"
    assert "by the node's own address" in found.next_step


def in_both_families(results: Results) -> Results:
    """Return the results with each check of a path once more, over IPv6."""
    again = [
        replace(
            one,
            check=replace(check, id=f"{check.id}/ipv6", action=replace(check.action, family=IPV6)),
        )
        for one in results.checks
        if (check := one.check) is not None and one.ran and on_path(check)
    ]
    return replace(results, checks=(*results.checks, *again))


@pytest.mark.parametrize("family", Family)
def test_what_one_address_family_loses_is_not_cleared_by_the_other(
    quiet: Results, family: Family
) -> None:
    """Between two nodes, or at all: the sentence says over which; where both are struck it says of neither."""
    both, at_link = in_both_families(quiet), crossing(WIN, OTHER_WIN)

    def alone(check: Check) -> bool:
        return at_link(check) and check.action.family is family

    words = f"{WIN} and {OTHER_WIN} get no answer"
    assert broken(both, alone).incidents[0].cause == (
        f"Packets between {words} over {family.value} alone"
    )
    assert broken(both, at_link).incidents[0].cause == f"Packets between {words}"
    everywhere = broken(both, lambda check: on_path(check) and check.action.family is family)
    assert everywhere.incidents[0].cause == f"{family.value} packets get no answer"


@pytest.mark.parametrize(
    ("backend", "route", "words"),
    [
        ("host-gw", (WIN, OTHER_WIN, "10.244.3.0/24"), "Get-NetRoute"),
        ("host-gw", (LINUX, OTHER_LINUX, "10.244.1.0/24"), "ip route"),
        ("vxlan", (WIN, OTHER_WIN, "10.244.3.0/24"), "RemoteSubnetRoute"),
        ("vxlan", (LINUX, OTHER_LINUX, "10.244.1.0/24"), "bridge fdb"),
    ],
)
def test_the_next_step_names_node_network_and_tool(
    quiet: Results, backend: str, route: tuple[str, str, str], words: str
) -> None:
    """On the node that sends, for the Pod network of the other, as the cluster and the system have it."""
    assert quiet.facts is not None
    start, end, network = route
    plugin = replace(quiet.facts.cni, backend=replace(quiet.facts.cni.backend, value=backend))
    facts = replace(quiet.facts, cni=plugin)
    (found,) = find_incidents(broken(quiet, missing(start, end)).checks, facts)
    assert found.next_step.startswith(f"on {start}, look for the ")
    assert f"the Pod network of {end} ({network})" in found.next_step
    assert words in found.next_step


def waited_without_an_answer(results: Results, node: str, probe: str, concerns: Trouble) -> Results:
    """Let a Pod have waited without success for a Service of the other Windows node, and checks be answered later."""
    late = f"Service {SERVICE} did not answer {probe} on {node} within 60 s"

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if not one.ran or check is None or seen is None or not seen.outcome.positive:
            return one
        if check.target.service != SERVICE or not targets_service(check) or not concerns(check):
            return one
        return replace(one, verdict=Verdict.FAIL, observation=replace(seen, late=late))

    return holding(results, [of(one) for one in results.checks])


def test_what_a_service_was_waited_for_without_an_answer_from_is_named(quiet: Results) -> None:
    """Only the backend's answers to the Pod that waited are contradicted by nothing: others are forwarded there."""
    pair = {OTHER_LINUX, OTHER_WIN}
    others = [
        one
        for one in quiet.checks
        if not one.check or {one.check.source.node, one.check.target.node} != pair
    ]

    def by_node_port(check: Check) -> bool:
        return check.target.kind is TargetKind.NODEPORT and check.source.node == LINUX

    (found,) = waited_without_an_answer(
        holding(quiet, others), OTHER_LINUX, "probe-linux-1-2", by_node_port
    ).incidents
    assert found.traits == {"pod-route": f"{OTHER_WIN} → {OTHER_LINUX}"}
    assert found.cause == f"Packets from {OTHER_WIN} to Pods of {OTHER_LINUX} get no answer"
    assert len(found.checks) > 2


def test_an_answer_clears_the_way_and_not_the_rules(quiet: Results) -> None:
    """Where the rules in question led to the backend in the end, packets do get across: they came late."""

    def by_its_rules(check: Check) -> bool:
        node_port = check.target.kind is TargetKind.NODEPORT
        return (check.target.node if node_port else check.source.node) == WIN

    (found,) = waited_without_an_answer(quiet, WIN, "probe-windows-1-1", by_its_rules).incidents
    assert found.traits == {"service-proxy": WIN, "service": SERVICE}
    assert found.cause == (
        f"Connections to Service {SERVICE} through the Service proxy of {WIN} get no answer"
    )


def test_a_check_whose_control_failed_is_about_the_control(quiet: Results) -> None:
    """What it saw was expected: the nodes of what did not answer are told."""
    name, start, end = next(
        (one.id, control.action.source.node, control.action.target.node)
        for one in quiet.checks
        if one.ran and one.check and one.flow == "pod-to-pod-ip"
        for control in one.check.controls
        if control.proves == "target" and control.action.source.node != one.check.source.node
        if control.action.source.node != control.action.target.node
    )

    def of(one: CheckResult) -> CheckResult:
        if one.id != name or one.observation is None:
            return one
        controls = (ControlResult(proves="target", ok=False, detail="timed_out"),)
        seen = replace(one.observation, controls=controls)
        return replace(one, verdict=Verdict.UNKNOWN, observation=seen)

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert (found.explained, found.traits) == (False, {"direction": f"{start} → {end}"})


def test_what_is_wrong_is_told_before_what_is_not_known(quiet: Results) -> None:
    """Of checks that nothing explains, a failed one comes first."""
    first, last = "icmp-pod-to-pod/linux-1/linux-1/same-node/icmp", "dns-via-service/windows-1"
    verdicts = {first: Verdict.UNKNOWN}

    def of(one: CheckResult) -> CheckResult:
        if one.id.startswith(last) and one.ran and Verdict.FAIL not in verdicts.values():
            verdicts[one.id] = Verdict.FAIL
        return replace(one, verdict=verdicts.get(one.id, one.verdict))

    found = holding(quiet, [of(one) for one in sorted(quiet.checks, key=_icmp_first)]).incidents
    assert [one.explained for one in found] == [False, False]
    assert found[0].checks[0].startswith(last)


def _icmp_first(one: CheckResult) -> bool:
    return not one.flow.startswith("icmp")


def test_a_route_that_leads_to_some_pods_alone_is_one_incident() -> None:
    """The way there is, as to the Pod of the cluster's DNS: a route may hold a part of a node's Pods alone."""
    at_dns = IPv4Address("10.244.0.9")
    facts = replace(FACTS, dns_pods=known((at_dns,), "EndpointSlices"))
    (end,) = [node.name for node in facts.nodes if any(at_dns in cidr for cidr in node.pod_cidrs)]
    results = build_results(records(replace(QUIET, facts=facts)))
    (found,) = broken(results, missing(WIN, end)).incidents
    assert found.traits == {"pod-route": f"{WIN} → {end}", "some-pods": "(some are reached)"}
    assert found.cause == f"Packets from {WIN} to Pods of {end} (some are reached) get no answer"
