"""What people read first: what the counts of a run mean."""

from dataclasses import replace

import pytest

from nettests.model.check import Target, Vantage
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS, CheckClass, Resolver, TargetKind, VantageKind, Verdict
from nettests.plan.flow import not_enabled
from nettests.report import Results
from nettests.report.html_report import render_html
from nettests.report.results import CheckResult
from nettests.report.summary import MEANING, duration, end_label, meanings, moment, variant


def skipped(number: int, reason: str) -> CheckResult:
    """Return a check that was planned and was not run."""
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
        "planned, but not run here; --enable=costly,exposed runs 3 of them"
    )
    assert {**told, Verdict.SKIPPED: ""} == {**MEANING, Verdict.SKIPPED: ""}


def test_without_such_checks_no_option_is_named(run: Results) -> None:
    """What does not apply here is nothing that an option would change."""
    assert meanings(run) == MEANING


def test_the_page_says_it_where_it_counts_them(quiet: Results) -> None:
    """The tile of the skipped checks holds the option, which breaks at its commas and nowhere else."""
    told = meanings(quiet)[Verdict.SKIPPED]
    assert "--enable=" in told
    broken = told.replace("--enable=", '<span class="unbroken">--enable=</span>')
    broken = broken.replace(",", ",<wbr>")
    assert f'<span class="meaning">{broken}</span>' in render_html(quiet)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, ""), (48.24, "48.2 s"), (59.94, "59.9 s"), (60.0, "1 min 00 s"), (185.9, "3 min 05 s")],
)
def test_how_long_a_run_took_is_told(seconds: float | None, told: str) -> None:
    """Nothing of a run that has no end."""
    assert duration(seconds) == told


def test_a_moment_is_told_to_the_second() -> None:
    """In UTC, as the journal has it; nothing of what has no time."""
    assert moment("2026-11-21T14:04:12.200000+00:00") == "2026-11-21 14:04:12 UTC"
    assert moment("") == ""


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (Vantage(kind=VantageKind.EXTERNAL, probe="e"), "outside the cluster"),
        (Vantage(kind=VantageKind.API, probe="a"), "API server"),
        (Vantage(kind=VantageKind.POD, probe="p", pool="linux-1"), "linux-1"),
        (
            Vantage(kind=VantageKind.POD, probe="p", pool="windows-1", build=WindowsBuild(17763, 1339)),
            "windows-1 (17763.1339)",
        ),
        (Target(kind=TargetKind.POD_IP, os=OS.LINUX), "linux"),
        (Target(kind=TargetKind.POD_IP), "outside the cluster"),
    ],
)  # fmt: skip
def test_an_end_is_told_by_its_node_pool(end: Vantage | Target, told: str) -> None:
    """With its build, where it has one; what has no node pool stands outside, or is any of its system."""
    assert end_label(end) == told


def test_a_resolver_tells_checks_apart(quiet: Results) -> None:
    """Two checks of one cell differ by who resolves: it is told once, also where the id does not say it."""
    check = next(
        one.check
        for one in quiet.checks
        if one.check and one.check.action.resolver is Resolver.NSLOOKUP and "nslookup" in one.id
    )
    assert variant(check).count("nslookup") == 1
    bare = replace(check, id="/".join(check.id.split("/")[:5]))
    assert variant(bare) == f"{check.action.protocol.value.upper()} nslookup"
