"""Whether a resolver that is silent to one question has answered another one meanwhile."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Control
from nettests.model.words import TargetKind
from nettests.probes import attempts, pending
from nettests.probes.pending import Resolvers
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.test_controls import Silence

PROBE = "probe-windows-1-1"
ALIVE = Control(proves="target", action=action(PROBE, TargetKind.POD_IP))
CONNECTED = HttpAnswer(status=200, body='{"responses": ["server-linux-1-1"]}')
DENIED = HttpAnswer(status=200, body='{"errors": ["lookup x on 10.96.0.10:53: no such host"]}')


def test_an_answer_counts_from_its_time_on() -> None:
    """What was answered before a question was sent tells nothing of it, and an older answer nothing newer."""
    resolvers = Resolvers()
    assert not resolvers.answered(PROBE, since=1)
    resolvers.note_answer(PROBE, 5)
    resolvers.note_answer(PROBE, 4)
    assert resolvers.answered(PROBE, since=5)
    assert not resolvers.answered(PROBE, since=5.1)
    assert not resolvers.answered("another", since=1)


def test_only_a_name_that_led_somewhere_is_an_answer_of_a_resolver(bench: Bench) -> None:
    """An address needs none, and a name that is denied may be what a dead upstream brings."""
    by_address = action(PROBE, TargetKind.POD_IP)
    by_name = action(PROBE, TargetKind.SERVICE_FQDN, name_form="svc.example")
    sender = bench.observer([]).sender
    for probed, answer, known in (
        (by_address, CONNECTED, False),
        (by_name, DENIED, False),
        (by_name, CONNECTED, True),
    ):
        bench.dialling[PROBE].hook = lambda _, answer=answer: answer
        sender.send(check(probed).id, "check", 1, probed)
        assert sender.resolvers.answered(PROBE, since=0) is known


def test_a_name_is_looked_up_again_once_its_resolver_has_answered_another(
    bench: Bench,
    eventually: Callable[[Callable[[], bool]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its control takes as long as it does, and is not waited for."""
    monkeypatch.setattr(pending, "DIAL_PATIENCE", 0.05)
    monkeypatch.setattr(attempts, "RESOLVER_PAUSE", 0.05)
    name, other = "svc.example", "other.example"
    silent, beside = Silence(name), Silence(other)
    bench.dialling[PROBE].hook = lambda path: silent(path) or beside(path)
    by_name = action(PROBE, TargetKind.SERVICE_FQDN, name_form=other)
    question = action(PROBE, TargetKind.SERVICE_FQDN, name_form=name)
    probed = check(question, replace(ALIVE, action=by_name), id="flow/a/b#n1 → n2")
    sender = bench.observer([probed]).sender
    probing = threading.Thread(target=attempts.Attempts().carry_out, args=(sender, probed))
    probing.start()
    eventually(lambda: beside.waiting >= 1)
    assert silent.waiting == 1
    sender.resolvers.note_answer(PROBE, time.monotonic() + 60)
    eventually(lambda: silent.waiting == 2)
    silent.released.set()
    beside.released.set()
    probing.join(10)
    numbers = [raw.attempt for raw in bench.raws(probed.id) if raw.purpose == "check"]
    assert sorted(numbers) == [1, 2]
