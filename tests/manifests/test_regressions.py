"""Regressions of builds of Windows: which builds an entry opens, and every flow that crosses the broken path."""

from dataclasses import replace

import pytest

from nettests.expect.condition import backend_placement
from nettests.model.check import FIRST_PACKETS, Check
from nettests.model.facts import ClusterFacts
from nettests.model.words import OS, Placement, Question, TargetKind, VantageKind
from tests.facts import Shape, cluster_facts
from tests.manifests.shipped import entries, expectations, planned

NODEPORTS = (
    "nodeport-from-other-node",
    "nodeport-from-external",
    "nodeport-from-pod-other-node",
    "nodeport-from-pod-own-node",
    "nodeport-source-address",
    "nodeport-from-pod-source-address",
)


def overlay(build: str, kubernetes: str) -> Shape:
    """Return the shape of an overlay cluster."""
    return Shape(
        kubernetes=kubernetes, backend="vxlan", build=build, driver="overlay", source_vip=True
    )


@pytest.mark.parametrize("kubernetes", ["1.22.17", "1.28.15", "1.32.0", "1.33.5", "1.36.2"])
@pytest.mark.parametrize(
    ("build", "is_open"),
    [
        ("20348.1", True),
        ("20348.2966", True),
        ("20348.2967", False),
        ("17763.5000", False),
        ("26100.1", False),
    ],
)
def test_nodeports_of_overlay_nodes_are_open_by_build_alone(
    build: str, kubernetes: str, *, is_open: bool
) -> None:
    """Builds that were documented as broken are left open, other builds are not, on any Kubernetes."""
    found = expectations(cluster_facts(overlay(build, kubernetes)))
    for flow in NODEPORTS:
        probed = {check: one for check, one in found.items() if _aims(check, flow, "windows-1")}
        assert probed
        for check, one in probed.items():
            named = one.limitation.id if one.limitation else ""
            assert (named == "nodeport-overlay-ws2022-bug") is is_open, check
            assert (one.expected is None) is is_open, check


def _aims(check: str, flow: str, target: str) -> bool:
    name, _source, pool, *_ = check.split("/")
    return (name, pool) == (flow, target)


NOT_PODS = frozenset({TargetKind.HEALTH_CHECK_PORT, TargetKind.HOSTPORT_BOUND})
"""Ports of a node that its own processes answer, or nobody."""
L2BRIDGE_BUG = "flow-pod-pod-l2bridge-2022-dsr-bug"
BUGGED = Shape(kubernetes="1.24.17", backend="host-gw", build="20348.500", dsr=True)


def crosses(check: Check, facts: ClusterFacts) -> bool:
    """Whether a Windows pod and a pod of another node have to hear of each other, the cluster's DNS included.

    Hosts are no pods: what nodes, kubelets and clients outside test is left to its own documents.
    """
    from_windows = check.source.os is OS.WINDOWS
    case = check.action.case
    if case is not None and case.then is not None and case.then.how == FIRST_PACKETS:
        return from_windows or check.target.os is OS.WINDOWS  # a Pod of its own is the client
    if check.source.kind is not VantageKind.POD:
        return False
    if check.queries_dns and from_windows and check.source.dns_policy != "Default":
        return True
    if check.action.question is Question.RESOLVE or check.target.kind in NOT_PODS:
        return False
    if any(name.startswith("node-") for name in check.target.backends):
        return False
    node_port = check.target.kind is TargetKind.NODEPORT
    elsewhere = node_port and backend_placement(check, facts) is Placement.OTHER_NODE
    apart = check.placement is Placement.OTHER_NODE or elsewhere
    windows = from_windows or check.target.os is OS.WINDOWS
    return bool(check.target.backends) and apart and windows


@pytest.mark.parametrize("kubernetes", ["1.18.20", "1.19.16", "1.24.17", "1.33.5"])
def test_every_flow_that_crosses_the_broken_path_is_left_open(kubernetes: str) -> None:
    """Pods of other nodes were lost with DSR on l2bridge networks: no check between such pods is demanded."""
    facts = cluster_facts(replace(BUGGED, kubernetes=kubernetes))
    found = expectations(facts)
    crossing = {check.id for check in planned(facts) if crosses(check, facts)}
    assert crossing
    assert sorted(one for one in crossing if found[one].expected is not None) == []


def test_the_broken_path_excuses_nothing_else() -> None:
    """A flow is listed only if one of its checks crosses; pods of one node and hosts stay as they were."""
    facts = cluster_facts(BUGGED)
    checks = [one for check in planned(facts) for one in check.each]
    listed = {flow for one in entries() if one.id.startswith(L2BRIDGE_BUG) for flow in one.flows}
    assert listed == {check.alike or check.flow for check in checks if crosses(check, facts)}
    found = expectations(facts)
    near = [
        check.id
        for check in checks
        if any(one.startswith(L2BRIDGE_BUG) for one in found[check.id].entries)
        and not crosses(check, facts)
    ]
    assert near == []
