"""Incidents of new Pods: whose network comes late is named with its node and its seconds."""

from dataclasses import replace

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome, Verdict
from nettests.report import Results
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult

FLOW = "new-pod-first-packets"
WIN = "windows-node-1"


def late(one: CheckResult, detail: str) -> CheckResult:
    """Return the check red, with what its Pod said."""
    assert one.observation is not None
    attempt = Attempt(
        number=1, outcome=Outcome.DEVIATES, detail=detail, started=1.0, elapsed=9.0, channel="api"
    )
    seen = replace(one.observation, outcome=Outcome.DEVIATES, attempts=(attempt,))
    return replace(one, verdict=Verdict.FAIL, observation=seen, message=f"expected …; {detail}")


def incidents(results: Results, *details: str) -> list[tuple[str, dict[str, str]]]:
    """Return the incidents where the checks of new Pods on a node say so, one after the other."""
    found = [one for one in results.checks if one.flow == FLOW and one.check and one.ran]
    there = [one.id for one in found if one.check and one.check.source.node == WIN]
    assert len(there) >= len(details)
    told = dict(zip(there, details, strict=False))
    checks = [late(one, told[one.id]) if one.id in told else one for one in results.checks]
    return [(one.cause, dict(one.traits)) for one in find_incidents(checks, results.facts)]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("nothing", f"New Pods on {WIN} reach nothing for their first 7 s"),
        ("no ClusterIP", f"New Pods on {WIN} reach no ClusterIP for their first 7 s"),
    ],
)
def test_a_late_network_is_named_with_node_and_seconds(
    quiet: Results, what: str, sentence: str
) -> None:
    """Other checks of the node are green: only what is new there suffers, for as long as the slowest said."""
    first, second = (
        f"it reached {what} for its first {seconds} s: Pod …" for seconds in (6.0, 7.1)
    )
    assert incidents(quiet, first, second) == [(sentence, {"new-pods": WIN})]


def test_one_late_check_alone_says_it_too(quiet: Results) -> None:
    """A cluster with one pair of nodes has one such check of a node: it needs no second one to be named."""
    ((cause, traits),) = incidents(quiet, "it reached nothing for its first 6.0 s: Pod …")
    assert cause == f"New Pods on {WIN} reach nothing for their first 6 s"
    assert traits == {"new-pods": WIN}


def test_what_never_worked_is_not_called_late(quiet: Results) -> None:
    """A path that new Pods never had is no lateness."""
    ((cause, _),) = incidents(quiet, "it reached nothing: Pod never in 15.0 s (no answer)")
    assert "for their first" not in cause


def test_requests_that_failed_later_are_no_lateness(quiet: Results) -> None:
    """A path that goes away again is said to be one, not to be late."""
    said = "14 of 14 requests to ClusterIP failed after a first answer: Pod after 4 ms, …"
    ((together, _),) = incidents(quiet, said, said)
    assert together == f"New Pods on {WIN} lose requests to ClusterIP"
    ((alone, _),) = incidents(quiet, said)
    assert said in alone
    assert "for their first" not in alone
