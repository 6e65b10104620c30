"""Verdicts become pytest outcomes, and come back from reports."""

import pytest

from nettests.model.codec import to_line
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.plugin.outcome import PROPERTY, explained, judged, translate

CHECK = "icmp-egress/windows-1/external/outside/icmp"


_OF_ENTRIES = {Verdict.LIMITED, Verdict.LIFTED, Verdict.KNOWN_BUG}


def judgement(verdict: Verdict) -> Judgement:
    """Return a judgement with everything a person may be told."""
    return Judgement(
        check=CHECK,
        verdict=verdict,
        message="the message",
        expected="replied",
        observed="timed_out",
        limitation="icmp-no-nat" if verdict in _OF_ENTRIES else None,
        next_step="look here",
    )


def report(
    when: str, outcome: str, *, carries: Verdict | None = None, text: object = None
) -> pytest.TestReport:
    """Return the report of a check's test, as pytest or a worker would send it."""
    properties = [(PROPERTY, to_line(judgement(carries)))] if carries else []
    return pytest.TestReport(
        nodeid=f"t.py::test_it[{CHECK}]",
        location=("t.py", 1, "test_it"),
        keywords={},
        outcome=outcome,  # type: ignore[arg-type] # one of pytest's three words
        longrepr=text,  # type: ignore[arg-type] # text or a place with a reason
        when=when,  # type: ignore[arg-type] # xdist sends "???" for crashes
        user_properties=properties,
    )


def test_limited_is_xfailed_with_the_id() -> None:
    """A limited check is an expected failure whose reason begins with the limitation."""
    found = report("call", "passed")
    translate(found, judgement(Verdict.LIMITED))
    assert found.outcome == "skipped"
    assert found.wasxfail == "icmp-no-nat: the message"


def test_a_known_bug_is_xfailed_with_the_id() -> None:
    """A bug that the documents know is an expected failure as well."""
    found = report("call", "passed")
    translate(found, judgement(Verdict.KNOWN_BUG))
    assert (found.outcome, found.wasxfail) == ("skipped", "icmp-no-nat: the message")


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.RECORDED])
def test_pass_and_recorded_stay_passed(verdict: Verdict) -> None:
    """What is as claimed, or left open, passes."""
    found = report("call", "passed")
    translate(found, judgement(verdict))
    assert found.outcome == "passed"
    assert not hasattr(found, "wasxfail")


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY])
def test_failures_are_told_in_our_words(verdict: Verdict) -> None:
    """A failed check shows the judgement, not the traceback of an assertion."""
    found = report("call", "failed", text="assert False")
    translate(found, judgement(verdict))
    assert found.longrepr == explained(judgement(verdict))


def test_an_explanation_is_enough_to_act_on() -> None:
    """Verdict, message, expected, observed, limitation and next step are all there."""
    assert explained(judgement(Verdict.LIFTED)).splitlines() == [
        "lifted: the message",
        "  expected  replied",
        "  observed  timed_out",
        "  limitation  icmp-no-nat",
        "  → look here",
    ]


def test_the_judgement_comes_back_from_the_call() -> None:
    """The controller reads the judgement from the report that ends the test."""
    assert judged(report("call", "passed", carries=Verdict.PASS), CHECK) == judgement(Verdict.PASS)


def test_reports_before_and_after_end_nothing() -> None:
    """Set-up that passed and tear-down bring no verdict."""
    assert judged(report("setup", "passed", carries=Verdict.PASS), CHECK) is None
    assert judged(report("teardown", "passed", carries=Verdict.PASS), CHECK) is None


def test_unknown_comes_back_from_the_failed_set_up() -> None:
    """An unknown verdict is an error of the fixture, and ends the test."""
    found = judged(report("setup", "failed", carries=Verdict.UNKNOWN), CHECK)
    assert found == judgement(Verdict.UNKNOWN)


def test_a_broken_fixture_is_unknown() -> None:
    """Set-up that broke before judging leaves the check unknown, with the error's text."""
    found = judged(report("setup", "failed", text="trace\nE   KeyError: 'x'\nplace.py:3"), CHECK)
    assert found is not None
    assert found.verdict is Verdict.UNKNOWN
    assert "KeyError: 'x'" in found.message


def test_a_crashed_worker_is_unknown() -> None:
    """xdist reports the test on which a worker crashed; its check is unknown, not failed."""
    found = judged(report("???", "failed", text="worker 'gw0' crashed"), CHECK)
    assert found is not None
    assert found.verdict is Verdict.UNKNOWN
    assert "its worker ended" in found.message


def test_a_skip_keeps_its_reason() -> None:
    """What could not be tested comes back as skipped, with the reason alone."""
    found = judged(report("setup", "skipped", text=("f.py", 3, "Skipped: no ping")), CHECK)
    assert found is not None
    assert (found.verdict, found.message) == (Verdict.SKIPPED, "no ping")


def test_a_suites_own_assertion_fails_the_check() -> None:
    """An accepted check whose test asserts something more, without success, has failed."""
    found = judged(report("call", "failed", carries=Verdict.PASS, text="E   assert 1 == 2"), CHECK)
    assert found is not None
    assert found.verdict is Verdict.FAIL
    assert "assert 1 == 2" in found.message
