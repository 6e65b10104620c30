"""``junit.xml`` is valid by its schema and says the verdicts in JUnit's words."""

import re
from dataclasses import replace
from importlib.resources import files

import pytest
from lxml import etree

from nettests.model.journal_records import Accepted, AcceptedFailure, Event, Judged
from nettests.model.words import Verdict
from nettests.report import Results, build_results, render_junit
from nettests.report.junit import DETAIL_LENGTH, MEMBERS, MESSAGE_LENGTH
from tests.report.hostile import hostile_records
from tests.report.scenario import eventful, records
from tests.report.sweep import swept

SCHEMA = etree.XMLSchema(
    etree.fromstring(files("nettests.report").joinpath("junit.xsd").read_bytes())
)


def tree(results: Results) -> etree._Element:
    root = etree.fromstring(render_junit(results).encode())
    SCHEMA.assertValid(root)
    return root


def case(root: etree._Element, name: str) -> etree._Element:
    return next(one for one in root.iter("testcase") if one.get("name") == name)


def properties(element: etree._Element) -> dict[str, str]:
    return {one.get("name"): one.get("value") for one in element.findall("properties/property")}


def test_each_flow_is_a_suite_and_each_check_a_case(eventful_run: Results) -> None:
    """Everything due is a test case, skips too."""
    root = tree(eventful_run)
    assert len(list(root.iter("testcase"))) == eventful_run.coverage.due
    names = [suite.get("name") for suite in root.iter("testsuite")]
    assert names == list(dict.fromkeys(check.flow for check in eventful_run.checks))


def test_the_totals_are_those_of_the_cases(eventful_run: Results) -> None:
    """The counts of the root and of each suite are what their cases hold."""
    root = tree(eventful_run)
    for element in (root, *root.iter("testsuite")):
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(element.get(attribute)) == len(list(element.iter(tag))), attribute
        assert int(element.get("tests")) == len(list(element.iter("testcase")))


def test_limited_is_an_expected_failure_with_the_limitations_id(quiet: Results) -> None:
    """A known limitation is a skip of pytest's type for expected failures."""
    found = case(tree(quiet), "node-to-service-clusterip/windows-1/linux-1/other-node/tcp")
    skipped = found.find("skipped")
    assert skipped is not None
    assert skipped.get("type") == "pytest.xfail"
    assert skipped.get("message").startswith("win-node-to-clusterip ")
    assert (
        "source: Kubernetes documentation, Networking on Windows §Limitations https" in skipped.text
    )


@pytest.mark.parametrize(
    ("verdict", "tag", "kind"),
    [
        (Verdict.FAIL, "failure", "nettests.fail"),
        (Verdict.LIFTED, "failure", "nettests.lifted"),
        (Verdict.FLAKY, "failure", "nettests.flaky"),
        (Verdict.UNKNOWN, "error", "nettests.unknown"),
        (Verdict.LIMITED, "skipped", "pytest.xfail"),
        (Verdict.SKIPPED, "skipped", "pytest.skip"),
    ],
)
def test_a_verdict_has_its_element(
    eventful_run: Results, verdict: Verdict, tag: str, kind: str
) -> None:
    """Failures, errors and skips are told apart as CI systems read them."""
    root = tree(eventful_run)
    for check in eventful_run.checks:
        if check.verdict is verdict:
            found = case(root, check.id).find(tag)
            assert found is not None
            assert found.get("type") == kind


def with_accepted(*, excused: bool) -> tuple[Results, str]:
    """Return a run of which one failure is accepted, and the id of its check."""
    told = [*records(eventful())]
    failed = next(
        one.judgement.check
        for one in told
        if isinstance(one, Judged) and one.judgement.verdict is Verdict.FAIL
    )
    failure = AcceptedFailure(check=failed, reason="ticket <4711>", expires="2026-12-31")
    accepted = Accepted(file="baseline.yaml", excused=excused, failures=(failure,))
    return build_results([*told[:-1], accepted, told[-1]]), failed


def test_an_accepted_failure_is_a_skip_of_its_own_type_where_it_is_excused(
    eventful_run: Results,
) -> None:
    """It says what it is, until when it is accepted and why; totals count it as skipped, and the others stay."""
    results, failed = with_accepted(excused=True)
    root, before = tree(results), tree(eventful_run)
    found = case(root, failed).find("skipped")
    assert found is not None
    assert found.get("type") == "nettests.accepted"
    assert "fail, accepted until 2026-12-31: ticket <4711>" in found.get("message")
    assert properties(case(root, failed))["verdict"] == "fail"
    assert int(root.get("failures")) == int(before.get("failures")) - 1
    assert int(root.get("skipped")) == int(before.get("skipped")) + 1


def test_an_accepted_failure_stays_one_where_the_run_counts_it() -> None:
    """The exit code does, and the viewer says the same; the property has the reason."""
    results, failed = with_accepted(excused=False)
    found = case(tree(results), failed)
    assert found.find("failure") is not None
    assert properties(found)["accepted"] == "ticket <4711>"


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.RECORDED])
def test_what_is_fine_has_no_element(eventful_run: Results, verdict: Verdict) -> None:
    """A pass and a recorded check are passed cases; the property tells which."""
    root = tree(eventful_run)
    chosen = [check for check in eventful_run.checks if check.verdict is verdict]
    for check in chosen:
        found = case(root, check.id)
        assert [child.tag for child in found] == ["properties"]
        assert properties(found)["verdict"] == verdict.value


def test_properties_carry_the_values_of_a_check(quiet: Results) -> None:
    """What results.json says of a check stands in its properties."""
    found = case(tree(quiet), "node-to-service-clusterip/windows-1/linux-1/other-node/tcp")
    values = properties(found)
    assert values["source.os"] == "windows"
    assert values["source.build"] == "17763.1339"
    assert values["target.kind"] == "service-clusterip"
    assert values["limitation"] == "win-node-to-clusterip"
    assert values["placement"] == "other-node"


def test_a_run_that_could_not_start_is_one_error() -> None:
    """CI sees a red case, not an empty file."""
    told = Event(at="2026-11-21T14:04:12+00:00", text="token expired <now>")
    root = tree(build_results([told]))
    (only,) = root.iter("testcase")
    assert only.find("error").get("message") == "token expired <now>"
    assert (root.get("tests"), root.get("errors")) == ("1", "1")


def test_an_empty_journal_is_one_error() -> None:
    """Nothing at all is still a document with one error."""
    assert len(list(tree(build_results([])).iter("error"))) == 1


def test_hostile_texts_keep_the_document_valid() -> None:
    """Characters that XML refuses are shown by name; markup is text."""
    root = tree(build_results(hostile_records()))
    (message,) = {
        one.get("message") for one in root.iter("skipped") if "alert" in one.get("message")
    }
    assert "␀" in message
    assert "⟨U+202E⟩" in message
    assert not list(root.iter("script"))


PER_CHECK = 800
"""Bytes of a case, on the average of a whole run: 600 checks have less than half a megabyte."""


def test_a_whole_run_is_small(quiet: Results, eventful_run: Results) -> None:
    """Cases that passed or were not run say their verdict alone; names are not said twice."""
    for results in (quiet, eventful_run):
        text = render_junit(results)
        assert len(text.encode()) < PER_CHECK * len(results.checks)
        root = etree.fromstring(text.encode())
        assert not list(root.iterfind(".//testcase/properties/property[@name='id']"))
        for check in results.checks:
            if check.verdict in {Verdict.PASS, Verdict.SKIPPED}:
                assert properties(case(root, check.id)) == {"verdict": check.verdict.value}


def test_no_text_is_longer_than_viewers_show() -> None:
    """What a cluster says may be long: messages, texts and properties are bounded, and say where the rest is."""
    long = "x" * 50_000
    told = [
        Judged(judgement=replace(one.judgement, message=long, observed=long, next_step=long))
        if isinstance(one, Judged)
        else one
        for one in records(eventful())
    ]
    root = tree(build_results(told))
    assert max(len(one.get("message", "")) for one in root.iter()) == MESSAGE_LENGTH
    assert max(len(one.get("value", "")) for one in root.iter("property")) == MESSAGE_LENGTH
    texts = [one.text or "" for one in root.iter("failure", "error", "skipped")]
    assert DETAIL_LENGTH < max(map(len, texts)) < DETAIL_LENGTH + 40
    assert any(text.endswith("results.json has all") for text in texts)


def test_of_many_members_the_first_are_told() -> None:
    """A fleet has thousands of pairs; a viewer shows eighty lines."""
    results = swept(lambda action: action.source.node != action.target.node)
    root = tree(results)
    worst = max(results.checks, key=lambda one: len(one.deviating))
    assert len(worst.deviating) > MEMBERS
    lines = (case(root, worst.id).findtext("failure") or "").splitlines()
    assert sum(" → " in line.partition(": ")[0] for line in lines[3:]) == MEMBERS
    assert f"… and {len(worst.deviating) - MEMBERS} more: results.json has all" in lines
    assert len(lines) < 80


def test_viewers_tell_every_case_apart(eventful_run: Results) -> None:
    """GitLab knows a case by class and name, ignores the second one of equal names, and reads up to 30 MB."""
    root = tree(eventful_run)
    names = [(one.get("classname"), one.get("name")) for one in root.iter("testcase")]
    assert len(set(names)) == len(names)
    assert all(one.tag != "testsuite" for suite in root.iter("testsuite") for one in suite)
    # Jenkins' pattern of a time has no exponent and no more than three digits without a comma before a point.
    assert all(re.fullmatch(r"\d+\.\d{3}", one.get("time")) for one in root.iter("testcase"))


def test_the_schema_can_fail() -> None:
    """The schema refuses a skip of an unknown kind and a case without a name."""
    head = '<testsuites name="n" tests="1" failures="0" errors="0" skipped="0" time="0">'
    suite = '<testsuite name="n" tests="1" failures="0" errors="0" skipped="0" time="0">'
    for body in (
        '<testcase classname="c" name="n" time="0"><skipped type="x" message=""/></testcase>',
        '<testcase classname="c" time="0"/>',
    ):
        text = f"{head}{suite}{body}</testsuite></testsuites>"
        assert not SCHEMA.validate(etree.fromstring(text))
