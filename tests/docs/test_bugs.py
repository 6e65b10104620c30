"""The page of reported bugs is what the manifest, the suites and the limitations say today."""

import json
from collections import Counter

from jsonschema import Draft202012Validator

from nettests.session.survey import survey
from scripts.bugs import ROOT, classes_of, render, reports
from tests.docs.documents import text_of

SURVEY = survey()
FLOWS = {flow.name: flow for flow in SURVEY.flows}
ENOUGH, ACTED, AIM = 60, 20, 0.92


def test_the_page_is_current() -> None:
    """Whoever changes a report, or the class of a flow that one names, makes the page again.

    The command is: python scripts/bugs.py
    """
    assert text_of("docs/reference/bugs.md") == render(reports(), FLOWS)


def test_the_reports_have_the_form_of_their_schema() -> None:
    """Every status has what belongs to it: checks, an entry, or a reason."""
    schema = json.loads((ROOT / "manifests/schema/bugs.schema.json").read_text("utf-8"))
    document = {
        "apiVersion": "nettests.dev/v1alpha1",
        "kind": "ReportedBugs",
        "reports": reports(),
    }
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)


def test_every_report_is_there_once() -> None:
    """There are so many, from so many trackers, and most of them are seen."""
    links = Counter(report["link"] for report in reports())
    assert [link for link, count in links.items() if count > 1] == []
    assert len(links) >= ENOUGH
    assert len({link.split("/")[3] for link in links}) >= 12
    seen = sum(report["status"] != "blind" for report in reports())
    assert seen / len(links) >= AIM


def test_every_check_exists_and_runs_when_it_is_told_to() -> None:
    """``caught`` has a check that runs by default, ``enable`` none; a case is one of its flow's."""
    for report in reports():
        for check in report.get("checks", ()):
            flow, _, case = check.partition("#")
            assert flow in FLOWS, (report["link"], check)
            labels = [each.label for each in FLOWS[flow].cases]
            assert not case or case in labels, (report["link"], check, labels)
        unasked = [each for each in report.get("checks", ()) if not classes_of(each, FLOWS)]
        assert report["status"] in {"said", "blind"} or bool(unasked) is (
            report["status"] == "caught"
        ), report["link"]


def test_every_entry_that_names_a_bug_covers_one_of_its_checks() -> None:
    """An entry that is named decides on a flow of the report."""
    for report in reports():
        if "limitation" not in report:
            continue
        parts = [entry for entry in SURVEY.entries if entry.id == report["limitation"]]
        covered = {flow for entry in parts for flow in entry.flows}
        assert covered & {check.partition("#")[0] for check in report["checks"]}, report["link"]


def test_enough_reports_are_acted_out() -> None:
    """What has to turn red is a check that the report names."""
    acted = [report for report in reports() if "acted" in report]
    assert len(acted) >= ACTED
    for report in acted:
        named = {name for check in report["checks"] for name in (check, check.partition("#")[0])}
        assert report["acted"]["check"] in named, report["link"]
