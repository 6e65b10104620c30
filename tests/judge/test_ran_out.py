"""Many connections that end at a number: a failure that proves itself, unless documents leave it open."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.judge.advice import STEPS, after_limit
from nettests.model.expectation import Expected
from nettests.model.measured import FlowCount
from nettests.model.service import Crowd, ServiceSettings
from nettests.model.words import OS, Outcome, Question, Verdict
from tests.judge.cases import CLAIM, check, expects, observed

ENDED = FlowCount(wanted=2000, tried=1064, connected=1020, before=1000, ran_out=True)
WHOLE = FlowCount(wanted=2000, tried=2000, connected=2000, before=2000, ran_out=False)


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.NO_PORT, Outcome.REFUSED])
def test_connections_that_ran_out_fail_without_controls(outcome: Outcome) -> None:
    """Those that were answered before show that the path works; the message says how many."""
    seen = observed(
        Outcome.CONNECTED, outcome, outcome=outcome, agreed=True, controls=(), flows=ENDED
    )
    judged = judge(check(), expects(CLAIM), seen)
    assert judged.verdict is Verdict.FAIL
    assert (
        f"{outcome.value}, connections fail from about number 1,001 on, of 2,000" in judged.message
    )


def test_connections_that_ran_out_are_recorded_where_documents_leave_it_open() -> None:
    """With the figure."""
    seen = observed(Outcome.TIMED_OUT, flows=ENDED)
    judged = judge(check(), expects(None), seen)
    assert judged.verdict is Verdict.RECORDED
    assert "from about number 1,001 on, of 2,000" in judged.message
    none = replace(ENDED, tried=60, connected=0, before=0, ran_out=False)
    assert (
        judge(check(), expects(None), observed(Outcome.TIMED_OUT, flows=none)).verdict
        is Verdict.FAIL
    )


def test_an_end_that_documents_demand_is_limited() -> None:
    """An entry that names the outcome is met by it."""
    seen = observed(Outcome.TIMED_OUT, flows=ENDED)
    assert (
        judge(check(), expects(Expected(outcome=Outcome.TIMED_OUT)), seen).verdict
        is Verdict.LIMITED
    )


def test_as_many_connections_as_were_wanted_pass() -> None:
    """And say how many they were."""
    judged = judge(check(), expects(CLAIM), observed(Outcome.CONNECTED, flows=WHOLE))
    assert judged.verdict is Verdict.PASS
    assert "2,000 of 2,000 connected" in judged.observed


def test_the_next_step_names_the_ports() -> None:
    """In words of the source's system."""
    of = check()
    of = replace(of, action=replace(of.action, question=Question.FLOWS))
    assert (
        judge(of, expects(CLAIM), observed(Outcome.TIMED_OUT, flows=ENDED)).next_step
        == STEPS["ports"]
    )


@pytest.mark.parametrize(
    ("os", "crowd", "said"),
    [
        (OS.LINUX, None, STEPS["ports-on-linux"]),
        (OS.WINDOWS, Crowd.REMOVED, STEPS["leftovers"]),
        (OS.LINUX, Crowd.REMOVED, STEPS["leftovers-on-linux"]),
        (OS.WINDOWS, Crowd.SERVED, STEPS["crowd"]),
        (OS.LINUX, Crowd.SERVED, STEPS["crowd-on-linux"]),
    ],
)
def test_the_next_step_is_of_what_was_looked_at(os: OS, crowd: Crowd | None, said: str) -> None:
    """Of connections, of Services that are made, or of what they left."""
    of = check(os=os)
    settings = ServiceSettings(label="x", crowd=crowd) if crowd else None
    target = replace(of.target, settings=settings)
    assert after_limit(replace(of, action=replace(of.action, target=target))) == said


@pytest.mark.parametrize("question", [Question.SCALE, Question.DURING])
def test_documents_that_leave_a_limit_open_do_not_allow_that_nothing_works(
    question: Question,
) -> None:
    """Of many connections, some may fail."""
    of = check()
    of = replace(of, action=replace(of.action, question=question))
    seen = observed(Outcome.TIMED_OUT)

    def verdict(lost: int) -> Verdict:
        tried = replace(seen.attempts[0], tries=20, lost=lost)
        return judge(of, expects(None), replace(seen, attempts=(tried,))).verdict

    assert (verdict(19), verdict(20)) == (Verdict.RECORDED, Verdict.FAIL)
