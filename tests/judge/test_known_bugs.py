"""Where the documents leave an outcome open because of a bug, the verdict says whether it shows."""

from dataclasses import replace

from nettests.judge import judge
from nettests.model.words import Outcome, SourceSeen, Verdict
from tests.judge.cases import BUG, CLAIM, LIMITATION, check, control, expects, observed

OPEN = expects(None, entry=BUG)


def test_a_bug_that_shows_is_named_with_its_source() -> None:
    """What is not as claimed shows the bug: the message names the entry and the document."""
    told = judge(check(), OPEN, observed(Outcome.TIMED_OUT, Outcome.TIMED_OUT))
    assert told.verdict is Verdict.KNOWN_BUG
    assert told.limitation == BUG.id
    assert "a known bug shows: dsr-hairpin-bug (Windows debugging tips" in told.message
    assert told.next_step


def test_a_bug_that_does_not_show_is_recorded() -> None:
    """The claim was observed: there is nothing to warn of, and nothing that the documents promise."""
    told = judge(check(), OPEN, observed(Outcome.CONNECTED, Outcome.CONNECTED))
    assert told.verdict is Verdict.RECORDED
    assert "the bug does not show" in told.message


def test_documents_that_differ_are_no_bug() -> None:
    """An entry of another category leaves the outcome open, whatever it is."""
    told = judge(check(), expects(None, entry=LIMITATION), observed(Outcome.TIMED_OUT))
    assert told.verdict is Verdict.RECORDED


def test_a_bug_that_shows_now_and_then_shows() -> None:
    """One of several attempts is enough."""
    told = judge(check(), OPEN, observed(Outcome.TIMED_OUT, Outcome.CONNECTED))
    assert told.verdict is Verdict.KNOWN_BUG


def test_a_bug_may_show_in_the_source_address() -> None:
    """An answer that is not the claimed one is not as claimed."""
    claim = replace(CLAIM, source_seen=SourceSeen.CLIENT_POD)
    expectation = replace(OPEN, claim=claim)
    seen = observed(Outcome.CONNECTED, source=SourceSeen.CLIENT_NODE)
    assert judge(check(), expectation, seen).verdict is Verdict.KNOWN_BUG


def test_silence_needs_its_controls() -> None:
    """A vantage that reaches nothing shows no bug of the target."""
    dead = (control("vantage", ok=False), control("target", ok=True))
    told = judge(check(), OPEN, observed(Outcome.TIMED_OUT, controls=dead))
    assert told.verdict is Verdict.UNKNOWN
