"""The connections of a question about distribution: beside each other where they are slow, in a row where it matters."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Check
from nettests.model.check_id import member_id
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import Distribution, Question, TargetKind
from nettests.probes import series
from nettests.probes.series import UNDER_WAY
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.netexec import REFUSED as SAID_BY

PROBE = "probe-windows-1-1"
SERVICE = "svc-server-linux-1-1"
CONNECTIONS = 12
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
REFUSED = HttpAnswer(status=200, body=json.dumps({"errors": [f"dial tcp: {SAID_BY[1]}"]}))
Eventually = Callable[[Callable[[], bool]], None]


def distributing(bench: Bench, *, pause: float = 0) -> Check:
    """Return a check that opens connections to a Service, whose convergence is no matter here."""
    question = action(
        PROBE,
        TargetKind.SERVICE_CLUSTERIP,
        question=Question.DISTRIBUTE,
        connections=CONNECTIONS,
        pause=pause,
    )
    assert bench.services[SERVICE].addresses
    return check(question)


class Gate:
    """Lets the first connections through and holds the others until it is opened; says how many it holds."""

    def __init__(self, through: int, answer: HttpAnswer | None = None) -> None:
        self.left = through
        self.answer = answer
        self.opened = threading.Event()
        self.held = 0
        self._lock = threading.Lock()

    def __call__(self, _path: str) -> HttpAnswer | None:
        with self._lock:
            self.left -= 1
            if self.left >= 0:
                return None
            self.held += 1
        assert self.opened.wait(10)
        return self.answer


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no answer after a moment is slow."""
    monkeypatch.setattr(series, "BESIDE_SECONDS", 0.01)


def in_background(bench: Bench, probed: Check) -> threading.Thread:
    """Probe the connections of a check."""
    sender = bench.observer([probed]).sender
    thread = threading.Thread(target=series.Series(sender, probed).run)
    thread.start()
    return thread


def test_connections_that_are_slow_are_waited_for_side_by_side(
    bench: Bench, eventually: Eventually
) -> None:
    """So many at most; all of them are opened in the end, and written by their numbers."""
    probed = distributing(bench)
    bench.dialling[PROBE].hook = gate = Gate(1)
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == UNDER_WAY)
    gate.opened.set()
    probing.join(10)
    numbers = sorted(raw.attempt for raw in bench.raws(probed.id))
    assert numbers == list(range(1, CONNECTIONS + bench.timing.client_addresses + 1))


def test_the_first_connection_is_alone(bench: Bench, eventually: Eventually) -> None:
    """A client's backend is kept from the first one on: no other may race it."""
    probed = distributing(bench)
    bench.dialling[PROBE].hook = gate = Gate(0)
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == 1)
    probing.join(0.1)
    assert gate.held == 1
    gate.opened.set()
    probing.join(10)


def test_beside_a_silent_first_one_as_many_are_opened_as_are_taken_for_silence(
    bench: Bench, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence tells no backend, and costs one time-out instead of one after the other."""
    monkeypatch.setattr(series, "DIAL_PATIENCE", 0.01)
    probed = distributing(bench)
    bench.dialling[PROBE].hook = gate = Gate(0, TIMED_OUT)
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == bench.timing.failures)
    probing.join(0.1)
    assert gate.held == bench.timing.failures
    gate.opened.set()
    probing.join(10)
    assert len(bench.raws(probed.id)) == bench.timing.failures


def test_connections_that_are_refused_by_design_are_opened_side_by_side(
    bench: Bench, eventually: Eventually
) -> None:
    """Windows sends a refused SYN twice more, half a second apart: forty of them in a row would take a minute."""
    probed = distributing(bench)
    mixed = ServiceSettings(label="two", by_hand=ByHand.MIXED_TARGET_PORTS)
    question = replace(probed.action, target=replace(probed.action.target, settings=mixed))
    probed = replace(probed, action=question)
    gate = Gate(1, REFUSED)
    bench.dialling[PROBE].hook = lambda path: gate(path) or REFUSED
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == UNDER_WAY)
    gate.opened.set()
    probing.join(10)
    assert len(bench.raws(probed.id)) == CONNECTIONS + bench.timing.client_addresses


def test_connections_with_a_pause_between_them_are_opened_in_a_row(
    bench: Bench, eventually: Eventually
) -> None:
    """What is tested is what a pause does to the next one."""
    probed = distributing(bench, pause=0.001)
    bench.dialling[PROBE].hook = gate = Gate(2)
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == 1)
    probing.join(0.1)
    assert gate.held == 1
    gate.opened.set()
    probing.join(10)


def test_no_further_one_is_opened_when_too_many_have_failed(
    bench: Bench, eventually: Eventually
) -> None:
    """Those under way are waited for, and written: they tell as much."""
    probed = distributing(bench)
    bench.dialling[PROBE].hook = gate = Gate(1, TIMED_OUT)
    probing = in_background(bench, probed)
    eventually(lambda: gate.held == UNDER_WAY)
    gate.opened.set()
    probing.join(10)
    raws = bench.raws(probed.id)
    assert len(raws) <= 2 * UNDER_WAY
    assert sorted(raw.attempt for raw in raws) == list(range(1, len(raws) + 1))


def test_a_node_of_the_fleet_tells_its_port_twice(bench: Bench) -> None:
    """Two ports show that connections were new; as many nodes as a fleet has need not show more."""
    one = distributing(bench)
    member = replace(one, id=member_id(one.id, "w1"))
    bench.observe(one, member)
    requests = [[raw.context["request"] for raw in bench.raws(of.id)] for of in (one, member)]
    assert [each.count("clientip") for each in requests] == [bench.timing.client_addresses, 2]
    assert [each.count("hostname") for each in requests] == [CONNECTIONS, CONNECTIONS]


@pytest.mark.parametrize(("kept", "away", "times"), [(True, 0.2, series.RETURNS), (False, 3600, 0)])
def test_a_client_with_affinity_stays_away_and_comes_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, *, kept: bool, away: float, times: int
) -> None:
    """It is away for longer than an affinity may last at least, a few times in a series; without affinity it need not be."""
    probed = distributing(bench)
    settings = ServiceSettings(label="affinity", session_affinity=True)
    target = replace(probed.action.target, settings=settings if kept else None)
    claim = replace(probed.claim, distribution=Distribution.ONE_BACKEND)
    probed = replace(probed, action=replace(probed.action, target=target), claim=claim)
    monkeypatch.setattr(series, "RETURNS_AFTER", away)
    sender = bench.observer([probed]).sender
    series.Series(sender, probed).run()
    asked = [raw for raw in bench.raws(probed.id) if raw.context["request"] == "hostname"]
    starts = sorted(raw.started for raw in asked)
    gaps = [after - before for before, after in pairwise(starts)]
    assert len(asked) == CONNECTIONS
    assert sum(gap >= away for gap in gaps) >= times
