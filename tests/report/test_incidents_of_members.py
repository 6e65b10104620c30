"""One node of twelve deviates in one thing: the only member that is red is named with its node."""

from dataclasses import replace

import pytest

from nettests.model.check import Action
from nettests.model.words import OS, Outcome, Protocol, Question, Verdict
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult, Incident, run_singly
from tests.report.sweep import FLOWS, swept

NODE = "win-2"
LATE = (
    "every answer took 3.1 s or more, longer than the 2 s after which a lost packet is sent again"
)
LOOKUP = "lookup web.ns.svc.cluster.local on 10.96.0.10:53: read udp 10.244.1.5:50333->10.96.0.10:53: i/o timeout"


def forgotten(action: Action) -> bool:
    """Clients on one node do not keep their backends."""
    return action.question is Question.DISTRIBUTE and action.source.node == NODE


def test_affinity_that_one_node_loses_is_named_with_it() -> None:
    """Eleven nodes keep their backends, and the twelfth reaches all that the others reach."""
    results = swept(forgotten, flows=(*FLOWS, "session-affinity"))
    (found,) = results.incidents
    assert (
        found.cause
        == f"Session affinity is not kept, for connections through the Service proxy of {NODE}"
    )
    assert set(found.members) == {
        f"session-affinity/windows-1/{pool}/other-node/{protocol}#{NODE}"
        for pool in ("linux-1", "windows-1")
        for protocol in ("tcp", "udp")
    }
    assert found.explained


@pytest.mark.parametrize("system", [OS.WINDOWS, OS.LINUX])
@pytest.mark.parametrize("protocols", [{Protocol.TCP, Protocol.UDP}, {Protocol.TCP}])
def test_affinity_that_some_services_lose_is_looked_for_in_rules(
    system: OS, protocols: set[Protocol]
) -> None:
    """Between whatever nodes these lie: their packets arrive, so that no route is looked for."""

    def partly(action: Action) -> bool:
        return forgotten(action) and action.target.os is system and action.protocol in protocols

    incidents = swept(partly, flows=(*FLOWS, "session-affinity")).incidents
    assert incidents
    assert all("routes" not in each.next_step for each in incidents)
    assert "HNS load balancers" in incidents[0].next_step


def test_a_service_that_answers_nobody_is_no_lost_affinity() -> None:
    """Who got no answer shows nothing of backends: the Service and the node are what is wrong."""
    results = swept(flows=(*FLOWS, "session-affinity"))

    def of(one: CheckResult) -> CheckResult:
        seen = one.observation
        if seen is None or not one.id.endswith(
            f"session-affinity/windows-1/linux-1/other-node/tcp#{NODE}"
        ):
            return one
        silent = tuple(replace(each, outcome=Outcome.TIMED_OUT) for each in seen.attempts[:2])
        lost = replace(seen, outcome=Outcome.TIMED_OUT, distribution=None, attempts=silent)
        return replace(one, verdict=Verdict.FAIL, observation=lost)

    (found,) = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    service = "Service affinity-linux-1 through the Service proxy of win-2"
    assert found.cause == f"Connections to {service} over TCP get no answer"


@pytest.fixture(scope="module")
def named() -> Results:
    """All nodes reach a Service by its name, but new Pods on one, whose requests give up after a second."""
    return swept(nameless, flows=(*FLOWS, "pod-to-service-pqdn", "new-pod-first-packets"))


def nameless(action: Action) -> bool:
    """New Pods on one node reach no Service by its name."""
    return action.question is Question.START and action.source.node == NODE


def late(results: Results, *nodes: str) -> tuple[Incident, ...]:
    """Return the incidents where names come late to Pods of some nodes, of all if none is named."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or check.flow != "pod-to-service-pqdn":
            return one
        if nodes and check.source.node not in nodes:
            return one
        attempts = tuple(replace(attempt, elapsed=3.1) for attempt in seen.attempts)
        slow = replace(seen, attempts=attempts, slow=LATE)
        return replace(one, verdict=Verdict.FLAKY, observation=slow)

    return find_incidents([of(one) for one in run_singly(results.checks)], results.facts)


def test_names_that_come_late_to_one_node_are_named_with_it_and_the_figure(named: Results) -> None:
    """A single late member is no accident: what is late was measured beside the probe's own answers."""
    (found,) = late(named, NODE)
    where = f"at its Service address from {NODE}"
    assert found.cause == (
        f"Queries to the cluster DNS {where} are answered only after 3.1 s or more"
    )
    assert found.members
    assert all(NODE in name.partition("#")[2].split(" → ")[0] for name in found.members)


def test_names_that_come_late_to_all_nodes_are_a_matter_of_the_dns(named: Results) -> None:
    """No node stands out."""
    (found,) = late(named)
    assert found.cause == "Queries to the cluster DNS are answered only after 3.1 s or more"
    assert len({name.partition("#")[2].split(" → ")[0] for name in found.members}) == 12


def test_a_loss_of_queries_is_no_lateness(named: Results) -> None:
    """One answer of a name that came late beside others that did not come at all was sent again."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or check.flow != "pod-to-service-pqdn":
            return one
        first = seen.attempts[0]
        if check.id.startswith(f"pod-to-service-pqdn/windows-1/linux-1/other-node/tcp#{NODE} "):
            attempts = (replace(first, elapsed=2.1),)
            return replace(
                one,
                verdict=Verdict.FLAKY,
                observation=replace(seen, attempts=attempts, slow=LATE),
            )
        if check.source.node in {"win-3", "win-4", "linux-1"}:
            silent = replace(first, outcome=Outcome.TIMED_OUT)
            lossy = replace(seen, attempts=(silent, first, first), agreed=False)
            return replace(one, verdict=Verdict.FLAKY, observation=lossy)
        return one

    found = find_incidents([of(one) for one in run_singly(named.checks)], named.facts)
    assert any(
        "Queries to the cluster DNS are lost" in one.cause and " of " in one.cause for one in found
    )
    assert not any("answered only after" in one.cause for one in found)


def test_a_new_pod_that_reaches_nothing_belongs_to_a_pair_that_is_cut() -> None:
    """Its Pod, its ClusterIP's backend and its Service's stand on the node that nothing gets to."""
    (new, *_) = [
        one
        for check in swept(flows=("new-pod-first-packets",)).checks
        for one in check.members
        if one.check and one.check.source.node != one.check.target.node
    ]
    assert new.check is not None
    pair = {new.check.source.node, new.check.target.node}

    def cut(action: Action) -> bool:
        return {action.source.node, action.target.node} == pair

    (found,) = swept(cut, flows=(*FLOWS, "new-pod-first-packets")).incidents
    assert found.cause.startswith("Packets between linux-1 and linux-4 ")
    assert new.id in found.members


def test_new_pods_that_get_no_name_are_named_where_names_come_in_time(named: Results) -> None:
    """Then it is no lateness of the DNS: late names on another node do not explain them."""
    first, second = late(named, "win-5")
    assert {first.cause, second.cause} == {
        "Queries to the cluster DNS at its Service address from win-5 are answered only after 3.1 s or more",
        f"New Pods on {NODE} reach no Service by its name",
    }


def test_a_new_pod_whose_peer_is_late_belongs_to_that_lateness() -> None:
    """Its requests give up before a node answers to which connections take four seconds."""
    slow = "win-3"

    def unreached(action: Action) -> bool:
        return action.target.node == slow

    lost = run_singly(swept(unreached, flows=("new-pod-first-packets",)).checks)
    new = next(one for one in lost if one.verdict is Verdict.FAIL)

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if one.id == new.id:
            return new
        if check is None or seen is None or check.flow != "pod-to-pod-ip":
            return one
        ends = {check.source.node, check.target.node}
        if slow not in ends or check.action.protocol is not Protocol.TCP:
            return one
        attempts = tuple(replace(attempt, elapsed=4.1) for attempt in seen.attempts)
        return replace(
            one, verdict=Verdict.FLAKY, observation=replace(seen, attempts=attempts, slow=LATE)
        )

    results = swept(flows=(*FLOWS, "new-pod-first-packets"))
    (found,) = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    assert slow in found.cause
    assert found.cause.endswith("are answered only after 4.1 s or more")
    assert new.id in found.members


def test_nodes_that_are_late_with_all_new_services_are_one_incident_each() -> None:
    """What stands in the report is the Service that was made last, whatever a check of that node is about."""
    slow = {"win-3": "probe-windows-1-3", "linux-2": "probe-linux-1-2"}

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or one.verdict is not Verdict.PASS:
            return one
        node = (
            check.target.node if check.flow == "nodeport-from-pod-other-node" else check.source.node
        )
        if node not in slow or check.target.service is None:
            return one
        late = f"Service sentinel did not answer {slow[node]} on {node} within 30 s"
        return replace(one, verdict=Verdict.FAIL, observation=replace(seen, late=late))

    results = swept(flows=(*FLOWS, "dns-via-service"))
    found = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    assert {one.cause for one in found} == {
        f"The Service proxy of {node} is too late to serve new Services" for node in slow
    }
    assert all(one.explained for one in found)


def test_rules_that_come_late_are_one_incident_whatever_was_run_before_them() -> None:
    """What was run after the rules had come is green, what was run before is silent: neither is a cause of its own."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or check.target.service is None or one.id in spared:
            return one
        node = (
            check.target.node if check.flow == "nodeport-from-pod-other-node" else check.source.node
        )
        if node != NODE:
            return one
        late = (
            f"Service {check.target.service} did not answer probe-windows-1-2 on {NODE} within 34 s"
        )
        silent = check.flow == "nodeport-from-pod-other-node"
        outcome = Outcome.TIMED_OUT if silent else seen.outcome
        said = replace(seen, outcome=outcome, late=None if silent else late)
        return replace(one, verdict=Verdict.FAIL, observation=said)

    results = swept()
    to_node = (
        f"nodeport-from-pod-other-node/{os}-1/windows-1/other-node/tcp/backend-local#"
        for os in ("linux", "windows")
    )
    firsts = ("linux-1", "win-1")
    spared = {f"{check}{first} → {NODE}" for check, first in zip(to_node, firsts, strict=True)}
    found = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    assert [one.cause for one in found] == [
        f"The Service proxy of {NODE} is too late to serve new Services"
    ]


def test_a_dns_that_the_node_does_not_reach_is_another_cause_than_its_late_rules() -> None:
    """The cluster's DNS is no Service that the run made: its rules have been there before."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        if check is None or seen is None or check.source.node != NODE:
            return one
        if check.flow in {"dns-via-service", "pod-to-service-pqdn"}:
            attempts = tuple(replace(each, outcome=Outcome.TIMED_OUT, detail=LOOKUP) for each in seen.attempts)  # fmt: skip
            silent = replace(seen, outcome=Outcome.TIMED_OUT, attempts=attempts)
            return replace(one, verdict=Verdict.FAIL, observation=silent)
        if check.flow != "pod-to-service-clusterip":
            return one
        late = (
            f"Service {check.target.service} did not answer probe-windows-1-2 on {NODE} within 34 s"
        )
        return replace(one, verdict=Verdict.FAIL, observation=replace(seen, late=late))

    results = swept(flows=(*FLOWS, "dns-via-service", "pod-to-service-pqdn"))
    found = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    assert {one.cause for one in found} == {
        f"The Service proxy of {NODE} is too late to serve new Services",
        f"Cluster DNS does not answer at its Service address from {NODE}",
    }


def test_one_service_that_is_late_is_not_all_of_its_node() -> None:
    """A node's rules are late where several Services are: one that is has its own name."""

    def of(one: CheckResult) -> CheckResult:
        check, seen = one.check, one.observation
        of_one = check is not None and check.target.service == "svc-server-linux-1-1"
        if check is None or seen is None or not of_one or check.source.node != NODE:
            return one
        late = (
            f"Service svc-server-linux-1-1 did not answer probe-windows-1-2 on {NODE} within 34 s"
        )
        return replace(one, verdict=Verdict.FAIL, observation=replace(seen, late=late))

    results = swept()
    found = find_incidents([of(one) for one in run_singly(results.checks)], results.facts)
    assert [one.traits for one in found] == [
        {"service-proxy": NODE, "service": "svc-server-linux-1-1"}
    ]


def test_a_silent_pod_is_told_from_its_node_by_the_node_itself() -> None:
    """All that a sweep sends to a node goes to one server there, but what goes to the node's own address."""
    pod = "server-windows-1-7"

    def silent(action: Action) -> bool:
        target = action.target
        return pod in {target.pod, *(target.backends if len(target.backends) == 1 else ())}

    found = swept(silent, flows=(*FLOWS, "pod-to-node")).incidents
    assert [one.cause for one in found] == [f"Connections to Pod {pod} get no answer"]


def test_one_service_that_a_node_lacks_is_named_with_it_and_not_as_all_nodes_of_its_os() -> None:
    """Every other node reaches it: those of the same system on its own node are no evidence of those elsewhere."""
    flows = ("pod-to-pod-ip", "pod-to-service-clusterip")
    service = next(
        one.check.target.service or ""
        for one in run_singly(swept(flows=flows).checks)
        if one.check and one.id.startswith(f"{flows[1]}/windows-1/windows-1/other-node")
        if one.check.source.node == NODE
    )
    results = swept(
        lambda action: action.source.node == NODE and action.target.service == service, flows=flows
    )
    incident, *_ = results.incidents
    assert NODE in incident.cause
    assert service in incident.cause
