"""What answered too late, or only after a packet was lost, is not as expected."""

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expectation, Expected
from nettests.model.measured import PathSize, SizeFinding, estimate
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import CLAIM, check, control, expects, observed

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
    assert f"{LATE}; this check got its answer only later" in told.message


OVERLOADED = (
    "the probe was overloaded: p took 2.5 s to answer for itself while Service s was waited for"
)


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=["claim", "limitation"])
def test_an_overloaded_probe_proves_neither_lateness_nor_its_absence(
    expectation: Expectation,
) -> None:
    """The answer came, whether in time nothing shows: it is unknown, and not green."""
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, late=OVERLOADED)
    told = judge(check(), expectation, seen)
    assert told.verdict is Verdict.UNKNOWN
    assert OVERLOADED in told.message
    assert "less busy" in told.next_step


def test_an_overloaded_probe_excuses_no_failure() -> None:
    """What nothing answered at all fails, as its controls prove."""
    seen = observed(Outcome.TIMED_OUT, late=OVERLOADED, controls=(control("path", ok=True),))
    assert judge(check(), expects(CLAIM), seen).verdict is Verdict.FAIL


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


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=["claim", "limitation"])
def test_answers_that_are_all_late_are_flaky(expectation: Expectation) -> None:
    """A path on which a client would have sent again each time is not as expected, though it answers."""
    slow = "every answer took 2.0 s or more"
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE, slow=slow)
    told = judge(check(), expectation, seen)
    assert told.verdict is Verdict.FLAKY
    assert slow in told.message


@pytest.mark.parametrize(
    ("lost", "verdict"),
    [(0, Verdict.PASS), (1, Verdict.PASS), (2, Verdict.FLAKY), (660, Verdict.FLAKY)],
)
def test_a_loss_counts_when_it_is_proven(lost: int, verdict: Verdict) -> None:
    """One lost try of hundreds may be an accident, and is told; two are none."""
    told = judge(check(), expects(CLAIM), observed(Outcome.CONNECTED, loss=estimate(662, lost)))
    assert told.verdict is verdict
    assert f"{lost} of 662 lost" in told.observed


@pytest.mark.parametrize(
    ("finding", "outcome", "verdict"),
    [
        (SizeFinding.WHOLE, Outcome.CONNECTED, Verdict.PASS),
        (SizeFinding.HOLE, Outcome.TIMED_OUT, Verdict.FAIL),
        (SizeFinding.CLAMP, Outcome.CONNECTED, Verdict.FLAKY),
        (SizeFinding.LOSS, Outcome.CONNECTED, Verdict.FLAKY),
        (SizeFinding.FRAGMENTS, Outcome.CONNECTED, Verdict.RECORDED),
        (SizeFinding.SILENT, Outcome.TIMED_OUT, Verdict.FAIL),
    ],
)
def test_sizes_that_do_not_pass_are_told_apart(
    finding: SizeFinding, outcome: Outcome, verdict: Verdict
) -> None:
    """A hole fails, what passes only when it is sent again is flaky, and nobody promises fragments."""
    sizes = PathSize(finding=finding, passes=1400, vanishes=1401)
    told = judge(check(), expects(CLAIM), observed(outcome, path_size=sizes))
    assert told.verdict is verdict
    assert str(sizes) in told.observed


def test_a_hole_that_is_not_proven_stays_unknown() -> None:
    """Where the vantage reaches nothing else either, nobody knows whether it is the size."""
    sizes = PathSize(finding=SizeFinding.HOLE, passes=1400, vanishes=1401)
    failed = [control("vantage", ok=False)]
    seen = observed(Outcome.TIMED_OUT, controls=failed, path_size=sizes)
    assert judge(check(), expects(CLAIM), seen).verdict is Verdict.UNKNOWN
