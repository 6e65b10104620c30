"""Positive controls: every check has paths that must work before a negative result is believed."""

from dataclasses import replace

import pytest

from nettests.model.check import Action, Check
from nettests.model.facts import ClusterFacts
from nettests.model.versions import KubernetesVersion
from nettests.model.words import (
    OS,
    CheckClass,
    Outcome,
    Protocol,
    Question,
    Resolver,
    TargetKind,
    VantageKind,
)
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import alone, cluster, mixed, node, without

FLOWS = load([suites_path()]).flows
EVERY = frozenset(CheckClass)
PATHLESS = {Question.ADMIT, Question.INSPECT, Question.START}


def controls(facts: ClusterFacts, check_id: str) -> dict[str, Action]:
    """Return the controls of one check by what they prove."""
    flows = [f for f in FLOWS if f.name == check_id.split("/", maxsplit=1)[0]]
    checks = alone(build(facts, flows)).checks
    found = next(c for c in checks if c.id == check_id)
    return {control.proves: control.action for control in found.controls}


def every() -> tuple[Check, ...]:
    """Return all checks of a mixed cluster that send packets."""
    return tuple(
        each
        for c in build(mixed(), FLOWS, EVERY).checks
        if c.action.question not in PATHLESS
        for each in c.each
    )


@pytest.mark.parametrize("outcome", [Outcome.REJECTED, Outcome.ACCEPTED])
def test_an_admission_is_run_beside_its_counter_case(outcome: Outcome) -> None:
    """An object that is to be rejected, or that may be against all documents, has a twin which is accepted."""
    probed = [c for c in build(mixed(), FLOWS).checks if c.claim.outcome is outcome]
    assert probed
    for check in probed:
        (control,) = check.controls
        assert check.action.case is not None
        assert control.proves == "path"
        assert control.action.case is not None
        assert control.action.case.object == check.action.case.counter != check.action.case.object


def test_every_check_has_both_controls() -> None:
    """On a cluster of two nodes a node pool nothing lacks a control."""
    assert {tuple(c.proves for c in check.controls) for check in every()} == {("vantage", "target")}


def test_a_control_never_probes_what_the_check_targets() -> None:
    """A control that is the check itself would prove nothing."""
    for check in every():
        for control in check.controls:
            assert control.action != check.action, check.id


def test_a_vantage_control_keeps_source_and_protocol() -> None:
    """It shows that this very vantage reaches something by this very protocol."""
    for check in every():
        proof = next(c.action for c in check.controls if c.proves == "vantage")
        assert (proof.source, proof.protocol) == (check.source, check.action.protocol), check.id


def test_a_vantage_control_avoids_the_pods_in_question() -> None:
    """A dead backend must not take the vantage control with it."""
    for check in every():
        proof = next(c.action for c in check.controls if c.proves == "vantage")
        assert not set(proof.target.backends) & set(check.target.backends), check.id


def test_pods_prove_themselves_on_the_other_side_of_what_is_tested() -> None:
    """A pod proves its vantage on its own node, or elsewhere when its own node is in question."""
    near = controls(mixed(), "pod-to-pod-ip/windows-1/windows-1/same-node/tcp")["vantage"]
    far = controls(mixed(), "pod-to-pod-ip/windows-1/linux-1/other-node/tcp")["vantage"]
    assert near.target.node != near.source.node
    assert far.target.node == far.source.node


def test_nodes_prove_themselves_on_pods_of_their_own() -> None:
    """Reaching other nodes' pods from a node is not documented on every network."""
    for check in every():
        if check.source.kind is VantageKind.NODE:
            proof = next(c.action for c in check.controls if c.proves == "vantage")
            assert proof.target.kind is TargetKind.POD_IP
            assert proof.target.node == check.source.node


def test_targets_are_proved_by_linux_pods_first() -> None:
    """What a Windows node cannot reach is probed from a Linux pod, which documents say can."""
    proof = controls(mixed(), "node-to-service-clusterip/windows-1/windows-1/other-node/udp")
    assert proof["target"].source.kind is VantageKind.POD
    assert proof["target"].source.os is OS.LINUX
    assert proof["target"].protocol is Protocol.UDP


def test_a_nodeport_is_proved_from_another_node() -> None:
    """The local NodePort of a Windows node answers other nodes, so another node requests it."""
    where = "nodeport-from-local-node/windows-1/windows-1/same-node/tcp/backend-local"
    proof = controls(mixed(), where)["target"]
    assert proof.source.kind is VantageKind.NODE
    assert proof.source.node != proof.target.node


def test_a_lone_node_is_proved_from_outside() -> None:
    """Where there is no other node the external vantage stands in, for UDP if it carries that."""
    facts = cluster(node("windows-1", 1))
    where = "nodeport-from-local-node/windows-1/windows-1/same-node"
    tcp = controls(facts, f"{where}/tcp/backend-local")
    udp = controls(facts, f"{where}/udp/backend-local")
    assert tcp["target"].source.kind is VantageKind.EXTERNAL
    assert "target" not in udp
    carried = controls(replace(facts, external_udp=True), f"{where}/udp/backend-local")
    assert carried["target"].source.kind is VantageKind.EXTERNAL


def test_a_partial_name_is_proved_by_the_full_one_in_the_same_pod() -> None:
    """A name that does not resolve means something only if the resolver answers the full name."""
    where = "pod-to-service-partial-name/windows-1/windows-1/same-node/udp/svc.ns/nslookup"
    proof = controls(mixed(), where)
    assert proof["target"].target.kind is TargetKind.SERVICE_FQDN
    assert proof["target"].source.probe == "probe-windows-1-1"
    assert proof["target"].resolver is not None
    assert proof["vantage"].question is Question.REACH
    assert proof["vantage"].target.kind is TargetKind.POD_IP


def test_a_ping_to_a_service_is_proved_at_its_port() -> None:
    """No vantage need be answered there by ping, so the Service shows that it stands by TCP."""
    check = "icmp-pod-to-service/windows-1/windows-1/same-node/icmp"
    proof = controls(mixed(), check)
    assert proof["vantage"].question is Question.PING
    assert proof["vantage"].target.kind is TargetKind.POD_IP
    stands = proof["target"]
    assert (stands.question, stands.protocol) == (Question.REACH, Protocol.TCP)
    assert stands.target.kind is TargetKind.SERVICE_CLUSTERIP
    assert stands.source.probe == "probe-windows-1-1"


def test_a_name_that_must_not_resolve_is_proved_by_the_usual_policy() -> None:
    """That the node's servers do not know a name means something beside the cluster's DNS, which does."""
    proof = controls(mixed(), "dns-policy-default-cluster-name/windows-1/udp/system")
    assert proof["target"].source.dns_policy == ""
    assert proof["target"].target.kind is TargetKind.KUBERNETES_SERVICE


@pytest.mark.parametrize(
    ("external", "kind"), [(True, TargetKind.EXTERNAL_NAME), (False, TargetKind.NO_NAME)]
)
def test_a_node_s_own_servers_are_proved_by_another_name(external: bool, kind: TargetKind) -> None:
    """They answer the same Pod, by the same resolver: for a name outside, or where none is known for none at all."""
    facts = mixed() if external else replace(mixed(), external_target=None)
    where = "dns-policy-default-cluster-name/windows-1/udp/nslookup"
    proof = controls(facts, where)["vantage"]
    (own,) = (c.action for c in alone(build(facts, FLOWS, EVERY)).checks if c.id == where)
    assert proof.target.kind is kind
    assert replace(proof, target=own.target) == own


def test_egress_pings_are_proved_by_linux() -> None:
    """A Windows pod that cannot ping outside pings a pod, and a Linux vantage pings the outside."""
    proof = controls(mixed(), "icmp-egress/windows-1/external/outside/icmp")
    assert (proof["vantage"].question, proof["vantage"].target.kind) == (
        Question.PING,
        TargetKind.POD_IP,
    )
    assert proof["target"].source.os is OS.LINUX
    assert proof["target"].target.kind is TargetKind.EXTERNAL_IP


def test_the_only_linux_pod_is_proved_by_its_node() -> None:
    """Where the one Linux pod probes itself, its node pings the outside."""
    facts = without(mixed(), "linux-1", keep=1)
    proof = controls(facts, "icmp-egress/linux-1/external/outside/icmp")
    assert proof["target"].source.kind is VantageKind.NODE


def test_egress_pings_without_linux_lack_a_control() -> None:
    """Without a Linux vantage nothing shows that the outside answers pings."""
    proof = controls(cluster(node("windows-1", 1)), "icmp-egress/windows-1/external/outside/icmp")
    assert set(proof) == {"vantage"}


def test_affinity_is_proved_by_the_spread_of_the_same_connections() -> None:
    """One backend means affinity only if the same connections meet several without it."""
    where = "session-affinity/windows-1/linux-1/other-node/tcp"
    proof = controls(mixed(), where)["target"]
    assert proof.question is Question.DISTRIBUTE
    assert proof.target.service == "spread-linux-1"
    assert proof.connections == 21


def test_outside_proves_itself_on_another_node() -> None:
    """A client outside shows that it reaches the NodePort of another node."""
    where = "nodeport-from-external/external/windows-1/outside/tcp/backend-local"
    proof = controls(mixed(), where)["vantage"]
    assert proof.target.kind is TargetKind.NODEPORT
    assert proof.target.os is OS.LINUX


def test_outside_proves_itself_outside_if_there_is_one_node() -> None:
    """With a single node the external target takes the other node's place."""
    where = "nodeport-from-external/external/linux-1/outside/tcp/backend-local"
    proof = controls(cluster(node("linux-1", 1)), where)["vantage"]
    assert proof.target.kind is TargetKind.EXTERNAL_IP


def test_a_name_that_nothing_has_is_proved_by_one_that_exists() -> None:
    """NXDOMAIN means something only if the same resolver of the same pod finds another name."""
    proof = controls(mixed(), "dns-no-such-name/windows-1/udp/short/nslookup")["target"]
    assert proof.target.kind is TargetKind.KUBERNETES_SERVICE
    assert (proof.source.probe, proof.resolver) == ("probe-windows-1-1", Resolver.NSLOOKUP)


def test_a_name_of_a_pods_own_search_domain_is_proved_by_the_full_one() -> None:
    """Other pods have other search domains, so the same pod is requested the full name."""
    proof = controls(mixed(), "dns-policy-none/windows-1/udp/system")["target"]
    assert proof.source.probe == "probe-windows-1-1-none"
    assert proof.target.name_form == "kubernetes.default.svc.{domain}"


def test_resolve_dnsname_is_proved_by_resolvers_that_all_have() -> None:
    """Other vantages may lack PowerShell, so they probe with nslookup."""
    proof = controls(mixed(), "dns-other-namespace/windows-1/udp/resolve-dnsname")["target"]
    assert (proof.source.os, proof.resolver) == (OS.LINUX, Resolver.NSLOOKUP)


def test_a_closed_port_is_proved_by_an_open_one_of_its_owner() -> None:
    """Everybody is refused at a closed port: that the owner is there shows at another port."""
    pod = controls(mixed(), "pod-to-closed-port/windows-1/linux-1/other-node/tcp")
    node = controls(mixed(), "pod-to-node-closed-port/windows-1/linux-1/other-node/tcp")
    assert pod["target"].target.kind is TargetKind.POD_IP
    assert pod["target"].target.pod == "server-linux-1-1"
    assert node["target"].target.kind is TargetKind.NODE_IP
    assert {one["target"].source.probe for one in (pod, node)} == {"probe-windows-1-1"}
    assert pod["vantage"].target.pod != "server-linux-1-1"


def exposed(check_id: str) -> dict[str, Action]:
    """Return the controls of one exposed check on a mixed cluster."""
    facts = replace(mixed(), server_version=KubernetesVersion(1, 34))
    checks = {check.id: check for check in alone(build(facts, FLOWS, EVERY)).checks}
    return {control.proves: control.action for control in checks[check_id].controls}


def test_a_balancer_that_lets_nobody_in_is_proven_beside_others() -> None:
    """Its backend answers the same pod at the ClusterIP, and that pod's node serves other balancers."""
    found = exposed("loadbalancer-source-ranges/windows-1/windows-1/same-node/tcp")
    assert found["target"].target.kind is TargetKind.SERVICE_CLUSTERIP
    assert found["target"].target.service == "lb-nobody-server-windows-1-1"
    assert found["vantage"].target.kind is TargetKind.LOADBALANCER
    assert found["vantage"].target.service == "lb-server-linux-1-1"
    assert {one.source.probe for one in found.values()} == {"probe-windows-1-1"}


def test_a_health_check_is_proven_where_the_backend_is() -> None:
    """Only the backend's own node is sure to say that there is one."""
    path = "health-check-no-local-backend/windows-1/linux-1/other-node/tcp/backend-windows-1"
    target = exposed(path)["target"].target
    assert target.kind is TargetKind.HEALTH_CHECK_PORT
    assert target.pool == "windows-1"


@pytest.mark.parametrize("flow", ["service", "loadbalancer"])
def test_terminating_backends_are_proven_by_an_ordinary_service(flow: str) -> None:
    """What is said of the backend in a slice by hand is said nowhere else: there it answers."""
    target = exposed(f"{flow}-terminating-backends/windows-1/windows-1/same-node/tcp")["target"]
    assert target.target.service == "svc-server-windows-1-1"
    assert target.target.settings is None
    assert target.source.probe == "probe-windows-1-1"


def test_a_dialled_name_is_proved_by_the_whole_name() -> None:
    """With a final dot no search domain is tried first: where the DNS is silent, each would cost its time-outs."""
    by_name = controls(mixed(), "pod-to-service-pqdn/linux-1/windows-1/other-node/tcp")["target"]
    assert by_name.target.kind is TargetKind.SERVICE_FQDN
    assert by_name.target.name_form == "{service}.{namespace}.svc.{domain}."
    pod = controls(mixed(), "pod-to-pod-name/linux-1/windows-1/other-node/tcp")["target"]
    assert (pod.target.name_form or "").endswith(".{domain}.")
