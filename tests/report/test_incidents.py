"""Incidents: one broken thing is one cause, named; what nothing explains is said to be so."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nettests.model.check import Check, Control
from nettests.model.expectation import Expectation
from nettests.model.observation import ControlResult
from nettests.model.words import (
    Outcome,
    Placement,
    Protocol,
    Question,
    TargetKind,
    Verdict,
)
from nettests.report import Results, render_json
from nettests.report.html_report import render_html
from nettests.report.incidents import find_incidents
from nettests.report.incidents.search import Evidence, explain
from nettests.report.incidents.traits import Kind, Trait, queries_cluster_dns
from nettests.report.junit import render_junit
from nettests.report.markdown_report import render_markdown
from nettests.report.results import CheckResult
from tests.report.test_results_json import SCHEMA

Trouble = Callable[[Check], bool]
WIN, OTHER_WIN = "windows-node-1", "windows-node-2"
LINUX, OTHER_LINUX = "linux-node-1", "linux-node-2"
NAMED_PODS = {"stateful-set-names", "new-pod-first-packets"}
PATHS = {
    *(Question.REACH, Question.DISTRIBUTE, Question.RESOLVE, Question.PING),
    *(Question.PATH_MTU, Question.LOSS),
}


def without_dns(check: Check) -> bool:
    """Whether a check is in trouble where the cluster's DNS is dead."""
    return queries_cluster_dns(check) or check.flow in NAMED_PODS


def broken(
    results: Results,
    trouble: Trouble,
    outcome: Outcome = Outcome.TIMED_OUT,
    verdict: Verdict = Verdict.FAIL,
) -> Results:
    """Return the results with each check that the trouble befalls red, and all others as they were."""

    def of(one: CheckResult) -> CheckResult:
        if not one.ran or one.check is None or not trouble(one.check) or not one.observation:
            return one
        controls = tuple(
            control_under(trouble, one.check, control) for control in one.check.controls
        )
        seen = replace(one.observation, outcome=outcome, controls=controls)
        return replace(one, verdict=verdict, observation=seen)

    return holding(results, [of(one) for one in results.checks])


def control_under(trouble: Trouble, check: Check, control: Control) -> ControlResult:
    """Return how a control ends: the trouble befalls it like a check from there to there."""
    action = control.action
    same = action.source.node == action.target.node
    placement = Placement.SAME_NODE if same else Placement.OTHER_NODE
    struck = trouble(replace(check, action=action, placement=placement))
    return ControlResult(proves=control.proves, ok=not struck, detail="")


def test_a_control_that_succeeded_contradicts_a_cause(quiet: Results) -> None:
    """Where a third node reaches the target meanwhile, two nodes are cut off, and not one from all."""
    trouble = crossing(WIN, OTHER_WIN)
    ran = [one for one in quiet.checks if one.ran and one.check and one.flow == "pod-to-pod-ip"]
    probed = [one for one in ran if one.check and one.check.source.node == WIN]
    results = broken(replace(quiet, checks=tuple(probed)), trouble)
    reds = [one for one in results.checks if one.verdict is Verdict.FAIL]
    assert reds
    (incident,) = results.incidents
    assert incident.traits == {"link": f"{WIN} ↔ {OTHER_WIN}"}
    unprobed = [
        replace(one, check=replace(one.check, controls=())) for one in results.checks if one.check
    ]
    (guessed,) = find_incidents(unprobed, quiet.facts)
    assert guessed.traits == {"remote-node": OTHER_WIN}


def test_one_services_missing_rules_are_named_with_their_node(quiet: Results) -> None:
    """Where others reach a Service and its Pod, the proxy that does not translate for it is the cause."""
    service = next(
        one.check.target.service
        for one in quiet.checks
        if one.ran
        and one.check
        and one.flow == "pod-to-service-clusterip"
        and (one.check.source.node, one.check.target.node) == (WIN, OTHER_WIN)
    )

    def struck(check: Check) -> bool:
        at_target = check.target.kind is TargetKind.NODEPORT
        proxy = check.target.node if at_target else check.source.node
        return (check.target.service, proxy) == (service, WIN)

    (incident,) = broken(quiet, struck).incidents
    assert incident.traits == {"service-proxy": WIN, "service": service}
    assert incident.cause == (
        f"Connections to Service {service} through the Service proxy of {WIN} get no answer"
    )
    assert {one.split("/")[0] for one in incident.checks} >= {
        *("pod-to-service-clusterip", "pod-to-service-fqdn", "nodeport-from-other-node")
    }


def holding(results: Results, checks: Sequence[CheckResult]) -> Results:
    """Return the results with other checks, and the incidents of them."""
    found = find_incidents(checks, results.facts)
    return replace(results, checks=tuple(checks), incidents=found)


def on_path(check: Check) -> bool:
    """Whether packets decide the check."""
    return check.action.question in PATHS


def through_proxy_of(node: str) -> Trouble:
    """Everything whose packets the Service proxy of a node translates, cluster DNS included."""
    services = {
        TargetKind.SERVICE_CLUSTERIP,
        TargetKind.SERVICE_PQDN,
        TargetKind.SERVICE_FQDN,
        TargetKind.SERVICE_PARTIAL_NAME,
        TargetKind.DNS_SERVICE,
    }

    def struck(check: Check) -> bool:
        if check.target.kind in {TargetKind.NODEPORT, TargetKind.HEALTH_CHECK_PORT}:
            return check.target.node == node
        if check.source.node != node or check.target.kind is TargetKind.DNS_POD:
            return False
        return check.target.kind in services or queries_cluster_dns(check)

    return struck


def crossing(one: str, other: str, protocol: Protocol | None = None) -> Trouble:
    """Everything between two nodes, in either direction."""

    def struck(check: Check) -> bool:
        fits = protocol is None or check.action.protocol is protocol
        between = {(one, other), (other, one)} & crossed(check)
        return on_path(check) and bool(between) and fits

    return struck


def crossed(check: Check) -> set[tuple[str, str]]:
    """The nodes between which packets of a check travel: to whom it probes, and on to its Service's backends."""
    source, target = check.source.node or "", check.target
    if check.action.question is Question.RESOLVE:
        return set()
    ways = {(source, target.node or "")}
    settings = target.settings
    if settings is not None and (settings.headless or settings.external_name):
        pass  # nobody translates: what is dialled is the end itself
    elif target.kind is TargetKind.NODEPORT:
        ways |= {(target.node or "", RUNS_ON[pod]) for pod in target.backends if pod in RUNS_ON}
    elif target.service:
        ways |= {(source, RUNS_ON[pod]) for pod in target.backends if pod in RUNS_ON}
    return {(start, end) for start, end in ways if start and end and start != end}


RUNS_ON = {
    "server-linux-1-1": LINUX,
    "server-linux-1-2": OTHER_LINUX,
    "server-windows-1-1": WIN,
    "server-windows-1-2": OTHER_WIN,
    "probe-linux-1-2": OTHER_LINUX,
    "probe-windows-1-2": OTHER_WIN,
}
"""Where the sample's servers run."""


TROUBLES: dict[str, tuple[Trouble, str, dict[str, str]]] = {
    "no cluster DNS": (
        without_dns,
        "Cluster DNS does not answer",
        {"dns": "cluster DNS"},
    ),
    "one node's Service proxy": (
        through_proxy_of(WIN),
        f"Connections through the Service proxy of {WIN} get no answer",
        {"service-proxy": WIN},
    ),
    "two nodes cut off from each other": (
        crossing(WIN, LINUX),
        f"Packets between {LINUX} and {WIN} get no answer",
        {"link": f"{LINUX} ↔ {WIN}"},
    ),
    "UDP between two nodes": (
        crossing(WIN, LINUX, Protocol.UDP),
        f"UDP packets between {LINUX} and {WIN} get no answer",
        {"link": f"{LINUX} ↔ {WIN}", "protocol": "udp"},
    ),
    "UDP between two Linux nodes": (
        crossing(LINUX, OTHER_LINUX, Protocol.UDP),
        f"UDP packets between {LINUX} and {OTHER_LINUX} get no answer",
        {"link": f"{LINUX} ↔ {OTHER_LINUX}", "protocol": "udp"},
    ),
    "one direction": (
        lambda c: on_path(c) and (WIN, LINUX) in crossed(c),
        f"Packets from {WIN} to {LINUX} get no answer",
        {"direction": f"{WIN} → {LINUX}"},
    ),
    "a node cut off from all others": (
        lambda c: on_path(c) and any(OTHER_WIN in way for way in crossed(c)),
        f"Packets between {OTHER_WIN} and other nodes get no answer",
        {"remote-node": OTHER_WIN},
    ),
    "nothing crosses nodes": (
        lambda c: on_path(c) and bool(crossed(c)),
        "Packets between nodes get no answer",
        {"placement": "other-node"},
    ),
    "no way out": (
        lambda c: c.target.kind in {TargetKind.EXTERNAL_IP, TargetKind.EXTERNAL_NAME},
        "Connections to a external target get no answer",
        {"target": "external target"},
    ),
}


@pytest.mark.parametrize("name", sorted(TROUBLES))
def test_one_broken_thing_is_one_incident(quiet: Results, name: str) -> None:
    """All red checks are in the leading incident, which names the thing."""
    trouble, cause, traits = TROUBLES[name]
    incidents = broken(quiet, trouble).incidents
    assert incidents[0].cause == cause.replace("a external", "an external")
    assert incidents[0].traits == traits
    assert len(incidents) == 1


def test_a_source_address_is_its_own_cause(quiet: Results) -> None:
    """Where only the asserted source address differs, no path is blamed."""
    found = broken(
        quiet, lambda c: c.claim.source_seen is not None, outcome=Outcome.CONNECTED
    ).incidents
    assert found[0].cause == "Servers see another source address than documented"


def test_two_broken_things_are_two_incidents(quiet: Results) -> None:
    """The one that explains more comes first, and no check is in both."""
    both = [TROUBLES["no cluster DNS"][0], TROUBLES["UDP between two nodes"][0]]
    found = broken(quiet, lambda c: any(one(c) for one in both)).incidents
    assert [one.traits for one in found] == [
        {"dns": "cluster DNS"},
        {"link": f"{LINUX} ↔ {WIN}", "protocol": "udp"},
    ]
    assert not set(found[0].checks) & set(found[1].checks)


def test_a_green_check_contradicts_a_cause(quiet: Results) -> None:
    """With one check of a node's Services green, the Service proxy as a whole is not blamed."""
    struck = through_proxy_of(WIN)
    spared = "pod-to-service-clusterip/windows-1/linux-1/other-node/tcp"
    found = broken(quiet, lambda c: struck(c) and c.id != spared).incidents
    assert {"service-proxy": WIN} not in [one.traits for one in found]


def test_what_shares_its_cause_with_nothing_stands_alone_and_says_so(quiet: Results) -> None:
    """One red check is its own message, said to be a single one, with the nodes that it is about."""
    name = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
    results = broken(quiet, lambda c: c.id == name)
    (found,) = results.incidents
    (check,) = (one for one in results.checks if one.id == name)
    assert (found.explained, found.checks) == (False, (name,))
    assert found.traits == {"direction": f"{WIN} → {LINUX}"}
    assert found.cause == f"A single check ({WIN} → {LINUX}): {check.message}"


def test_limitations_that_no_longer_show_are_grouped_by_entry(quiet: Results) -> None:
    """Checks of one lifted limitation are one incident, whatever their paths."""
    lifted = [
        replace(one, verdict=Verdict.LIFTED)
        if one.limitation_id == "win-node-to-clusterip"
        else one
        for one in quiet.checks
    ]
    (found,) = holding(quiet, lifted).incidents
    assert found.cause == "The documented limitation win-node-to-clusterip no longer shows"


def test_an_unknown_fact_is_a_cause_of_its_own(quiet: Results) -> None:
    """Checks that wait for the same fact are one incident, and the step says where to state it."""
    fact = "the build of windows-node-1 is not known"

    def of(one: CheckResult) -> CheckResult:
        if one.check is None or one.check.source.node != WIN or not one.ran:
            return one
        waiting = Expectation(claim=one.check.claim, expected=None, undecided=fact)
        return replace(one, verdict=Verdict.UNKNOWN, expectation=waiting)

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    assert found.cause.endswith(fact)
    assert "cluster profile" in found.next_step


def losing(one: CheckResult) -> CheckResult:
    """Return a check of which one attempt of three got no answer, if it has a path that works."""
    seen, check = one.observation, one.check
    if not seen or not check or seen.loss or not seen.attempts:
        return one
    if not (seen.outcome.positive and on_path(check)):
        return one
    silent = replace(seen.attempts[0], outcome=Outcome.TIMED_OUT)
    answered = tuple(replace(seen.attempts[0], number=number) for number in (2, 3))
    lossy = replace(seen, agreed=False, attempts=(silent, *answered))
    return replace(one, verdict=Verdict.FLAKY, observation=lossy)


def test_loss_is_said_by_its_name(quiet: Results) -> None:
    """Checks of which some attempts got no answer are loss, with how much was lost."""

    def of(one: CheckResult) -> CheckResult:
        udp = one.check and one.check.action.protocol is Protocol.UDP
        return losing(one) if udp and not hash_of(one.id) % 3 else one

    (found,) = holding(quiet, [of(one) for one in quiet.checks]).incidents
    count = len(found.checks)
    assert count >= 3
    assert found.cause.startswith("Packets across the cluster are lost now and then")
    assert f"{count} of {3 * count} attempts" in found.cause


def hash_of(text: str) -> int:
    """Return a number that does not change from run to run."""
    return sum(text.encode())


def test_every_document_leads_with_the_incident(quiet: Results) -> None:
    """Page, Markdown, JUnit and JSON name the cause; the JSON is as its schema says."""
    results = broken(quiet, without_dns)
    counted = {**quiet.counts, Verdict.FAIL: len(results.incidents[0].checks)}
    results = replace(results, counts=counted)
    cause = "Cluster DNS does not answer"
    page = render_html(results)
    assert page.index(cause) < page.index(results.incidents[0].checks[0])
    summary = render_markdown(results)
    assert summary.index(cause) < summary.index("Checks that need attention")
    assert f'message="{cause}: ' in render_junit(results)
    document = json.loads(render_json(results))
    Draft202012Validator(SCHEMA).validate(document)
    assert document["incidents"][0]["cause"] == cause


def test_a_healthy_run_has_no_incident(quiet: Results) -> None:
    """Nothing red, nothing to explain."""
    assert quiet.incidents == ()


traits = st.frozensets(
    st.builds(
        Trait,
        st.sampled_from([Kind.DNS, Kind.LINK, Kind.PROTOCOL, Kind.FLOW]),
        st.sampled_from("ab"),
    ),
    max_size=4,
)
cases = st.lists(st.tuples(traits, st.sampled_from(["red", "green", "silent"])), max_size=12)


@given(cases)
@settings(max_examples=200)
def test_causes_are_never_contradicted_and_never_overlap(
    found: list[tuple[frozenset[Trait], str]],
) -> None:
    """No green check has all traits of a cause; every check it explains has; each is explained once."""
    evidence = [
        Evidence(check=str(number), traits=has, red=state == "red", green=state == "green")
        for number, (has, state) in enumerate(found)
    ]
    by_id = {one.check: one for one in evidence}
    explained = explain(evidence)
    for one in explained:
        wanted = set(one.traits)
        assert not any(wanted <= other.traits for other in evidence if other.green)
        assert all(wanted <= by_id[check].traits and by_id[check].red for check in one.checks)
    ids = [check for one in explained for check in one.checks]
    assert len(ids) == len(set(ids))
    sizes = [len(one.checks) for one in explained]
    assert sizes == sorted(sizes, reverse=True)
