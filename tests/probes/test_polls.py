"""Polls of what has to converge: a silent one is left to itself, and few of them wait at the same time."""

import json
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from nettests.bounds import Slots
from nettests.model.channel import HttpAnswer
from nettests.model.words import Protocol, TargetKind
from nettests.probes import convergence
from nettests.probes.commands import dial
from nettests.probes.convergence import UNDER_WAY, Convergence, Deadlines
from nettests.probes.pending import Pending, one_over
from nettests.probes.service_pairs import Pair
from tests.probes.conftest import Bench
from tests.probes.made import action

PROBE = "probe-windows-1-1"
SERVICE = "svc-server-linux-1-1"
PAIR = Pair(TargetKind.SERVICE_CLUSTERIP, SERVICE, PROBE)
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
Eventually = Callable[[Callable[[], bool]], None]


class Holding:
    """Holds some questions, by their number, until it is opened; says how many it holds."""

    def __init__(self, holds: Callable[[int], bool], answer: HttpAnswer | None) -> None:
        self.holds, self.answer = holds, answer
        self.opened = threading.Event()
        self.probed = self.held = 0
        self._lock = threading.Lock()

    def __call__(self, _path: str) -> HttpAnswer | None:
        with self._lock:
            self.probed += 1
            if not self.holds(self.probed):
                return None
            self.held += 1
        assert self.opened.wait(10)
        return self.answer


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no answer after a moment is left to itself."""
    monkeypatch.setattr(convergence, "DIAL_PATIENCE", 0.02)
    monkeypatch.setattr(convergence, "LOOK_SECONDS", 0.02)


class Clock:
    """The monotonic clock, ahead by what a test says has passed."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


def waiting(bench: Bench) -> tuple[threading.Thread, list[bool]]:
    """Wait for the pair in the background; the list says at the end whether it converged."""
    converged: list[bool] = []
    sender = bench.observer([]).sender
    waits = Convergence(sender, {}, Deadlines(bench.timing))

    def wait() -> None:
        converged.append(not waits.wait_for(PAIR).silent)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread, converged


def test_a_lost_poll_holds_up_no_convergence(bench: Bench) -> None:
    """The same is run once more beside it, and all else meanwhile."""
    bench.timing = replace(bench.timing, convergence=8)
    bench.dialling[PROBE].hook = lost = Holding(lambda number: number == 1, TIMED_OUT)
    thread, converged = waiting(bench)
    thread.join(8)
    assert converged == [True]
    assert lost.held == 1
    lost.opened.set()


def test_an_answer_that_comes_late_counts(bench: Bench, eventually: Eventually) -> None:
    """The question was left to itself, not given up."""
    bench.timing = replace(bench.timing, convergence=8)
    bench.dialling[PROBE].hook = slow = Holding(lambda number: number > 2, None)
    thread, converged = waiting(bench)
    eventually(lambda: slow.held == UNDER_WAY)
    slow.opened.set()
    thread.join(8)
    assert converged == [True]


def test_what_this_machine_overslept_is_no_time_of_the_services(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that gets no processor for minutes has not looked meanwhile: the Service has its time all the same."""
    clock, over = Clock(), threading.Event()

    def starved(pending: Collection[Pending[bool]], seconds: float) -> None:
        one_over(pending, seconds)
        clock.ahead = 300
        over.set()

    def silent_until_then(_path: str) -> HttpAnswer | None:
        if over.is_set():
            return None
        assert over.wait(10)
        return TIMED_OUT

    monkeypatch.setattr(convergence, "one_over", starved)
    bench.timing = replace(bench.timing, convergence=8)
    bench.dialling[PROBE].hook = silent_until_then
    waits = Convergence(bench.observer([]).sender, {}, Deadlines(bench.timing), clock)
    waited = waits.wait_for(PAIR)
    assert not waited.silent
    assert waited.seconds < 8


def test_what_good_answers_took_is_no_time_of_the_protocols_asked_after_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is asked after the other: where each answer is good and slow, the last protocol is not late for the first."""
    clock = Clock()
    monkeypatch.setattr(convergence, "LOOK_SECONDS", 8)
    monkeypatch.setattr(convergence, "DIAL_PATIENCE", 8)

    def slowly(_path: str) -> None:
        clock.ahead += 5

    bench.timing = replace(bench.timing, convergence=8)
    bench.dialling[PROBE].hook = slowly
    waits = Convergence(bench.observer([]).sender, {}, Deadlines(bench.timing), clock)
    waited = waits.wait_for(PAIR)
    assert not waited.silent
    assert waited.seconds >= 15


def test_answers_that_take_longer_and_longer_make_a_service_late(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What good answers took is forgiven up to a bound: a name that costs half a minute each time is late."""
    clock = Clock()
    monkeypatch.setattr(convergence, "LOOK_SECONDS", 8)
    monkeypatch.setattr(convergence, "DIAL_PATIENCE", 8)

    def slower(_path: str) -> None:
        clock.ahead += 30

    bench.timing = replace(bench.timing, convergence=8)
    bench.dialling[PROBE].hook = slower
    waits = Convergence(bench.observer([]).sender, {}, Deadlines(bench.timing), clock)
    waited = waits.wait_for(PAIR)
    assert waited.silent == {Protocol.TCP, Protocol.UDP}
    assert waited.seconds < 60


def test_few_polls_wait_at_the_same_time(bench: Bench, eventually: Eventually) -> None:
    """Many at once would slow down what they wait for."""
    bench.timing = replace(bench.timing, convergence=1)
    bench.dialling[PROBE].hook = silent = Holding(lambda _number: True, TIMED_OUT)
    thread, converged = waiting(bench)
    eventually(lambda: silent.held == UNDER_WAY)
    thread.join(8)
    assert converged == [False]
    assert silent.probed == UNDER_WAY
    silent.opened.set()


def test_polls_come_before_checks(bench: Bench, eventually: Eventually) -> None:
    """They have a deadline, and a verdict hangs on it: the turn of hundreds of checks is no time of a Service's."""
    slots = Slots(at_once=1, patience=60, ceiling=1)
    sender = bench.observer([]).sender
    sender = replace(sender, probes={PROBE: replace(sender.probes[PROBE], http_slots=slots)})
    order: list[str] = []

    def check() -> None:
        with slots:
            order.append("check")

    def poll() -> None:
        host = str(bench.services[SERVICE].addresses[0])
        wanted = dial(host, 80, Protocol.TCP, "hostname", bench.timing)
        sender.carry_out(wanted, action(PROBE, TargetKind.SERVICE_CLUSTERIP))

    def probed(_path: str) -> HttpAnswer | None:
        order.append("poll")
        return TIMED_OUT

    bench.dialling[PROBE].hook = probed
    threads = [threading.Thread(target=one) for one in (check, poll)]
    with slots:
        for number, thread in enumerate(threads, 1):
            thread.start()
            eventually(lambda number=number: len(slots._queue) + len(slots.first) == number)  # type: ignore[misc]
    for thread in threads:
        thread.join(10)
    assert order == ["poll", "check"]
