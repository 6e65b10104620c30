"""What people read first: what the counts of a run mean."""

from dataclasses import replace

import pytest

from nettests.model.words import CheckClass, Verdict
from nettests.plan.classes import not_enabled
from nettests.report import Results
from nettests.report.html_report import render_html
from nettests.report.results import CheckResult
from nettests.report.summary import MEANING, meanings


def skipped(number: int, reason: str) -> CheckResult:
    """Return a check that was due and was not asked."""
    return CheckResult(id=f"f/{number}", flow="f", verdict=Verdict.SKIPPED, message=reason)


@pytest.fixture
def run(quiet: Results) -> Results:
    """A run in which nothing was skipped for its class."""
    return replace(quiet, checks=(skipped(0, "the network plugin is flannel"),))


def test_what_an_option_would_add_is_counted_with_that_option(run: Results) -> None:
    """Checks of classes that were not enabled are told from those that do not apply here."""
    held_back = (CheckClass.EXPOSED, CheckClass.COSTLY, CheckClass.COSTLY)
    more = [skipped(n, not_enabled(one, ())) for n, one in enumerate(held_back, 1)]
    told = meanings(replace(run, checks=(*run.checks, *more)))
    assert told[Verdict.SKIPPED] == (
        "due, but not asked here; --enable=costly,exposed asks 3 of them"
    )
    assert {**told, Verdict.SKIPPED: ""} == {**MEANING, Verdict.SKIPPED: ""}


def test_without_such_checks_no_option_is_named(run: Results) -> None:
    """What does not apply here is nothing that an option would change."""
    assert meanings(run) == MEANING


def test_the_page_says_it_where_it_counts_them(quiet: Results) -> None:
    """The tile of the skipped checks holds the option."""
    told = meanings(quiet)[Verdict.SKIPPED]
    assert "--enable=" in told
    assert f'<span class="meaning">{told}</span>' in render_html(quiet)
