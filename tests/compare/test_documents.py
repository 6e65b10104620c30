"""JSON, Markdown and page of a difference: valid, bounded where they are for people in passing, and harmless."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lxml import html

from nettests.compare.changes import Kind
from nettests.compare.difference import Difference, difference
from nettests.compare.difference_text import document, headline, overview, sections
from nettests.compare.reading import read_results
from nettests.compare.recorded import Member, RecordedCheck, RecordedRun
from nettests.compare.sections import render_markdown, render_page
from nettests.model.journal_records import Convergence, Event
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Outcome, Verdict
from nettests.report import Results, build_results, render_json
from nettests.report.results import Latency
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts
from tests.report.hostile import LABEL, NASTY, hostile_records

SCHEMA = json.loads(files("nettests.compare").joinpath("difference.schema.json").read_text("utf-8"))
OLD, NEW = cluster_facts("win2019-l2bridge"), cluster_facts("win2022-l2bridge-dsr")


def invalid(found: Difference) -> list[str]:
    """What of the document, written and read again, breaks the schema."""
    data = json.loads(json.dumps(document(found)))
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(data)]


@pytest.fixture(scope="module")
def upgraded() -> Difference:
    """An upgrade with a fault beside it, and a Service that no longer converges."""
    late = (Convergence(service="svc", probe="probe-1", seconds=60.0, converged=False),)
    quick = (Convergence(service="svc", probe="probe-1", seconds=1.0, converged=True),)
    broken = recorded(
        results(
            NEW,
            but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1"),
            run_id="the-later-one",
        )
    )
    before, after = quiet_run(OLD), replace(broken, convergence=late)
    return difference(replace(before, convergence=quick), after, ("old", "new"))


@pytest.fixture(scope="module")
def hostile() -> Difference:
    """Two runs that differ in much, whose every text is an attack."""
    spoilt = read_results(render_json(build_results(hostile_records())), "hostile")
    checks = tuple(
        replace(
            one,
            verdict=[*SUMMARY_ORDER][number % len(SUMMARY_ORDER)],
            id=one.id if number % 7 else f"{NASTY}/{number}",
            next_step=NASTY,
        )
        for number, one in enumerate(spoilt.checks)
    )
    other = replace(spoilt, checks=checks, run=replace(spoilt.run, server=NASTY, run_id=LABEL))
    assert other.facts is not None
    facts = replace(other.facts, nodes=other.facts.nodes[1:])
    return difference(spoilt, replace(other, facts=facts), (NASTY, LABEL))


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid by its own draft."""
    Draft202012Validator.check_schema(SCHEMA)


def test_an_upgrade_is_a_valid_document(upgraded: Difference) -> None:
    """Every part of it has something to say here: the schema sees each."""
    assert invalid(upgraded) == []
    told = document(upgraded)
    empty = {name for name, part in told.items() if part in ([], {}, None)}
    assert empty == {"warnings", "lost_sight", "only_before"}
    assert told["exit_code"] == 1
    assert len(told["checks"]) == len(upgraded.changed)
    assert sum(told["counts"].values()) == len(upgraded.checks)


def test_all_verdicts_and_the_mirror_are_valid(eventful_run: Results, quiet: Results) -> None:
    """Whatever became of a check satisfies the schema, both ways, and with itself."""
    one, other = (read_results(render_json(each), "x") for each in (eventful_run, quiet))
    for pair in ((one, other), (other, one), (one, one)):
        assert invalid(difference(*pair)) == []


def test_a_run_that_could_not_start_is_valid(quiet: Results) -> None:
    """It is the later one, or the earlier one."""
    failed = read_results(render_json(build_results([Event(at="", text="no nodes")])), "failed")
    run = read_results(render_json(quiet), "x")
    assert invalid(difference(run, failed)) == []
    assert invalid(difference(failed, run)) == []
    assert headline(difference(run, failed)) == "The second run could not start"


def test_hostile_texts_are_valid_data(hostile: Difference) -> None:
    """Texts are data: the schema holds, and they are what they were."""
    assert invalid(hostile) == []
    assert document(hostile)["before"]["name"] == NASTY


def spoilt(found: Difference, **change: Any) -> list[str]:
    data = {**document(found), **change}
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(data)]


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"exit_code": 2},
        {"apiVersion": "nettests.dev/v9"},
        {"counts": {"better": 1}},
        {"checks": [{"id": "x"}]},
        {"facts": [{}]},
        {"worse": [1]},
        {"paces": [{"what": "mood"}]},
    ],
)
def test_the_schema_refuses_what_is_not_promised(
    upgraded: Difference, change: dict[str, Any]
) -> None:
    """A missing key, a wrong word or an extra key is an error: the schema can fail."""
    assert spoilt(upgraded, **change)


def run_of(*checks: RecordedCheck) -> RecordedRun:
    return replace(quiet_run(OLD), checks=checks, incidents=())


def check(verdict: str, name: str = "f/a") -> RecordedCheck:
    return RecordedCheck(id=name, flow="f", verdict=Verdict(verdict))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("pass", "pass", "No check changed"),
        ("pass", "fail", "Worse: 1 new failure; 1 of them unexplained"),
        ("fail", "pass", "Not worse: 1 repaired check; 1 of them unexplained"),
        (
            "pass",
            "unknown",
            "Less is known: 1 check that is unknown now; each explained, or not judged",
        ),
        ("pass", "limited", "Not worse: 1 other change; 1 of them unexplained"),
        ("skipped", "pass", "Not worse: 1 other change; each explained, or not judged"),
    ],
)
def test_the_headline_answers_in_one_sentence(before: str, after: str, told: str) -> None:
    """Worse or not, how much changed, and how much of it nobody can explain."""
    assert headline(difference(run_of(check(before)), run_of(check(after)))) == told


def test_sections_come_in_the_order_of_urgency(upgraded: Difference) -> None:
    """Causes and new failures first; facts and times below; empty sections are left out."""
    titles = [one.title for one in sections(upgraded)]
    assert titles[:2] == ["Incidents", "New failures"]
    assert (
        titles.index("Other changes") < titles.index("Limitations") < titles.index("Changed facts")
    )
    assert "Repaired" not in titles
    assert all(one.items for one in sections(upgraded))


def test_every_change_of_a_check_is_in_a_section(upgraded: Difference, hostile: Difference) -> None:
    """What the document lists, people find, whatever its kind."""
    for found in (upgraded, hostile):
        named = {name for one in sections(found) for item in one.items for name in item.names}
        assert {one.id for one in found.changed} <= named


def test_unexplained_changes_stand_beside_what_changed_meanwhile(upgraded: Difference) -> None:
    """The facts that changed are told with the failures, as no cause by themselves."""
    (failures,) = [one for one in sections(upgraded) if one.title == "New failures"]
    assert failures.lead.startswith("Changed meanwhile, which need not be a cause: Kubernetes: ")
    assert all(any("unexplained" in line for line in item.lines) for item in failures.items)


def test_a_cause_is_told_with_its_two_values(upgraded: Difference) -> None:
    """An explained change says by which fact, from what to what."""
    (other,) = [one for one in sections(upgraded) if one.title == "Other changes"]
    lines = [line for item in other.items for line in item.lines if line.startswith("explained")]
    assert any("source DSR: off → on" in line for line in lines)


def test_alike_changes_are_one_item() -> None:
    """Forty checks that changed in the same way are told together, and each is named."""
    before = run_of(*(check("pass", f"f/{number}") for number in range(40)))
    after = run_of(*(check("fail", f"f/{number}") for number in range(40)))
    (failures,) = sections(difference(before, after))
    (item,) = failures.items
    assert failures.size == len(item.names) == 40


def cells(row: str) -> int:
    """How many cells a row of a table has, as GitHub splits it: an escaped bar is none."""
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def test_markdown_is_bounded_and_keeps_its_tables(hostile: Difference) -> None:
    """Each row has three cells whatever a cluster calls itself, and nothing becomes a tag or a link."""
    text = render_markdown(overview(hostile))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 20
    assert {cells(row) for row in rows} == {3}
    assert len(text.splitlines()) < 400
    outside = re.sub(r"(?<!\\)`[^`]*`", "", text)
    assert not re.search(r"(?<!\\)<(?!br>|!-- -->)", outside)
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert not set("\x00\x1b\u202e") & set(text)


def test_markdown_says_how_much_it_leaves_out() -> None:
    """More than thirty different items are counted, and more than four names of one."""
    names = [f"f/{number}" for number in range(40)]
    before = run_of(*(check("pass", name) for name in names))
    steps = [replace(check("fail", name), next_step=f"look at {name}") for name in names]
    assert "\n… and 10 more items.\n" in render_markdown(
        overview(difference(before, run_of(*steps)))
    )
    alike = run_of(*(check("fail", name) for name in names))
    assert "<br>… and 36 more |" in render_markdown(overview(difference(before, alike)))


def lines_of(found: Difference, title: str) -> list[str]:
    """What a section says, an item a line."""
    (section,) = [one for one in sections(found) if one.title == title]
    return [" | ".join((item.head, *item.names, *item.lines)) for item in section.items]


def test_times_are_told_with_their_unit_and_how_many_answers_they_stand_on() -> None:
    """Seconds of latencies and of convergence, and the pace of a whole run."""
    flows = [f"flow-{number}" for number in range(9)]

    def of(seconds: float, first: float) -> tuple[Latency, ...]:
        return tuple(
            Latency(
                flow=flow,
                node="win-1",
                answers=7,
                median=first if flow == flows[0] else seconds,
                p99=9.0,
                worst=9.0,
            )
            for flow in flows
        )

    run = run_of(check("pass"))
    found = difference(replace(run, latencies=of(0.2, 0.2)), replace(run, latencies=of(0.6, 8.0)))
    whole, slow = lines_of(found, "Slower, faster")
    assert whole.startswith("all answers took 3.0 times as long | 9 medians of flows | ")
    assert slow == "0.2 → 8.0 s | flow-0 from win-1 | latency, median of 7 and 7 answers"


def test_services_that_never_converge_are_told_by_probe() -> None:
    """Forty lines of one probe would hide what is said."""
    services = [f"svc-{number}" for number in range(6)]

    def of(*, converged: bool) -> tuple[Convergence, ...]:
        return tuple(
            Convergence(service=name, probe="probe-1", seconds=1.0, converged=converged)
            for name in services
        )

    good, bad = (
        replace(run_of(check("pass")), convergence=of(converged=is_)) for is_ in (True, False)
    )
    (worse,) = lines_of(difference(good, bad), "Slower, faster")
    assert worse == (
        "no longer converge in time | 6 Services at probe-1"
        " | svc-0, svc-1, svc-2, svc-3, … and 2 more Services"
    )
    (better,) = lines_of(difference(bad, good), "Slower, faster")
    assert better.startswith("converge in time now | 6 Services at probe-1")


def test_a_member_is_told_with_what_became_of_it() -> None:
    """Members that changed alike are named together, and where one run lacks a member that is said."""
    before = replace(check("fail"), members=of_members("pass", *"abc"))
    after = replace(check("fail"), members=of_members("fail", *"ab") | of_members("pass", "d"))
    (told,) = lines_of(difference(run_of(before), run_of(after)), "New failures")
    assert told.startswith("fail | f/a | pass → fail: a, b | pass → not planned: c")
    assert "not planned → pass: d" in told


def of_members(verdict: str, *labels: str) -> dict[str, Member]:
    return {label: Member(verdict=Verdict(verdict)) for label in labels}


@pytest.fixture(scope="module")
def page(hostile: Difference) -> html.HtmlElement:
    return html.document_fromstring(render_page(overview(hostile)))


def test_the_page_obeys_no_text(hostile: Difference, page: html.HtmlElement) -> None:
    """No element and no attribute comes from a cluster, and no hidden character is left."""
    text = render_page(overview(hostile))
    assert (
        page.xpath("//script | //*[@style] | //@*[starts-with(name(), 'on')] | //b[@onmouseover]")
        == []
    )
    assert not set("\x00\x1b\u202e\u2028\ufeff") & set(text)
    assert "<script" not in text
    assert "alert(1)" in text  # as text, where it was said
    text.encode("utf-8")


def test_the_page_loads_nothing_and_lets_nothing_act(page: html.HtmlElement) -> None:
    """Its policy allows its own style and no script; no address leads away."""
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert re.match(r"default-src 'none'; style-src 'sha256-[^']+'; require-trusted-types", policy)
    assert "script-src" not in policy
    assert page.xpath("//@src | //link | //@action | //*[local-name()='image']") == []
    assert all(address.startswith("#s-") for address in page.xpath("//a/@href"))
    assert not re.search(r"url\(|@import", "".join(page.xpath("//style/text()")))


def test_the_page_has_everything(upgraded: Difference) -> None:
    """Each changed check, fact and limitation is on it, and each link leads to a section."""
    text = render_page(overview(upgraded))
    page = html.document_fromstring(text)
    said = " ".join(" ".join(page.itertext()).split())
    assert all(one.id in said for one in upgraded.changed)
    assert all(one.subject in said for one in upgraded.facts)
    assert all(one.id in said for one in upgraded.limitations)
    targets = {address.removeprefix("#") for address in page.xpath("//a/@href")}
    assert targets == set(page.xpath("//section/@id"))
    assert headline(upgraded) in page.findtext(".//h1/span")


def test_warnings_are_on_the_page_and_in_markdown() -> None:
    """Whoever reads either learns that two clusters may have been compared."""
    run = run_of(check("pass"))
    other = replace(run, run=replace(run.run, server="https://other.test"))
    found = difference(run, other)
    assert any("different API servers" in one for one in found.warnings)
    page = html.document_fromstring(render_page(overview(found)))
    said = [" ".join(" ".join(one.itertext()).split()) for one in page.xpath("//p[@class='error']")]
    assert said == [*found.warnings]
    assert render_markdown(overview(found)).count("- ⚠ ") == len(found.warnings)


def test_kinds_that_have_no_mirror_of_their_own_are_their_own() -> None:
    """The words of the schema are those of the code."""
    assert set(SCHEMA["$defs"]["kind"]["enum"]) == {kind.value for kind in Kind}
    assert set(SCHEMA["$defs"]["verdict"]["enum"]) == {one.value for one in Verdict}
