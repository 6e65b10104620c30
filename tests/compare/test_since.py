"""What a run's page says of the run before: the headline, what changed, links to the checks, and no more than it can hold."""

from dataclasses import replace

import pytest
from lxml import html
from markupsafe import Markup

from nettests.compare.difference import difference
from nettests.compare.difference_text import SHOWN, headline, render_since
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.model.words import Outcome, Verdict
from nettests.report import Results, render_html
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts

OLD, NEW = "win2019-l2bridge", "win2022-l2bridge-dsr"
BROKEN = "pod-to-pod-ip/linux-1/windows-1/other-node/tcp"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def part() -> Markup:
    """What is said of an upgrade with a fault beside it."""
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
    after = recorded(results(cluster_facts(NEW), broken))
    found = difference(quiet_run(cluster_facts(OLD)), after)
    return render_since(found, ("before", "after"), "../before/report.html")


def tree(part: Markup) -> html.HtmlElement:
    return html.fromstring(str(part))


def test_the_headline_and_the_page_of_the_run_before_come_first(part: Markup) -> None:
    """A person reads whether it is worse, and can look at what was."""
    lead = tree(part).find_class("lead")[0]
    assert lead.text_content().startswith("Worse: 1 new failure")
    assert [one.get("href") for one in lead.iter("a")] == ["../before/report.html"]


def test_new_failures_are_open_and_lead_to_their_checks(part: Markup) -> None:
    """The check's evidence is on the same page."""
    (section,) = [one for one in tree(part).iter("details") if one.find("summary").text.strip() == "New failures"]  # fmt: skip
    assert section.get("open") is not None
    assert [one.get("href") for one in section.iter("a")] == [f"#{BROKEN}"]
    assert "unexplained" in section.text_content()


def test_failures_that_a_cause_explains_stay_folded() -> None:
    """The incident is open, and says how many they are."""
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "windows-1/linux-1")
    after = recorded(results(cluster_facts(OLD), broken))
    found = difference(quiet_run(cluster_facts(OLD)), after)
    assert found.incidents
    shown = {
        one.find("summary").text.strip(): one.get("open") is not None
        for one in tree(render_since(found, ("a", "b"))).iter("details")
        if one.find("summary").find("b") is not None
    }
    assert (shown["Incidents"], shown["New failures"]) == (True, False)


def test_long_sections_are_cut_and_say_so(part: Markup) -> None:
    """A page of a run is about that run; the command for all of it is named."""
    for section in tree(part).findall("details"):
        lists = section.find_class("alerts")
        shown = len(lists[0].findall("li")) if lists else len(section.findall(".//tr"))
        assert shown <= SHOWN
    assert "more" in part
    assert "nettests diff before after --html diff.html" in part


def test_a_check_that_the_page_does_not_have_is_no_link() -> None:
    """One that only the run before had leads nowhere."""
    before, after = (
        recorded(results(cluster_facts(OLD), flows=["pod-to-pod-ip"])),
        recorded(results(cluster_facts("linux"), flows=["pod-to-pod-ip"])),
    )
    part = render_since(difference(before, after), ("a", "b"))
    known = {f"#{one.id}" for one in after.checks}
    assert {one.get("href") for one in tree(part).iter("a")} <= known


def test_texts_of_a_cluster_stay_texts() -> None:
    """Also in a message of a check that only the later run has."""
    run: RecordedRun = quiet_run(cluster_facts("linux"))
    odd = RecordedCheck(id=f"f/{HOSTILE}", flow="f", verdict=Verdict.FAIL, message=HOSTILE)
    part = render_since(difference(run, replace(run, checks=(*run.checks, odd))), (HOSTILE, "b"))
    assert "<img" not in part
    assert not list(tree(part).iter("img"))


def test_runs_without_a_difference_say_so() -> None:
    """In one sentence, with nothing to open."""
    run = quiet_run(cluster_facts("linux"))
    found = difference(run, run)
    part = render_since(found, ("a", "b"))
    assert headline(found) in part
    assert not list(tree(part).iter("details"))


def test_the_page_of_a_run_has_it_with_a_link_from_its_head(
    eventful_run: Results, part: Markup
) -> None:
    """And has neither where there is no run before."""
    page, alone = render_html(eventful_run, since=part), render_html(eventful_run)
    assert part in page
    assert 'href="#s-since"' in page
    assert "s-since" not in alone
