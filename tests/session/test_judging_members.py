"""A check with members is done with the last of them; its record has their verdicts, and rejudging finds the same."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from nettests.judge import judge_members
from nettests.model.check import Check, Plan
from nettests.model.check_id import member_id
from nettests.model.exit_code import ExitCode
from nettests.model.expectation import Expectation
from nettests.model.history import History
from nettests.model.journal_records import Discovered, Judged, OfMembers, Planned
from nettests.model.observation import Raw
from nettests.model.words import Verdict
from nettests.plan import build, load
from nettests.probes.sending import STOPPED
from nettests.redaction import Redactor
from nettests.report import build_results
from nettests.resources import suites_path
from nettests.session.journal import Follower, Journal, read_journal
from nettests.session.judging import Judging
from nettests.session.rejudge import judge_again, rejudged
from tests.plan.clusters import mixed
from tests.session.journals import journal_of
from tests.session.recorded_journal import read_recorded

FACTS = mixed()
FLOWS = [
    replace(one, source_seen=None)
    for one in load([suites_path()]).flows
    if one.name == "pod-to-pod-ip"
]
PLAN = build(FACTS, FLOWS)
CHECK = next(
    one for one in PLAN.checks if one.id == "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
)
EACH = CHECK.each
TODAY = date(2026, 1, 1)


def answer(of: Check, *, well: bool = True, purpose: str = "check", attempt: int = 1) -> Raw:
    """Return what a dial of a member brought."""
    target = of.action.target.pod
    said = {"responses": [target]} if well else {"errors": ["dial tcp 10.1.1.1:80: i/o timeout"]}
    return Raw(
        check=of.id,
        purpose=purpose,
        attempt=attempt,
        tool="dial",
        client_os="windows",
        probe=of.source.probe,
        channel="port-forward",
        command=("GET", "/dial"),
        started=1.0,
        elapsed=0.01 if well else 5.0,
        status=200,
        stdout=json.dumps(said),
        context={"request": "hostname"},
    )


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[Judging]:
    """Yield a watch over the check, in whose journal it is planned."""
    plan = Plan(checks=(CHECK,), skips=(), pods=PLAN.pods, services=PLAN.services)
    claim = Expectation(claim=CHECK.claim, expected=CHECK.claim)
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.write(Discovered(facts=FACTS))
        journal.write(Planned(check=CHECK, expectation=claim))
        expectations = dict.fromkeys((CHECK.id, *(one.id for one in EACH)), claim)
        yield Judging(journal=journal, plan=plan, expectations=expectations)


def carry_out(judging: Judging, member: Check, *, well: bool = True) -> None:
    """Run one member to its end: silent twice beside controls that answer, or answered."""
    judging.raw(answer(member, well=well))
    if not well:
        for control in member.controls:
            judging.raw(answer(member, purpose=f"control:{control.proves}"))
        judging.raw(answer(member, well=False, attempt=2))
    judging.done(member.id)


def test_it_is_done_with_its_last_member(judging: Judging) -> None:
    """No test gets a verdict before every node was looked at."""
    for member in EACH[:-1]:
        carry_out(judging, member)
    assert CHECK.id not in journal_of(judging).finished
    carry_out(judging, EACH[-1])
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    assert done.judgement is not None
    assert (done.judgement.verdict, done.judgement.members) == (Verdict.PASS, ())
    assert judging.failing() == []


def test_one_silent_member_fails_it_and_is_named(judging: Judging) -> None:
    """The record names the pair, and diagnostics look at its nodes alone."""
    for member in EACH:
        carry_out(judging, member, well=member is not EACH[1])
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    assert done.judgement is not None
    assert done.judgement.verdict is Verdict.FAIL
    (group,) = done.judgement.members
    assert group.labels == (CHECK.members[1].label,)
    assert CHECK.members[1].label in done.judgement.message
    assert [(one.id, verdict) for one, verdict in judging.failing()] == [(EACH[1].id, Verdict.FAIL)]


def test_members_that_are_not_run_any_more_are_unknown(judging: Judging) -> None:
    """A run that is stopped ends the check, and says of each member why."""
    carry_out(judging, EACH[0])
    judging.done(CHECK.id, distrust=f"{STOPPED} before this check was run")
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    assert done.judgement is not None
    assert done.judgement.verdict is Verdict.UNKNOWN
    named = [label for group in done.judgement.members for label in group.labels]
    assert named == [one.label for one in CHECK.members[1:]]
    assert judging.failing() == []


def test_a_check_of_which_no_member_applies_is_skipped(judging: Judging) -> None:
    """Its test is skipped with the reason."""
    for member in EACH:
        judging.done(member.id, skip="this image has no such tool")
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    assert (done.skip, done.judgement) == ("this image has no such tool", None)
    assert judging.skipped == {CHECK.id}
    assert History.of(read_journal(journal_of(judging).path)).skipped == (CHECK.id,)


@pytest.mark.parametrize("silent", [None, 0, 2])
def test_rejudging_finds_the_same(judging: Judging, silent: int | None) -> None:
    """The journal holds all that the verdict was made of: members, their answers, and what was expected of each."""
    for number, member in enumerate(EACH):
        carry_out(judging, member, well=number != silent)
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    (again,) = rejudged(read_recorded(journal_of(judging).path), ())
    assert again == done.judgement


def test_a_flaky_member_beside_an_unknown_one_ends_a_rejudged_run_with_1(
    judging: Judging, tmp_path: Path
) -> None:
    """The check is unknown; its exit code is that of what another member showed."""
    judging.raw(answer(EACH[0], well=False))
    for control in EACH[0].controls:
        judging.raw(answer(EACH[0], purpose=f"control:{control.proves}"))
    judging.raw(answer(EACH[0], attempt=2))
    judging.done(EACH[0].id)
    for member in EACH[1:-1]:
        carry_out(judging, member)
    judging.done(EACH[-1].id, distrust="exec: it does not answer")
    again = judge_again(journal_of(judging).path.parent, tmp_path / "again", (), (), today=TODAY)
    (judgement,) = again.judgements
    assert (judgement.verdict, judgement.deviation) == (Verdict.UNKNOWN, Verdict.FLAKY)
    assert again.exit_code == ExitCode.TESTS_FAILED


def test_a_report_is_made_of_the_journal_alone(judging: Judging) -> None:
    """Who has nothing but the journal shows the members as the run's own process does."""
    for member in EACH:
        carry_out(judging, member, well=member is not EACH[3])
    done = Follower(journal_of(judging).path).wait(CHECK.id, timeout=1)
    assert done.judgement is not None
    journal_of(judging).write(Judged(judgement=done.judgement))
    records = read_journal(journal_of(judging).path)
    alone, beside = build_results(records), build_results(records, judging.observations)
    assert alone == beside
    (result,) = alone.checks
    assert [one.label for one in result.members] == [one.label for one in CHECK.members]
    assert [one.label for one in result.deviating] == [CHECK.members[3].label]
    assert [bool(one.raws) for one in result.members] == [
        one.id == EACH[3].id for one in result.members
    ]


def test_a_member_whose_answers_are_lost_is_not_believed(judging: Judging) -> None:
    """A journal from which answers were lost says so of the member, and so of its check."""
    for member in EACH:
        carry_out(judging, member)
    lines = journal_of(judging).path.read_bytes().splitlines(keepends=True)
    first = json.dumps(member_id(CHECK.id, CHECK.members[0].label), ensure_ascii=False).encode()
    kept = [line for line in lines if b'"raw"' not in line or first not in line]
    assert len(kept) == len(lines) - 1
    shorter = journal_of(judging).path.with_name("shorter.jsonl")
    shorter.write_bytes(b"".join(kept))
    (again,) = rejudged(read_recorded(shorter), ())
    assert again.verdict is Verdict.UNKNOWN
    assert replace(again, message="").members[0].labels == (CHECK.members[0].label,)


def test_labels_are_names_that_nothing_is_taken_out_of(tmp_path: Path) -> None:
    """A node may be named as a secret is: members are found by their labels, which every record spells alike."""
    claim = Expectation(claim=CHECK.claim, expected=CHECK.claim)
    labels = tuple(one.label for one in CHECK.members)
    unlike = OfMembers(expectation=claim, labels=labels)
    judgement = judge_members(CHECK, {})
    with Journal(tmp_path / "journal.jsonl", Redactor(("node-windows-1-1-x7",))) as journal:
        journal.write(Planned(check=CHECK, expectation=claim, others=(unlike,)))
        journal.write(Judged(judgement=judgement))
    history = History.of(read_journal(tmp_path / "journal.jsonl"))
    planned = history.planned[CHECK.id]
    assert [one.label for one in planned.check.members] == [*labels]
    assert planned.others[0].labels == labels
    named = (label for one in history.judged[CHECK.id].members for label in one.labels)
    assert sorted(named) == sorted(labels)
