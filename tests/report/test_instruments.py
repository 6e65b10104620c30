"""Instruments on the page, in results.json, and as the one cause of checks that need them."""

import json
from dataclasses import replace

import jsonschema
import pytest

from nettests.judge.advice import STEPS
from nettests.model.calibration import Calibration
from nettests.model.journal_records import Calibrated
from nettests.model.observation import ControlResult
from nettests.model.words import OS, Question, Verdict
from nettests.parse.doubts import State
from nettests.report import Results, build_results, render_html, render_json
from nettests.report.results import CheckResult
from tests.parse.test_doubts import IN_ORDER, calibration
from tests.report.scenario import QUIET, records
from tests.report.test_incidents import WIN, broken, holding
from tests.report.test_results_json import SCHEMA

STRANGE = "Zeit <b>über</b>schritten"
LOST = "Request timed out.\n    Packets: Sent = 1, Received = 0, Lost = 1 (100% loss),"
OTHER = WIN.replace("1", "2")
WHY = f"ping on {WIN} is not understood: its own loopback address was read as probe_failed"


def strange(node: str) -> Calibration:
    """Return the calibration of a Windows node whose ping speaks a language of its own."""
    of = calibration((STRANGE, 1), (LOST, 1))
    return replace(of, node=node, probe=f"probe-{node}", os=OS.WINDOWS)


@pytest.fixture(scope="module")
def run() -> Results:
    """A run with two Windows nodes whose ping is not understood, and a Linux node whose is."""
    calibrations = [IN_ORDER, strange(WIN), strange(OTHER)]
    return build_results(
        [*records(QUIET), *(Calibrated(calibration=each) for each in calibrations)]
    )


def test_nodes_that_answer_alike_share_a_row_and_what_is_not_understood_comes_first(
    run: Results,
) -> None:
    """With the raw answer of the first."""
    first = run.instruments[0]
    assert (first.instrument, first.nodes, first.trusted) == ("ping", (WIN, OTHER), False)
    assert STRANGE in first.text
    assert sum(not row.trusted for row in run.instruments) == 1


def test_the_page_lists_what_is_not_understood_and_counts_the_rest(
    run: Results, quiet: Results
) -> None:
    """With the raw text as a text, and the request to send it; without a calibration there is no section."""
    section = render_html(run).partition('id="s-instruments"')[2].partition("</section>")[0]
    assert "Zeit &lt;b&gt;über&lt;/b&gt;schritten" in section
    assert "nettests export" in section
    assert section.count('<th scope="row">') == 1
    understood = sum(row.state is State.UNDERSTOOD for row in run.instruments)
    assert f"<code>results.json</code>: {understood} understood (ping, exec)" in section
    assert 'id="s-instruments"' not in render_html(quiet)


def test_results_json_lists_them(run: Results, quiet: Results) -> None:
    """As its schema describes it; a journal of an older version has none."""
    document = json.loads(render_json(run))
    jsonschema.validate(document, SCHEMA)
    assert document["instruments"][0]["state"] == "not understood"
    assert "instruments" not in json.loads(render_json(quiet))


def distrusting(result: CheckResult, *, by_control: bool) -> CheckResult:
    """Return a result that is unknown because of ping, by its own answer or by that of its control."""
    assert result.observation is not None
    if by_control:
        control = ControlResult(proves="vantage", ok=False, detail=f"probe_failed: {WHY}")
        return replace(result, observation=replace(result.observation, controls=(control,)))
    why = f"attempt 1: {WHY}"
    seen = replace(result.observation, trusted=False, distrust=why)
    return replace(result, observation=seen, distrust=why)


@pytest.mark.parametrize("by_control", [False, True])
def test_checks_that_need_it_have_one_cause(quiet: Results, by_control: bool) -> None:
    """It names instrument, node and reading, whatever the checks were about, and asks to send what was said."""
    results = broken(
        quiet,
        lambda check: check.action.question is Question.PING and check.source.node == WIN,
        verdict=Verdict.UNKNOWN,
    )
    checks = [
        distrusting(result, by_control=by_control) if result.verdict is Verdict.UNKNOWN else result
        for result in results.checks
    ]
    (incident,) = holding(results, checks).incidents
    assert incident.cause == WHY
    assert incident.traits == {"instrument": "ping of windows-1"}
    assert incident.next_step == STEPS["instrument"]
    assert incident.explained


def test_a_text_that_no_parser_knows_is_named_with_its_tool(quiet: Results) -> None:
    """As the cause of the checks that it left unknown, with its words: no question of the calibration met it."""
    text = "port-read: connectex: Verbindung verweigert"

    def unread(result: CheckResult) -> CheckResult:
        seen = result.observation
        assert seen is not None
        attempts = tuple(replace(each, unread="port-read", detail=text) for each in seen.attempts)
        why = f"attempt 1: {text}"
        return replace(
            result,
            observation=replace(seen, attempts=attempts, trusted=False, distrust=why),
            distrust=why,
        )

    results = broken(
        quiet,
        lambda check: check.action.question is Question.PING and check.source.node == WIN,
        verdict=Verdict.UNKNOWN,
    )
    checks = [unread(each) if each.verdict is Verdict.UNKNOWN else each for each in results.checks]
    (incident,) = holding(results, checks).incidents
    assert (
        incident.cause
        == f"port-read on {WIN} is not understood: {text.removeprefix('port-read: ')}"
    )
    assert incident.next_step == STEPS["instrument"]
