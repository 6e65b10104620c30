"""The only datagram that a run lost, by the process that judges: no finding, unless another one is lost as well."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation, Expected
from nettests.model.journal_records import Done
from nettests.model.observation import Raw
from nettests.model.words import Outcome, Protocol, TargetKind, Verdict
from nettests.parse.lost_packets import ANSWERED
from nettests.session.journal import Journal, read_journal
from nettests.session.judging import Judging
from tests.parse.raws import UDP
from tests.probes.made import action, check
from tests.session.test_judging import PROBE, answer

ASK = action(PROBE, TargetKind.POD_IP, protocol=Protocol.UDP)
FIRST, SECOND, THIRD = (
    replace(check(ASK, id=name), claim=Expected(outcome=Outcome.REPLIED))
    for name in ("first", "second", "third")
)


PLAN = Plan(checks=(FIRST, SECOND, THIRD), skips=(), pods=(), services=())


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[Judging]:
    """Yield a watch over three checks."""
    plan = PLAN
    claims = {one.id: Expectation(claim=one.claim, expected=one.claim) for one in plan.checks}
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield Judging(journal=journal, plan=plan, expectations=claims)


def lost(raw: Raw) -> Raw:
    """Return the answer's question without an answer."""
    return replace(raw, stdout='{"errors":["read udp 10.1.1.1: i/o timeout"]}')


def end(judging: Judging, of: Check, losing: bool, answers: int = ANSWERED) -> Verdict | None:
    """Let a check get so many answers and lose one datagram, or none; return the verdict if it is not green."""
    raws = [
        replace(answer(of, number, number, 0.01), command=UDP) for number in range(1, answers + 2)
    ]
    if losing:
        raws[1] = lost(raws[1])
    for raw in raws:
        judging.raw(raw)
        judging.carried(raw)
    judging.done(of.id)
    return {check.id: verdict for check, verdict in judging.failing()}.get(of.id)


def test_the_only_datagram_that_a_run_lost_is_no_finding(judging: Judging, tmp_path: Path) -> None:
    """One of thousands gets lost in good order; the record says which attempt it was."""
    assert end(judging, FIRST, losing=True) is None
    assert end(judging, SECOND, losing=False) is None
    done = [one for one in read_journal(tmp_path / "journal.jsonl") if isinstance(one, Done)]
    assert [one.alone for one in done] == [2, None]


def test_each_further_check_that_loses_a_datagram_is_flaky(judging: Judging) -> None:
    """What loses the first packet of every path loses one on each."""
    assert end(judging, FIRST, losing=True) is None
    assert end(judging, SECOND, losing=True) is Verdict.FLAKY
    assert end(judging, THIRD, losing=True) is Verdict.FLAKY


def test_few_answers_make_no_exception(judging: Judging) -> None:
    """One of five says that many may be lost."""
    assert end(judging, FIRST, losing=True, answers=4) is Verdict.FLAKY


def test_rounds_of_a_watch_share_one_datagram(judging: Judging) -> None:
    """What loses one in each round, as the first packet after a pause, shows from the second round on."""
    assert end(judging, FIRST, losing=True) is None
    later = Judging(
        journal=judging.journal,
        plan=PLAN,
        expectations=judging.expectations,
        lost_datagrams=judging.lost_datagrams,
    )
    assert end(later, FIRST, losing=True) is Verdict.FLAKY
