"""Positive controls and repeats where questions are silent: probed side by side, and dead ones once for all."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Action, Control
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.probes import pending
from nettests.probes.attempts import Attempts
from nettests.probes.controls import SHARED, WINDOW_SECONDS, Controls
from nettests.probes.pace import BURST, Pace, Refusal
from nettests.probes.pending import patience
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.netexec import Server

PROBE = "probe-windows-1-1"
CONNECTED = HttpAnswer(status=200, body=json.dumps({"responses": ["server-linux-1-1"]}))
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
DEAD = Control(
    proves="vantage", action=action(PROBE, TargetKind.POD_IP, pod="server-windows-1-1", on="w1")
)
ALIVE = Control(proves="target", action=action(PROBE, TargetKind.POD_IP))
NOWHERE = action(PROBE, TargetKind.NODE_IP)
"""Nothing listens there."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no answer after a moment is taken for silent."""
    monkeypatch.setattr(pending, "DIAL_PATIENCE", 0.05)


class Silence:
    """Answers after the release that a dial timed out, for what goes to some addresses; counts what waits."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.released = threading.Event()
        self.waiting = 0
        self._lock = threading.Lock()

    def __call__(self, path: str) -> HttpAnswer | None:
        if not any(f"host={one}&" in path for one in self.addresses):
            return None
        with self._lock:
            self.waiting += 1
        assert self.released.wait(10)
        return TIMED_OUT


@pytest.mark.usefixtures("impatient")
def test_a_silent_question_is_repeated_beside_itself_with_its_controls(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """While the first question waits for its time-out the control is run, and the question once more."""
    node = str(bench.facts.node("n1").addresses[0])
    bench.dialling[PROBE].hook = silence = Silence(node)
    probed = check(NOWHERE, ALIVE)
    observing = threading.Thread(target=bench.observe, args=(probed,))
    observing.start()
    eventually(lambda: silence.waiting == 2)
    assert [raw.purpose for raw in bench.raws(probed.id)] == ["control:target"]
    silence.released.set()
    observing.join(10)
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed, len(seen.attempts)) == (Outcome.TIMED_OUT, True, 2)
    assert [one.number for one in seen.attempts] == [1, 2]
    assert [control.ok for control in seen.controls] == [True]


@pytest.mark.usefixtures("impatient")
def test_a_late_answer_is_one_attempt_of_several(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Beside a question that waits, and another that was answered, all is probed that a positive result needs."""
    node = str(bench.facts.node("n1").addresses[0])
    release, slow = threading.Event(), iter([True])

    def hook(path: str) -> HttpAnswer | None:
        if f"host={node}&" in path and next(slow, False):
            assert release.wait(10)
        return None

    bench.dialling[PROBE].hook = hook
    probed = check(NOWHERE, ALIVE)
    with Server("kubelet", node, ports=(10251, 10250, 10252)):
        observing = threading.Thread(target=bench.observe, args=(probed,))
        observing.start()
        eventually(lambda: len(bench.raws(probed.id)) == 3)
        release.set()
        observing.join(10)
    assert sorted(raw.purpose for raw in bench.raws(probed.id)) == ["check"] * 3 + [
        "control:target"
    ]
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (Outcome.CONNECTED, True)
    assert [one.number for one in seen.attempts] == [1, 2, 3]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("alive", "sent_in_all"), [(True, 2), (False, 1)])
def test_a_resolver_that_gave_up_is_retried_only_where_the_dns_is_alive(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, alive: bool, sent_in_all: int
) -> None:
    """A resolver repeats its query itself; beside a control that answers the silence may still be one packet's."""
    monkeypatch.setattr(pending, "RESOLVER_SECONDS", 0.1)
    name = "svc.example"

    def hook(path: str) -> HttpAnswer | None:
        if f"host={name}&" in path:
            threading.Event().wait(0.2)
            return TIMED_OUT
        return None if alive else TIMED_OUT

    bench.dialling[PROBE].hook = hook
    question = action(PROBE, TargetKind.SERVICE_FQDN, name_form=name)
    probed = check(
        question, replace(ALIVE, action=replace(ALIVE.action, target=DEAD.action.target))
    )
    Attempts().carry_out(bench.observer([probed]).sender, probed)
    assert len([raw for raw in bench.raws(probed.id) if raw.purpose == "check"]) == sent_in_all
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("id_", "at_once"), [("flow/a/b", 3), ("flow/a/b#n1 → n2", 2)], ids=["a check", "a member"]
)
def test_beside_a_resolver_that_answers_others_all_is_probed_at_once(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None], id_: str, at_once: int
) -> None:
    """It loses queries: an answer may take as long as it repeats them, and a result needs several.

    One success is enough for a member, two failures are not less than for others.
    """
    name = "svc.example"
    bench.dialling[PROBE].hook = silence = Silence(name)
    probed = check(action(PROBE, TargetKind.SERVICE_FQDN, name_form=name), ALIVE, id=id_)
    sender = bench.observer([probed]).sender
    sender.resolvers.note_answer(PROBE, time.monotonic() + 60)
    probing = threading.Thread(target=Attempts().carry_out, args=(sender, probed))
    probing.start()
    eventually(lambda: silence.waiting == at_once)
    silence.released.set()
    probing.join(10)
    numbers = [raw.attempt for raw in bench.raws(probed.id) if raw.purpose == "check"]
    assert sorted(numbers) == list(range(1, at_once + 1))


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_is_slow_after_others_brings_no_more_questions(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """On a slow machine more of them make all of them slower: what is run anyway is probed beside it, and no control."""
    node = str(bench.facts.node("n1").addresses[0])
    release, first = threading.Event(), iter([True])
    slow: list[str] = []

    def hook(path: str) -> HttpAnswer | None:
        if f"host={node}&" in path and not next(first, False):
            slow.append(path)
            assert release.wait(10)
        return None

    bench.dialling[PROBE].hook = hook
    probed = check(NOWHERE, ALIVE)
    with Server("kubelet", node, ports=(10251, 10250, 10252)):
        observing = threading.Thread(target=bench.observe, args=(probed,))
        observing.start()
        eventually(lambda: len(slow) == bench.timing.successes - 1)
        release.set()
        observing.join(10)
    assert [raw.purpose for raw in bench.raws(probed.id)] == ["check"] * bench.timing.successes


@pytest.mark.usefixtures("impatient")
def test_a_silence_after_a_failure_is_the_last(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """Two failures are enough: nothing is probed beside the second."""
    node = str(bench.facts.node("n1").addresses[0])
    silence = Silence(node)
    first = iter([TIMED_OUT])
    bench.dialling[PROBE].hook = lambda path: (
        next(first, None) or silence(path) if f"host={node}&" in path else None
    )
    probed = check(NOWHERE, ALIVE)
    observing = threading.Thread(target=bench.observe, args=(probed,))
    observing.start()
    eventually(lambda: silence.waiting == 1)
    observing.join(0.3)
    assert silence.waiting == 1
    silence.released.set()
    observing.join(10)
    assert [raw.purpose for raw in bench.raws(probed.id)] == ["check", "control:target", "check"]


@pytest.mark.usefixtures("impatient")
def test_where_queries_get_lost_answers_that_disagree_are_enough(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """What is flaky stays so, and each further answer may take as long as a resolver repeats its query."""
    name = "svc.example"
    silence = Silence(name)
    lost = iter([True])

    def hook(path: str) -> HttpAnswer | None:
        timed_out = silence(path)
        if timed_out and "port=80&" in path and next(lost, False):
            return timed_out
        return CONNECTED if timed_out else None

    bench.dialling[PROBE].hook = hook
    probed = check(action(PROBE, TargetKind.SERVICE_FQDN, name_form=name), ALIVE)
    sender = bench.observer([probed]).sender
    sender.resolvers.note_answer(PROBE, time.monotonic() + 60)
    probing = threading.Thread(target=Attempts().carry_out, args=(sender, probed))
    probing.start()
    eventually(lambda: silence.waiting == bench.timing.successes)
    silence.released.set()
    probing.join(10)
    seen = [(one.port, one.outcome.positive) for one in bench.seen(probed).attempts]
    assert sorted(seen) == [(80, False), (80, True), (82, True)]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("answers", "sent_in_all"), [(True, 2), (False, 1)])
def test_a_control_by_name_is_retried_beside_itself_where_its_resolver_answers_others(
    bench: Bench,
    eventually: Callable[[Callable[[], bool]], None],
    answers: bool,
    sent_in_all: int,
) -> None:
    """A resolver that answers nobody repeats its query itself: a second silence would show no more."""
    name = "svc.example"
    bench.dialling[PROBE].hook = silence = Silence(name)
    control = Control(
        proves="target", action=action(PROBE, TargetKind.SERVICE_FQDN, name_form=name)
    )
    probed = check(NOWHERE, control)
    sender = bench.observer([probed]).sender
    sender.resolvers.note_answer(PROBE, time.monotonic() + (60 if answers else -60))
    probing = threading.Thread(target=Controls().send, args=(sender, probed))
    probing.start()
    eventually(lambda: silence.waiting == sent_in_all)
    probing.join(0.3)
    assert silence.waiting == sent_in_all
    silence.released.set()
    probing.join(10)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("refused", "sent_in_all"), [(0, 2), (BURST, 2 + BURST)])
def test_a_silent_question_at_the_kernels_pace_does_not_hold_the_next(
    bench: Bench,
    eventually: Callable[[Callable[[], bool]], None],
    monkeypatch: pytest.MonkeyPatch,
    refused: int,
    sent_in_all: int,
) -> None:
    """Each would be waited for to its time-out, as often as a kernel may have kept its refusal back."""
    monkeypatch.setattr(Pace, "reserve", lambda _pace, _probe, now: Refusal(now))
    node = str(bench.facts.node("n1").addresses[0])
    bench.dialling[PROBE].hook = silence = Silence(node)
    probed = replace(
        check(action(PROBE, TargetKind.NODE_IP, Protocol.UDP)),
        claim=Expected(outcome=Outcome.REFUSED),
        controls=(),
    )
    sender = bench.observer([probed]).sender
    for _ in range(refused):
        sender.pace.note_refusal(PROBE, time.monotonic(), time.monotonic())
    probing = threading.Thread(target=Attempts().carry_out, args=(sender, probed))
    probing.start()
    eventually(lambda: silence.waiting >= sent_in_all)
    probing.join(0.2)
    assert silence.waiting == sent_in_all
    silence.released.set()
    probing.join(10)
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (Outcome.TIMED_OUT, True)
    assert [one.number for one in seen.attempts] == list(range(1, sent_in_all + 1))


PING = action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING)
FROM_A_NODE = action("node-windows-1-1", TargetKind.POD_IP)


@pytest.mark.parametrize(("alive", "sent_in_all"), [(True, 2), (False, 1)])
@pytest.mark.parametrize("question", [PING, FROM_A_NODE], ids=["echoes", "a process' SYN"])
def test_what_repeats_itself_is_retried_only_beside_controls_that_answer(
    bench: Bench, question: Action, alive: bool, sent_in_all: int
) -> None:
    """``ping`` and TCP send again what was lost; where controls are silent, too, a second silence shows no more."""
    bench.processes[question.source.probe].silent = True
    control = ALIVE if alive else replace(ALIVE, action=NOWHERE)
    probed = check(question, control)
    Attempts().carry_out(bench.observer([probed]).sender, probed)
    assert len([raw for raw in bench.raws(probed.id) if raw.purpose == "check"]) == sent_in_all
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


def test_a_silent_datagram_is_requested_again_whatever_the_controls_say(bench: Bench) -> None:
    """One datagram is one packet: its loss is told from a path that carries none by retrying."""
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if "protocol=udp" in path else None
    probed = check(
        action(PROBE, TargetKind.POD_IP, Protocol.UDP),
        replace(ALIVE, action=NOWHERE),
        id="flow/udp",
    )
    bench.observe(probed)
    assert len([raw for raw in bench.raws(probed.id) if raw.purpose == "check"]) == 2


def test_a_dead_control_is_run_once_in_its_window(bench: Bench) -> None:
    """The second check that leans on it takes over what it brought, and says whose question it was."""
    victim = str(bench.pods["server-windows-1-1"].addresses[0])
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if f"host={victim}&" in path else None
    first, second = (check(NOWHERE, DEAD, id=name) for name in ("first", "second"))
    now = [100.0]
    controls = Controls(clock=lambda: now[0])
    sender = bench.observer([first, second]).sender
    controls.send(sender, first)
    now[0] += WINDOW_SECONDS / 2
    controls.send(sender, second)
    own, shared = bench.raws("first"), bench.raws("second")
    assert len(bench.dialling[PROBE].probed) == len(own) == len(shared) == 2
    assert {raw.context.get(SHARED) for raw in own} == {None}
    assert {raw.context[SHARED] for raw in shared} == {"first"}
    assert {raw.purpose for raw in shared} == {"control:vantage"}
    now[0] += WINDOW_SECONDS
    controls.send(sender, replace(second, id="third"))
    assert len(bench.dialling[PROBE].probed) == 4


def test_a_control_that_is_under_way_is_shared_however_long_it_waits(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """A node's queue may be longer than the window: what comes of a question counts from when it was sent."""
    silence = Silence(str(bench.pods["server-windows-1-1"].addresses[0]))
    bench.dialling[PROBE].hook = silence
    first, second = (check(NOWHERE, DEAD, id=name) for name in ("first", "second"))
    now = [100.0]
    controls = Controls(clock=lambda: now[0])
    sender = bench.observer([first, second]).sender
    probing = [
        threading.Thread(target=controls.send, args=(sender, one)) for one in (first, second)
    ]
    probing[0].start()
    eventually(lambda: silence.waiting == 1)
    now[0] += 2 * WINDOW_SECONDS
    probing[1].start()
    silence.released.set()
    for one in probing:
        one.join(10)
    assert {raw.context.get(SHARED) for raw in bench.raws("second")} == {"first"}


def test_a_control_that_answers_is_run_in_each_checks_own_window(bench: Bench) -> None:
    """What answered a moment ago proves nothing of now."""
    controls = Controls()
    for name in ("first", "second"):
        one = check(NOWHERE, ALIVE, id=name)
        controls.send(bench.observer([one]).sender, one)
        assert [raw.context.get(SHARED) for raw in bench.raws(name)] == [None]
    assert len(bench.dialling[PROBE].probed) == 2


def test_a_control_whose_channel_fails_spoils_nothing_else(bench: Bench) -> None:
    """A channel error is a control that did not answer."""

    def broken(_: str) -> HttpAnswer:
        raise ChannelError("the stream was lost")

    bench.dialling[PROBE].hook = broken
    one = check(NOWHERE, ALIVE)
    Controls().send(bench.observer([one]).sender, one)
    assert [raw.error is not None for raw in bench.raws(one.id)] == [True, True]


@pytest.mark.parametrize(
    "question", [Question.START, Question.ADMIT, Question.INSPECT, Question.IDLE]
)
def test_what_makes_objects_is_never_run_beside_itself(question: Question) -> None:
    """A Pod that takes its time to start is no reason to start another one."""
    assert patience(replace(NOWHERE, question=question)) == threading.TIMEOUT_MAX
    assert patience(NOWHERE) < 5, "a dial's own time-out"
