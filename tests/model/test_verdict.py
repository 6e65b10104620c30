"""Verdicts: which one several come to, what a judgement shows, and what keeps a run green."""

from itertools import permutations

import pytest

from nettests.model.verdict import (
    ACCEPTED,
    ATTENTION,
    DEVIATING,
    SUMMARY_ORDER,
    Judgement,
    MembersJudged,
    merge,
)
from nettests.model.words import Verdict

FAIL, LIFTED, FLAKY = Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY
PASS, UNKNOWN, SKIPPED = Verdict.PASS, Verdict.UNKNOWN, Verdict.SKIPPED


def judged(verdict: Verdict, *members: Verdict) -> Judgement:
    """Return a judgement with members that did not simply pass."""
    groups = tuple(MembersJudged(verdict=one, labels=("a",)) for one in members)
    return Judgement(
        check="c", verdict=verdict, message="", expected="", observed="", members=groups
    )


@pytest.mark.parametrize(
    ("verdicts", "merged"),
    [
        ([FAIL, LIFTED, FLAKY, PASS], FAIL),
        ([LIFTED, FLAKY, PASS], LIFTED),
        ([FLAKY, Verdict.LIMITED, PASS], FLAKY),
        ([Verdict.LIMITED, Verdict.RECORDED, PASS], Verdict.LIMITED),
        ([Verdict.RECORDED, PASS], Verdict.RECORDED),
        ([UNKNOWN, PASS, SKIPPED], PASS),
        ([UNKNOWN, SKIPPED], UNKNOWN),
        ([SKIPPED], SKIPPED),
    ],
)
def test_only_what_was_trusted_is_merged(verdicts: list[Verdict], merged: Verdict) -> None:
    """Fail before lifted, flaky, limited, recorded and pass, in any order; unknown and skipped only by themselves."""
    assert {merge(one) for one in permutations(verdicts)} == {merged}
    assert merge(iter(())) is SKIPPED


def test_unknown_ranks_after_lifted_in_a_summary() -> None:
    """What could not be trusted is more urgent than what is flaky."""
    assert SUMMARY_ORDER[:4] == (FAIL, LIFTED, UNKNOWN, FLAKY)
    assert set(SUMMARY_ORDER) == set(Verdict)


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_accepted_or_needs_attention_or_was_skipped(verdict: Verdict) -> None:
    """No word is in none of the sets, nor in two of them; what deviates needs attention."""
    assert (verdict in ACCEPTED) + (verdict in ATTENTION) + (verdict is SKIPPED) == 1
    assert judged(verdict).accepted == (verdict in ACCEPTED)
    assert set(DEVIATING) == set(ATTENTION) - {UNKNOWN}


@pytest.mark.parametrize(
    ("judgement", "deviation"),
    [
        (judged(PASS), None),
        (judged(UNKNOWN, UNKNOWN, FLAKY), FLAKY),
        (judged(UNKNOWN, FLAKY, LIFTED), LIFTED),
        (judged(FAIL, FLAKY), FAIL),
        (judged(UNKNOWN, Verdict.LIMITED), None),
    ],
)
def test_the_worst_that_was_observed_is_the_deviation(
    judgement: Judgement, deviation: Verdict | None
) -> None:
    """Also where a member could not be judged; accepted verdicts deviate in nothing."""
    assert judgement.deviation is deviation
    members = {one.verdict for one in judgement.members}
    assert judgement.shown == {judgement.verdict} | members
