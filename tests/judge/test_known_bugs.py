"""Where the documents leave an outcome open because of a bug, the verdict says whether it shows."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected, KnownBug
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import BUG, check, control, expects, observed

OPEN = expects(None, bugs=[BUG])


def test_a_bug_that_shows_is_named() -> None:
    """What the entry says of its bug was seen: the message names the entry, and so does the judgement."""
    told = judge(check(), OPEN, observed(Outcome.TIMED_OUT, Outcome.TIMED_OUT))
    assert told.verdict is Verdict.KNOWN_BUG
    assert told.limitation == BUG.id
    assert "a known bug shows: dsr-hairpin-bug (a Pod does not reach itself" in told.message
    assert told.next_step


def test_a_bug_that_does_not_show_is_recorded() -> None:
    """Neither an answer nor a failure of another kind is what the entry describes."""
    for outcome in (Outcome.CONNECTED, Outcome.REFUSED):
        told = judge(check(), OPEN, observed(outcome, outcome))
        assert told.verdict is Verdict.RECORDED
        assert (
            "left open because of a known bug, which does not show here: dsr-hairpin-bug"
            in told.message
        )


@pytest.mark.parametrize("bugs", [(), (BUG,)])
@pytest.mark.parametrize(
    ("outcome", "due"),
    [(Outcome.CONNECTED, Verdict.RECORDED), (Outcome.REFUSED, Verdict.FAIL)],
)
def test_an_open_outcome_is_one_of_those_that_documents_leave_open(
    outcome: Outcome, due: Verdict, bugs: tuple[KnownBug, ...]
) -> None:
    """Where documents differ about something else, an outage is no open question; an unproven one stays unknown."""
    open_ = replace(expects(None, bugs=bugs), among=(Outcome.CONNECTED, Outcome.TIMED_OUT))
    told = judge(check(), open_, observed(outcome, outcome))
    assert told.verdict is due
    assert ("leave the outcome open, but do not allow this one" in told.message) is (
        due is Verdict.FAIL
    )
    unproven = observed(Outcome.REFUSED, controls=())
    assert judge(check(), open_, unproven).verdict is Verdict.UNKNOWN


def test_documents_that_differ_are_no_bug() -> None:
    """Without a bug among the reasons the outcome is open, whatever it is."""
    told = judge(check(), expects(None), observed(Outcome.TIMED_OUT))
    assert told.verdict is Verdict.RECORDED
    assert "left open by" in told.message


def test_a_bug_that_shows_now_and_then_shows() -> None:
    """One of several attempts is enough, the first or the last."""
    for outcomes in (
        (Outcome.TIMED_OUT, Outcome.CONNECTED),
        (Outcome.CONNECTED, Outcome.TIMED_OUT),
    ):
        assert judge(check(), OPEN, observed(*outcomes)).verdict is Verdict.KNOWN_BUG


def test_a_bug_may_show_in_the_source_address() -> None:
    """An answer may be what shows a bug."""
    rewritten = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_NODE)
    open_ = expects(None, bugs=[replace(BUG, shows=rewritten)])
    for source, due in (
        (SourceSeen.CLIENT_NODE, Verdict.KNOWN_BUG),
        (SourceSeen.CLIENT_POD, Verdict.RECORDED),
    ):
        seen = observed(Outcome.CONNECTED, source=source)
        assert judge(check(), open_, seen).verdict is due


def test_of_several_bugs_those_that_show_are_named() -> None:
    """The one that shows leads, also where another decided first."""
    other = replace(BUG, id="other-bug", shows=Expected(outcome=Outcome.REFUSED))
    told = judge(check(), expects(None, bugs=[other, BUG]), observed(Outcome.TIMED_OUT))
    assert told.limitation == BUG.id
    assert "other-bug" not in told.message


def test_silence_needs_its_controls() -> None:
    """A vantage that reaches nothing shows no bug of the target."""
    dead = (control("vantage", ok=False), control("target", ok=True))
    told = judge(check(), OPEN, observed(Outcome.TIMED_OUT, controls=dead))
    assert told.verdict is Verdict.UNKNOWN
