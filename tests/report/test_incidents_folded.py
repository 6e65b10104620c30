"""What a proven cause did besides joins its incident; what it cannot have done stays one of its own."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address

from nettests.model.check import Check
from nettests.model.facts import ExistingService
from nettests.model.words import Outcome, Protocol, Question, TargetKind, Verdict
from nettests.report import Results
from nettests.report.incidents.folding import Surroundings, folded
from nettests.report.results import CheckResult, Incident
from tests.report.test_incidents import (
    LINUX,
    OTHER_LINUX,
    OTHER_WIN,
    WIN,
    broken,
    crossed,
    crossing,
    holding,
    losing,
    on_path,
    through_proxy_of,
)

PROVEN = Incident(
    cause="Packets between nodes get no answer",
    traits={"link": " ↔ ".join(sorted((LINUX, WIN)))},
    checks=tuple(f"proven-{number}" for number in range(40)),
    next_step="",
)


def beside(
    result: CheckResult,
    *,
    proven: Incident = PROVEN,
    share: float = 1.0,
    traits: Mapping[str, str] | None = None,
) -> list[Incident]:
    """Return the incidents where a result stands alone beside a proven cause."""
    alone = Incident(
        cause=result.id,
        traits=dict(traits or {}),
        checks=(result.id,),
        next_step="",
        explained=bool(traits),
    )
    around = Surroundings(
        red={result.id: result},
        nodes={},
        dns_node=None,
        dns_address="",
        partial=(),
        shares={proven.checks: share},
    )
    return [*folded([proven, alone], around)]


def silent(quiet: Results, source: str, target: str, protocol: Protocol) -> CheckResult:
    """Return a check between two nodes, none of whose attempts was answered."""
    result = next(
        one
        for one in quiet.checks
        if one.flow == "pod-to-pod-ip"
        and one.check
        and one.observation
        and one.check.action.protocol is protocol
        and (one.check.source.node, one.check.target.node) == (source, target)
    )
    assert result.observation
    attempts = tuple(
        replace(each, outcome=Outcome.TIMED_OUT) for each in result.observation.attempts
    )
    seen = replace(result.observation, outcome=Outcome.TIMED_OUT, attempts=attempts)
    return replace(result, verdict=Verdict.FAIL, observation=seen)


def test_a_silent_check_on_the_path_of_a_proven_cause_joins_it(quiet: Results) -> None:
    """One between other nodes does not."""
    assert len(beside(silent(quiet, WIN, LINUX, Protocol.TCP))) == 1
    assert len(beside(silent(quiet, WIN, OTHER_WIN, Protocol.TCP))) == 2


def test_a_check_of_another_protocol_stays_alone(quiet: Results) -> None:
    """Where UDP alone is lost, a silent connection is another fault."""
    proven = replace(PROVEN, traits={**PROVEN.traits, "protocol": "udp"})
    assert len(beside(silent(quiet, WIN, LINUX, Protocol.UDP), proven=proven)) == 1
    assert len(beside(silent(quiet, WIN, LINUX, Protocol.TCP), proven=proven)) == 2


def test_an_answer_that_is_wrong_stays_alone(quiet: Results) -> None:
    """A refusal crossed the path: what is lost there did not cause it."""
    result = silent(quiet, WIN, LINUX, Protocol.TCP)
    assert result.observation
    attempts = tuple(replace(each, outcome=Outcome.REFUSED) for each in result.observation.attempts)
    seen = replace(result.observation, outcome=Outcome.REFUSED, attempts=attempts)
    assert len(beside(replace(result, observation=seen))) == 2


def test_a_rare_loss_does_not_silence_a_check(quiet: Results) -> None:
    """All attempts of a check are lost once in thousands of times where one packet of fifty is."""
    result = silent(quiet, WIN, LINUX, Protocol.TCP)
    assert result.observation
    many = replace(result.observation, attempts=result.observation.attempts[:1] * 3)
    assert len(beside(replace(result, observation=many), share=0.02)) == 2
    assert len(beside(replace(result, observation=many), share=0.3)) == 1


def test_two_places_that_lose_packets_are_two_incidents(quiet: Results) -> None:
    """A Service proxy and a pair of other nodes are named, each with what was lost there."""

    def of(one: CheckResult) -> CheckResult:
        if not one.check or not one.ran or not on_path(one.check):
            return one
        pair = (LINUX, OTHER_LINUX) in crossed(one.check) and one.check.target.service is None
        proxied = through_proxy_of(WIN)(one.check) and one.check.target.service is not None
        return losing(one) if pair or proxied else one

    incidents = holding(quiet, [of(one) for one in quiet.checks]).incidents
    losses = [each.traits for each in incidents if "are lost" in each.cause]
    assert {"service-proxy": WIN} in losses
    assert any({LINUX, OTHER_LINUX} <= {*str(each).replace("'", " ").split()} for each in losses)


def test_services_that_are_older_than_the_run_do_not_clear_a_proxy(quiet: Results) -> None:
    """What answers at a Service of others shows nothing of rules that are new."""

    def struck(check: Check) -> bool:
        return through_proxy_of(WIN)(check) and check.target.existing is None

    first = broken(quiet, struck).incidents[0]
    assert first.traits == {"service-proxy": WIN}


def test_a_refusal_without_endpoints_clears_no_path(quiet: Results) -> None:
    """A node refuses what has no endpoint by itself: packets to other nodes may all be lost."""

    def struck(check: Check) -> bool:
        return any(crossing(WIN, other)(check) for other in (LINUX, OTHER_LINUX, OTHER_WIN))

    def refused(one: CheckResult) -> CheckResult:
        if one.flow != "service-no-endpoints" or not one.observation:
            return one
        seen = replace(one.observation, outcome=Outcome.REFUSED)
        return replace(one, verdict=Verdict.PASS, observation=seen)

    results = broken(quiet, struck)
    first = holding(results, [refused(one) for one in results.checks]).incidents[0]
    assert WIN in first.traits.values()
    assert {*first.traits} <= {"remote-node", "pod-network"}


def test_a_name_that_resolves_does_not_clear_its_pod(quiet: Results) -> None:
    """A Pod that answers nobody is named, though its name is known."""

    def struck(check: Check) -> bool:
        to_it = check.target.backends == (pod,) or check.target.pod == pod
        return to_it and check.action.question is not Question.RESOLVE

    pod = next(
        one.check.target.pod
        for one in quiet.checks
        if one.check and one.check.target.kind is TargetKind.POD_IP and one.check.target.node == WIN
    )
    first = broken(quiet, struck).incidents[0]
    assert first.traits == {"backend": pod}


def test_a_program_that_hangs_on_a_node_that_is_cut_off_joins_it(quiet: Results) -> None:
    """On another node, or with output that is not understood, it is an incident of its own."""

    def hangs(why: str) -> CheckResult:
        result = silent(quiet, WIN, LINUX, Protocol.TCP)
        said = f"probe_failed: exec on {WIN} {why}"
        return replace(result, verdict=Verdict.UNKNOWN, distrust=said)

    hung = hangs("was not calibrated: exec in node-windows-1-1 did not end within 30 s")
    here, elsewhere = (replace(PROVEN, traits={"pod-network": at}) for at in (WIN, OTHER_WIN))
    traits = {"instrument": "exec of windows-1"}
    assert len(beside(hung, proven=here, traits=traits)) == 1
    assert len(beside(hung, proven=elsewhere, traits=traits)) == 2
    unread = hangs("is not understood: the known question was read as refused")
    assert len(beside(unread, proven=here, traits=traits)) == 2


def test_silent_connections_to_the_service_of_cluster_dns_join_its_silence_over_tcp(
    quiet: Results,
) -> None:
    """They ask nothing, but go to the same port; those to another Service stay alone, as they do beside other faults."""
    result = silent(quiet, WIN, LINUX, Protocol.TCP)
    existing = ExistingService(
        name="kube-system/kube-dns", address=IPv4Address("10.96.0.10"), port=53
    )
    action = result.planned.action
    target = replace(action.target, existing=existing)
    result = replace(result, check=replace(result.planned, action=replace(action, target=target)))
    dns = replace(PROVEN, traits={"dns": "cluster DNS", "query-protocol": "tcp"}, checks=("a", "b"))
    alone = replace(PROVEN, traits={}, checks=(result.id,))
    around = Surroundings(
        red=dict.fromkeys(("a", "b", result.id), result),
        nodes={},
        dns_node=None,
        dns_address=str(existing.address),
        partial=(),
        shares={},
    )
    assert [each.checks for each in folded([dns, alone], around)] == [("a", "b", result.id)]
    assert len(folded([dns, alone], replace(around, dns_address="10.96.0.99"))) == 2
    over_udp = replace(dns, traits={"dns": "cluster DNS", "query-protocol": "udp"})
    assert len(folded([over_udp, alone], around)) == 2


def test_checks_that_lost_all_or_some_at_one_place_are_one_loss(quiet: Results) -> None:
    """As where some source ports are lost: two lost some attempts, others all, most none; the share is that of all."""

    def at_place(one: CheckResult) -> bool:
        check = one.check
        tcp = check is not None and one.ran and check.action.protocol is Protocol.TCP
        return tcp and check is not None and check.target.node == WIN and "nodeport" in one.flow

    struck = [one.id for one in quiet.checks if at_place(one) and one.planned.source.node != WIN]
    partly, wholly = {*struck[:2]}, {*struck[2:6]}
    silenced = broken(quiet, lambda check: check.id in wholly)
    checks = [losing(one) if one.id in partly else one for one in silenced.checks]
    first = holding(quiet, checks).incidents[0]
    assert {*first.checks} == partly | wholly
    assert " are lost now and then: " in first.cause
