"""What facts lead to expect of a check's flow: ends, translator, backends, and whether the source is kept."""

from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from nettests.capture.scene import OUTSIDE, refusal, scene_of
from nettests.errors import PlanError
from nettests.model.check import Action, Check
from nettests.model.expectation import Expectation, Expected
from nettests.model.facts import known
from nettests.model.words import OS, Outcome, Protocol, Question, SourceSeen, TargetKind
from nettests.probes import Directory
from nettests.probes.marked_flow import TRAIN
from nettests.tracing.packet import Scene
from tests.probes.made import FACTS, action, check, deployed

CONNECTED = Expected(outcome=Outcome.CONNECTED)
DIRECTORY = Directory(facts=FACTS, deployment=deployed())


def scene(
    question: Action, expected: Expected | None = CONNECTED, directory: Directory = DIRECTORY
) -> Scene:
    expectation = Expectation(claim=CONNECTED, expected=expected)
    return scene_of(check(question), expectation, directory).scene


def test_a_pod_is_asked_at_its_own_address() -> None:
    """Nobody translates, the one backend is where it is requested, and the source has to be kept."""
    found = scene(action("probe-windows-1-1", TargetKind.POD_IP))
    assert (str(found.source.address), found.source.node) == ("10.244.3.10", "w1")
    assert (str(found.requested), found.requested_port, found.translator) == (
        "10.244.1.11",
        18080,
        "",
    )
    assert [(one.name, one.node, one.port) for one in found.backends] == [
        ("server-linux-1-1", "n1", 18080)
    ]
    assert found.source_kept


@pytest.mark.parametrize(
    ("question", "requested", "translator"),
    [
        (action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP), "10.96.1.1:80", "w1"),
        (
            action("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form="{service}.{namespace}"),
            "10.96.1.1:80",
            "w1",
        ),
        (
            action("probe-linux-1-1", TargetKind.NODEPORT, on="w1"),
            "172.30.0.21:30080",
            "w1",
        ),
        (
            action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, Protocol.UDP),
            "10.96.1.1:81",
            "w1",
        ),
    ],
    ids=["ClusterIP", "a Service's name", "NodePort", "UDP"],
)
def test_a_service_is_translated_by_the_node_that_has_to(
    question: Action, requested: str, translator: str
) -> None:
    """ClusterIPs on the source's node, NodePorts on the node that owns the address; backends serve at their own port."""
    found = scene(question)
    assert (f"{found.requested}:{found.requested_port}", found.translator) == (
        requested,
        translator,
    )
    port = 18081 if question.protocol is Protocol.UDP else 18080
    assert [(str(one.address), one.port) for one in found.backends] == [("10.244.1.11", port)]


def test_a_node_is_its_own_backend() -> None:
    """What is requested at a node's address is answered on the host, where no Pod is handed anything."""
    (backend,) = scene(action("probe-windows-1-1", TargetKind.NODE_IP)).backends
    assert (backend.node, backend.on_host) == ("n1", True)


def test_a_node_as_source_has_several_addresses() -> None:
    """The source of a node vantage is the host; all its addresses are known to be its own."""
    found = scene(action("node-linux-1-1", TargetKind.POD_IP))
    assert found.source.on_host
    assert found.owners[ip_address("10.244.1.1")] == "n1"
    assert found.owners[ip_address("10.244.3.2")] == "w1"


def test_what_is_outside_is_on_no_node() -> None:
    """Nothing can be captured beyond the cluster."""
    (backend,) = scene(action("probe-windows-1-1", TargetKind.EXTERNAL_IP)).backends
    assert backend.node == OUTSIDE


def test_a_service_keeps_the_source_with_dsr() -> None:
    """Facts that kube-proxy was told for DSR let the source's own address be expected at the backend."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)
    assert scene(question).source_kept is None
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, dsr=known(value=True, origin="test")))
        if one.os is OS.WINDOWS
        else one
        for one in FACTS.nodes
    )
    direct = Directory(facts=replace(FACTS, nodes=nodes), deployment=deployed())
    assert scene(question, directory=direct).source_kept
    other = replace(CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
    assert scene(question, other, direct).source_kept is None


def test_an_overlay_has_a_tunnel_and_its_number() -> None:
    """Where facts say VXLAN, Pods' packets have to be encapsulated, with that network id."""
    cni = replace(FACTS.cni, backend=known("vxlan", "test"), vni=known(4096, "test"))
    overlay = Directory(facts=replace(FACTS, cni=cni), deployment=deployed())
    found = scene(action("probe-windows-1-1", TargetKind.POD_IP), directory=overlay)
    assert (found.encapsulated, found.vni) == (True, 4096)
    node = scene(action("probe-windows-1-1", TargetKind.NODE_IP), directory=overlay)
    assert node.encapsulated is None
    assert scene(action("probe-windows-1-1", TargetKind.POD_IP)).encapsulated is None


def test_a_hybrid_overlays_number_is_that_of_packets_from_and_to_windows_nodes() -> None:
    """Between the nodes that OVN runs on it has GENEVE, whose numbers no fact tells."""
    cni = replace(FACTS.cni, backend=known("hybrid-overlay", "test"), vni=known(4097, "test"))
    nodes = (*FACTS.nodes, replace(FACTS.node("n1"), name="n2"))
    overlay = Directory(facts=replace(FACTS, cni=cni, nodes=nodes), deployment=deployed())
    for probe, vni in (("probe-windows-1-1", 4097), ("probe-linux-1-1", None)):
        found = scene(action(probe, TargetKind.POD_IP), directory=overlay)
        assert (found.encapsulated, found.vni) == (True, vni)


def test_an_answer_that_nobody_expects_is_said() -> None:
    """Where documents lead to expect silence, or leave it open, the trace says so."""
    silent = scene(
        action("probe-windows-1-1", TargetKind.POD_IP), Expected(outcome=Outcome.TIMED_OUT)
    )
    assert silent.documented == "timed_out"
    assert silent.source_kept is None
    assert "open" in scene(action("probe-windows-1-1", TargetKind.POD_IP), None).documented


def named(**more: Any) -> Action:
    usual = {"name_form": "{service}.{namespace}", "question": Question.RESOLVE}
    given = {"protocol": Protocol.UDP, **usual, **more}
    return action("probe-windows-1-1", TargetKind.SERVICE_PARTIAL_NAME, **given)


WITH_DNS = Directory(
    facts=replace(
        FACTS,
        dns_address=known(ip_address("10.96.0.10"), "test"),
        dns_pods=known((ip_address("10.244.1.2"),), "test"),
    ),
    deployment=deployed(),
)


def test_a_name_is_traced_as_a_query_to_the_clusters_dns() -> None:
    """Over UDP, through its Service, to its Pods on the nodes whose networks they have."""
    found = scene(named(), directory=WITH_DNS)
    assert (str(found.requested), found.requested_port, found.translator) == (
        "10.96.0.10",
        53,
        "w1",
    )
    assert [(str(one.address), one.node, one.port) for one in found.backends] == [
        ("10.244.1.2", "n1", 53)
    ]
    assert found.protocol is Protocol.UDP


def test_a_dns_pod_is_queried_itself() -> None:
    """Nothing translates what goes to the address of one Pod."""
    question = action(
        "probe-windows-1-1",
        TargetKind.DNS_POD,
        Protocol.UDP,
        question=Question.RESOLVE,
        name_form="kubernetes.default.svc.{domain}",
    )
    found = scene(question, directory=WITH_DNS)
    assert (str(found.requested), found.translator) == ("10.244.1.2", "")
    assert [one.node for one in found.backends] == ["n1"]


def test_a_dns_whose_address_is_unknown_is_not_traced() -> None:
    """The reason is the fact's."""
    with pytest.raises(PlanError, match="the address of the cluster's DNS is not known"):
        scene(named())


def test_losses_are_traced_by_many_requests() -> None:
    """A check of losses has as many as its scene says, another one has one."""
    asked = action("probe-windows-1-1", TargetKind.POD_IP, question=Question.LOSS)
    assert scene(asked).tries == TRAIN
    assert scene(action("probe-windows-1-1", TargetKind.POD_IP)).tries == 0


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (check(named(protocol=Protocol.TCP)), "over TCP"),
        (check(action("external", TargetKind.NODEPORT)), "external"),
        (check(action("probe-windows-1-1", TargetKind.POD_IP, question=Question.PATH_MTU)), "mtu"),
        (
            check(action("probe-windows-1-1", TargetKind.EXTERNAL_IP, question=Question.IDLE)),
            "idle connection",
        ),
        (check(action("node-linux-1-1", TargetKind.POD_IP, Protocol.UDP)), "no mark"),
    ],
    ids=[
        "a query over TCP",
        "from outside",
        "no single flow",
        "silence outside",
        "a node's datagram",
    ],
)
def test_what_cannot_be_marked_is_refused_with_the_reason(one: Check, why: str) -> None:
    """A check that sends no flow of its own that captures can know again is not traced."""
    assert why in refusal(one)
    with pytest.raises(PlanError, match=r"flow/a/b cannot be traced"):
        scene_of(one, Expectation(claim=CONNECTED, expected=CONNECTED), DIRECTORY)
