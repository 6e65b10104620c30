"""The plan: which checks are planned on which cluster, under which ids, and what is skipped why."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.errors import PlanError
from nettests.model.check import Check, Plan
from nettests.model.facts import ClusterFacts, ExternalTarget, known, unknown
from nettests.model.words import OS, CheckClass, Placement, Protocol, Question, Resolver, SourceSeen
from nettests.plan import Matrix, build, load
from nettests.resources import suites_path
from tests.plan.clusters import OUTSIDE, alone, cluster, mixed, node, without

FLOWS = load([suites_path()]).flows
NAMES = {flow.name for flow in FLOWS}


def plan(facts: ClusterFacts, *names: str) -> Plan:
    """Return the plan of the shipped flows, or of the named ones."""
    return alone(build(facts, [flow for flow in FLOWS if not names or flow.name in names]))


def check(facts: ClusterFacts, check_id: str) -> Check:
    """Return one check of the plan."""
    return next(
        c for c in plan(facts, check_id.split("/", maxsplit=1)[0]).checks if c.id == check_id
    )


def reasons(facts: ClusterFacts, *names: str) -> dict[str, str]:
    """Return the plan's skips with their reasons."""
    return {skip.id: skip.reason for skip in plan(facts, *names).skips}


def test_two_nodes_of_each_os_give_at_least_150_checks() -> None:
    """A small mixed cluster is contacted at least 150 questions."""
    assert len(plan(mixed()).checks) >= 150


def test_ids_are_unique() -> None:
    """No two checks or skips share an id."""
    whole = plan(mixed())
    ids = [c.id for c in whole.checks] + [s.id for s in whole.skips]
    assert [check_id for check_id, count in Counter(ids).items() if count > 1] == []


def test_the_order_of_nodes_and_flows_does_not_matter() -> None:
    """The same facts and flows give the same plan in whatever order they are read."""
    facts = mixed()
    flows = list(FLOWS)
    shuffled = random.Random(7)
    expected = build(facts, FLOWS)
    for _ in range(5):
        shuffled.shuffle(flows)
        nodes = list(facts.nodes)
        shuffled.shuffle(nodes)
        assert build(replace(facts, nodes=tuple(nodes)), flows) == expected


def test_ids_survive_an_upgrade_and_a_reinstallation() -> None:
    """Ids are the same on other builds, node names and addresses."""
    facts = mixed()
    renamed = tuple(
        replace(
            n,
            name=f"new-{index}",
            addresses=(ip_address(f"10.1.1.{index + 1}"),),
            build=node("windows-1", 1, build="20348.2000").build if n.os is OS.WINDOWS else n.build,
        )
        for index, n in enumerate(facts.nodes)
    )
    upgraded = replace(facts, nodes=renamed)
    assert [c.id for c in plan(upgraded).checks] == [c.id for c in plan(facts).checks]


def test_ids_are_plain_and_name_no_node() -> None:
    """Ids are ASCII without node names, builds or addresses, and lower-case but for a case's label."""
    facts = mixed()
    for c in plan(facts).checks:
        assert c.id.isascii()
        path = c.id.removesuffix(c.action.case.label) if c.action.case else c.id
        assert path == path.lower()
        assert " " not in c.id
        assert not any(n.name in c.id or str(n.addresses[0]) in c.id for n in facts.nodes)
        assert "17763" not in c.id


def test_pairs_are_crossed_over_node_pools_placements_and_protocols() -> None:
    """An ordinary flow is run between all node pools, on the same and another node, by TCP and UDP."""
    pairs = {
        "linux-1/linux-1/same-node",
        "linux-1/linux-1/other-node",
        "linux-1/windows-1/other-node",
        "windows-1/linux-1/other-node",
        "windows-1/windows-1/same-node",
        "windows-1/windows-1/other-node",
    }
    ids = {c.id for c in plan(mixed(), "pod-to-pod-ip").checks}
    assert ids == {f"pod-to-pod-ip/{pair}/{proto}" for pair in pairs for proto in ("tcp", "udp")}


def test_placement_says_where_the_target_stands() -> None:
    """A check on the same node has source and target on one node, another node on two."""
    for c in plan(mixed()).checks:
        if c.source.node and c.target.node and c.placement is not Placement.NOWHERE:
            same = c.source.node == c.target.node
            assert same == (c.placement is Placement.SAME_NODE), c.id


def test_nodeports_are_probed_with_backends_near_and_far() -> None:
    """A NodePort is probed with its backend on the node that owns the address and on others."""
    ids = {c.id for c in plan(mixed(), "nodeport-from-local-node").checks}
    where = "nodeport-from-local-node/windows-1/windows-1/same-node/tcp"
    assert {i for i in ids if i.startswith(where)} == {
        f"{where}/backend-local",
        f"{where}/backend-linux-1",
        f"{where}/backend-windows-1",
    }


def test_a_nodeport_is_probed_at_the_address_of_its_owner() -> None:
    """The target's node owns the address; the backend may stand elsewhere."""
    c = check(
        mixed(), "nodeport-from-other-node/windows-1/linux-1/other-node/udp/backend-windows-1"
    )
    assert c.target.node in {"node-linux-1-1-x7", "node-linux-1-2-x7"}
    assert c.target.backends in {("server-windows-1-1",), ("server-windows-1-2",)}


def test_a_node_that_owns_a_nodeport_holds_a_pod() -> None:
    """Windows forwards NodePorts only while a pod stands on the node, so one is deployed."""
    whole = plan(mixed(), "nodeport-from-external")
    assert {c.target.node for c in whole.checks} <= {
        pod.node for pod in whole.pods if pod.purpose == "server"
    }


def test_linux_is_not_queried_by_powershell() -> None:
    """Resolve-DnsName is a resolver of Windows: nothing is planned, and nothing skipped, elsewhere."""
    made = plan(mixed(), "pod-to-service-partial-name")
    probed = {c.source.os for c in made.checks if c.action.resolver is Resolver.RESOLVE_DNSNAME}
    assert probed == {OS.WINDOWS}
    assert made.skips == ()


def test_partial_names_are_queried_by_every_resolver() -> None:
    """The names between short and fully qualified are resolved by the system, nslookup, PowerShell."""
    where = "pod-to-service-partial-name/windows-1/windows-1/same-node/udp"
    ids = {c.id for c in plan(mixed(), "pod-to-service-partial-name").checks}
    assert {i for i in ids if i.startswith(where)} == {
        f"{where}/{form}/{resolver}"
        for form in ("svc.ns", "svc.ns.svc")
        for resolver in ("system", "nslookup", "resolve-dnsname")
    }


def test_affinity_makes_enough_connections_to_all_servers_of_a_node_pool() -> None:
    """Session affinity is probed with 21 connections to two backends, by every node pool of every node pool."""
    checks = plan(mixed(), "session-affinity").checks
    assert {(c.source.pool, c.target.pool, c.action.protocol) for c in checks} == {
        (source, target, protocol)
        for source in ("linux-1", "windows-1")
        for target in ("linux-1", "windows-1")
        for protocol in (Protocol.TCP, Protocol.UDP)
    }
    assert {c.action.connections for c in checks} == {21}
    assert {len(c.target.backends) for c in checks} == {2}


def test_affinity_and_spread_are_different_services() -> None:
    """The control meets the same backends through a Service without affinity."""
    whole = plan(mixed(), "session-affinity")
    services = {service.name: service for service in whole.services}
    assert services["affinity-windows-1"].settings.session_affinity
    assert not services["spread-windows-1"].settings.session_affinity
    assert services["affinity-windows-1"].backends == services["spread-windows-1"].backends


def test_everything_that_is_probed_stands() -> None:
    """Each probe, backend and Service of a check or a control is among the plan's objects."""
    whole = plan(mixed())
    pods = {pod.name for pod in whole.pods}
    services = {service.name for service in whole.services}
    for c in whole.checks:
        for action in c.actions:
            assert action.source.probe in pods | {"external", "api"}
            assert set(action.target.backends) <= pods
            assert action.target.service is None or action.target.service in services


def test_server_pods_have_names_through_a_headless_service() -> None:
    """Pods that are reached by name are backends of the headless Service ``servers``."""
    whole = plan(mixed(), "pod-to-pod-name")
    headless = next(service for service in whole.services if service.settings.headless)
    assert headless.name == "servers"
    assert {c.target.pod for c in whole.checks} <= set(headless.backends)


def test_no_windows_node_skips_with_the_reason_and_keeps_linux() -> None:
    """Without Windows nodes each flow about nodes says so once, and Linux is probed as before."""
    whole = plan(without(mixed(), "windows-1"))
    gone = [skip for skip in whole.skips if skip.id.endswith("/windows")]
    assert {skip.flow for skip in gone} == {
        flow.name for flow in FLOWS if flow.matrix is not Matrix.CLUSTER and not flow.dual_stack
    }
    assert {skip.reason for skip in gone} == {"the cluster has no Windows node"}
    assert {c.source.os for c in whole.checks if c.source.os} == {OS.LINUX}


def test_one_node_of_a_node_pool_has_no_other_node() -> None:
    """Where a node pool has one node, its other-node pair is skipped with the node's name."""
    found = reasons(without(mixed(), "windows-1", keep=1), "pod-to-pod-ip")
    assert found == {
        "pod-to-pod-ip/windows-1/windows-1/other-node": (
            "only one usable node in node pool windows-1: node-windows-1-1-x7"
        )
    }


NO_TARGET = "the cluster profile declares no external target"
UNSEEN = (
    "the external target of the cluster profile does not tell whom it sees: reportsClientAddress"
)
ONLY_TCP = "the external vantage carries TCP only, not UDP"
NO_EXEC = "this identity may not get pods/exec"


@pytest.mark.parametrize(
    ("change", "flow", "part", "reason"),
    [
        (lambda f: replace(f, external_target=None), "icmp-egress", "icmp", NO_TARGET),
        (lambda f: replace(f, external_target=None), "pod-to-external-dns", "tcp", NO_TARGET),
        (
            lambda f: replace(f, external_target=replace(OUTSIDE, udp_port=None)),
            "pod-to-external-ip",
            "udp",
            "the external target of the cluster profile has no udpPort",
        ),
        (
            lambda f: replace(f, external_target=ExternalTarget(name="a.test", tcp_port=80)),
            "pod-to-external-ip",
            "tcp",
            "the external target of the cluster profile has no address",
        ),
        (
            lambda f: replace(f, external_target=replace(OUTSIDE, reports_client_address=False)),
            "pod-to-external-source-address",
            "tcp",
            UNSEEN,
        ),
        (
            lambda f: replace(f, external_target=replace(OUTSIDE, name=None)),
            "pod-to-external-dns",
            "nslookup",
            "the external target of the cluster profile has no name",
        ),
        (
            lambda f: replace(f, pod_records=known(value=False, origin="pods disabled")),
            "pod-a-record",
            "system",
            "the cluster's DNS serves no records of pod addresses: pods disabled",
        ),
        (
            lambda f: replace(f, pod_records=unknown("no Corefile")),
            "pod-a-record",
            "nslookup",
            "the cluster's DNS is not known to serve records of pod addresses: no Corefile",
        ),
        (lambda f: f, "nodeport-from-external", "udp", ONLY_TCP),
        (
            lambda f: replace(f, external_vantage="none"),
            "nodeport-from-external",
            "tcp",
            "the cluster profile declares no external vantage",
        ),
        (lambda f: replace(f, denied=("get pods/exec",)), "node-to-pod", "tcp", NO_EXEC),
        (lambda f: replace(f, denied=("get pods/exec",)), "icmp-pod-to-pod", "icmp", NO_EXEC),
        (
            lambda f: replace(f, denied=("get pods/exec",)),
            "pod-to-service-fqdn",
            "nslookup",
            NO_EXEC,
        ),
    ],
)
def test_what_cannot_be_probed_is_skipped_with_the_reason(
    change: Callable[[ClusterFacts], ClusterFacts], flow: str, part: str, reason: str
) -> None:
    """A planned check without target, vantage or permission is skipped under its own id."""
    facts = change(mixed())
    found = {i: r for i, r in reasons(facts, flow).items() if part in i.split("/")}
    assert found
    assert set(found.values()) == {reason}
    assert not [c.id for c in plan(facts, flow).checks if part in c.id.split("/")]


def test_whom_the_outside_sees_is_tested_from_windows_pods_where_it_tells() -> None:
    """With ``reportsClientAddress`` each Windows node pool probes by both protocols, and no Linux node pool does."""
    facts = replace(mixed(), external_target=replace(OUTSIDE, reports_client_address=True))
    checks = plan(facts, "pod-to-external-source-address").checks
    windows = {node.pool for node in facts.nodes if node.os is OS.WINDOWS}
    assert {check.id.split("/")[1] for check in checks} == windows
    assert {check.id.split("/")[-1] for check in checks} == {"tcp", "udp"}
    assert {check.claim.source_seen for check in checks} == {SourceSeen.CLIENT_NODE}


def test_without_host_process_windows_nodes_do_not_probe() -> None:
    """A Windows node without HostProcess containers is no vantage; its name is in the reason."""
    facts = cluster(node("linux-1", 1), node("windows-1", 1, host_process=False))
    found = reasons(facts, "node-to-service-clusterip")
    skipped = {i for i, r in found.items() if "has no HostProcess containers" in r}
    assert skipped
    assert {i.split("/")[1] for i in skipped} == {"windows-1"}
    assert {c.source.os for c in plan(facts, "node-to-service-clusterip").checks} == {OS.LINUX}


def test_unknown_host_process_support_is_not_guessed() -> None:
    """Where it is not known whether HostProcess works, the reason says what could not be read."""
    windows = replace(node("windows-1", 1), host_process=unknown("no runtime version"))
    found = reasons(cluster(node("linux-1", 1), windows), "node-to-pod")
    assert any("not known to have" in r and "no runtime version" in r for r in found.values())


def test_a_windows_node_answers_udp_only_through_host_process() -> None:
    """UDP to a Windows node needs a HostProcess server; TCP goes to the kubelet."""
    facts = cluster(node("linux-1", 1), node("windows-1", 1, host_process=False))
    ids = {c.id for c in plan(facts, "pod-to-node").checks}
    assert "pod-to-node/linux-1/windows-1/other-node/tcp" in ids
    assert "pod-to-node/linux-1/windows-1/other-node/udp" not in ids


def test_required_flows_mark_checks_and_skips() -> None:
    """What a required flow is planned carries the mark, probed or skipped."""
    whole = plan(without(mixed(), "windows-1"), "pod-to-pod-ip", "icmp-egress")
    marks = {(c.flow, c.required) for c in whole.checks}
    marks |= {(skip.flow, skip.required) for skip in whole.skips}
    assert marks == {("pod-to-pod-ip", True), ("icmp-egress", False)}


def test_pings_need_ping() -> None:
    """ICMP checks depend on a ping tool in the probe, others on nothing or on nslookup."""
    needs = {(c.action.question, c.action.resolver, c.needs) for c in plan(mixed()).checks}
    assert all(n == ("ping",) for question, _, n in needs if question is Question.PING)
    assert all(n == () for question, _, n in needs if question is Question.REACH)


def test_a_silent_connection_needs_a_shell_that_can_hold_it() -> None:
    """Which one is a matter of the client's system: bash has /dev/tcp, PowerShell TcpClient."""
    idle = [flow for flow in FLOWS if flow.question is Question.IDLE]
    checks = build(mixed(), idle, frozenset({CheckClass.COSTLY})).checks
    needs = {(check.source.os, check.needs) for check in checks}
    assert needs == {(OS.LINUX, ("bash",)), (OS.WINDOWS, ("powershell",))}


def test_unsplit_pings_are_as_large_as_the_mtu_says() -> None:
    """IPv4's and ICMP's headers are part of the packet; one byte more is one byte of payload more."""
    facts = mixed()
    facts = replace(facts, cni=replace(facts.cni, mtu=known(1450, "test")))
    pings = [one for one in plan(facts).checks if one.action.question is Question.PING]
    sizes = {one.flow: one.action.size for one in pings if one.action.size is not None}
    assert sizes == {"icmp-packet-at-mtu": 1422, "icmp-packet-beyond-mtu": 1423}


def test_unsplit_pings_need_a_known_mtu() -> None:
    """Nobody guesses a network's size."""
    why = reasons(mixed(), "icmp-packet-at-mtu", "icmp-packet-beyond-mtu")
    assert why
    assert all("MTU" in reason for reason in why.values())


def test_the_clusters_dns_needs_a_known_address() -> None:
    """Without it no server is queried for it, and no Pod is told to use it."""
    facts = replace(mixed(), dns_address=unknown("no Service"), dns_pods=unknown("no Pod"))
    flows = ("dns-via-service", "dns-via-pod", "dns-policy-none")
    assert {skip.rpartition("/")[0].split("/")[0] for skip in reasons(facts, *flows)} == set(flows)
    assert plan(facts, *flows).checks == ()


def test_pods_with_a_policy_of_their_own_stand_beside_the_usual_ones() -> None:
    """A flow with a dnsPolicy probes from a Pod of that policy, and its controls do not."""
    made = plan(mixed(), "dns-policy-default", "dns-policy-host-network")
    by_policy = {pod.name: pod.dns_policy for pod in made.pods if pod.dns_policy}
    assert by_policy["probe-windows-1-1-default"] == "Default"
    assert by_policy["node-windows-1-1-clusterfirstwithhostnet"] == "ClusterFirstWithHostNet"
    probed = check(mixed(), "dns-policy-default/windows-1/external/outside/udp/system")
    target = next(c for c in probed.controls if c.proves == "target")
    assert target.action.source.dns_policy == ""


def test_a_target_on_a_node_needs_a_matrix_with_targets() -> None:
    """A flow to a node's pod that is crossed with nothing but sources is refused, not required of somebody else."""
    (flow,) = [flow for flow in FLOWS if flow.name == "pod-to-pod-ip"]
    with pytest.raises(PlanError, match=r"pod-to-pod-ip requests pod-ip, .* no target"):
        build(mixed(), [replace(flow, matrix=Matrix.SOURCES)])
