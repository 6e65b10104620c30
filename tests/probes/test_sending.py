"""How long a question took, and when a refusal was told, as the journal and the pace of refusals have it."""

import json
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import pytest

from nettests.bounds import Slots
from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer
from nettests.model.check import Action
from nettests.model.words import OS, Outcome, Protocol, Question, Resolver, TargetKind, VantageKind
from nettests.parse.read import read_raw
from nettests.probes.addresses import NotStandingError
from nettests.probes.examine import Examination
from nettests.probes.pace import Pace
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-linux-1-1"
REFUSED = HttpAnswer(status=200, body=json.dumps({"errors": ["connect: connection refused"]}))
SECONDS = 0.2


def slowly(answer: HttpAnswer) -> HttpAnswer:
    """Return an answer after a while."""
    threading.Event().wait(SECONDS)
    return answer


def test_opening_a_channel_is_no_part_of_an_answers_time(bench: Bench) -> None:
    """An API server that takes a second for a port-forward does not look like a lost SYN."""
    answer = replace(REFUSED, seconds=0.001)
    bench.dialling[PROBE].hook = lambda _: slowly(answer)
    probed = check(action(PROBE, TargetKind.POD_IP))
    raw = bench.observer([probed]).sender.send(probed.id, "check", 1, probed.action)
    assert raw.elapsed == 0.001


def test_an_answers_time_is_the_questions_where_nothing_else_is_known(bench: Bench) -> None:
    """Over the API server's proxy each request opens its own way."""
    bench.dialling[PROBE].hook = lambda _: slowly(REFUSED)
    probed = check(action(PROBE, TargetKind.POD_IP))
    raw = bench.observer([probed]).sender.send(probed.id, "check", 1, probed.action)
    assert raw.elapsed >= SECONDS


def test_what_a_lost_request_took_is_no_part_of_an_answers_time(bench: Bench) -> None:
    """A request repeated over the other channel does not look like one whose first packet was lost."""

    @dataclass
    class Loses:
        name: str = "loses"

        def get(self, path: str, *, timeout: float) -> HttpAnswer:
            threading.Event().wait(SECONDS)
            raise ChannelError(f"{path} was lost within {timeout} s")

        def close(self) -> None:
            """Nothing is open."""

    probed = check(action(PROBE, TargetKind.POD_IP))
    sender = bench.observer([probed]).sender
    probe = sender.probes[PROBE]
    both = {**sender.probes, PROBE: replace(probe, http=(Loses(), *probe.http))}
    raw = replace(sender, probes=both).send(probed.id, "check", 1, probed.action)
    assert raw.channel == probe.http[0].name
    assert raw.elapsed < SECONDS


def test_a_refusal_is_told_when_it_comes(bench: Bench) -> None:
    """What is refused late may have been refused at any moment until then."""
    told: list[float] = []

    class Remembered(Pace):
        def note_refusal(self, probe: str, since: float, until: float) -> None:
            assert (probe, since < until) == (PROBE, True)
            told.append(until)

    bench.dialling[PROBE].hook = lambda _: slowly(REFUSED)
    probed = check(action(PROBE, TargetKind.POD_IP))
    probed = replace(probed, action=replace(probed.action, protocol=Protocol.UDP))
    sender = replace(bench.observer([probed]).sender, pace=Remembered())
    raw = sender.send(probed.id, "check", 1, probed.action)
    assert read_raw(raw).outcome is Outcome.REFUSED
    (at,) = told
    assert at - sender.began >= raw.started + SECONDS


@dataclass
class HangsOnce:
    """A container whose first process never ends for its client."""

    begun: int = 0
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)
    end: threading.Event = field(default_factory=threading.Event)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run a ping: without success the first time."""
        self.begun += 1
        if self.begun == 1:
            self.end.wait(timeout)
            raise ChannelError(f"{argv[0]} did not end within {timeout:g} s")
        said = f"64 bytes from {argv[-1]}: seq=0 ttl=63"
        return ExecAnswer(exit_code=0, stdout=said, stderr="")


def test_a_process_that_hangs_is_run_again_and_the_journal_says_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer's time is that of the process which answered: the first one was no lost packet."""
    monkeypatch.setattr("nettests.probes.sending.HANG_SECONDS", SECONDS)
    hangs = HangsOnce()
    probed = check(action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    sender = bench.observer([probed]).sender
    sender = replace(sender, probes={PROBE: replace(sender.probes[PROBE], execute=hangs)})
    raw = sender.send(probed.id, "check", 1, probed.action)
    hangs.end.set()
    assert read_raw(raw).outcome is Outcome.REPLIED
    assert raw.elapsed < SECONDS
    assert "run again: ping" in bench.journal.path.read_text()


@dataclass
class Slow:
    """A container whose processes take a while."""

    begun: int = 0
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Print nothing, late."""
        self.begun += 1
        threading.Event().wait(SECONDS)
        return ExecAnswer(exit_code=1, stdout="", stderr=f"{argv[0]}: no answer")


@pytest.mark.parametrize(("question", "begun"), [(Question.RESOLVE, 1), (Question.REACH, 2)])
def test_a_resolver_may_repeat_its_query_before_its_process_is_run_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, question: Question, begun: int
) -> None:
    """An answer to a second process would hide the query that the first one had to send again."""
    monkeypatch.setattr("nettests.probes.sending.HANG_SECONDS", 0.0)
    slow = Slow()
    source = replace(action(PROBE, TargetKind.POD_IP).source, kind=VantageKind.NODE)
    one = replace(action(PROBE, TargetKind.POD_IP, question=question), source=source)
    if question is Question.RESOLVE:
        one = replace(
            one, source=action(PROBE, TargetKind.POD_IP).source, resolver=Resolver.NSLOOKUP
        )
    probed = check(one)
    sender = bench.observer([probed]).sender
    sender = replace(sender, probes={PROBE: replace(sender.probes[PROBE], execute=slow)})
    sender.send(probed.id, "check", 1, probed.action)
    assert slow.begun == begun


@pytest.mark.parametrize(("os", "begun"), [(OS.WINDOWS, 1), (OS.LINUX, 2)])
def test_a_ping_of_windows_may_pause_before_it_is_run_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, os: OS, begun: int
) -> None:
    """Its pauses are no sign that it hangs."""
    monkeypatch.setattr("nettests.probes.sending.HANG_SECONDS", 0.0)
    slow = Slow()
    ping = action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING)
    probed = check(replace(ping, source=replace(ping.source, os=os)))
    sender = bench.observer([probed]).sender
    sender = replace(sender, probes={PROBE: replace(sender.probes[PROBE], execute=slow)})
    sender.send(probed.id, "check", 1, probed.action)
    assert slow.begun == begun


def test_a_ping_waits_ahead_of_other_processes(bench: Bench) -> None:
    """Each echo has its time: a ping that is begun last is what a run waits for at its end."""
    slots = Slots(at_once=1, patience=60, ceiling=1)
    quick = HangsOnce(begun=1, slots=slots)
    probed = check(action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    sender = bench.observer([probed]).sender
    sender = replace(sender, probes={PROBE: replace(sender.probes[PROBE], execute=quick)})
    waiting = threading.Thread(target=sender.send, args=(probed.id, "check", 1, probed.action))
    with slots:
        waiting.start()
        while not (slots.first or slots._queue):
            threading.Event().wait(0.005)
        assert len(slots.first) == 1
    waiting.join(60)


def test_nobody_examines_what_does_not_stand(bench: Bench) -> None:
    """A Pod that a check starts would dial the name of a server that is gone, and call that a failure."""

    class Never:
        def examine(self, _action: Action) -> Examination:
            raise AssertionError("it was examined")

    starting = replace(action(PROBE, TargetKind.POD_IP), question=Question.START)
    probed = check(starting)
    sender = bench.observer([probed]).sender
    gone = replace(
        sender.directory.deployment, pods={}, problems={"server-linux-1-1": "it was deleted"}
    )
    sender = replace(
        sender,
        directory=replace(sender.directory, deployment=gone),
        examiners={Question.START: Never()},
    )
    with pytest.raises(NotStandingError, match="it was deleted"):
        sender.send(probed.id, "check", 1, probed.action)
