"""Limitations whose documents say that something fails, and not how: any of several outcomes satisfies them."""

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, Verdict
from tests.judge.cases import check, expects, observed

FAILS = Expected(outcome=Outcome.REFUSED, alternatives=(Outcome.TIMED_OUT,))
SILENT = Expected(outcome=Outcome.TIMED_OUT)


@pytest.mark.parametrize("seen", [Outcome.REFUSED, Outcome.TIMED_OUT])
def test_each_of_the_outcomes_is_limited(seen: Outcome) -> None:
    """What a list names is as documented, and the message names them all."""
    judgement = judge(check(), expects(FAILS), observed(seen))
    assert judgement.verdict is Verdict.LIMITED
    assert judgement.expected == "refused or timed_out"


def test_an_outcome_beside_the_list_fails() -> None:
    """A list is as exact as its source: what it does not name is a deviation."""
    judgement = judge(check(), expects(FAILS), observed(Outcome.NXDOMAIN))
    assert judgement.verdict is Verdict.FAIL
    assert judge(check(), expects(FAILS), observed(Outcome.CONNECTED)).verdict is Verdict.LIFTED


def test_attempts_that_fail_in_several_listed_ways_do_not_disagree() -> None:
    """Refused and then silent is what the documents call failing; refused and then connected is flaky."""
    mixed = observed(Outcome.REFUSED, Outcome.TIMED_OUT)
    assert judge(check(), expects(FAILS), mixed).verdict is Verdict.LIMITED
    assert judge(check(), expects(SILENT), mixed).verdict is not Verdict.LIMITED
    torn = observed(Outcome.CONNECTED, Outcome.TIMED_OUT)
    assert judge(check(), expects(FAILS), torn).verdict is Verdict.FLAKY


def test_a_claim_that_the_documents_allow_too_passes() -> None:
    """Where a list holds what the flow claims, the claim is met and nothing is limited."""
    claim = Expected(outcome=Outcome.REFUSED)
    allowed = expects(FAILS, claim=claim)
    assert judge(check(), allowed, observed(Outcome.REFUSED)).verdict is Verdict.PASS
    assert judge(check(), allowed, observed(Outcome.TIMED_OUT)).verdict is Verdict.LIMITED
