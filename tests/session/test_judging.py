"""The process that observes reads and judges each check once; all others take its verdict."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.cluster.readiness import Readiness
from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.history import History
from nettests.model.journal_records import Discovered, Planned
from nettests.model.observation import Raw
from nettests.model.words import TargetKind, Verdict
from nettests.probes.sending import STOPPED
from nettests.redaction import REDACTED, Redactor
from nettests.session.journal import Follower, Journal, read_journal
from nettests.session.judging import Judging
from nettests.session.node_monitor import NodeMonitor
from tests.plan.clusters import mixed
from tests.probes.made import action, check
from tests.session.journals import journal_of
from tests.session.recorded_journal import read_recorded

PROBE = "probe-windows-1-1"
SLOW = check(action(PROBE, TargetKind.POD_IP), id="slow")
BUSY = check(action(PROBE, TargetKind.POD_IP), id="busy")


def answer(of: Check, number: int, started: float, elapsed: float) -> Raw:
    """Return a positive answer to a dial."""
    return Raw(
        check=of.id,
        purpose="check",
        attempt=number,
        tool="dial",
        client_os="windows",
        probe=PROBE,
        channel="port-forward",
        command=("GET", "/dial"),
        started=started,
        elapsed=elapsed,
        status=200,
        stdout='{"responses":["server-linux-1-1"]}',
        context={"request": "hostname"},
    )


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[Judging]:
    """Yield a watch over both checks."""
    plan = Plan(checks=(SLOW, BUSY), skips=(), pods=(), services=())
    claims = {one.id: Expectation(claim=one.claim, expected=one.claim) for one in plan.checks}
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield Judging(journal=journal, plan=plan, expectations=claims)


def hear(judging: Judging, raw: Raw) -> None:
    """Write an answer, and take note of the time that it took."""
    judging.raw(raw)
    judging.carried(raw)


def answer_others(judging: Judging, since: float, elapsed: float, tool: str = "dial") -> None:
    """Take note of twelve answers to as many other checks of the probe, within 3 s."""
    for number in range(12):
        one = answer(BUSY, number, since + number / 4, elapsed)
        judging.carried(replace(one, check=f"other-{number}", tool=tool, exit_code=0))


def tell(judging: Judging, busy: float) -> Verdict | None:
    """Write a check whose second attempt took 1.01 s, beside another check that was answered in ``busy`` s."""
    hear(judging, answer(SLOW, 1, 5.0, 0.01))
    hear(judging, answer(BUSY, 1, 6.2, busy))
    hear(judging, answer(SLOW, 2, 6.0, 1.01))
    hear(judging, answer(SLOW, 3, 8.0, 0.01))
    judging.done(SLOW.id)
    return {check.id: verdict for check, verdict in judging.failing()}.get(SLOW.id)


def test_a_lost_packet_makes_a_check_flaky(judging: Judging) -> None:
    """The same probe answered others in milliseconds meanwhile; who follows the journal reads the same."""
    assert tell(judging, busy=0.02) is Verdict.FLAKY
    done = Follower(journal_of(judging).path).wait(SLOW.id, timeout=1)
    assert done.resent is not None
    assert judging.observations[SLOW.id].resent == done.resent
    assert done.judgement is not None
    assert done.judgement.verdict is Verdict.FLAKY


def test_a_slow_probe_makes_none_flaky(judging: Judging) -> None:
    """Where the probe was slow with everything, nothing was lost."""
    assert tell(judging, busy=0.6) is None


def test_another_channel_shows_nothing(judging: Judging) -> None:
    """What came over exec says nothing of the port-forward."""
    hear(judging, replace(answer(BUSY, 1, 6.2, 0.02), channel="exec"))
    assert tell(judging, busy=0.6) is None


def test_an_answer_that_is_kept_back_shows_something(judging: Judging) -> None:
    """A check that is run before its Service converged is written later; that it was answered at once counts now."""
    judging.carried(answer(BUSY, 1, 6.2, 0.02))
    assert tell(judging, busy=0.02) is Verdict.FLAKY


def test_silence_of_an_overloaded_probe_is_not_judged(judging: Judging) -> None:
    """An attempt without an answer is left out where another was answered and all else was late; the journal says which."""
    answer_others(judging, 5.5, 1.5)
    told = json.dumps({"errors": ["dial tcp 10.244.2.5:80: i/o timeout"]})
    judging.raw(replace(answer(SLOW, 1, 5.0, 5.0), stdout=told))
    judging.raw(answer(SLOW, 2, 15.0, 0.9))
    judging.done(SLOW.id)
    done = Follower(journal_of(judging).path).wait(SLOW.id, timeout=1)
    assert done.overloaded == (1,)
    assert done.judgement is not None
    assert done.judgement.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("elapsed", "tool"), [(1.005, "dial"), (3.01, "dial"), (1.5, "curl"), (0.02, "dial")]
)
def test_silence_on_a_lossy_path_is_judged(judging: Judging, elapsed: float, tool: str) -> None:
    """Others that were late by a SYN that was sent again, or as processes are, excuse no silence: the check is flaky."""
    answer_others(judging, 5.5, elapsed, tool)
    told = json.dumps({"errors": ["dial tcp 10.244.2.5:80: i/o timeout"]})
    judging.raw(replace(answer(SLOW, 1, 5.0, 5.0), stdout=told))
    judging.raw(answer(SLOW, 2, 15.0, 0.01))
    judging.done(SLOW.id)
    assert judging._verdicts[SLOW.id] is Verdict.FLAKY


def test_silent_processes_are_compared_with_the_requests_of_all_probes(judging: Judging) -> None:
    """A process takes a second where all is well; what other probes were requested meanwhile tells an overloaded machine."""
    answer_others(judging, 5.5, 1.5)
    silent = replace(
        answer(SLOW, 1, 5.0, 5.0),
        probe="host-windows-1-1",
        tool="curl",
        channel="exec",
        exit_code=28,
        stdout="",
        stderr="curl: (28) Connection timed out after 5001 milliseconds",
    )
    judging.raw(silent)
    judging.raw(replace(silent, attempt=2, started=15.0, exit_code=0, stdout="server-linux-1-1"))
    judging.done(SLOW.id)
    assert Follower(journal_of(judging).path).wait(SLOW.id, timeout=1).overloaded == (1,)


def test_a_deadline_that_an_overloaded_probe_missed_is_no_failure(judging: Judging) -> None:
    """Polls take as long as everything else; where that is late, a Service that was late says nothing of its rules."""
    late = "Service s did not answer probe-linux-1-1 on linux-1 within 30 s"

    def verdict(busy: float) -> Verdict | None:
        answer_others(judging, 2.0, busy)
        hear(judging, answer(SLOW, 1, 6.0, 0.01))
        hear(judging, answer(SLOW, 2, 7.0, 0.01))
        judging.done(SLOW.id, late=late)
        return judging._verdicts[SLOW.id]

    assert verdict(1.5) is Verdict.PASS
    events = History.of(read_journal(journal_of(judging).path)).events
    assert [one.text for one in events] == [
        f"{late}: probes were overloaded, and nothing is said of the rules"
    ]


def test_a_deadline_that_a_prompt_probe_missed_is_a_failure(judging: Judging) -> None:
    """Where everything else is answered at once, rules that came late came late."""
    answer_others(judging, 2.0, 0.02)
    hear(judging, answer(SLOW, 1, 6.0, 0.01))
    judging.done(SLOW.id, late="Service s did not answer probe-linux-1-1 on linux-1 within 30 s")
    assert judging._verdicts[SLOW.id] is Verdict.FAIL


@pytest.mark.parametrize(("began", "expected"), [(0.0, Verdict.UNKNOWN), (40_000.0, Verdict.FAIL)])
def test_a_reboot_of_long_ago_excuses_no_late_service(
    judging: Judging, began: float, expected: Verdict
) -> None:
    """A node that was not Ready in a former round of a watch is no reason why a Service is late in this one."""
    ready = Readiness(ready=True, since="10:00:00")
    lost = Readiness(ready=False, since="10:00:30", why="it reboots")
    now, held = [0.0], {"win-2": ready}
    judging.nodes = NodeMonitor(
        names=["win-2"],
        read=lambda: dict(held),
        tell=lambda _text: None,
        began=0.0,
        clock=lambda: now[0],
    )
    judging.nodes_of, judging.began = lambda _check: ["win-2"], began
    for now[0], held["win-2"] in ((100.0, ready), (105.0, lost), (160.0, ready), (40_002.0, ready)):
        judging.nodes.look()
    hear(judging, answer(SLOW, 1, 40_001.0, 0.01))
    judging.done(SLOW.id, late="Service s did not answer probe-windows-1-1 on win-2 within 30 s")
    assert judging._verdicts[SLOW.id] is expected


def test_what_was_stopped_is_nobodys_failure(judging: Judging) -> None:
    """It is judged like everything else, and calls for no diagnostics."""
    judging.done(SLOW.id, distrust=f"{STOPPED} before this check was run")
    done = Follower(journal_of(judging).path).wait(SLOW.id, timeout=1)
    assert done.judgement is not None
    assert done.judgement.verdict is Verdict.UNKNOWN
    assert judging.failing() == []


def test_what_could_not_be_tested_has_no_verdict(judging: Judging) -> None:
    """Its test is skipped with the reason."""
    judging.done(SLOW.id, skip="this image has no ping")
    done = Follower(journal_of(judging).path).wait(SLOW.id, timeout=1)
    assert (done.skip, done.judgement) == ("this image has no ping", None)
    assert judging.skipped == {SLOW.id}
    assert judging.observations == {}


def test_it_is_judged_by_what_is_written(judging: Judging) -> None:
    """Verdict and observation repeat no secret that the journal leaves out."""
    journal_of(judging).redactor = Redactor(("hunter2-planted",))
    judging.raw(replace(answer(SLOW, 1, 5.0, 0.01), error="hunter2-planted was refused"))
    judging.done(SLOW.id, distrust="exec: hunter2-planted was refused")
    done = Follower(journal_of(judging).path).wait(SLOW.id, timeout=1)
    assert done.judgement is not None
    assert f"exec: {REDACTED} was refused" in done.judgement.message
    assert "hunter2" not in repr(judging.observations)


def test_a_journal_tells_the_same_again(judging: Judging) -> None:
    """Whoever has nothing but the journal reads the observation that was judged."""
    tell(judging, busy=0.02)
    journal_of(judging).write(Discovered(facts=mixed()))
    for one in (SLOW, BUSY):
        journal_of(judging).write(Planned(check=one, expectation=judging.expectations[one.id]))
    again = read_recorded(journal_of(judging).path)
    assert again.observations == judging.observations
    assert set(again.observations) == {SLOW.id}
