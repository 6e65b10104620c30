"""A control that has to reach several backends costs one time-out where all are silent."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.check import Control
from nettests.model.words import Question, TargetKind
from nettests.probes import pending
from nettests.probes.attempts import Attempts
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.test_series import PROBE, TIMED_OUT, Gate


def test_a_control_that_has_to_reach_several_backends_is_silent_once(
    bench: Bench,
    eventually: Callable[[Callable[[], bool]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many connections as are taken for silence wait beside each other, and beside those of the check."""
    monkeypatch.setattr(pending, "DIAL_PATIENCE", 0.05)
    bench.dialling[PROBE].hook = gate = Gate(0, TIMED_OUT)
    spread = action(
        PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.DISTRIBUTE, connections=9
    )
    probed = check(spread, Control(proves="target", action=replace(spread, connections=8)))
    sender = bench.observer([probed]).sender
    probing = threading.Thread(target=Attempts().carry_out, args=(sender, probed))
    probing.start()
    eventually(lambda: gate.held == 1 + bench.timing.failures)
    gate.opened.set()
    probing.join(10)
    purposes = [raw.purpose for raw in bench.raws(probed.id)]
    assert purposes.count("control:target") == bench.timing.failures
