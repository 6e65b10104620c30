"""Answers that are not understood are listed in every document, with the request to send them."""

import json
from collections.abc import Iterator
from dataclasses import replace

import jsonschema
import pytest

from nettests.model.journal_records import Answer, Record
from nettests.report import Results, build_results, render_html, render_json, render_markdown
from nettests.report.summary import unread_line
from tests.report.scenario import QUIET, records
from tests.report.test_results_json import SCHEMA

STRANGE = "Zeitüberschreitung <b>der</b> Anforderung | 10.0.0.1"


def strange() -> Iterator[Record]:
    """Yield a whole run in which each ping says something in another language."""
    for record in records(QUIET):
        if isinstance(record, Answer) and record.raw.tool == "ping":
            yield Answer(raw=replace(record.raw, stdout=STRANGE, stderr="", exit_code=1))
        else:
            yield record


@pytest.fixture(scope="module")
def run() -> Results:
    """That run."""
    return build_results(strange())


def test_it_is_one_text_of_each_system(run: Results) -> None:
    """However many pings said it."""
    assert {(one.tool, one.client_os) for one in run.unread} == {
        ("ping", "linux"),
        ("ping", "windows"),
    }
    assert all(len(one.checks) > 1 and STRANGE in one.text for one in run.unread)
    assert unread_line(run).startswith("2 tool answers not understood, in ")


def test_the_page_shows_it_and_names_the_command(run: Results) -> None:
    """As a text, whatever is in it, with a check to open."""
    page = render_html(run)
    section = page.partition('id="s-unread"')[2].partition("</section>")[0]
    assert "Zeitüberschreitung &lt;b&gt;der&lt;/b&gt;" in section
    assert "nettests export" in section
    assert f'data-check="{run.unread[0].checks[0]}"' in section


def test_the_summary_of_ci_lists_it(run: Results) -> None:
    """In a table that its bars do not break."""
    told = render_markdown(run)
    assert "### Answers that are not understood" in told
    assert "nettests export" in told
    assert "\\| 10" in told or "&#124; 10" in told


def test_results_hold_it(run: Results) -> None:
    """Valid by the published schema; absent where every answer was read."""
    document = json.loads(render_json(run))
    jsonschema.validate(document, SCHEMA)
    assert document["unread"][0]["tool"] == "ping"
    assert "unread" not in json.loads(render_json(build_results(records(QUIET))))


def test_a_run_that_is_read_says_nothing_of_it(quiet: Results) -> None:
    """No section, no line."""
    assert quiet.unread == ()
    assert unread_line(quiet) == ""
    assert "s-unread" not in render_html(quiet)
    assert "not understood" not in render_markdown(quiet)
