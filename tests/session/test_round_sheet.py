"""Rounds of a watch: which answers are worth writing down, and what a check comes to over all of them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from nettests.judge.exit_status import of_watch
from nettests.model.check import Check, Plan, counted
from nettests.model.exit_code import ExitCode
from nettests.model.expectation import Expectation
from nettests.model.history import History
from nettests.model.journal_records import Discovered, Done, Planned
from nettests.model.observation import Raw
from nettests.model.words import Verdict
from nettests.plan import build, load
from nettests.probes import Deployment
from nettests.probes.deployment import StandingPod
from nettests.probes.sending import STOPPED
from nettests.redaction import REDACTED, Redactor
from nettests.resources import suites_path
from nettests.session.journal import Journal, read_journal
from nettests.session.judging import Judging
from nettests.session.rejudge import rejudged
from nettests.session.round_sheet import RoundSheet
from nettests.session.rounds import _excuse, _Kept, _not_as_documented
from tests.plan.clusters import mixed
from tests.session.recorded_journal import read_recorded

FACTS = mixed()
FLOWS = [
    replace(one, source_seen=None)
    for one in load([suites_path()]).flows
    if one.name == "pod-to-pod-ip"
]
CHECK = next(
    one
    for one in build(FACTS, FLOWS).checks
    if one.id == "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
)
EXPECTED = dict.fromkeys(
    (CHECK.id, *(one.id for one in CHECK.each)),
    Expectation(claim=CHECK.claim, expected=CHECK.claim),
)
PLAN = Plan(checks=(CHECK,), skips=(), pods=(), services=())


def answer(of: Check, said: str, purpose: str = "check") -> Raw:
    """Return an answer of a dial: what it brought, or an error that speaks of a time-out."""
    told = {"responses": [of.action.target.pod]} if not said else {"errors": [said]}
    return Raw(
        check=of.id,
        purpose=purpose,
        attempt=1,
        tool="dial",
        client_os="windows",
        probe=of.source.probe,
        channel="port-forward",
        command=("GET", "/dial"),
        started=1.0,
        elapsed=0.01,
        status=200,
        stdout=json.dumps(told),
        context={"request": "hostname"},
    )


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Yield a journal in which the check is planned."""
    with Journal(tmp_path / "journal.jsonl", Redactor(("hunter2-planted",))) as found:
        found.write(Discovered(facts=FACTS))
        claim = Expectation(claim=CHECK.claim, expected=CHECK.claim)
        found.write(Planned(check=CHECK, expectation=claim))
        yield found


def round_of(
    journal: Journal,
    *,
    failing: int = 0,
    flaky: int = 0,
    distrust: str | None = None,
    distrusted: int | None = None,
    first: bool = False,
) -> RoundSheet:
    """Return the sheet of a round in which the first members fail, or are flaky.

    With ``distrust`` none is trusted, or so many of the last ones.
    """
    sheet = RoundSheet(journal, first=first)
    judging = Judging(journal=sheet, plan=PLAN, expectations=EXPECTED)
    for number, one in enumerate(CHECK.each):
        said = "dial tcp 10.1.1.1:80: i/o timeout" if number < failing + flaky else ""
        judging.raw(answer(one, said))
        if number < flaky:
            judging.raw(replace(answer(one, ""), attempt=2))
        for control in one.controls:
            judging.raw(answer(one, "", f"control:{control.proves}"))
        trusted = distrusted is not None and number < len(CHECK.each) - distrusted
        judging.done(one.id, distrust=None if trusted else distrust)
    return sheet


def history(journal: Journal) -> History:
    """Return what the journal holds by now."""
    return History.of(read_journal(journal.path))


def test_what_is_always_as_documented_is_written_once(journal: Journal) -> None:
    """Three rounds leave the answers of the last one, with the verdict of a run."""
    kept = _Kept()
    for _ in range(3):
        assert kept.take(PLAN.checks, round_of(journal)) == []
    assert history(journal).raws == {}
    kept.write_rest(PLAN.checks, EXPECTED)
    found = history(journal)
    assert found.judged[CHECK.id].verdict is Verdict.PASS
    assert {len(raws) for raws in found.raws.values()} == {1 + len(CHECK.each[0].controls)}
    assert found.done[CHECK.id].distrust is None
    assert kept.verdicts == {CHECK.id: Verdict.PASS}


def test_the_first_red_round_is_kept(journal: Journal) -> None:
    """A check that failed once stays red with what that round saw, whatever comes before and after it."""
    kept = _Kept()
    taken = [kept.take(PLAN.checks, round_of(journal, failing=failing)) for failing in (0, 1, 2, 0)]
    assert taken == [[], [CHECK], [], []]
    kept.write_rest(PLAN.checks, EXPECTED)
    found = history(journal)
    assert found.judged[CHECK.id].verdict is Verdict.FAIL
    assert (
        f"1 of {counted([each.label for each in CHECK.members])}" in found.judged[CHECK.id].message
    )
    assert kept.verdicts == {CHECK.id: Verdict.FAIL}


def test_what_stopped_answering_does_not_end_as_documented(journal: Journal) -> None:
    """A check that is unknown in the last round is so at the end; one that came back is as documented again."""
    kept, dead = _Kept(), "exec: probe-windows-1-2 does not answer"
    kept.take(PLAN.checks, round_of(journal))
    kept.take(PLAN.checks, round_of(journal, distrust=dead))
    assert kept.verdicts == {CHECK.id: Verdict.UNKNOWN}
    kept.take(PLAN.checks, round_of(journal))
    assert kept.verdicts == {CHECK.id: Verdict.PASS}
    kept.take(PLAN.checks, round_of(journal, failing=1))
    assert kept.verdicts == {CHECK.id: Verdict.FAIL}


def test_one_that_could_not_be_judged_hides_no_flaky_one(journal: Journal) -> None:
    """A check with flaky members is written in that round, though one more could not be judged; the watch ends with 1."""
    kept, dead = _Kept(), "exec: probe-windows-1-2 does not answer"
    assert kept.take(PLAN.checks, round_of(journal)) == []
    sheet = round_of(journal, flaky=2, distrust=dead, distrusted=1)
    assert kept.take(PLAN.checks, sheet) == [CHECK]
    assert kept.take(PLAN.checks, round_of(journal)) == []
    kept.write_rest(PLAN.checks, EXPECTED)
    judgement = history(journal).judged[CHECK.id]
    assert (judgement.verdict, judgement.deviation) == (Verdict.UNKNOWN, Verdict.FLAKY)
    seen = {one.verdict: len(one.labels) for one in judgement.members}
    assert seen == {Verdict.FLAKY: 1, Verdict.UNKNOWN: 1}
    ended = of_watch(kept.verdicts, completed=True, mostly_lost=False, members=kept.members)
    assert ended == ExitCode.TESTS_FAILED


DEAD = "exec: probe-windows-1-2 does not answer"


@pytest.mark.parametrize(("unknown", "verdict"), [(3, Verdict.UNKNOWN), (2, Verdict.PASS)])
def test_what_was_unknown_for_most_of_the_time_ends_so(
    journal: Journal, unknown: int, verdict: Verdict
) -> None:
    """A member that was judged in two rounds of five is not as documented because the last one was; figures say why."""
    kept, member = _Kept(), CHECK.members[-1].label
    for _ in range(unknown):
        kept.take(PLAN.checks, round_of(journal, distrust=DEAD, distrusted=1))
    for _ in range(2):
        kept.take(PLAN.checks, round_of(journal))
    kept.write_rest(PLAN.checks, EXPECTED)
    found = history(journal)
    assert kept.verdicts == {CHECK.id: verdict}
    assert found.judged[CHECK.id].verdict is verdict
    if verdict is Verdict.UNKNOWN:
        (group,) = found.judged[CHECK.id].members
        assert group.labels == (member,)
        assert found.judged[CHECK.id].message.endswith(f"{DEAD} (unknown in 3 of 5 rounds)")
    code = of_watch(kept.verdicts, completed=True, mostly_lost=False, members=kept.members)
    assert code == (ExitCode.UNKNOWN if verdict is Verdict.UNKNOWN else ExitCode.OK)
    (again,) = rejudged(read_recorded(journal.path), ())
    assert again == found.judged[CHECK.id]


def test_a_check_without_members_that_was_mostly_unknown_ends_so(journal: Journal) -> None:
    """It is counted by its own id, with the reason of the last round in which it could not be judged."""
    alone, claim = CHECK.each[0], Expectation(claim=CHECK.claim, expected=CHECK.claim)
    kept, expected = _Kept(), {alone.id: claim}
    for distrust in (DEAD, "no answer", "no answer", None):
        sheet = RoundSheet(journal, first=False)
        sheet.raw(answer(alone, ""))
        sheet.finish(Done(check=alone.id, distrust=distrust))
        sheet.distrust(alone, {alone.id: distrust} if distrust else {}, expected)
        kept.take([alone], sheet)
    kept.write_rest([alone], expected)
    judgement = history(journal).judged[alone.id]
    assert judgement.verdict is Verdict.UNKNOWN
    assert judgement.message.endswith("- cannot be judged: no answer (unknown in 3 of 4 rounds)")


def test_a_round_in_which_most_members_were_judged_is_not_lost(journal: Journal) -> None:
    """One member of each check that cannot be judged costs no round; none that was judged does."""
    dead = "exec: probe-windows-1-2 does not answer"
    assert round_of(journal, distrust=dead, distrusted=1).lost(PLAN.checks) == ""
    assert dead in round_of(journal, distrust=dead, distrusted=len(CHECK.each)).lost(PLAN.checks)


def test_a_lost_round_names_its_reason(journal: Journal) -> None:
    """Nothing was judged where no check could be trusted; one that could is enough for a round."""
    dead = "exec: the API server does not answer"
    assert dead in round_of(journal, distrust=dead).lost(PLAN.checks)
    assert round_of(journal).lost(PLAN.checks) == ""
    assert RoundSheet(journal, first=True).lost(PLAN.checks) == "no check was run to its end"


def test_a_check_that_was_broken_off_is_not_over(journal: Journal) -> None:
    """Who ends a watch in the middle of a round learns nothing of what that round did not come to."""
    stopped = f"{STOPPED} before it was probed"
    sheet = round_of(journal, distrust=stopped, distrusted=1)
    assert not sheet.over(CHECK)
    kept = _Kept()
    kept.take(PLAN.checks, round_of(journal))
    kept.take(PLAN.checks, sheet)
    assert kept.verdicts == {CHECK.id: Verdict.PASS}


def standing(address: str) -> Deployment:
    """Return a deployment in which each Pod of the check stands, the first member's target at this address."""
    names = {name for one in CHECK.each for name in (one.source.probe, one.target.pod or "")}
    first = CHECK.each[0].target.pod or ""
    at = {name: ip_address("10.1.1.1") for name in names} | {first: ip_address(address)}
    pods = {
        name: StandingPod(
            name=name, node="n", purpose="server", addresses=(at[name],), host_addresses=()
        )
        for name in names
    }
    return Deployment(namespace="ns", pods=pods, services={})


def test_what_a_pod_missed_that_was_started_again_is_no_failure(journal: Journal) -> None:
    """A node that reboots in the middle of a round: what was sent to its Pod's old address says nothing, all else does."""
    target = CHECK.each[0].target.pod
    sheet = round_of(journal, failing=len(CHECK.each))
    _excuse(PLAN.checks, sheet, EXPECTED, standing("10.1.1.7"), standing("10.1.1.7"))
    assert set(sheet.verdicts_of(CHECK).values()) == {Verdict.FAIL}
    _excuse(PLAN.checks, sheet, EXPECTED, standing("10.1.1.7"), standing("10.1.1.8"))
    told = sheet.verdicts_of(CHECK)
    excused = {one.id for one in CHECK.each if one.target.pod == target}
    assert {name for name, one in told.items() if one is Verdict.UNKNOWN} == excused
    assert excused < told.keys() - {CHECK.id}
    assert told[CHECK.id] is Verdict.FAIL
    judgement = sheet.judgement(CHECK)
    assert judgement is not None
    messages = [one.message for one in judgement.members if one.verdict is Verdict.UNKNOWN]
    assert all(f"pod {target} was started again while this was run" in one for one in messages)
    red = _not_as_documented(PLAN, sheet)
    assert {name for name, one in red.items() if one is Verdict.FAIL} == told.keys() - excused


def test_a_check_is_red_in_a_round_as_soon_as_a_member_is(journal: Journal) -> None:
    """It is unknown because of another member, and counts as flaky in that round, as the member does."""
    sheet = round_of(journal, flaky=1, distrust=DEAD, distrusted=1)
    found = _not_as_documented(PLAN, sheet)
    first, last = CHECK.each[0].id, CHECK.each[-1].id
    assert found == {CHECK.id: Verdict.FLAKY, first: Verdict.FLAKY, last: Verdict.UNKNOWN}


def test_what_every_round_says_again_is_written_once(journal: Journal) -> None:
    """Events and convergence are the first round's; what is notable is written in any round."""
    for first in (True, False):
        sheet = RoundSheet(journal, first=first)
        sheet.event("probe p is reached over port-forward")
        sheet.event("node win-1 is not Ready", notable=True)
        sheet.convergence(service="s", probe="p", seconds=1.0, converged=True)
    found = history(journal)
    assert [one.text for one in found.events] == [
        "probe p is reached over port-forward",
        "node win-1 is not Ready",
        "node win-1 is not Ready",
    ]
    assert len(found.convergence) == 1


def test_what_is_kept_has_no_secrets(journal: Journal) -> None:
    """A sheet holds answers as the journal would write them."""
    told = RoundSheet(journal, first=True).raw(answer(CHECK.each[0], "token hunter2-planted"))
    assert REDACTED in told.stdout
    assert "hunter2" not in told.stdout
