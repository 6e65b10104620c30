"""Journal records become results, whatever became of the run."""

from dataclasses import replace
from typing import Any

from nettests.model.journal_records import (
    Answer,
    Done,
    End,
    Event,
    Judged,
    Limitations,
    Record,
    Unknown,
    UnusedLimitation,
)
from nettests.model.observation import unusable
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.report import Results, build_results
from tests.report.scenario import QUIET, eventful, plan, records


def without(*kinds: type[Record]) -> list[Record]:
    return [record for record in records(QUIET) if not isinstance(record, kinds)]


def first(results: Results) -> Any:
    return results.checks[0]


def test_every_check_and_skip_of_the_plan_is_reported(quiet: Results) -> None:
    """What was planned is reported, in the plan's order, each with its verdict."""
    due = plan()
    expected = [check.id for check in due.checks] + [skip.id for skip in due.skips]
    assert [check.id for check in quiet.checks] == expected
    assert quiet.coverage.due == len(expected)
    assert quiet.coverage.ran == len(due.checks)
    assert quiet.coverage.not_judged == 0


def test_every_verdict_is_counted(eventful_run: Results) -> None:
    """The counts have all nine verdicts and add up to what was planned."""
    assert set(eventful_run.counts) == set(Verdict)
    assert all(eventful_run.counts.values())
    assert sum(eventful_run.counts.values()) == eventful_run.coverage.due


def test_a_check_that_was_observed_but_not_judged_is_unknown() -> None:
    """A verdict that never came is ``unknown`` and says that a worker ended."""
    story = replace(QUIET, never_judged=lambda check: check.id.startswith("pod-to-pod-ip/"))
    results = build_results(records(story))
    lost = [check for check in results.checks if check.flow == "pod-to-pod-ip"]
    assert {check.verdict for check in lost} == {Verdict.UNKNOWN}
    assert all("never judged: its worker ended first" in check.message for check in lost)
    assert results.coverage.not_judged == len(lost)


def test_a_check_that_ended_without_an_answer_was_never_run() -> None:
    """An interrupted run ends every check that it planned: it claims to have observed none of them."""
    story = replace(QUIET, never_judged=lambda check: check.id.startswith("pod-to-pod-ip/"))
    unseen = (record for record in records(story) if not isinstance(record, Answer))
    lost = [c for c in build_results(unseen).checks if c.flow == "pod-to-pod-ip"]
    assert lost
    assert all("it was never run" in check.message for check in lost)


def test_a_check_that_was_never_run_is_unknown() -> None:
    """A planned check without any answer says that the run ended before its turn."""
    results = build_results(without(Answer, Done, Judged, End))
    assert first(results).verdict is Verdict.UNKNOWN
    assert "never run" in first(results).message
    assert not results.run.complete


def test_an_observation_that_was_cut_off_is_unknown() -> None:
    """Answers without the end of their observation are not trusted, and are kept as evidence."""
    results = build_results(without(Done, Judged, End))
    assert first(results).verdict is Verdict.UNKNOWN
    assert "cut off" in first(results).message
    assert first(results).raws


def test_the_reason_of_distrust_is_told() -> None:
    """What the journal distrusts is ``unknown`` with its sentence, in the observation too."""
    due = plan().checks[0].id
    changed = [
        replace(r, distrust="exec hung") if isinstance(r, Done) and r.check == due else r
        for r in without(Judged)
    ]
    check = first(build_results(changed))
    assert "exec hung" in check.message
    assert check.observation.distrust == "exec hung"
    assert not check.observation.trusted


def test_what_was_judged_is_shown() -> None:
    """Where a process hands over what it judged by, the answers are not read a second time."""
    due = plan().checks[0].id
    judged = unusable(due, "as it was judged")
    results = build_results(records(QUIET), {due: judged})
    assert first(results).observation is judged
    assert results.checks[1].observation == build_results(records(QUIET)).checks[1].observation


def test_answers_that_are_missing_are_distrusted() -> None:
    """A page shows no trust in a check whose journal holds fewer answers than were written."""
    due = plan().checks[0].id
    changed = [
        replace(r, answers=7) if isinstance(r, Done) and r.check == due else r
        for r in without(Judged)
    ]
    check = first(build_results(changed))
    assert check.observation.distrust == "the journal holds 1 of its 7 answers"
    assert "of its 7 answers" in check.message


def test_a_capability_that_is_missing_skips_the_check() -> None:
    """A check that its probe could not probe is skipped with the reason, and did not run."""
    due = plan().checks[0].id
    changed = [
        replace(r, skip="this image has no ping") if isinstance(r, Done) else r
        for r in without(Judged)
    ]
    results = build_results(changed)
    assert first(results).id == due
    assert first(results).verdict is Verdict.SKIPPED
    assert first(results).message == "this image has no ping"
    assert results.coverage.ran == 0


def test_a_run_that_could_not_start_says_why() -> None:
    """Without a plan, the last event is the run's error."""
    results = build_results(
        [Event(at="2026-11-21T14:04:12+00:00", text="no kubeconfig at ~/.kube")]
    )
    assert results.run.error == "no kubeconfig at ~/.kube"
    assert results.coverage.due == 0


def test_an_empty_journal_is_an_error_too() -> None:
    """No record at all is reported as a run that does not say why it ended."""
    error = build_results([]).run.error
    assert error is not None
    assert "journal does not say why" in error


def test_the_last_verdict_of_a_check_counts(quiet: Results) -> None:
    """A journal that was judged again holds two verdicts: the later one is reported."""
    again = Judgement(
        check=quiet.checks[0].id,
        verdict=Verdict.FAIL,
        message="judged again",
        expected="a",
        observed="b",
    )
    results = build_results([*records(QUIET), Judged(judgement=again)])
    assert first(results).verdict is Verdict.FAIL


def test_a_kind_of_record_from_a_later_version_is_left_alone(quiet: Results) -> None:
    """Records of an unknown kind change nothing."""
    results = build_results([Unknown(data={"record": "weather", "sun": True}), *records(QUIET)])
    assert results.counts == quiet.counts


def test_limitations_are_listed_with_what_they_decided(eventful_run: Results) -> None:
    """A used limitation names its checks by verdict, also those that it did not satisfy."""
    used = {one.limitation.id: one.checks for one in eventful_run.limitations_used}
    assert used["win-icmp-egress"] == {
        Verdict.LIFTED: ("icmp-egress/windows-1/external/outside/icmp",)
    }
    assert set(used["win-source-nat"]) == {Verdict.LIMITED, Verdict.RECORDED}


def test_limitations_that_decided_nothing_are_listed() -> None:
    """Unused entries come from the journal, where they stand with file and line."""
    unused = UnusedLimitation(id="win-x", summary="s", layer="cni", file="cni.yaml", line=3)
    results = build_results([*records(QUIET), Limitations(unused=(unused,))])
    assert [one.id for one in results.limitations_unused] == ["win-x"]


def test_the_time_of_a_run_is_measured_by_its_journal(quiet: Results) -> None:
    """The run's duration is its end minus its start."""
    assert quiet.run.seconds == 48.2


def test_two_journals_of_one_run_give_the_same_results() -> None:
    """Building is deterministic."""
    assert build_results(records(eventful())).checks == build_results(records(eventful())).checks
