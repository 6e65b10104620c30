"""Source address, distribution and backends are part of what is expected, exactly."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.words import Distribution, Outcome, SourceSeen, Verdict
from tests.judge.cases import HOLD, check, control, expects, observed

POD = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD)
NODE = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
STICKY = Expected(outcome=Outcome.CONNECTED, distribution=Distribution.ONE_BACKEND)
SPREAD = Expected(outcome=Outcome.CONNECTED, distribution=Distribution.SEVERAL_BACKENDS)


@pytest.mark.parametrize(
    ("expected", "seen", "verdict"),
    [
        (POD, SourceSeen.CLIENT_POD, Verdict.PASS),
        (POD, SourceSeen.CLIENT_NODE, Verdict.FAIL),
        (POD, None, Verdict.UNKNOWN),
        (NODE, SourceSeen.CLIENT_NODE, Verdict.LIMITED),
        (NODE, SourceSeen.CLIENT_POD, Verdict.LIFTED),
        (NODE, SourceSeen.SOURCE_VIP, Verdict.FAIL),
        (NODE, None, Verdict.UNKNOWN),
    ],
)
def test_source_addresses(expected: Expected, seen: SourceSeen | None, verdict: Verdict) -> None:
    """A limited source is limited, the claimed one lifted, a third one fails, none is unknown."""
    found = judge(check(), expects(expected, claim=POD), observed(Outcome.CONNECTED, source=seen))
    assert found.verdict is verdict


ONE, SEVERAL = Distribution.ONE_BACKEND, Distribution.SEVERAL_BACKENDS


@pytest.mark.parametrize(
    ("expected", "seen", "several_reachable", "verdict"),
    [
        (STICKY, ONE, True, Verdict.PASS),
        (STICKY, ONE, False, Verdict.UNKNOWN),
        (STICKY, SEVERAL, True, Verdict.FAIL),
        (STICKY, None, True, Verdict.UNKNOWN),
        (SPREAD, SEVERAL, True, Verdict.LIMITED),
        (SPREAD, ONE, True, Verdict.LIFTED),
        (SPREAD, ONE, False, Verdict.UNKNOWN),
    ],
)
def test_distributions(
    expected: Expected,
    seen: Distribution | None,
    verdict: Verdict,
    *,
    several_reachable: bool,
) -> None:
    """One backend means affinity only where several were proven to be reachable."""
    observation = observed(
        Outcome.CONNECTED,
        distribution=seen,
        controls=(control("vantage", ok=True), control("target", ok=several_reachable)),
    )
    assert judge(check(), expects(expected, claim=STICKY), observation).verdict is verdict


@pytest.mark.parametrize(
    ("expected", "seen", "verdict"),
    [
        (STICKY, SEVERAL, Verdict.FAIL),
        (STICKY, None, Verdict.FLAKY),
        (SPREAD, SEVERAL, Verdict.FLAKY),
    ],
)
def test_backends_that_answered_are_seen_beside_silence(
    expected: Expected, seen: Distribution | None, verdict: Verdict
) -> None:
    """Lost affinity is proven by two backends that answered; what a silent connection would have met is not known."""
    observation = observed(
        Outcome.CONNECTED,
        Outcome.TIMED_OUT,
        Outcome.CONNECTED,
        distribution=seen,
        backends=("server-1", "server-2"),
    )
    one = replace(check(), claim=expected)
    found = judge(one, expects(expected, claim=expected), observation)
    assert found.verdict is verdict
    if verdict is Verdict.FAIL:
        assert "server-1 and server-2 answered one client" in found.message
        assert "session affinity is lost" in (found.next_step or "")


def test_one_backend_without_any_control_is_not_believed() -> None:
    """Affinity whose control could not be run is unknown."""
    observation = observed(Outcome.CONNECTED, distribution=ONE, controls=())
    assert judge(check(), expects(STICKY, claim=STICKY), observation).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("expected", [POD, NODE])
def test_a_stranger_that_answers_is_a_failure(expected: Expected) -> None:
    """Whoever answers has to be one of the target's backends, whatever else was expected."""
    observation = observed(
        Outcome.CONNECTED, source=SourceSeen.CLIENT_POD, backends=("server-1", "somebody")
    )
    found = judge(check(), expects(expected, claim=POD), observation)
    assert found.verdict is Verdict.FAIL
    assert "answered by somebody" in found.message


def test_what_is_not_asserted_is_not_compared() -> None:
    """A claim of reachability alone passes whatever address was seen."""
    claim = Expected(outcome=Outcome.CONNECTED)
    observation = observed(Outcome.CONNECTED, source=SourceSeen.OTHER, controls=HOLD)
    assert judge(check(), expects(claim), observation).verdict is Verdict.PASS


def test_a_name_that_leads_elsewhere_fails() -> None:
    """Resolving is not enough: the address has to be the target's, also where nxdomain was expected."""
    seen = observed(Outcome.RESOLVED, backends=(), unexpected_addresses=("203.0.113.9",))
    for expected in (Outcome.RESOLVED, Outcome.NXDOMAIN):
        claim = Expected(outcome=Outcome.RESOLVED)
        found = judge(check(), expects(Expected(outcome=expected), claim=claim), seen)
        assert found.verdict is Verdict.FAIL
        assert "203.0.113.9, not to the target's address" in found.message
