"""Incidents look behind Services: at the nodes of backends, and at what names and loss do not show."""

from dataclasses import replace

from nettests.model.check import Action, Check
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.report import Results
from nettests.report.incidents.traits import targets_service
from nettests.report.results import CheckResult
from tests.report.sweep import FLOWS, swept
from tests.report.test_incidents import (
    OTHER_WIN,
    PATHS,
    WIN,
    broken,
    crossed,
    crossing,
    holding,
    on_path,
)


def test_nodes_that_only_node_ports_join_are_named(quiet: Results) -> None:
    """Where a NodePort of one node leads to a Pod of another, the two are the cause, not the NodePort."""
    only = [one for one in quiet.checks if one.flow.startswith("nodeport-from")]
    found = broken(replace(quiet, checks=tuple(only)), crossing(WIN, OTHER_WIN)).incidents
    assert found[0].traits == {"link": f"{WIN} ↔ {OTHER_WIN}"}
    assert len(found) == 1


def test_names_that_resolve_do_not_clear_a_service_proxy(quiet: Results) -> None:
    """A proxy that takes up no new Service still serves that of the DNS, which was there before."""

    def struck(check: Check) -> bool:
        if check.target.kind is TargetKind.NODEPORT_LOCALHOST:
            return False  # a Windows node's own stack answers there
        at_target = check.target.kind is TargetKind.NODEPORT
        proxy = check.target.node if at_target else check.source.node
        return targets_service(check) and proxy == WIN

    found = broken(quiet, struck).incidents
    assert found[0].traits == {"service-proxy": WIN}
    assert len(found) == 1


def test_a_node_without_a_way_out_is_named(quiet: Results) -> None:
    """Whatever it probes outside is one incident, which neither NodePorts nor external targets are."""

    def struck(check: Check) -> bool:
        ends = {check.source.node, check.target.node}
        return on_path(check) and check.placement is Placement.OUTSIDE and WIN in ends

    results = broken(quiet, struck)
    spared = [one for one in results.checks if not (one.check and _by_dns(one.check))]
    found = holding(results, spared).incidents
    assert found[0].traits == {"outside": WIN}
    assert found[0].cause == f"Packets between {WIN} and outside the cluster get no answer"


def _by_dns(check: Check) -> bool:
    return check.action.question is Question.RESOLVE or check.queries_dns


def test_one_dead_backend_of_several_is_no_loss_where_its_node_is_cut_off(quiet: Results) -> None:
    """Checks that met it now and then belong to the cause that others met each time."""
    struck = crossing(WIN, OTHER_WIN)

    def of(one: CheckResult) -> CheckResult:
        seen = one.observation
        if one.verdict is not Verdict.FAIL or not seen or not one.check or not seen.attempts:
            return one
        if len(one.check.target.backends) < 2:
            return one
        silent = replace(seen.attempts[0], outcome=Outcome.TIMED_OUT)
        answered = replace(seen.attempts[0], number=2, outcome=Outcome.CONNECTED)
        return replace(
            one,
            verdict=Verdict.FLAKY,
            observation=replace(seen, attempts=(silent, answered), agreed=False),
        )

    results = broken(quiet, struck)
    results = holding(results, [of(one) for one in results.checks])
    flaky = {one.id for one in results.checks if one.verdict is Verdict.FLAKY}
    assert len(flaky) >= 3
    assert results.incidents[0].traits == {"link": f"{WIN} ↔ {OTHER_WIN}"}
    assert flaky <= set(results.incidents[0].checks)


def test_a_name_alone_reaches_nobody(quiet: Results) -> None:
    """A check that only resolves a Pod's name neither crosses nodes nor clears the way between them."""
    resolving = [
        one
        for one in quiet.checks
        if one.check and one.check.action.question is Question.RESOLVE and one.check.target.node
    ]
    assert resolving
    struck = crossing(WIN, OTHER_WIN)
    probed = [one for one in quiet.checks if one.check and one.check.action.question in PATHS]
    found = broken(replace(quiet, checks=tuple(probed)), struck).incidents
    assert found[0].traits == {"link": f"{WIN} ↔ {OTHER_WIN}"}
    assert not {one.id for one in resolving} & set(found[0].checks)


def test_a_firewall_before_node_ports_is_named(quiet: Results) -> None:
    """NodePorts of a node over TCP, probed from elsewhere: over UDP, and from its own Pods, they answer."""

    def struck(check: Check) -> bool:
        entered = check.target.node == WIN and check.source.node != WIN
        tcp = check.action.protocol is Protocol.TCP
        return on_path(check) and entered and tcp and check.target.kind is TargetKind.NODEPORT

    (found,) = broken(quiet, struck).incidents
    assert found.traits == {"target": "NodePort", "entered": WIN, "protocol": "tcp"}
    assert found.cause == (
        f"Connections from other nodes or outside to a NodePort on {WIN} over TCP get no answer"
    )


def test_large_packets_are_named_with_their_node(quiet: Results) -> None:
    """Where smaller ones pass, size and node together are the cause, and the MTU the next step."""

    def enlarged(one: CheckResult) -> CheckResult:
        assert one.check
        name = f"{one.id}/large"
        action = replace(one.check.action, size=1472)
        return replace(one, id=name, check=replace(one.check, id=name, action=action))

    def struck(check: Check) -> bool:
        sized = check.action.size is not None or check.action.question is Question.PATH_MTU
        return sized and any(WIN in way for way in crossed(check))

    pings = [one for one in quiet.checks if one.flow == "icmp-pod-to-pod" and one.ran]
    both = replace(quiet, checks=(*quiet.checks, *map(enlarged, pings)))
    results = broken(both, struck)
    assert results.incidents[0].traits == {"payload-size": "large", "remote-node": WIN}
    assert results.incidents[0].cause == (
        f"Large packets between {WIN} and other nodes get no answer; small ones arrive"
    )
    assert "MTU" in results.incidents[0].next_step


def test_answers_that_came_only_when_sent_again_are_loss(quiet: Results) -> None:
    """No attempt failed, and the node where packets have to be sent twice is named all the same."""

    def of(one: CheckResult) -> CheckResult:
        if not one.check or not one.observation or not crossed(one.check):
            return one
        near = any(WIN in way for way in crossed(one.check))
        if not near or one.verdict is not Verdict.PASS or sum(one.id.encode()) % 3:
            return one
        seen = replace(one.observation, resent="attempt 1 took 1.03 s")
        return replace(one, verdict=Verdict.FLAKY, observation=seen)

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert found.traits == {"remote-node": WIN}
    count = len(found.checks)
    assert found.cause.startswith(f"Packets between {WIN} and other nodes are lost now and then: ")
    assert found.cause.endswith(f"{count} checks got one only after a retransmission")


def test_backends_that_have_gone_are_looked_for_in_the_rules(quiet: Results) -> None:
    """Loss that befalls Services of one node alone, and no Pod that it probes directly, is its Service proxy's."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if not check or not seen or not seen.attempts or one.verdict is not Verdict.PASS:
            return one
        node_port = check.target.kind is TargetKind.NODEPORT
        proxy = check.target.node if node_port else check.source.node
        own_stack = check.target.kind is TargetKind.NODEPORT_LOCALHOST
        if not targets_service(check) or proxy != WIN or own_stack or not seen.outcome.positive:
            return one
        if sum(one.id.encode()) % 3:
            return one
        silent = replace(seen.attempts[0], outcome=Outcome.TIMED_OUT)
        lossy = replace(seen, agreed=False, attempts=(silent, *seen.attempts))
        return replace(one, verdict=Verdict.FLAKY, observation=lossy)

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert found.traits == {"service-proxy": WIN}
    assert found.cause.startswith(
        f"Packets through the Service proxy of {WIN} are lost now and then: "
    )
    assert "compare HNS load balancers" in found.next_step


def test_a_rewritten_source_is_named_with_its_node(quiet: Results) -> None:
    """Where servers elsewhere see another address than the Pod's, that and its node are the cause."""

    def struck(check: Check) -> bool:
        own = check.claim.source_seen is SourceSeen.CLIENT_POD
        return own and check.source.node == WIN and check.target.node != WIN

    (found,) = broken(quiet, struck, outcome=Outcome.CONNECTED).incidents
    assert found.traits == {"seen-as": "client-pod", "left": WIN}
    assert found.cause == (
        f"Servers see another source address than the client Pod's, for connections from {WIN}"
    )


def test_loss_of_one_protocol_alone_is_named_with_its_node(quiet: Results) -> None:
    """Where TCP alone is sent again on one node's paths, neither the node nor TCP alone is the cause: both are."""

    def of(one: CheckResult) -> CheckResult:
        if not one.check or not one.observation or not crossed(one.check):
            return one
        near = any(WIN in way for way in crossed(one.check))
        over_tcp = one.check.action.protocol is Protocol.TCP
        if not (near and over_tcp) or one.verdict is not Verdict.PASS or sum(one.id.encode()) % 3:
            return one
        seen = replace(one.observation, resent="attempt 1 took 1.03 s")
        return replace(one, verdict=Verdict.FLAKY, observation=seen)

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert found.traits == {"remote-node": WIN, "protocol": "tcp"}
    assert found.cause.startswith(
        f"TCP packets between {WIN} and other nodes are lost now and then: "
    )


def test_a_proxy_that_reaches_no_backend_elsewhere_is_named() -> None:
    """Where Services with backends on the node itself are served, those with backends on others are one cause, not many."""

    def silent(action: Action) -> bool:
        to_service = action.target.kind is TargetKind.SERVICE_CLUSTERIP
        return to_service and action.source.node == "win-1" and action.target.node != "win-1"

    (incident,) = swept(silent, flows=(*FLOWS, "session-affinity")).incidents
    assert incident.traits == {"forwards": "win-1"}
    assert incident.cause == (
        "Connections that the Service proxy of win-1 forwards to backends on other nodes get no answer"
    )
    assert "Get-HnsPolicyList" in incident.next_step


def test_a_nodeport_that_answers_no_pods_is_named_with_them() -> None:
    """NodePorts of one node that answer Pods of one system, and not those of the other, are one cause."""

    def silent(action: Action) -> bool:
        at = action.target.kind is TargetKind.NODEPORT and action.target.node == "win-6"
        return at and action.source.node != "win-6" and action.source.os is OS.WINDOWS

    (incident,) = swept(silent).incidents
    assert incident.traits == {"target": "NodePort", "entered": "win-6", "source-os": "windows"}
    assert incident.cause == (
        "Connections from other nodes or outside to a NodePort on win-6 from Windows nodes get no answer"
    )


def test_pods_that_a_nodeport_does_not_answer_are_told_from_nodes(quiet: Results) -> None:
    """Nodes and outsiders reach it: what begins in Pods is the cause."""

    def struck(check: Check) -> bool:
        at = check.target.kind is TargetKind.NODEPORT and check.target.node == OTHER_WIN
        return at and check.source.kind is VantageKind.POD and check.source.node != OTHER_WIN

    (incident,) = broken(quiet, struck).incidents
    assert incident.traits == {"target": "NodePort", "entered": OTHER_WIN, "vantage": "pod"}
    assert incident.cause == (
        f"Connections from Pods of other nodes to a NodePort on {OTHER_WIN} get no answer"
    )
