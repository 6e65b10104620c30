"""The answer leads with the cause, claims no more than what was exercised, and names known bugs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html

from nettests.model.check import Check
from nettests.model.journal_records import Convergence, Event
from nettests.model.visible import inert, visible
from nettests.model.words import OS, Question, Verdict
from nettests.plugin.reporter import Reporter, show
from nettests.report import Results, build_results, render_html, render_markdown
from nettests.report.exercised import exercised
from nettests.report.results import CheckResult, Exercised, Incident
from nettests.report.summary import convergence_line, exercised_line, headline, in_short, leading
from tests.report.cluster import FACTS
from tests.report.hostile import NASTY
from tests.report.scenario import HAIRPIN, QUIET, Story, records

WIN, OTHER_WIN = (node.name for node in FACTS.nodes if node.os is OS.WINDOWS)
WHOLE = Exercised()
"""Nothing was left out."""


def only(results: Results, wanted: Callable[[Check], bool]) -> Results:
    """Return the results of some checks alone."""
    kept = tuple(one for one in results.checks if one.check is not None and wanted(one.check))
    return replace(results, checks=kept, exercised=exercised(kept, results.facts))


def away_from(*nodes: str) -> Callable[[Check], bool]:
    """Tell the checks that have no end on these nodes."""
    return lambda check: not {check.source.node, check.target.node} & set(nodes)


def test_a_node_that_no_check_met_is_named(quiet: Results) -> None:
    """The headline counts nodes and pairs; the line below it says which node was left out, and why."""
    results = only(quiet, away_from(OTHER_WIN))
    assert headline(results).startswith(
        "This cluster behaves as documented, as far as exercised: 1 of 2 Windows nodes, "
    )
    assert f"1 of 2 Windows nodes (left out: {OTHER_WIN}: no check exercised it)" in exercised_line(
        results
    )
    windows = results.exercised.pairs[0]
    assert (windows.source, windows.target, windows.exercised, windows.possible) == (
        *(OS.WINDOWS, OS.WINDOWS),
        *(0, 2),
    )


def test_a_pair_has_a_direction(quiet: Results) -> None:
    """From the first node to the second is one of two ordered pairs, and the second probed nothing."""
    results = only(quiet, lambda check: (check.source.node, check.target.node) == (WIN, OTHER_WIN))
    windows, *_ = results.exercised.nodes
    assert (windows.exercised, windows.sources) == ((WIN, OTHER_WIN), (WIN,))
    assert [one.exercised for one in results.exercised.pairs] == [1, 0, 0, 0]
    assert "2 of 2 Windows nodes, 1 as a source" in exercised_line(results)


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.SKIPPED])
def test_what_cannot_be_believed_exercises_nothing(quiet: Results, verdict: Verdict) -> None:
    """A node whose every check is unknown was not looked at."""
    lost = [replace(one, verdict=verdict) for one in quiet.checks]
    assert all(not one.exercised for one in exercised(lost, FACTS).nodes)


def test_what_is_read_about_a_node_sends_no_packets(quiet: Results) -> None:
    """Configuration that was inspected is no traffic."""
    results = only(quiet, lambda check: check.action.question is Question.INSPECT)
    assert results.checks
    assert all(not one.exercised for one in results.exercised.nodes)


def test_why_a_node_was_left_out(quiet: Results) -> None:
    """A node that is not Ready, cordoned or left out by the profile says so."""
    results = only(quiet, away_from(OTHER_WIN))
    for changes, reason in (
        ({"ready": False}, "not Ready"),
        ({"schedulable": False}, "cordoned"),
        ({"left_out": "its label says spot"}, "its label says spot"),
    ):
        nodes = [replace(one, **changes) if one.name == OTHER_WIN else one for one in FACTS.nodes]
        found = exercised(results.checks, replace(FACTS, nodes=tuple(nodes)))
        assert [left.reason for left in found.nodes[0].left_out] == [reason]


def test_a_whole_cluster_needs_no_reservation(quiet: Results) -> None:
    """With every node and every ordered pair exercised the sentence has no condition."""
    names = [node.name for node in FACTS.nodes]
    like = next(one for one in quiet.checks if one.flow == "pod-to-pod-ip" and one.check)
    checks = [between(like, one, other) for one in names for other in names]
    results = replace(quiet, checks=tuple(checks), exercised=exercised(checks, FACTS))
    assert results.exercised.whole
    assert headline(results) == "This cluster behaves as documented"


def between(like: CheckResult, source: str, target: str) -> CheckResult:
    """Return a check from one node to another."""
    assert like.check is not None
    action = like.check.action
    ends = replace(
        action,
        source=replace(action.source, node=source),
        target=replace(action.target, node=target),
    )
    return replace(like, check=replace(like.check, action=ends))


def test_known_bugs_are_in_the_headline() -> None:
    """They are named, whether all else is as documented or not, and have a symbol of their own."""
    story = replace(QUIET, known_bug=lambda check: check.id == HAIRPIN)
    results = build_results(records(story))
    assert headline(results).startswith(
        "This cluster behaves as documented, but for a known bug that shows (dsr-hairpin-bug), as far"
    )
    assert leading(results) is Verdict.KNOWN_BUG
    red = replace(story, failing=lambda check: check.flow == "pod-to-pod-ip")
    assert headline(build_results(records(red))).endswith(" · 1 known bug")


def test_a_service_that_never_converged_is_named(quiet: Results) -> None:
    """The slowest Service is told, and each that did not answer in time, unless that is documented."""
    silent = Convergence(service="svc-x", probe="probe-windows-1-1", seconds=60.2, converged=False)
    told = convergence_line(replace(quiet, convergence=(*quiet.convergence, silent)))
    assert told.endswith("not converged: svc-x for probe-windows-1-1 in 60 s")
    known = next(
        one.check
        for one in quiet.checks
        if one.check and one.check.target.service and one.verdict is Verdict.LIMITED
    )
    assert known.target.service
    documented = replace(silent, service=known.target.service, probe=known.source.probe)
    told = convergence_line(replace(quiet, convergence=(*quiet.convergence, documented)))
    assert "not converged" not in told


def test_nothing_was_exercised_without_facts() -> None:
    """A run that could not start says nothing of nodes."""
    results = build_results([Event(at="", text="no nodes")])
    assert (exercised_line(results), convergence_line(results)) == ("", "")
    assert headline(results) == "The run could not start"


def test_latencies_are_by_flow_and_node(quiet: Results) -> None:
    """Each flow from each source node has the median, 99th percentile and worst of its answers."""
    found = {(one.flow, one.node): one for one in quiet.latencies}
    one = found["pod-to-pod-ip", WIN]
    assert one.answers > 1
    assert 0 < one.median <= one.p99 <= one.worst
    story = Story(broken_channel=lambda check: check.source.node == WIN)
    lost = build_results(records(story)).latencies
    assert WIN not in {one.node for one in lost}


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.FAIL, "Something is not as documented"),
        (Verdict.FLAKY, "Something is not as documented"),
        (Verdict.LIFTED, "A limitation no longer shows"),
        (Verdict.UNKNOWN, "Not everything could be judged"),
    ],
)
def test_the_worst_verdict_leads(quiet: Results, verdict: Verdict, said: str) -> None:
    """One check is enough, and its verdict gives the headline its colour."""
    results = replace(quiet, counts={**quiet.counts, verdict: 1}, exercised=WHOLE)
    assert headline(results) == said
    assert leading(results) is verdict


def test_an_unknown_check_does_not_hide_its_flaky_members(quiet: Results) -> None:
    """A check is unknown because of one member, and what another one showed is not as documented."""
    first, *others = (one for one in quiet.checks if one.ran)
    members = tuple(replace(first, verdict=one) for one in (Verdict.FLAKY, Verdict.UNKNOWN))
    whole = replace(first, verdict=Verdict.UNKNOWN, members=members)
    results = replace(
        quiet,
        checks=(whole, *others),
        counts={**quiet.counts, Verdict.UNKNOWN: 1},
        exercised=WHOLE,
    )
    assert headline(results) == "Something is not as documented"


DNS = Incident(
    cause="Cluster DNS does not answer",
    traits={"dns": "cluster"},
    checks=tuple(f"dns-via-pod/{number}" for number in range(99)),
    next_step="look at CoreDNS",
)
MTU = replace(DNS, cause="Large packets get no answer", checks=("pod-to-pod-large/1",))
ALONE = replace(DNS, cause="A single check (win-1)", checks=("dns-via-pod/alone",), explained=False)


LOST = tuple(replace(DNS, cause=f"{name} is lost") for name in "abc")
LARGE = replace(
    DNS,
    cause="UDP packets above 900 bytes do not arrive; smaller ones do: Pods need an MTU of 900 bytes or less",
)
OF_PODS = replace(
    DNS,
    cause="Packets of Pods between win-5 and other nodes get no answer",
    traits={"pod-network": "win-5"},
)
OF_NODE = replace(
    DNS,
    cause="Packets between win-5 and other nodes get no answer",
    traits={"remote-node": "win-5", "placement": "other-node"},
)


@pytest.mark.parametrize(
    ("incidents", "said"),
    [
        ((DNS,), "Cluster DNS is down"),
        ((DNS, MTU), "Cluster DNS is down · Large packets get no answer"),
        ((DNS, MTU, MTU, *LOST, MTU), f"Cluster DNS is down · {MTU.cause} · 3 more"),
        ((*LOST, DNS, MTU), "a is lost · b is lost · c is lost · 2 more"),
        ((DNS, OF_PODS), "Cluster DNS is down · Pods of win-5 are cut off"),
        ((DNS, OF_PODS, OF_NODE), "Cluster DNS is down · win-5 is cut off"),
        ((LARGE, MTU), "UDP packets above 900 bytes are lost · Large packets get no answer"),
        ((DNS, ALONE), "Cluster DNS is down · 1 more"),
        ((DNS, replace(MTU, cause="x" * 120), ALONE), "Cluster DNS is down · 2 more"),
        ((ALONE,), "Something is not as documented: dns-via-pod"),
        (
            (ALONE, ALONE),
            "Something is not as documented: 2 checks without a common cause",
        ),
    ],
)
def test_the_leading_causes_are_the_headline(
    quiet: Results, incidents: tuple[Incident, ...], said: str
) -> None:
    """Up to three are named while they are short; then it counts the other causes and the checks without one."""
    counts = {**quiet.counts, Verdict.FAIL: 1}
    results = replace(quiet, counts=counts, incidents=incidents, exercised=WHOLE)
    assert headline(results) == said
    assert leading(results) is Verdict.FAIL


def test_all_documents_lead_with_the_same_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Page, terminal and summary say one sentence."""
    story = Story(failing=lambda check: check.flow.startswith("dns-"))
    results = build_results(records(story))
    said = headline(results)
    assert said.startswith(in_short(results.incidents[0].cause))
    with Reporter("own") as reporter:
        show(reporter, results, tmp_path)
    assert said in capsys.readouterr().out.splitlines()
    page = html.fromstring(render_html(results))
    assert page.xpath("normalize-space(//h1)") == said
    assert page.xpath("string(//title)").startswith(f"{said} · ")
    assert render_markdown(results).splitlines()[0] == f"## ✗ {inert(said)}"


@pytest.mark.parametrize("cause", ["x" * 5000, NASTY * 50, f"two{chr(10)}lines{chr(0x202E)}"])
def test_a_cause_that_a_cluster_names_stays_one_short_line(quiet: Results, cause: str) -> None:
    """Names come from the cluster: of a long or hostile cause the beginning is said, all of it visible."""
    counts = {**quiet.counts, Verdict.FAIL: 1}
    incidents = (replace(DNS, cause=cause), MTU)
    said = headline(replace(quiet, counts=counts, incidents=incidents))
    assert len(said) < 300
    assert visible(said) == said
    assert len(said.splitlines()) == 1
    assert said.endswith((MTU.cause, " · 1 more"))


def test_a_run_that_judged_nothing_does_not_say_that_all_is_well(quiet: Results) -> None:
    """Whatever was skipped: the headline says so, and its colour is that of what is not known."""
    results = replace(quiet, coverage=replace(quiet.coverage, ran=0))
    assert headline(results) == "Nothing was judged"
    assert leading(results) is Verdict.UNKNOWN


def test_without_windows_nothing_is_said_of_windows(quiet: Results) -> None:
    """A cluster of Linux nodes alone answers another question than the one that was run."""
    linux = tuple(one for one in FACTS.nodes if one.os is OS.LINUX)
    facts = replace(FACTS, nodes=linux)
    names = [node.name for node in linux]
    like = next(one for one in quiet.checks if one.flow == "pod-to-pod-ip" and one.check)
    checks = tuple(between(like, one, other) for one in names for other in names)
    results = replace(quiet, checks=checks, facts=facts, exercised=exercised(checks, facts))
    assert headline(results) == (
        "This cluster behaves as documented; without a Windows node, nothing here speaks of Windows"
    )


def test_a_linux_node_that_was_left_out_is_counted_too(quiet: Results) -> None:
    """The headline speaks of both systems where nodes of both were left out."""
    linux = {node.name for node in FACTS.nodes if node.os is OS.LINUX}
    results = only(quiet, away_from(OTHER_WIN, *linux))
    assert "1 of 2 Windows nodes, 0 of 2 Linux nodes, " in headline(results)
    assert "Linux nodes" not in headline(only(quiet, away_from(OTHER_WIN)))


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("TCP packets between win-2 and other nodes", "win-2 is slow for TCP"),
        ("Packets between win-2 and linux-1", "win-2 ↔ linux-1 is slow"),
    ],
)
def test_late_answers_are_said_whole_in_a_headline(cause: str, said: str) -> None:
    """A headline names the node or pair that is slow, and does not break off before it says so."""
    assert in_short(f"{cause} are answered only after 1.0 s or more") == said


def test_a_headline_keeps_the_address_family_of_its_cause() -> None:
    """It is part of the cause: what is shortened is the rest."""
    cut = "TCP and UDP packets between win-2 and other nodes get no answer"
    assert in_short(f"{cut} over IPv6 alone") == f"{in_short(cut)} over IPv6"
