"""What a check no longer waits for: answers that would change nothing, and what comes of them afterwards."""

import threading

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.words import Question
from nettests.probes.attempts import Attempts
from nettests.probes.check_run import UntilDone
from nettests.probes.controls import Controls
from nettests.probes.speculative import Held
from tests.probes.conftest import Bench
from tests.probes.made import check
from tests.probes.test_controls import (
    ALIVE,
    CONNECTED,
    DEAD,
    NOWHERE,
    PROBE,
    TIMED_OUT,
    Silence,
    impatient,
)

__all__ = ["impatient"]


class FirstOnly:
    """Holds back the first answer to what goes to one address; the others come at once."""

    def __init__(self, address: str, answer: HttpAnswer = TIMED_OUT) -> None:
        self.address = address
        self.answer = answer
        self.released = threading.Event()
        self.sent = 0
        self._lock = threading.Lock()

    def __call__(self, path: str) -> HttpAnswer | None:
        if f"host={self.address}&" not in path:
            return None
        with self._lock:
            self.sent += 1
            first = self.sent == 1
        if first:
            assert self.released.wait(10)
            return self.answer
        return CONNECTED


@pytest.mark.usefixtures("impatient")
def test_a_control_that_is_proven_is_not_waited_for_again(bench: Bench) -> None:
    """Its first try may wait for half a minute, as for a name whose query was lost; the second one shows the same."""
    bench.dialling[PROBE].hook = slow = FirstOnly(str(bench.pods["server-linux-1-1"].addresses[0]))
    probed = check(NOWHERE, ALIVE)
    assert Controls().send(bench.observer([probed]).sender, probed)
    assert slow.sent == 2
    assert not slow.released.is_set()
    slow.released.set()


@pytest.mark.usefixtures("impatient")
def test_answers_that_disagree_are_not_held_up_by_controls(bench: Bench) -> None:
    """Where one port answers and fails, packets get lost: controls meet the same, and would change no verdict."""
    silence = Silence(str(bench.pods["server-windows-1-1"].addresses[0]))
    own = str(bench.pods["server-linux-1-1"].addresses[0])
    sent = iter([CONNECTED, CONNECTED, TIMED_OUT])
    bench.dialling[PROBE].hook = lambda path: (
        next(sent) if f"host={own}&" in path else silence(path)
    )
    probed = check(ALIVE.action, DEAD)
    Attempts().carry_out(bench.observer([probed]).sender, probed)
    assert silence.waiting
    assert [one.outcome.positive for one in bench.seen(probed).attempts] == [True, True, False]
    silence.released.set()


def test_what_comes_for_a_check_that_is_done_is_dropped(bench: Bench) -> None:
    """A verdict that is computed again reads the same answers as the first one did."""
    probed = check(ALIVE.action)
    bench.observe(probed)
    answer = bench.raws(probed.id)[0]
    kept = Held(bench.journal, Question.REACH)
    recorder = UntilDone(kept)
    recorder.raw(answer)
    recorder.done(probed.id)
    recorder.raw(answer)
    assert kept.raws == [answer]
