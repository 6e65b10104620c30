"""A stored journal judged again: the sample run of this repository, without its cluster."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from nettests.errors import NettestsError
from nettests.expect import Manifest, read_manifest
from nettests.model.words import Verdict
from nettests.session.blueprint import read_manifests, unused
from nettests.session.rejudge import Recorded, rejudged
from tests.session.recorded_journal import read_recorded

SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "journal.jsonl"
TODAY = date(2026, 11, 24)


@pytest.fixture(scope="module")
def sample() -> Recorded:
    """What the sample's journal holds."""
    return read_recorded(SAMPLE)


@pytest.fixture(scope="module")
def shipped() -> tuple[Manifest, ...]:
    """The shipped limitation manifests."""
    return read_manifests()[0]


def records(wanted: Callable[[dict[str, Any]], bool]) -> str:
    """Return the lines of the sample's journal that are wanted."""
    lines = SAMPLE.read_text("utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if wanted(json.loads(line)))


def test_the_same_manifests_give_the_verdicts_of_the_run(
    sample: Recorded, shipped: tuple[Manifest, ...]
) -> None:
    """A verdict is a function of check, expectation and answers: nothing else of the run is needed."""
    again = {told.check: told.verdict for told in rejudged(sample, shipped, today=TODAY)}
    assert again == dict(sample.verdicts)
    assert set(again) == {check.id for check in sample.checks}
    assert len(set(again.values())) > 1


def test_without_limitations_what_was_limited_fails(sample: Recorded) -> None:
    """The answers stay: what no entry excuses any more deviates, and what passed passes still."""
    again = {told.check: told.verdict for told in rejudged(sample, ())}
    for check, verdict in sample.verdicts.items():
        if verdict is Verdict.LIMITED:
            assert again[check] in {Verdict.FAIL, Verdict.UNKNOWN}, check
        if verdict is Verdict.PASS:
            assert again[check] is Verdict.PASS, check
    assert Verdict.LIMITED in sample.verdicts.values()
    assert Verdict.LIMITED not in again.values()


def test_a_new_entry_that_does_not_show_is_lifted(
    sample: Recorded, shipped: tuple[Manifest, ...]
) -> None:
    """What passed is expected to fail now: exactly the checks of its flow say so."""
    flow = next(
        check.flow
        for check in sample.checks
        if sample.verdicts[check.id] is Verdict.PASS and check.action.question.has_path
    )
    text = (
        "apiVersion: nettests.dev/v1alpha1\nkind: LimitationManifest\nlayer: site\nlimitations:\n"
        f"- {{id: mine, summary: s, flows: [{flow}], expected: {{outcome: lost}}, mechanism: m, category: bug, "
        "sources: [{document: d, names: lost}], reason: r, review_by: 2999-01-01}\n"
    )
    own = read_manifest(text, "mine.yaml")
    again = {told.check: told for told in rejudged(sample, [*shipped, own], today=TODAY)}
    passed = [
        check.id
        for check in sample.checks
        if check.flow == flow and sample.verdicts[check.id] is Verdict.PASS
    ]
    assert passed
    assert {again[check].verdict for check in passed} == {Verdict.LIFTED}
    changed = {name for name, told in again.items() if told.verdict is not sample.verdicts[name]}
    assert changed == set(passed)


def test_a_check_without_answers_is_unknown(sample: Recorded) -> None:
    """It is judged all the same, and the message says that the check was never run."""
    check = sample.checks[0]
    kept = {name: seen for name, seen in sample.observations.items() if name != check.id}
    (told,) = rejudged(replace(sample, checks=(check,), observations=kept), ())
    assert told.verdict is Verdict.UNKNOWN
    assert "the check was never run" in told.message


def test_what_turned_out_not_to_apply_is_no_check(tmp_path: Path, sample: Recorded) -> None:
    """A check that was planned and then skipped has neither observation nor verdict."""
    check = sample.checks[0].id
    skip = {"id": check, "flow": sample.checks[0].flow, "reason": "it does not apply"}
    line = json.dumps({"record": "skip", "skip": {**skip, "required": False, "suite": ""}})
    journal = tmp_path / "journal.jsonl"
    journal.write_text(records(lambda one: True) + line + "\n")
    again = read_recorded(journal)
    assert {one.id for one in sample.checks} - {one.id for one in again.checks} == {check}
    assert check not in again.observations
    assert check not in again.verdicts


def test_a_journal_without_facts_says_why_nothing_is_judged(tmp_path: Path) -> None:
    """A run that could not start recorded its reason, and no check."""
    journal = tmp_path / "journal.jsonl"
    journal.write_text(records(lambda one: one["record"] in {"run", "event", "end"}))
    with pytest.raises(NettestsError, match="holds no facts of a cluster") as caught:
        read_recorded(journal)
    assert caught.value.hint == "the run could not start; see its events"


def test_a_journal_that_ends_in_the_middle_has_what_was_done(
    tmp_path: Path, sample: Recorded
) -> None:
    """A run that was killed is judged as far as it came: the last line may be half a line."""
    whole = records(lambda one: True)
    done = [line for line in whole.splitlines() if json.loads(line)["record"] == "done"]
    cut = whole.index(done[len(done) // 2])
    journal = tmp_path / "journal.jsonl"
    journal.write_text(whole[: cut + 9])
    again = read_recorded(journal)
    assert {one.id for one in sample.checks} <= {one.id for one in again.checks}
    assert 0 < len(again.observations) < len(sample.observations)
    assert all(sample.observations[name] == seen for name, seen in again.observations.items())


def test_entries_that_decide_nothing_are_named_with_their_places(
    sample: Recorded, shipped: tuple[Manifest, ...]
) -> None:
    """Of the shipped manifests most speak of other clusters; those that applied are not among them."""
    from nettests import expect

    expectations = expect.resolve(sample.checks, sample.facts, shipped, today=TODAY)
    left = unused(shipped, expectations)
    applied = {name for one in expectations.values() for name in one.entries}
    assert applied
    assert not {one.id for one in left} & applied
    places = [entry for manifest in shipped for entry in manifest.limitations]
    by_id = {
        entry.id: entry for entry in reversed(places)
    }  # an entry begins where its first place does
    assert len(left) + len(applied) == len(by_id)
    for one in left:
        entry = by_id[one.id]
        assert (one.summary, one.file, one.line) == (entry.summary, entry.file, entry.line)
        assert one.layer == entry.layer.name.lower()
