"""The process that observes tells an answer that came after a packet was lost, by what else the probe answered."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.observation import Raw
from nettests.model.words import TargetKind, Verdict
from nettests.session.diagnosis import Watch
from nettests.session.journal import Follower, Journal
from nettests.session.observed import observed
from tests.probes.made import ask, check

PROBE = "probe-windows-1-1"
SLOW = check(ask(PROBE, TargetKind.POD_IP), id="slow")
BUSY = check(ask(PROBE, TargetKind.POD_IP), id="busy")


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
def watch(tmp_path: Path) -> Iterator[Watch]:
    """Yield a watch over both checks."""
    plan = Plan(checks=(SLOW, BUSY), skips=(), pods=(), services=())
    claims = {one.id: Expectation(claim=one.claim, expected=one.claim) for one in plan.checks}
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield Watch(journal=journal, plan=plan, expectations=claims)


def tell(watch: Watch, busy: float) -> Verdict | None:
    """Write a check whose second attempt took 1.01 s, beside another check that was answered in ``busy`` s."""
    watch.raw(answer(SLOW, 1, 5.0, 0.01))
    watch.raw(answer(BUSY, 1, 6.2, busy))
    watch.raw(answer(SLOW, 2, 6.0, 1.01))
    watch.raw(answer(SLOW, 3, 8.0, 0.01))
    watch.done(SLOW.id)
    return {check.id: verdict for check, verdict in watch.failing()}.get(SLOW.id)


def test_a_lost_packet_makes_a_check_flaky(watch: Watch) -> None:
    """The same probe answered others in milliseconds meanwhile; who follows the journal reads the same."""
    assert tell(watch, busy=0.02) is Verdict.FLAKY
    finished = Follower(watch.journal.path).wait(SLOW.id, timeout=1)
    assert finished.resent is not None
    assert observed(SLOW, finished).resent == finished.resent


def test_a_slow_probe_makes_none_flaky(watch: Watch) -> None:
    """Where the probe was slow with everything, nothing was lost."""
    assert tell(watch, busy=0.6) is None


def test_another_channel_shows_nothing(watch: Watch) -> None:
    """What came over exec says nothing of the port-forward."""
    watch.raw(replace(answer(BUSY, 1, 6.2, 0.02), channel="exec"))
    assert tell(watch, busy=0.6) is None
