"""A late answer makes a channel no busier than its probe shows it to be."""

import math
import time

import pytest

from nettests.bounds import took
from nettests.bounds.slots import REMEMBERED, Slots
from nettests.model.channel import HttpAnswer
from nettests.model.words import Protocol, TargetKind
from nettests.probes import pending
from nettests.probes.controls import present_patience
from nettests.probes.own_time import MEASURED_SECONDS, OwnTimes, itself
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
ITSELF = HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
LATE = 0.3
"""Seconds: more than an answer takes where nothing is slow."""


def measuring() -> tuple[OwnTimes, list[float]]:
    """Return times measured by a clock that the test moves."""
    now = [100.0]
    return OwnTimes(clock=lambda: now[0]), now


def test_a_probe_is_measured_once_for_a_while() -> None:
    """What it needed a moment ago it needs now; after a while it is measured again."""
    times, now = measuring()
    assert times.of(PROBE, lambda: 0.02) == 0.02
    now[0] += MEASURED_SECONDS
    assert times.of(PROBE, lambda: 7.0) == 0.02
    now[0] += 0.1
    assert times.of(PROBE, lambda: 7.0) == 7.0
    assert times.of("another", lambda: 1.0) == 1.0


def test_nobody_waits_for_a_measurement_that_is_under_way() -> None:
    """Until it has ended, nothing is known of the probe: late answers count as they are."""
    times, _ = measuring()
    meanwhile: list[float] = []

    def measure() -> float:
        meanwhile.append(times.of(PROBE, lambda: 9.0))
        return 0.02

    assert times.of(PROBE, measure) == 0.02
    assert meanwhile == [math.inf]


@pytest.mark.parametrize("busy", [False, True], ids=["slow path", "busy probe"])
def test_a_slow_path_does_not_make_its_probe_busy(bench: Bench, busy: bool) -> None:
    """The slots of a channel remember how long the probe needs for itself where its paths are slower than that."""

    def hook(path: str) -> HttpAnswer | None:
        if busy or "port=8080" not in path:
            time.sleep(LATE)
        return None if "port=8080" not in path else ITSELF

    bench.dialling[PROBE].hook = hook
    late = check(action(PROBE, TargetKind.POD_IP))
    sender = bench.observer([late]).sender
    for number in range(REMEMBERED):
        sender.send(late.id, "check", number, late.action)
    slots = sender.probes[PROBE].http_slots
    assert isinstance(slots, Slots)
    assert (min(slots._took) >= LATE) is busy


def test_a_probe_is_measured_by_a_small_question() -> None:
    """What a payload takes to the probe itself says how large it is, not how busy the channel is."""
    large = action(PROBE, TargetKind.POD_IP, Protocol.UDP, size=1024)
    own = itself(large)
    assert (own.size, own.protocol, own.target.pod) == (None, Protocol.TCP, PROBE)


def test_a_probe_that_answers_late_is_given_more_time(bench: Bench) -> None:
    """Repeats and controls would delay it further; a prompt one is as silent as its path."""
    probed = action(PROBE, TargetKind.POD_IP)
    sender = bench.observer(()).sender
    slots = sender.probes[PROBE].http_slots
    for seconds, expected in ((0.01, pending.patience(probed)), (4.0, 12.0)):
        for _ in range(REMEMBERED):
            took(slots, seconds)
        assert present_patience(sender, probed) == expected
