"""``flaky`` means that some trusted attempts met the expectation and others did not; nothing else."""

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import CLAIM, HOLD, VANTAGE_ONLY, check, control, expects, observed

TORN = (Outcome.TIMED_OUT, Outcome.REFUSED)
SOURCES = (SourceSeen.CLIENT_POD, SourceSeen.CLIENT_NODE)
OF_NODE = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
OF_VIP = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.SOURCE_VIP)
REFUSED = Expected(outcome=Outcome.REFUSED)


@pytest.mark.parametrize("controls", [HOLD, VANTAGE_ONLY])
def test_attempts_that_all_failed_in_different_ways_are_a_failure(
    controls: tuple[object, ...],
) -> None:
    """Nobody was answered: it is a failure, whose message names both outcomes."""
    seen = observed(*TORN, controls=controls)  # type: ignore[arg-type]
    found = judge(check(), expects(CLAIM), seen)
    assert found.verdict is Verdict.FAIL
    assert found.observed == "timed_out then refused"
    assert "no attempt met the expectation, but: timed_out, refused" in found.message


def test_failures_of_several_kinds_need_a_vantage_that_works() -> None:
    """Without one nothing is known of the target, in how many ways soever it was silent."""
    seen = observed(*TORN, controls=(control("vantage", ok=False), control("target", ok=True)))
    assert judge(check(), expects(CLAIM), seen).verdict is Verdict.UNKNOWN


def test_an_expected_failure_that_some_attempts_show_is_flaky() -> None:
    """One was refused as a limitation says, one was not told: the attempts disagree."""
    assert judge(check(), expects(REFUSED), observed(*TORN)).verdict is Verdict.FLAKY


@pytest.mark.parametrize(
    ("expected", "verdict"),
    [
        (CLAIM, Verdict.PASS),
        (OF_NODE, Verdict.FLAKY),
        (OF_VIP, Verdict.FAIL),
        (REFUSED, Verdict.LIFTED),
    ],
)
def test_what_differs_counts_where_it_is_asserted(expected: Expected, verdict: Verdict) -> None:
    """Servers saw two sources: nothing where none is asserted, torn where one of them is, failed otherwise."""
    seen = observed(
        *(Outcome.CONNECTED,) * 2, source=SOURCES[-1], sources_seen=SOURCES, agreed=False
    )
    expectation = expects(expected, claim=CLAIM if expected == REFUSED else expected)
    assert judge(check(), expectation, seen).verdict is verdict
