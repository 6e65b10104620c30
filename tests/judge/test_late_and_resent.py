"""What answered too late, or only after a packet was lost, is not as expected."""

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expectation, Expected
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import CLAIM, check, expects, observed

LATE = "Service s did not answer probe-windows-1-1 on w1 within 60 s"
RESENT = "attempt 2 took 1.01 s"
REWRITTEN = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
EXPECTATIONS = [expects(CLAIM), expects(REWRITTEN)]


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=["claim", "limitation"])
def test_a_service_that_converged_too_late_fails(expectation: Expectation) -> None:
    """Whoever answers in the end: node, Service and seconds are in the message."""
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, late=LATE, resent=RESENT)
    told = judge(check(), expectation, seen)
    assert told.verdict is Verdict.FAIL
    assert f"{LATE}; this check was answered after that" in told.message


def test_a_service_that_begins_to_answer_while_it_is_probed_is_late() -> None:
    """Attempts that time out before it answers at last are no disagreement: it was late."""
    seen = observed(Outcome.TIMED_OUT, Outcome.CONNECTED, late=LATE)
    assert judge(check(), expects(CLAIM), seen).verdict is Verdict.FAIL


def test_silence_that_is_documented_is_not_late() -> None:
    """What is expected never to answer did not converge either."""
    silent = expects(Expected(outcome=Outcome.TIMED_OUT))
    seen = observed(Outcome.TIMED_OUT, Outcome.TIMED_OUT, late=LATE)
    assert judge(check(), silent, seen).verdict is Verdict.LIMITED


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=["claim", "limitation"])
def test_an_answer_after_a_lost_packet_is_flaky(expectation: Expectation) -> None:
    """It succeeded, and would not have without being retried."""
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, resent=RESENT)
    told = judge(check(), expectation, seen)
    assert told.verdict is Verdict.FLAKY
    assert RESENT in told.message


def test_what_is_left_open_stays_recorded() -> None:
    """The documents promise nothing there, neither at once nor at all."""
    seen = observed(Outcome.CONNECTED, late=LATE, resent=RESENT)
    assert judge(check(), expects(None), seen).verdict is Verdict.RECORDED
