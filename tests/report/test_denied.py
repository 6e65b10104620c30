"""What a run that judged nothing would have needed to be allowed."""

from dataclasses import replace

import pytest

from nettests.model.words import Verdict
from nettests.plugin.reporter import missing_permissions
from nettests.report import Results
from nettests.report.results import CheckResult

DENIED = ("list daemonsets in all namespaces", "create namespaces", "create pods", "list events")
SKIP = CheckResult(
    id="f/1", flow="f", verdict=Verdict.SKIPPED, message="this identity may not create namespaces"
)


@pytest.fixture
def denied(quiet: Results) -> Results:
    """A run that ended with 7, for want of rights."""
    assert quiet.facts is not None
    return replace(
        quiet,
        run=replace(quiet.run, exit_code=7),
        facts=replace(quiet.facts, denied=DENIED),
        checks=(SKIP,),
    )


def test_all_that_checks_need_is_named(denied: Results) -> None:
    """Not only the first that a skip meets; events too, which some checks read, but nothing that facts alone are read by."""
    wanted = ("create namespaces", "create pods", "list events")
    assert missing_permissions(denied) == wanted


def test_a_run_that_lacks_events_alone_names_them(denied: Results) -> None:
    """Why a container was restarted is told by an event: without them nothing is judged of it."""
    assert denied.facts is not None
    skip = replace(SKIP, message="this identity may not list events")
    facts = replace(denied.facts, denied=("list events",))
    alone = replace(denied, checks=(skip,), facts=facts)
    assert missing_permissions(alone) == ("list events",)


@pytest.mark.parametrize("code", [0, 1, 6, None])
def test_other_ends_name_none(denied: Results, code: int | None) -> None:
    """A run that judged what was planned needs no list."""
    assert missing_permissions(replace(denied, run=replace(denied.run, exit_code=code))) == ()


def test_another_reason_names_none(denied: Results) -> None:
    """Where something else left out what was planned, rights are not the reason."""
    other = replace(SKIP, message="the namespace's Pod Security level 'baseline' forbids hostPort")
    assert missing_permissions(replace(denied, checks=(other,))) == ()
