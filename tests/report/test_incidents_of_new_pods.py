"""Incidents of new Pods: whose network comes late is named with its node and its seconds."""

from dataclasses import replace

import pytest

from nettests.model.observation import Attempt
from nettests.model.words import Outcome, Protocol, Verdict
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


def resent(one: CheckResult, started: float) -> CheckResult:
    """Return the check flaky, because a SYN of it was sent again then."""
    assert one.observation is not None
    attempt = replace(one.observation.attempts[0], started=started, elapsed=1.02)
    seen = replace(one.observation, resent="attempt 1 took 1.02 s", attempts=(attempt,))
    return replace(one, verdict=Verdict.FLAKY, observation=seen)


@pytest.mark.parametrize(
    ("started", "causes"),
    [
        (6.5, {f"New Pods on {WIN} reach nothing for their first 6 s"}),
        (
            60.0,
            {
                f"New Pods on {WIN} reach nothing for their first 6 s",
                f"TCP packets between {WIN} and other nodes are lost",
            },
        ),
    ],
    ids=["while the run's Pods were new", "later"],
)
def test_what_the_runs_own_pods_lost_while_they_were_new_is_no_loss(
    quiet: Results, started: float, causes: set[str]
) -> None:
    """More checks lose a SYN then than make new Pods; later on the same losses are a cause of their own."""
    news = [one for one in quiet.checks if one.flow == FLOW and one.check and one.ran]
    new = {one.id for one in news if one.check and one.check.source.node == WIN}
    said = "it reached nothing for its first 6.0 s: Pod …"
    struck = [
        one.id
        for one in quiet.checks
        if one.flow in {"pod-to-pod-ip", "hostport-from-other-node"}
        and one.ran
        and one.check
        and one.check.action.protocol is Protocol.TCP
        and WIN in {one.check.source.node, one.check.target.node}
    ]
    assert len(struck) > 3
    checks = [late(one, said) if one.id in new else one for one in quiet.checks]
    checks = [resent(one, started) if one.id in struck else one for one in checks]
    found = find_incidents(checks, quiet.facts)
    assert {one.cause.partition(" now and then")[0] for one in found} == causes
    if len(found) == 1:
        assert set(found[0].checks) == new | {*struck}
