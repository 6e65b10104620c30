"""Exit codes: what a nightly job learns without reading anything."""

import pytest

from nettests.judge.exit_status import of_run, of_watch
from nettests.model.words import FailOn, Verdict

OK, FAILED = int(pytest.ExitCode.OK), int(pytest.ExitCode.TESTS_FAILED)


def code(status: int, *verdicts: Verdict, others_failed: bool = False) -> int:
    """Return the exit code of a run with these verdicts and nothing required."""
    by_check = {f"flow/{number}": verdict for number, verdict in enumerate(verdicts)}
    return of_run(status, by_check, {}, others_failed=others_failed)


def test_all_as_documented_is_success() -> None:
    """pass, limited, recorded and skipped keep a run green."""
    good = (Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.SKIPPED)
    assert code(OK, *good) == 0


@pytest.mark.parametrize("bad", [Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY])
def test_deviations_are_one(bad: Verdict) -> None:
    """fail, lifted and flaky end a run with 1, whatever else happened."""
    assert code(FAILED, Verdict.PASS, Verdict.UNKNOWN, bad) == 1


@pytest.mark.parametrize("bad", [Verdict.FLAKY, Verdict.FAIL])
def test_a_flaky_member_of_an_unknown_check_is_one(bad: Verdict) -> None:
    """A check of which one member could not be judged is unknown; what its other members showed counts all the same."""
    checks, members = {"fleet": Verdict.UNKNOWN}, {Verdict.UNKNOWN, Verdict.PASS}
    assert of_run(FAILED, checks, {}, others_failed=False, members=members) == 6
    assert of_run(FAILED, checks, {}, others_failed=False, members=members | {bad}) == 1
    for completed, mostly_lost in ((True, False), (False, True)):
        seen = members | {bad}
        code = of_watch(checks, completed=completed, mostly_lost=mostly_lost, members=seen)
        assert code == 1


def test_unknown_alone_is_six() -> None:
    """When nothing is worse than unknown, the code says that something could not be judged."""
    assert code(FAILED, Verdict.PASS, Verdict.UNKNOWN) == 6


@pytest.mark.parametrize("verdicts", [(), (Verdict.SKIPPED,)])
def test_nothing_judged_is_seven(verdicts: tuple[Verdict, ...]) -> None:
    """A run that skipped everything is not green by accident."""
    assert code(OK, *verdicts) == 7


def test_a_required_flow_that_was_skipped_is_seven() -> None:
    """A run is worthless when a required flow was planned and none of it was judged."""
    verdicts = {"a/1": Verdict.PASS, "b/1": Verdict.SKIPPED, "b/2": Verdict.SKIPPED}
    assert of_run(OK, verdicts, {"b": {"b/1", "b/2"}}, others_failed=False) == 7
    assert (
        of_run(OK, verdicts | {"b/2": Verdict.PASS}, {"b": {"b/1", "b/2"}}, others_failed=False)
        == 0
    )


def test_known_bugs_have_a_code_of_their_own() -> None:
    """Where all else is as documented, 8 says that known bugs show; what is worse says so first."""
    assert code(OK, Verdict.PASS, Verdict.KNOWN_BUG) == 8
    assert code(FAILED, Verdict.UNKNOWN, Verdict.KNOWN_BUG) == 6
    assert code(FAILED, Verdict.FAIL, Verdict.KNOWN_BUG) == 1


def test_known_bugs_can_fail_a_run() -> None:
    """``--fail-on known-bugs`` makes 1 of it, also beside what could not be judged."""
    for seen in ({"a": Verdict.KNOWN_BUG}, {"a": Verdict.KNOWN_BUG, "b": Verdict.UNKNOWN}):
        assert of_run(OK, seen, {}, others_failed=False, fail_on=[FailOn.KNOWN_BUGS]) == 1
    assert (
        of_run(OK, {"a": Verdict.RECORDED}, {}, others_failed=False, fail_on=[FailOn.KNOWN_BUGS])
        == 0
    )


@pytest.mark.parametrize("status", [2, 3, 4, 5])
def test_pytests_own_codes_stay(status: int) -> None:
    """Interruption, internal errors, wrong usage and an empty selection keep pytest's code."""
    assert code(status, Verdict.FAIL) == status


def test_other_tests_that_fail_are_one() -> None:
    """A test in a suite that is no check can fail a run too."""
    assert code(FAILED, Verdict.PASS, others_failed=True) == 1


@pytest.mark.parametrize(
    ("completed", "mostly_lost", "verdict", "expected"),
    [
        (True, False, Verdict.PASS, 0),
        (True, False, Verdict.UNKNOWN, 6),
        (True, True, Verdict.PASS, 6),
        (False, False, Verdict.PASS, 2),
        (False, True, Verdict.FAIL, 1),
    ],
)
def test_a_watch_that_saw_little_of_its_time_is_no_success(
    *, completed: bool, mostly_lost: bool, verdict: Verdict, expected: int
) -> None:
    """A watch that broke off, or that lost more rounds than it judged, ends with 0 never, and with 1 where one was red."""
    assert of_watch({"a": verdict}, completed=completed, mostly_lost=mostly_lost) == expected
