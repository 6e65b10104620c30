"""Every check of two runs is accounted for once, by what became of it, and the other way round as its mirror."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nettests.compare.changes import MIRROR, Kind
from nettests.compare.difference import Difference, difference
from nettests.compare.difference_text import document
from nettests.compare.recorded import RecordedCheck, RecordedRun, Seen
from nettests.model.exit_code import ExitCode
from nettests.model.verdict import ACCEPTED, DEVIATING
from nettests.model.words import Outcome, Verdict
from nettests.report import render_json
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
QUIET = quiet_run(FACTS)
VERDICTS = [*Verdict]
OUTCOMES = ["connected", "timed_out", "refused"]


def run(*checks: RecordedCheck, **fields: Any) -> RecordedRun:
    """The quiet run with these checks and nothing else."""
    return replace(QUIET, checks=checks, incidents=(), **fields)


def one(verdict: Verdict, outcome: str = "connected", name: str = "flow/a/tcp") -> RecordedCheck:
    """A check by its verdict and outcome."""
    return RecordedCheck(
        id=name, flow="flow", verdict=verdict, observed=Seen(outcome=outcome), message="because"
    )


def kind(before: RecordedCheck, after: RecordedCheck) -> Kind:
    """What became of a check."""
    (found,) = difference(run(before), run(after)).checks
    return found.kind


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_check_that_did_not_change_is_the_same(verdict: Verdict) -> None:
    """Whatever its verdict is: an old failure is no new one."""
    assert kind(one(verdict), one(verdict)) is Kind.SAME


@pytest.mark.parametrize("before", VERDICTS)
@pytest.mark.parametrize("after", VERDICTS)
def test_every_change_of_a_verdict_has_its_kind(before: Verdict, after: Verdict) -> None:
    """Accepted, deviating or not judged: the pair decides, for each of all verdicts."""
    if before is after:
        return
    told = kind(one(before), one(after))
    if before in DEVIATING and after in DEVIATING:
        assert told is Kind.VERDICT
    elif after in DEVIATING:
        assert told is (Kind.NEW_FAILURE if before in ACCEPTED else Kind.FAILS_NOW_JUDGED)
    elif before in DEVIATING:
        assert told is (Kind.REPAIRED if after in ACCEPTED else Kind.FAILURE_NOT_JUDGED)
    elif (before in ACCEPTED) is (after in ACCEPTED):
        assert told is Kind.VERDICT
    else:
        assert told is (Kind.NOT_JUDGED if before in ACCEPTED else Kind.NOW_JUDGED)


@pytest.mark.parametrize("verdict", [Verdict.RECORDED, Verdict.FAIL, Verdict.LIMITED])
def test_another_outcome_under_the_same_verdict_is_told(verdict: Verdict) -> None:
    """What the documents leave open changes without a verdict to say so."""
    assert kind(one(verdict), one(verdict, "timed_out")) is Kind.OUTCOME


def test_whose_address_a_server_saw_counts_where_somebody_asserts_it_or_it_is_open() -> None:
    """A source that no one asserts may differ; one that is asserted, or left open, is an outcome."""
    before = one(Verdict.PASS)
    seen = replace(before.observed, source_seen="client-node")
    after = replace(before, observed=seen)
    assert kind(before, after) is Kind.OUTCOME  # nothing is expected of it: it is open
    claim = replace(before.expected, outcome="connected")
    assert kind(replace(before, expected=claim), replace(after, expected=claim)) is Kind.SAME
    asserted = replace(claim, source_seen="client-pod")
    told = kind(replace(before, expected=asserted), replace(after, expected=asserted))
    assert told is Kind.OUTCOME


def test_a_run_does_not_differ_from_itself() -> None:
    """No change of any kind, no fact, no warning but that it is one run."""
    found = difference(QUIET, QUIET)
    told = document(found)
    for part in (
        "checks",
        "only_before",
        "only_after",
        "facts",
        "limitations",
        "incidents",
        "paces",
    ):
        assert told[part] == [], part
    assert len(found.checks) == len(QUIET.checks) > 800
    assert found.exit_code is ExitCode.OK
    assert found.warnings == (
        f"both are run {QUIET.run.run_id}: they can differ only in how it was judged",
    )


checks = st.builds(
    one,
    st.sampled_from(VERDICTS),
    st.sampled_from(OUTCOMES),
    st.sampled_from([f"flow/{letter}/tcp" for letter in "abcdef"]),
)
runs = st.lists(checks, unique_by=lambda check: check.id, max_size=6).map(lambda found: run(*found))


@settings(max_examples=150)
@given(runs, runs)
def test_every_check_of_either_run_is_accounted_for_once(
    before: RecordedRun, after: RecordedRun
) -> None:
    """In both, in the first alone, or in the second alone: nothing is lost, nothing counted twice."""
    found = difference(before, after)
    told = [each.id for each in found.checks]
    told += [each.id for each in (*found.only_before, *found.only_after)]
    assert sorted(told) == sorted({each.id for each in (*before.checks, *after.checks)})
    assert sum(found.kinds.values()) == len(found.checks)


@settings(max_examples=150)
@given(runs, runs)
def test_the_other_way_round_is_the_mirror(before: RecordedRun, after: RecordedRun) -> None:
    """What is new one way is repaired the other way, and what only one run has stays that run's."""
    there, back = difference(before, after), difference(after, before)
    assert mirrored(there) == {each.id: each.kind for each in back.checks}
    assert [each.id for each in there.only_before] == [each.id for each in back.only_after]
    assert {each.id for each in there.unexplained} == {each.id for each in back.unexplained}


def mirrored(found: Difference) -> dict[str, Kind]:
    """The kinds that the same checks have in the mirror."""
    return {each.id: MIRROR.get(each.kind, each.kind) for each in found.checks}


@settings(max_examples=150)
@given(runs, runs)
def test_the_exit_code_says_whether_the_later_run_is_worse(
    before: RecordedRun, after: RecordedRun
) -> None:
    """1 exactly where a check deviates that did not; 6 only for checks that were judged."""
    found = difference(before, after)
    old = {each.id: each.verdict for each in before.checks}
    new = {each.id: each.verdict for each in after.checks}
    worse = {
        name for name, is_ in new.items() if is_ in DEVIATING and old.get(name) not in DEVIATING
    }
    assert set(found.worse) == worse
    judged = {name for name, was in old.items() if was not in {Verdict.UNKNOWN, Verdict.SKIPPED}}
    lost = {name for name in judged if new.get(name) is Verdict.UNKNOWN}
    assert set(found.lost_sight) == lost
    if worse:
        assert found.exit_code is ExitCode.TESTS_FAILED
    elif not found.after.judged:
        assert found.exit_code is ExitCode.NOTHING_JUDGED
    else:
        assert found.exit_code is (ExitCode.UNKNOWN if lost else ExitCode.OK)


def test_a_mirror_of_whole_runs_swaps_new_and_repaired() -> None:
    """Twenty failures one way are twenty repaired checks the other way, with the same reasons."""
    broken = recorded(results(FACTS, but("pod-to-pod-ip", Outcome.TIMED_OUT)))
    there, back = difference(QUIET, broken), difference(broken, QUIET)
    new = {each.id for each in there.of(Kind.NEW_FAILURE)}
    assert new == {each.id for each in back.of(Kind.REPAIRED)} != set()
    assert (there.exit_code, back.exit_code) == (ExitCode.TESTS_FAILED, ExitCode.OK)
    assert {each.what for each in there.incidents} == {"new"}
    assert {each.what for each in back.incidents} == {"gone"}


def test_a_check_that_the_later_run_alone_has_is_worse_where_it_deviates() -> None:
    """A node pool that came and does not work is no reason to be content."""
    found = difference(
        run(one(Verdict.PASS)), run(one(Verdict.PASS), one(Verdict.FAIL, name="n/b"))
    )
    assert found.worse == ("n/b",)
    assert found.exit_code is ExitCode.TESTS_FAILED


def test_a_skip_is_no_loss_of_sight() -> None:
    """What does not apply any more was looked at and found not to apply; ``unknown`` was not."""
    assert (
        difference(
            run(one(Verdict.PASS)), run(one(Verdict.SKIPPED), one(Verdict.PASS, name="x"))
        ).exit_code
        == 0
    )
    lost = difference(
        run(one(Verdict.PASS)), run(one(Verdict.UNKNOWN), one(Verdict.PASS, name="x"))
    )
    assert lost.exit_code is ExitCode.UNKNOWN


def test_everything_of_a_run_is_read_from_its_document() -> None:
    """The reader keeps each check with verdict, ends, expectation, outcome and limitation."""
    made = results(FACTS)
    document = json.loads(render_json(made))
    read = recorded(made)
    for check, told in zip(read.checks, document["checks"], strict=True):
        assert check.verdict.value == told["verdict"]
        assert check.expected.outcome == told["expected"]["outcome"]
        assert check.observed.outcome == told["observed"]["outcome"]
        assert check.limitation_id == (told["limitation"] or {}).get("id")
        assert (check.source.node, check.target.role) == (
            told["source"]["node"],
            told["target"]["role"],
        )
