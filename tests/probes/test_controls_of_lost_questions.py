"""Controls of a question whose own channel failed: they are left alone."""

import threading
from collections.abc import Callable

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.probes import pending
from nettests.probes.attempts import Attempts
from tests.probes.conftest import Bench
from tests.probes.made import check
from tests.probes.test_controls import ALIVE, NOWHERE, PROBE, Silence


def test_nobody_waits_for_controls_of_a_question_whose_channel_failed(
    bench: Bench,
    eventually: Callable[[Callable[[], bool]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing can be said of the check, and controls over the same channel may take as long again, twice."""
    monkeypatch.setattr(pending, "DIAL_PATIENCE", 0.05)
    node = str(bench.facts.node("n1").addresses[0])
    server = str(bench.pods["server-linux-1-1"].addresses[0])
    silence, failed = Silence(server), threading.Event()

    def hook(path: str) -> HttpAnswer | None:
        if f"host={node}&" in path:
            assert failed.wait(10)
            raise ChannelError("the stream was lost")
        return silence(path)

    bench.dialling[PROBE].hook = hook
    probed = check(NOWHERE, ALIVE)
    probing = threading.Thread(
        target=Attempts().carry_out, args=(bench.observer([probed]).sender, probed)
    )
    probing.start()
    eventually(lambda: silence.waiting == 1)
    failed.set()
    probing.join(5)
    assert not probing.is_alive()
    silence.released.set()
    assert not bench.seen(probed).trusted
