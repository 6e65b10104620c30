"""How long a question took, and when a refusal was told, as the journal and the pace of refusals have it."""

import json
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import pytest

from nettests.bounds import Slots
from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse.read import read_raw
from nettests.probes.asking import HASTE
from nettests.probes.pace import Pace
from tests.probes.conftest import Stage
from tests.probes.made import ask, check

PROBE = "probe-linux-1-1"
REFUSED = HttpAnswer(status=200, body=json.dumps({"errors": ["connect: connection refused"]}))
SECONDS = 0.2


def slowly(answer: HttpAnswer) -> HttpAnswer:
    """Return an answer after a while."""
    threading.Event().wait(SECONDS)
    return answer


def test_opening_a_channel_is_no_part_of_an_answers_time(stage: Stage) -> None:
    """An API server that takes a second for a port-forward does not look like a lost SYN."""
    answer = replace(REFUSED, seconds=0.001)
    stage.dialling[PROBE].hook = lambda _: slowly(answer)
    asked = check(ask(PROBE, TargetKind.POD_IP))
    raw = stage.observer([asked]).asker.ask(asked.id, "check", 1, asked.ask)
    assert raw.elapsed == 0.001


def test_an_answers_time_is_the_questions_where_nothing_else_is_known(stage: Stage) -> None:
    """Over the API server's proxy each request opens its own way."""
    stage.dialling[PROBE].hook = lambda _: slowly(REFUSED)
    asked = check(ask(PROBE, TargetKind.POD_IP))
    raw = stage.observer([asked]).asker.ask(asked.id, "check", 1, asked.ask)
    assert raw.elapsed >= SECONDS


def test_a_refusal_is_told_when_it_comes(stage: Stage) -> None:
    """A SYN whose refusal a kernel keeps back is sent again; what is told then is told at the end."""
    told: list[float] = []

    class Remembered(Pace):
        def told(self, probe: str, at: float) -> None:
            assert probe == PROBE
            told.append(at)

    stage.dialling[PROBE].hook = lambda _: slowly(REFUSED)
    asked = check(ask(PROBE, TargetKind.POD_IP))
    asker = replace(stage.observer([asked]).asker, pace=Remembered())
    raw = asker.ask(asked.id, "check", 1, asked.ask)
    assert read_raw(raw).outcome is Outcome.REFUSED
    (at,) = told
    assert at - asker.began >= raw.started + SECONDS


@dataclass
class HangsOnce:
    """A container whose first process never ends for its client."""

    waited: list[float] = field(default_factory=list)
    slots: AbstractContextManager[object] = field(default_factory=nullcontext)

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run a ping: in vain the first time, which takes a while."""
        self.waited.append(timeout)
        if len(self.waited) == 1:
            threading.Event().wait(SECONDS)
            raise ChannelError(f"{argv[0]} did not end within {timeout:g} s")
        said = f"64 bytes from {argv[-1]}: seq=0 ttl=63"
        return ExecAnswer(exit_code=0, stdout=said, stderr="")


def test_a_process_that_hangs_is_run_again_before_all_its_time_is_over(stage: Stage) -> None:
    """The second one has all of it, and the answer's time is its own."""
    hangs = HangsOnce()
    asked = check(ask(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    asker = stage.observer([asked]).asker
    asker = replace(asker, probes={PROBE: replace(asker.probes[PROBE], execute=hangs)})
    raw = asker.ask(asked.id, "check", 1, asked.ask)
    first, second = hangs.waited
    assert second - first == pytest.approx(stage.timing.execute * (1 - 1 / HASTE))
    assert read_raw(raw).outcome is Outcome.REPLIED
    assert raw.elapsed < SECONDS


def test_a_ping_waits_ahead_of_other_processes(stage: Stage) -> None:
    """Each echo has its time: a ping that is begun last is what a run waits for at its end."""
    slots = Slots(at_once=1, patience=60, ceiling=1)
    quick = HangsOnce(waited=[0.0], slots=slots)
    asked = check(ask(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    asker = stage.observer([asked]).asker
    asker = replace(asker, probes={PROBE: replace(asker.probes[PROBE], execute=quick)})
    waiting = threading.Thread(target=asker.ask, args=(asked.id, "check", 1, asked.ask))
    with slots:
        waiting.start()
        while not (slots.first or slots._queue):
            threading.Event().wait(0.005)
        assert len(slots.first) == 1
    waiting.join(60)
