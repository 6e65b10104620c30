"""What is posted of a run: the answer, what was exercised, leading incidents; within Slack's limits and inert."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nettests.model.journal_records import Begin, End, Event, Record
from nettests.model.words import Verdict
from nettests.report import Results, build_results
from nettests.report.results import Incident
from nettests.report.slack_message import SHOWN, slack_message
from nettests.report.summary import coverage_line, exercised_line, headline
from tests.report.hostile import NASTY, hostile_records
from tests.report.scenario import Story, records

SCHEMA = json.loads(Path(__file__).with_name("slack.schema.json").read_text("utf-8"))
REPORT = "/reports/20261121-1404-k7m2/report.html"


def message(results: Results) -> dict[str, Any]:
    """Return the message, as it comes out at the other end, valid by the limits."""
    said: dict[str, Any] = json.loads(json.dumps(slack_message(results, REPORT)))
    Draft202012Validator(SCHEMA).validate(said)
    return said


def sections(said: dict[str, Any]) -> list[str]:
    """Return the texts of the blocks below the header."""
    return [block["text"]["text"] for block in said["blocks"][1:]]


def test_a_quiet_run_is_told_in_three_blocks(quiet: Results) -> None:
    """The answer; what was looked at; which run it was and where its report lies."""
    said = message(quiet)
    head, *others = [block["text"]["text"] for block in said["blocks"]]
    assert head.startswith("✓ This cluster behaves as documented")
    summary, foot = others
    assert f"{quiet.counts[Verdict.PASS]} pass" in summary
    assert coverage_line(quiet) in summary
    assert "Kubernetes 1.29.4" in summary
    assert exercised_line(quiet) in summary
    assert foot.splitlines() == [
        "run 20261121-1404-k7m2, 48.2 s, nettests 0.1.0",
        f"report: {REPORT}",
    ]


def test_incidents_are_told_with_what_to_do_next(eventful_run: Results) -> None:
    """The leading ones, in the report's order, each with its worst verdict; the others are counted."""
    told = sections(message(eventful_run))[1:-1]
    assert len(eventful_run.incidents) > 1
    for incident, text in zip(eventful_run.incidents[:SHOWN], told, strict=False):
        assert incident.cause in text
        assert f"→ {incident.next_step}" in text
    assert "FAIL" in told[0]


def test_more_incidents_than_five_are_counted(eventful_run: Results) -> None:
    """Nobody reads twenty in a chat; the report has them all."""
    many = eventful_run.incidents[:1] * 12
    told = sections(message(replace(eventful_run, incidents=many)))
    assert len(told) == 1 + SHOWN + 1 + 1
    assert told[-2] == "… and 7 more in the report"
    exactly = sections(message(replace(eventful_run, incidents=many[:SHOWN])))
    assert not any("more in the report" in text for text in exactly)


def test_a_run_that_could_not_start_says_why() -> None:
    """The reason stands where the counts would, and no count is made up."""
    begun: list[Record] = [Begin(run_id="r"), Event(at="", text="the run could not start: no nodes"), End(exit_code=7)]  # fmt: skip
    said = message(build_results(begun))
    assert said["blocks"][0]["text"]["text"] == "? The run could not start"
    assert "no nodes" in sections(said)[0]
    assert "pass" not in said["text"]


def test_a_run_that_broke_off_is_called_so() -> None:
    """A journal without an end."""
    cut = [one for one in records() if not isinstance(one, End)]
    assert "broke off" in sections(message(build_results(cut)))[-1]


def test_what_does_not_show_blocks_reads_the_same_lines(eventful_run: Results) -> None:
    """Programs that know ``text`` alone get headline, incidents and the report's place."""
    text = message(eventful_run)["text"]
    assert headline(eventful_run)[:40] in text
    assert eventful_run.incidents[0].next_step in text
    assert text.endswith(REPORT)


def test_the_longest_texts_stay_within_the_limits(eventful_run: Results) -> None:
    """Causes, steps, plugins and events of any length are cut, and say so."""
    endless = "endless " * 10_000
    checks = eventful_run.incidents[0].checks
    long = Incident(cause=endless, traits={}, checks=checks, next_step=endless, explained=True)
    run = replace(eventful_run.run, error=None, run_id=endless, nettests=endless)
    said = message(replace(eventful_run, incidents=(long,) * 60, run=run))
    assert said["text"].endswith("…")
    assert all("…" in text for text in sections(said)[1:])
    story = Story(failing=lambda check: True)
    message(build_results(records(story)))


@pytest.mark.parametrize("sign", ["<!channel>", "@here", "<https://x.test|y>", "[x](y)", "`z`"])  # fmt: skip
def test_texts_of_a_cluster_do_nothing(eventful_run: Results, sign: str) -> None:
    """In blocks nothing is markup; in ``text`` mentions, links, images and code are no longer such."""
    checks = eventful_run.incidents[0].checks
    bad = Incident(cause=f"a {sign} b", traits={}, checks=checks, next_step=sign)
    said = message(replace(eventful_run, incidents=(bad,)))
    assert sign in sections(said)[1]
    assert not set("<>&@[]`") & set(said["text"])
    assert "://" not in said["text"]
    assert said["unfurl_links"] is said["unfurl_media"] is False


def test_a_hostile_run_is_told_visibly() -> None:
    """Escape sequences and reordering characters are named, and no line is forged."""
    results = build_results(hostile_records())
    forged = Incident(
        cause=f"x\n✓ all is well {NASTY}",
        traits={},
        checks=(results.checks[0].id,),
        next_step=NASTY,
    )
    said = message(replace(results, incidents=(forged,)))
    whole = json.dumps(said, ensure_ascii=False)
    for hidden in ("\x1b", "\u202e", "\u2028", "\ud800", "\\u001b"):
        assert hidden not in whole
    lines = [line for text in (said["text"], *sections(said)) for line in text.splitlines()]
    assert any("✓ all is well" in line for line in lines)
    assert not any(line.startswith("✓ all is well") for line in lines)
