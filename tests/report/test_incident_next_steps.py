"""Next steps of incidents: what is looked at fits the cluster."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.facts import Fact
from nettests.model.words import Protocol, TargetKind
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.incidents.steps import next_step_of
from nettests.report.incidents.traits import (
    Kind,
    Trait,
    queries_cluster_dns,
    targets_service,
)
from tests.report.test_incidents import LINUX, WIN, broken, crossing


def test_next_steps_fit_the_cluster(quiet: Results) -> None:
    """Encapsulation is named where packets are encapsulated, and only there."""
    assert quiet.facts is not None
    struck = broken(quiet, crossing(WIN, LINUX))
    overlay = replace(
        quiet.facts,
        cni=replace(quiet.facts.cni, backend=replace(quiet.facts.cni.backend, value="vxlan")),
    )
    host_gw = replace(
        quiet.facts,
        cni=replace(quiet.facts.cni, backend=replace(quiet.facts.cni.backend, value="host-gw")),
        nodes=tuple(
            replace(node, cni_driver=replace(node.cni_driver, value="l2bridge"))
            for node in quiet.facts.nodes
        ),
    )
    (on_overlay,) = find_incidents(struck.checks, overlay)
    (on_bridge,) = find_incidents(struck.checks, host_gw)
    assert "encapsulated" in on_overlay.next_step
    assert "encapsulated" not in on_bridge.next_step
    assert "routes" in on_bridge.next_step


@pytest.mark.parametrize(
    ("protocols", "told"),
    [
        ({Protocol.TCP, Protocol.UDP}, "TCP and UDP packets"),
        ({Protocol.TCP}, "TCP packets"),
        ({Protocol.UDP}, "UDP packets"),
        ({Protocol.ICMP}, "ICMP packets"),
    ],
)
@pytest.mark.parametrize("backend", ["vxlan", "host-gw"])
def test_where_another_protocol_passes_no_route_is_looked_for(
    quiet: Results, protocols: set[Protocol], told: str, backend: str
) -> None:
    """A path that carries echoes has its routes; rke2#6307: what a card left wrong in VXLAN's inner packets was not ICMP's."""
    assert quiet.facts is not None
    cni = quiet.facts.cni
    facts = replace(quiet.facts, cni=replace(cni, backend=replace(cni.backend, value=backend)))

    def struck(check: Check) -> bool:
        return check.action.protocol in protocols and crossing(WIN, LINUX)(check)

    (incident,) = find_incidents(broken(quiet, struck).checks, facts)
    assert incident.cause.startswith(f"{told} between {LINUX} and {WIN}")
    assert "routes and tunnels are in place" in incident.next_step
    checksums = Protocol.ICMP not in protocols and backend == "vxlan"
    assert ("checksums" in incident.next_step) is checksums


@pytest.mark.parametrize("node", [WIN, LINUX])
@pytest.mark.parametrize(
    ("plugin", "trouble"),
    [
        ("antrea", lambda check, node: targets_service(check) and check.source.node == node),
        ("cilium", lambda check, node: targets_service(check) and check.source.node == node),
        (
            "antrea",
            lambda check, node: (
                queries_cluster_dns(check)
                and check.source.node == node
                and check.target.kind is not TargetKind.DNS_POD
            ),
        ),
    ],
    ids=["antrea", "cilium", "the DNS with antrea"],
)
def test_without_kube_proxy_nobody_is_sent_to_its_log(
    quiet: Results, node: str, plugin: str, trouble: Callable[[Check, str], bool]
) -> None:
    """Where a plugin serves Services, its agent is looked at, and no load balancer of HNS: kube-proxy is not there."""
    assert quiet.facts is not None
    without = tuple(
        replace(each, kube_proxy=replace(each.kube_proxy, mode=Fact("none", "a DaemonSet")))
        for each in quiet.facts.nodes
    )
    cni = replace(quiet.facts.cni, plugin=Fact(plugin, "a DaemonSet"))
    facts = replace(quiet.facts, nodes=without, cni=cni)
    struck = broken(quiet, lambda check: trouble(check, node))
    incident = find_incidents(struck.checks, facts)[0]
    assert node in incident.next_step
    assert "Get-HnsPolicyList" not in incident.next_step
    assert "whether kube-proxy" not in incident.next_step


def test_echoes_alone_that_one_node_does_not_answer_are_looked_for_at_firewalls(
    quiet: Results,
) -> None:
    """Its Pods answer over TCP and UDP: neither they nor their EndpointSlices are to be looked at."""
    named = {Kind.TARGET: "Pod", Kind.ENTERED: LINUX, Kind.PROTOCOL: "icmp"}
    traits = [Trait(kind, value) for kind, value in named.items()]
    assert "that tell protocols apart" in next_step_of(traits, (), quiet.facts)


@pytest.mark.parametrize(
    ("kinds", "told", "step"),
    [
        ({TargetKind.NODEPORT}, f"to a NodePort on {LINUX}", "keeps others from its NodePorts"),
        (
            {TargetKind.POD_CLOSED_PORT, TargetKind.NODE_CLOSED_PORT},
            f"to a closed port on {LINUX}",
            "the TCP resets that come back",
        ),
    ],
)
def test_ports_of_one_node_that_stay_silent_are_looked_for_at_its_firewall(
    quiet: Results, kinds: set[TargetKind], told: str, step: str
) -> None:
    """What enters a node for one kind of port gets no answer, and all else does: no Pod or route is blamed."""

    def struck(check: Check) -> bool:
        enters = check.target.node == LINUX != check.source.node
        return check.target.kind in kinds and enters and check.action.protocol is Protocol.TCP

    incident = broken(quiet, struck).incidents[0]
    assert told in incident.cause
    assert step in incident.next_step
