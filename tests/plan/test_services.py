"""Flows that state a Service's settings: their cells, the Services they need and their controls."""

from dataclasses import replace
from itertools import cycle

import pytest

from nettests.errors import PlanError
from nettests.model.check import Check, Plan
from nettests.model.expectation import Source
from nettests.model.facts import ClusterFacts, Fact
from nettests.model.versions import KubernetesVersion
from nettests.model.words import CheckClass, Outcome, Question, TargetKind, VantageKind
from nettests.plan import Flow, Matrix, ServiceSettings, build, load
from nettests.resources import suites_path
from tests.plan.clusters import alone, cluster, mixed, node

FLOWS = load([suites_path()]).flows


def plan(*names: str) -> Plan:
    """Return the plan of the named flows."""
    return alone(build(mixed(), [flow for flow in FLOWS if flow.name in names]))


def check(check_id: str) -> Check:
    """Return one check of the shipped flows."""
    return next(one for one in plan(check_id.partition("/")[0]).checks if one.id == check_id)


def made(name: str, service: ServiceSettings) -> Flow:
    """Return a flow of one's own from pods to a Service with these settings."""
    return Flow(
        name=name,
        claim="A claim.",
        source=VantageKind.POD,
        target=TargetKind.SERVICE_CLUSTERIP,
        matrix=Matrix.NEAREST,
        sources=(Source(document="a document", section="1"),),
        service=service,
    )


def test_a_hairpin_is_run_by_the_pod_that_backs_the_service() -> None:
    """Source and only backend are one probe pod, behind a ClusterIP that no node's port leads to."""
    whole = plan("service-hairpin")
    for one in whole.checks:
        assert one.target.backends == (one.source.probe,)
    services = {service.name: service for service in whole.services}
    assert services["hairpin-probe-windows-1-1"].settings.type == "ClusterIP"
    assert services["hairpin-probe-windows-1-1"].backends == ("probe-windows-1-1",)


def test_services_before_a_probe_are_no_node_ports() -> None:
    """A full netexec is behind hairpins and beside servers at another number, never behind a NodePort."""
    for service in build(mixed(), FLOWS).services:
        if any(name.startswith("probe-") for name in service.backends):
            assert service.name.startswith(("hairpin-", "mixed-target-ports-"))
            assert service.settings.type == "ClusterIP"


def test_only_hairpins_lead_a_pod_to_itself() -> None:
    """Where hairpins do not work, no other flow may depend on one: each probe reaches the Service over another's."""
    facts = replace(mixed(), server_version=KubernetesVersion(1, 33))
    two = [flow for flow in FLOWS if flow.name == "service-two-target-ports"]
    members = [member for check in build(facts, two).checks for member in check.each]
    assert members
    assert [one.id for one in members if one.source.probe in one.target.backends] == []
    assert {len(one.target.backends) for one in members} == {2}


def in_zones(*zones: str | None) -> ClusterFacts:
    """Return the mixed cluster with its nodes in these zones, one after the other."""
    facts = replace(mixed(), server_version=KubernetesVersion(1, 24))
    named = zip(facts.nodes, cycle(zones))
    placed = (replace(one, zone=Fact(zone, "a label")) for one, zone in named)
    return replace(facts, nodes=tuple(placed))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (in_zones("a", "b"), ""),
        (in_zones(None), "is not known: a label"),
        (
            replace(in_zones("a"), server_version=KubernetesVersion(1, 23)),
            "looks at no topology hints",
        ),
        (in_zones(*"abcdefghi"), ""),
    ],
)
def test_hints_are_probed_where_kube_proxy_knows_its_zone(facts: ClusterFacts, said: str) -> None:
    """Without a zone of its own, or by default before 1.24, a proxy takes all backends whatever they say."""
    made = build(facts, [flow for flow in FLOWS if flow.name == "service-topology-hints"])
    assert bool(made.checks) is not bool(said)
    assert not said or any(said in skip.reason for skip in made.skips)


def test_no_endpoint_backs_one_service_for_all_sources() -> None:
    """Every node pool probes the same Service, which selects no pod, once by each protocol."""
    whole = plan("service-no-endpoints", "nodeport-no-endpoints")
    assert {one.id for one in whole.checks} == {
        "nodeport-no-endpoints/external/linux-1/outside/tcp",
        "nodeport-no-endpoints/external/windows-1/outside/tcp",
        "service-no-endpoints/linux-1/tcp",
        "service-no-endpoints/linux-1/udp",
        "service-no-endpoints/windows-1/tcp",
        "service-no-endpoints/windows-1/udp",
    }
    empty = next(service for service in whole.services if service.settings.no_endpoints)
    assert (empty.name, empty.backends) == ("no-endpoints", ())


@pytest.mark.parametrize(
    "check_id",
    [
        "service-no-endpoints/windows-1/tcp",
        "nodeport-no-endpoints/external/windows-1/outside/tcp",
    ],
)
def test_silence_of_nobody_counts_beside_a_service_that_is_backed(check_id: str) -> None:
    """The target control is an ordinary Service, probed from the same place by the same means."""
    one = check(check_id)
    proof = next(control.action for control in one.controls if control.proves == "target")
    assert proof.source == one.source
    assert proof.target.kind is one.target.kind
    assert proof.target.backends
    assert proof.target.settings is None


def test_a_node_without_backend_counts_beside_the_one_that_has_it() -> None:
    """With externalTrafficPolicy Local the same Service answers through its backend's node."""
    one = check("etp-local-no-local-backend/external/windows-1/outside/tcp/backend-linux-1")
    assert one.claim.outcome is Outcome.TIMED_OUT
    proof = next(control.action for control in one.controls if control.proves == "target")
    assert proof.target.service == one.target.service
    assert proof.target.backends == one.target.backends
    assert proof.target.node != one.target.node
    assert proof.target.pool == "linux-1"


def test_a_pod_without_backend_counts_beside_a_pod_of_the_backends_node() -> None:
    """With internalTrafficPolicy Local the same Service answers the pods of its backend's node."""
    one = check("itp-local-no-local-backend/windows-1/linux-1/other-node/tcp")
    proofs = {control.proves: control.action for control in one.controls}
    assert proofs["target"].source.node == one.target.node
    assert proofs["target"].target == one.target
    assert proofs["vantage"].source == one.source
    assert proofs["vantage"].target.kind is TargetKind.SERVICE_CLUSTERIP
    assert proofs["vantage"].target.settings is None


def test_backing_narrows_where_a_nodeports_backends_stand() -> None:
    """Local means the target node alone, elsewhere all node pools' other nodes."""
    ids = {one.id for one in plan("etp-local-client-address", "etp-local-no-local-backend").checks}
    assert ids == {
        "etp-local-client-address/external/linux-1/outside/tcp/backend-local",
        "etp-local-client-address/external/windows-1/outside/tcp/backend-local",
        "etp-local-no-local-backend/external/linux-1/outside/tcp/backend-linux-1",
        "etp-local-no-local-backend/external/linux-1/outside/tcp/backend-windows-1",
        "etp-local-no-local-backend/external/windows-1/outside/tcp/backend-linux-1",
        "etp-local-no-local-backend/external/windows-1/outside/tcp/backend-windows-1",
    }


def test_the_loopback_address_is_proven_by_the_nodes_own_address() -> None:
    """That nothing answers at 127.0.0.1 counts beside the same NodePort, probed from elsewhere."""
    one = check("nodeport-localhost/windows-1/windows-1/same-node/tcp/backend-local")
    assert one.target.kind is TargetKind.NODEPORT_LOCALHOST
    proof = next(control.action for control in one.controls if control.proves == "target")
    assert proof.target.kind is TargetKind.NODEPORT
    assert proof.target.node == one.target.node
    assert proof.source.node != one.source.node


def test_settings_stay_with_the_flow_that_states_them() -> None:
    """Services of other flows over the same pods keep their names and have no such settings."""
    both = plan("itp-local-own-node", "pod-to-service-clusterip")
    services = {service.name: service.settings for service in both.services}
    assert services["itp-local-server-windows-1-1"].internal_local
    assert not services["svc-server-windows-1-1"].internal_local
    assert services["svc-server-windows-1-1"].type == "NodePort"


def test_one_label_with_two_meanings_is_an_error() -> None:
    """Two flows cannot want one Service with different settings."""
    one = made("one", ServiceSettings(label="twice", internal_traffic_policy="Local"))
    two = made("two", ServiceSettings(label="twice"))
    with pytest.raises(PlanError, match="twice-server-linux-1-1 with different settings"):
        build(mixed(), [one, two])


def test_an_external_name_needs_a_declared_name() -> None:
    """Where the profile declares no name outside, an ExternalName Service is not run."""
    facts = mixed()
    assert facts.external_target is not None
    nameless = replace(facts, external_target=replace(facts.external_target, name=None))
    flows = [flow for flow in FLOWS if flow.name == "service-external-name"]
    whole = build(nameless, flows)
    assert whole.checks == ()
    assert {skip.reason for skip in whole.skips} == {
        "the external target of the cluster profile has no name"
    }


def test_who_sticks_is_proven_by_who_does_not() -> None:
    """One backend after every time-out counts beside several through a Service without affinity."""
    flows = [flow for flow in FLOWS if flow.name == "affinity-timeout"]
    for one in build(mixed(), flows, {CheckClass.COSTLY}).each:
        assert one.action.pause > 1
        assert one.target.settings is not None
        assert one.target.settings.affinity_seconds == 1
        proof = next(control.action for control in one.controls if control.proves == "target")
        assert proof.question is Question.DISTRIBUTE
        assert proof.target.service == f"spread-{one.target.pool}"
        assert proof.pause == 0


def test_a_service_may_stand_before_a_host() -> None:
    """The backend is the pod on the node's own network, where HostProcess makes one possible."""
    one = check("service-host-process-backend/windows-1/linux-1/other-node/tcp")
    assert one.target.backends == ("node-linux-1-1",)
    lacking = cluster(node("linux-1", 1), node("windows-1", 1, host_process=False))
    flows = [flow for flow in FLOWS if flow.name == "service-host-process-backend"]
    reasons = {skip.id: skip.reason for skip in build(lacking, flows).skips}
    behind = "service-host-process-backend/linux-1/windows-1/other-node/tcp"
    assert "has no HostProcess containers" in reasons[behind]


def test_an_unready_pod_stands_only_behind_what_publishes_it() -> None:
    """No other Service leads to it, and it is deployed for its flow alone."""
    whole = build(mixed(), FLOWS)
    for service in whole.services:
        if any(name.startswith("unready-") for name in service.backends):
            assert service.settings.publish_not_ready
    assert {pod.purpose for pod in plan("service-unready-backend").pods} >= {"unready"}
    assert "unready" not in {pod.purpose for pod in plan("pod-to-pod-ip").pods}


@pytest.mark.parametrize("denied", [(), ("create endpointslices",)])
@pytest.mark.parametrize("version", ["1.20.15", "1.21.0"])
def test_slices_by_hand_need_their_api_and_the_right(version: str, denied: tuple[str, ...]) -> None:
    """Before 1.21, or without the permission, the checks are skipped with that reason."""
    facts = replace(mixed(), server_version=KubernetesVersion.parse(version), denied=denied)
    made_by_hand = build(facts, [flow for flow in FLOWS if flow.name == "service-without-selector"])
    possible = version == "1.21.0" and not denied
    assert bool(made_by_hand.checks) is possible
    said = {skip.reason for skip in made_by_hand.skips if skip.id.count("/") > 2}
    if denied:
        assert said == {"this identity may not create endpointslices"}
    elif version == "1.20.15":
        assert said == {"Kubernetes 1.20.15 has no EndpointSlices of version v1: 1.21.0 has"}


def test_a_port_of_sctp_is_planned_where_services_take_one() -> None:
    """It is a feature of Services from Kubernetes 1.19 on; before that the flow is skipped with the reason."""
    flow = [one for one in FLOWS if one.name == "service-beside-sctp"]
    old = replace(mixed(), server_version=KubernetesVersion(1, 18))
    why = "Kubernetes 1.18.0 takes no ports of SCTP by default: 1.19.0 does"
    planned = build(old, flow)
    assert not planned.checks
    assert why in {skip.reason for skip in planned.skips}
    new = replace(old, server_version=KubernetesVersion(1, 19))
    costly = build(new, flow, enabled={CheckClass.COSTLY})
    assert {one.settings.sctp for one in costly.services if one.name.startswith("sctp")} == {True}
