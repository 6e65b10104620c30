"""The NetworkPolicy of a run: whom it guards, and who reaches them all the same."""

import ipaddress
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Plan
from nettests.model.facts import known, unknown
from nettests.model.permission import isolating
from nettests.model.words import TargetKind, VantageKind
from nettests.probes import objects
from nettests.probes.exposure import exposed_ports
from nettests.probes.isolation import NODES_AT_MOST, PROBES, network_policies
from tests.plan.test_pod_security import planned
from tests.probes.made import FACTS, PODS
from tests.probes.test_objects import BLANK, PLAN

EXISTING = replace(BLANK, namespace="staging", existing=True)
SHARED = replace(FACTS, namespace="staging")


def policy(facts: Any = FACTS, blank: objects.Blank = BLANK) -> dict[str, Any]:
    """Return the one policy of the plan."""
    (made,) = network_policies(PLAN, facts, blank)
    return made


def peers(made: dict[str, Any]) -> list[dict[str, Any]]:
    """Return who may reach the guarded Pods."""
    (rule,) = made["spec"]["ingress"]
    assert "ports" not in rule, "a rule with ports would leave out pings"
    found: list[dict[str, Any]] = rule["from"]
    return found


def blocks(made: dict[str, Any]) -> set[str]:
    """Return the addresses that may."""
    return {peer["ipBlock"]["cidr"] for peer in peers(made) if "ipBlock" in peer}


def let_in(made: dict[str, Any], address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address may."""
    return any(address in ipaddress.ip_network(block) for block in blocks(made))


def test_every_pod_that_runs_commands_is_guarded_and_no_other() -> None:
    """Servers, which are reached from outside, and pods on nodes' networks are not selected."""
    wanted = policy()["spec"]["podSelector"]["matchLabels"]
    for pod in objects.pods(PLAN, FACTS, BLANK):
        selected = wanted.items() <= pod["metadata"]["labels"].items()
        words = [word for one in pod["spec"]["containers"] for word in one.get("args", ())]
        commands = "netexec" in words and "--http-override=/hostname" not in words
        assert selected is commands, pod["metadata"]["name"]
        assert not (selected and exposed_ports([pod]))


def test_the_run_s_own_pods_reach_probes() -> None:
    """All namespaces of the run carry its label; in a namespace of others its Pods do."""
    run = {"matchLabels": {"nettests.dev/run": "r"}}
    assert {"namespaceSelector": run} in peers(policy())
    made = policy(SHARED, EXISTING)
    assert {"podSelector": run} in peers(made)
    assert not any("namespaceSelector" in peer for peer in peers(made))
    assert made["metadata"]["namespace"] == "staging"
    assert made["spec"]["podSelector"]["matchLabels"]["nettests.dev/run"] == "r"


def test_nodes_reach_probes_by_all_their_addresses() -> None:
    """API servers and kubelets probe from there: own addresses, tunnels, bridges, and source VIPs."""
    made = policy()
    for node in FACTS.nodes:
        for address in node.addresses:
            assert let_in(made, address)
        for network in node.pod_cidrs:
            assert let_in(made, network[0])
            assert let_in(made, network[1])
            # On Linux the third address is the first Pod's.
            assert let_in(made, network[2]) is (node.os.value == "windows")
            assert not let_in(made, network[3])


def test_a_source_vip_that_nobody_told_is_looked_for_in_its_node_s_network() -> None:
    """Behind it Pods of that node reach a Service's remote backends: no verdict may change for a policy."""
    linux, windows = FACTS.nodes
    hidden = replace(
        windows, kube_proxy=replace(windows.kube_proxy, source_vip=unknown("not read"))
    )
    (network,) = windows.pod_cidrs
    assert let_in(policy(replace(FACTS, nodes=(linux, hidden))), network[77])
    bridged = replace(hidden, cni_driver=known("l2bridge", "test"))
    assert not let_in(policy(replace(FACTS, nodes=(linux, bridged))), network[77])


def test_flows_to_guarded_pods_come_from_the_run_s_own() -> None:
    """A new flow to a probe from a node or from outside has to be let in before this test is changed."""
    _, plan = planned("privileged")
    guarded = {pod.name for pod in plan.pods if pod.purpose in PROBES}
    backed = {one.name for one in plan.services if guarded & set(one.backends)}
    actions = [action for check in plan.checks for action in check.actions]
    probed = [
        action
        for action in actions
        if action.target.pod in guarded or action.target.service in backed
    ]
    assert {action.target.kind for action in probed} == {
        TargetKind.OWN_IP,
        TargetKind.SERVICE_CLUSTERIP,
    }
    assert {action.source.kind for action in probed} == {VantageKind.POD}
    assert {action.source.probe for action in probed} <= {pod.name for pod in plan.pods}


def test_of_a_large_cluster_only_the_probe_nodes_are_named() -> None:
    """Plugins turn each address into rules on every node."""
    others = [
        replace(
            FACTS.nodes[0],
            name=f"other-{number}",
            addresses=(ipaddress.ip_address(f"10.9.0.{number}"),),
            pod_cidrs=(),
        )
        for number in range(NODES_AT_MOST)
    ]
    seen = blocks(policy(replace(FACTS, nodes=(*FACTS.nodes, *others))))
    assert not any(block.startswith("10.9.0.") for block in seen)
    assert seen


def test_it_can_be_left_out() -> None:
    """By the cluster profile, where nothing is to be guarded, and where it may not be made."""
    assert network_policies(PLAN, FACTS, replace(BLANK, isolated=False)) == []
    servers = tuple(pod for pod in PODS if pod.purpose == "server")
    assert (
        network_policies(Plan(checks=(), skips=(), pods=servers, services=()), FACTS, BLANK) == []
    )


@pytest.mark.parametrize("number", range(3))
def test_what_could_not_be_removed_is_not_made(number: int) -> None:
    """In a namespace of others it goes by itself only if it may be found and deleted."""
    denied = (str(isolating(own_namespace=False)[number]),)
    assert network_policies(PLAN, replace(SHARED, denied=denied), EXISTING) == []
