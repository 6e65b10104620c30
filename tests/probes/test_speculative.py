"""Checks of Services that are silent: probed before their time, believed only if nothing has changed since."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Control
from nettests.model.words import Outcome, Question, TargetKind
from nettests.probes import convergence
from nettests.probes.controls import Controls
from nettests.probes.sending import StoppedError
from nettests.probes.service_pairs import Pair
from nettests.probes.speculative import Held, SpeculativeRun, Waiting
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
SERVICE = "svc-server-linux-1-1"
CONNECTED = HttpAnswer(status=200, body=json.dumps({"responses": ["server-linux-1-1"]}))
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
ONE, OTHER = (Pair(TargetKind.SERVICE_CLUSTERIP, name, PROBE) for name in ("one", "other"))


@pytest.fixture
def stalling(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is silent for a moment is run before its time."""
    monkeypatch.setattr(convergence, "STALLED_SECONDS", 0.05)


@pytest.mark.usefixtures("stalling")
def test_a_silent_services_check_is_run_within_its_deadline(bench: Bench) -> None:
    """Its answers are older than the deadline, are written after it, once, and name the Service that is late."""
    bench.timing = replace(bench.timing, convergence=1.5)
    address = str(bench.services[SERVICE].addresses[0])
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if address in path else None
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    (record,) = bench.records("convergence")
    assert not record["converged"]
    raws = bench.raws(probed.id)
    assert [raw.purpose for raw in raws] == ["check", "check"]
    assert all(raw.started + raw.elapsed < record["seconds"] for raw in raws)
    assert SERVICE in bench.done(probed.id)["late"]
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


@pytest.mark.usefixtures("stalling")
def test_what_converges_after_all_is_run_again(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Nothing of what was run before its time is in the journal, and the check sees only successes."""
    bench.timing = replace(bench.timing, convergence=5)
    address = str(bench.services[SERVICE].addresses[0])
    early = []

    def hook(path: str) -> HttpAnswer | None:
        if address not in path:
            return None
        early.append(path)
        # Three polls are silent and then, as "two in a row" shows, so are the check's own questions.
        return TIMED_OUT if len(early) < 6 else None

    bench.dialling[PROBE].hook = hook
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert {raw.purpose for raw in bench.raws(probed.id)} == {"check"}
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (Outcome.CONNECTED, True)
    assert "late" not in bench.done(probed.id)
    assert bench.told.count(("observe", 1, 1)) == 1


def test_what_is_void_probes_no_further(bench: Bench) -> None:
    """A question that waits for its turn when a Service converges is not run: its answer would be dropped."""
    probed = check(action(PROBE, TargetKind.POD_IP))
    void = threading.Event()

    @contextmanager
    def turn() -> Iterator[None]:
        void.set()
        yield

    sender = bench.observer([probed]).sender
    probe = replace(sender.probes[PROBE], http_slots=turn())
    sender = replace(sender, probes={PROBE: probe}, stopped=void)
    with pytest.raises(StoppedError):
        sender.send(probed.id, "check", 1, probed.action)
    assert bench.raws() == []
    assert bench.dialling[PROBE].probed == []


def test_a_control_is_run_to_its_end(bench: Bench) -> None:
    """Other checks lean on it, too: that the check which began it is not run any more does not end it."""
    control = Control(proves="target", action=action(PROBE, TargetKind.POD_IP))
    probed = replace(check(action(PROBE, TargetKind.SERVICE_CLUSTERIP)), controls=(control,))
    void = threading.Event()
    void.set()
    assert Controls().send(replace(bench.observer([probed]).sender, stopped=void), probed)


def test_what_is_held_is_written_in_its_order(bench: Bench) -> None:
    """Nothing is in the journal before the release; then the answers are, and that the check is done."""
    probed = check(action(PROBE, TargetKind.POD_IP))
    held = Held(bench.journal, probed.action.question)
    sender = replace(bench.observer([probed]).sender, recorder=held)
    for number in (1, 2):
        sender.send(probed.id, "check", number, probed.action)
    held.done(probed.id, distrust="for a reason")
    assert bench.raws() == []
    held.release(probed.id, "Service x did not answer")
    assert [raw.attempt for raw in bench.raws(probed.id)] == [1, 2]
    done = bench.done(probed.id)
    assert (done["distrust"], done["late"]) == ("for a reason", "Service x did not answer")


def held_with(bench: Bench, *said: tuple[str, int, HttpAnswer], question: Question) -> Held:
    """Return what holds these answers, each with its purpose and number."""
    held = Held(bench.journal, question)
    probed = check(action(PROBE, TargetKind.POD_IP))
    sender = replace(bench.observer([probed]).sender, recorder=held)
    for purpose, number, answer in said:
        bench.dialling[PROBE].hook = lambda _, answer=answer: answer
        sender.send(probed.id, purpose, number, probed.action)
    return held


FIRST, SECOND = ("check", 1, CONNECTED), ("check", 2, CONNECTED)
LOST, LOST_LATER = ("check", 1, TIMED_OUT), ("check", 2, TIMED_OUT)
ALIVE, DEAD = ("control:target", 1, CONNECTED), ("control:target", 1, TIMED_OUT)


@pytest.mark.parametrize(
    ("said", "proven"),
    [
        ((FIRST, SECOND), True),
        ((FIRST, LOST_LATER, ALIVE), True),
        ((FIRST, LOST_LATER, DEAD), False),
        ((FIRST, LOST_LATER, DEAD, ALIVE), True),
        ((LOST, SECOND, ALIVE), False),
        ((SECOND,), False),
        ((), False),
    ],
)
def test_what_served_from_the_first_answer_on_is_proven(
    bench: Bench, said: tuple[tuple[str, int, HttpAnswer], ...], proven: bool
) -> None:
    """What is lost after it is no proxy's lateness; a first silence may be, and so may a dead control."""
    assert held_with(bench, *said, question=Question.REACH).proven is proven


def test_a_distribution_is_never_proven_before_its_service_has_converged(bench: Bench) -> None:
    """The first backend may answer when the others are not programmed yet."""
    held = held_with(bench, FIRST, SECOND, question=Question.DISTRIBUTE)
    assert held.refuted
    assert not held.proven


def test_a_check_that_was_stopped_proves_nothing(bench: Bench) -> None:
    """It was not run to its end."""
    held = held_with(bench, FIRST, question=Question.REACH)
    held.done("a check", distrust="the run was stopped")
    assert not held.proven


def test_a_convergence_leaves_alone_what_was_answered_before(bench: Bench) -> None:
    """It is not run a second time: a path that loses packets would take as long again."""
    held = held_with(bench, FIRST, question=Question.REACH)
    early = SpeculativeRun(frozenset({ONE}), held, finished(), threading.Event())
    early.doubt()
    assert not early.void.is_set()
    assert early.counts()


def test_a_convergence_ends_what_was_silent_before(bench: Bench) -> None:
    """Its silence was that of a Service that was not programmed yet."""
    held = held_with(bench, LOST, question=Question.REACH)
    early = SpeculativeRun(frozenset({ONE}), held, finished(), threading.Event())
    early.doubt()
    assert early.void.is_set()


def test_a_first_answer_that_comes_after_the_convergence_decides(bench: Bench) -> None:
    """It was under way then: if it is positive all counts, else the check is run again."""
    for said, counts in ((FIRST, True), (LOST, False)):
        held = held_with(bench, question=Question.REACH)
        early = SpeculativeRun(frozenset({ONE}), held, finished(), threading.Event())
        early.doubt()
        assert not early.void.is_set()
        for raw in held_with(bench, said, question=Question.REACH).raws:
            held.raw(raw)
        assert early.counts() is counts


def test_what_does_not_count_is_not_waited_for(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Its first answer was negative, and is known: its controls may wait for a resolver for 40 s."""
    held = held_with(bench, question=Question.REACH)
    under_way: Future[None] = Future()
    early = SpeculativeRun(frozenset({ONE}), held, under_way, threading.Event())
    early.doubt()
    told: list[bool] = []
    waiting = threading.Thread(target=lambda: told.append(early.counts()), daemon=True)
    waiting.start()
    for raw in held_with(bench, LOST, question=Question.REACH).raws:
        held.raw(raw)
    eventually(lambda: told == [False])
    assert early.void.is_set()
    waiting.join(10)


def test_what_ends_without_an_answer_is_not_waited_for(bench: Bench) -> None:
    """A check that could not be run has no first answer, and is run again."""
    held = held_with(bench, question=Question.REACH)
    early = SpeculativeRun(frozenset({ONE}), held, finished(), threading.Event())
    early.doubt()
    assert not early.counts()


def finished() -> Future[None]:
    """Return what has been run to its end."""
    done: Future[None] = Future()
    done.set_result(None)
    return done


def begun(waiting: Waiting, bench: Bench, question: Question = Question.DISTRIBUTE) -> None:
    """Probe what waits before its time."""
    waiting.run = SpeculativeRun(
        frozenset(waiting.pairs), Held(bench.journal, question), Future(), threading.Event()
    )


def test_a_check_begins_early_when_all_it_waits_for_is_silent(bench: Bench) -> None:
    """One Service that may still answer in time is worth waiting for; what has begun is not begun twice."""
    waiting = Waiting({ONE, OTHER})
    assert not waiting.may_begin({ONE})
    assert waiting.may_begin({ONE, OTHER})
    begun(waiting, bench)
    assert not waiting.may_begin({ONE, OTHER})


def test_one_that_converged_makes_it_begin_again(bench: Bench) -> None:
    """What was tested while it was silent tells nothing; the other one is still silent."""
    waiting = Waiting({ONE, OTHER})
    begun(waiting, bench)
    waiting.settle(ONE, converged=True)
    assert waiting.kept() is None
    assert waiting.may_begin({ONE, OTHER})


def test_one_that_missed_its_deadline_keeps_what_was_tested(bench: Bench) -> None:
    """The answers count when nothing that was waited for has converged."""
    waiting = Waiting({ONE, OTHER})
    begun(waiting, bench)
    waiting.settle(ONE, converged=False)
    waiting.settle(OTHER, converged=False)
    assert waiting.kept() is waiting.run
    assert not waiting.may_begin({ONE, OTHER})


def test_a_convergence_before_it_began_changes_nothing(bench: Bench) -> None:
    """Only what was awaited when the check was run can make its answers void."""
    waiting = Waiting({ONE, OTHER})
    waiting.settle(ONE, converged=True)
    begun(waiting, bench)
    waiting.settle(OTHER, converged=False)
    assert waiting.kept() is waiting.run
