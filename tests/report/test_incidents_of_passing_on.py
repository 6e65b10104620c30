"""Incidents of what a node does for its Pods: it forwards their packets, translates them, and has an address of its own."""

from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.words import (
    Outcome,
    Placement,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.report import Results
from nettests.report.incidents.traits import looks_names_up, queries_cluster_dns
from nettests.report.results import CheckResult
from tests.report.test_incidents import (
    LINUX,
    OTHER_LINUX,
    OTHER_WIN,
    RUNS_ON,
    WIN,
    broken,
    holding,
    on_path,
)

_UNTRANSLATED = {TargetKind.NODE_IP, TargetKind.NODE_CLOSED_PORT, TargetKind.HOSTPORT_BOUND}
_AT_NODES = {*_UNTRANSLATED, TargetKind.NODEPORT, TargetKind.HOSTPORT}


def forwarded_by(check: Check, node: str) -> bool:
    """Whether packets of a check pass the node between two interfaces, as its own and those within a bridge do not."""
    source, target = check.source, check.target
    on_host = target.settings is not None and target.settings.behind == "node"
    backends = {RUNS_ON.get(pod) for pod in target.backends}
    if source.node == node:
        if source.kind is VantageKind.NODE:
            return False
        near = target.node == node and (not target.service or on_host)
        return not near or queries_cluster_dns(check) or check.action.question is Question.RESOLVE
    if check.action.question is Question.RESOLVE or (on_host and target.node == node):
        return False
    return node in backends or (target.node == node and target.kind not in _UNTRANSLATED)


@pytest.mark.parametrize("node", [OTHER_LINUX, OTHER_WIN])
def test_a_node_that_forwards_nothing_is_one_incident(quiet: Results, node: str) -> None:
    """Its Pods reach neither other nodes nor the outside nor Services: the route of another node is in order."""

    def struck(check: Check) -> bool:
        return (on_path(check) or looks_names_up(check)) and forwarded_by(check, node)

    first, *others = broken(quiet, struck).incidents
    assert first.cause == f"Packets that {node} has to forward get no answer"
    assert first.next_step.startswith(f"on {node}, ")
    assert ("ip_forward" in first.next_step) == (node == OTHER_LINUX)
    assert sum(len(other.checks) for other in others) <= 1


def test_pods_whose_packets_to_the_outside_are_not_translated_are_told_from_their_node(
    quiet: Results,
) -> None:
    """All protocols and the names of servers outside in one, where the node itself gets out."""

    def struck(check: Check) -> bool:
        mine = (check.source.node, check.source.kind) == (LINUX, VantageKind.POD)
        outside = check.placement is Placement.OUTSIDE
        own_names = check.action.question is Question.RESOLVE and queries_cluster_dns(check)
        return mine and on_path(check) and outside and not own_names

    (only,) = broken(quiet, struck).incidents
    assert only.cause.endswith("the outside get no answer")
    assert LINUX in only.cause


def test_a_nodes_own_address_that_leads_elsewhere_is_named_with_the_way(quiet: Results) -> None:
    """A duplicate address shows at each port of the node, and at none of its Pods."""

    def struck(check: Check) -> bool:
        at_host = check.target.settings is not None and check.target.settings.behind == "node"
        there = check.target.kind in _AT_NODES or (at_host and bool(check.target.service))
        way = (check.source.node, check.target.node) == (LINUX, WIN)
        return on_path(check) and way and there

    first = broken(quiet, struck, Outcome.REFUSED).incidents[0]
    assert first.cause == f"Packets from {LINUX} to {WIN} itself are refused"
    assert f"only {WIN} has its address" in first.next_step


def test_sources_that_are_translated_though_a_pod_reaches_itself_are_one_incident(
    quiet: Results,
) -> None:
    """Nothing translates what a Pod sends to itself: such a check does not clear the node."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if not one.ran or check is None or seen is None or check.source.node != WIN:
            return one
        to_itself = check.target.backends == (check.source.probe,)
        if check.claim.source_seen is not SourceSeen.CLIENT_POD or to_itself:
            return one
        shown = replace(seen, source_seen=SourceSeen.CLIENT_NODE)
        return replace(one, verdict=Verdict.FAIL, observation=shown)

    (only,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert only.cause == (
        f"Servers see another source address than the client Pod's, for connections from {WIN}"
    )
    assert only.next_step.startswith(f"on {WIN}, look at the OutBoundNAT policies")
