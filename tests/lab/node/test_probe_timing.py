"""When probes are run, and after how many results the container hears of it; in virtual time."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from nettests.lab.node.health import Ended, ProbeFailedError, Prober, watch
from nettests.lab.topology import OS
from tests.lab.node.nowhere import Nowhere
from tests.lab.node.virtual_time import now, run

Json = dict[str, Any]
Heard = list[tuple[float, bool]]


class Watched:
    """A container whose probe command ends with one of ``codes`` after the other; the last one stays."""

    def __init__(self, codes: Sequence[int], *, takes: float = 0.0) -> None:
        self._codes: Iterator[int] = iter(codes)
        self._code = 0
        self._takes = takes
        self.requested: list[float] = []
        self.heard: Heard = []
        self.texts: list[str] = []
        self.failed: list[str] = []

    async def execute(self, argv: Sequence[str]) -> Ended:
        """Run the probe's command."""
        assert list(argv) == ["check"]
        self.requested.append(now())
        self._code = next(self._codes, self._code)
        await asyncio.sleep(self._takes)
        return Ended(self._code, f"output {self._code}")

    def hear(self, good: bool | None, text: str) -> None:  # a probe's result
        """Take a result."""
        assert good is not None
        self.heard.append((now(), good))
        self.texts.append(text)

    def watch(self, seconds: float, probe: Json, **how: bool) -> "Watched":
        """Probe the container for so many seconds."""
        prober = Prober(
            node=Nowhere(), os=OS.LINUX, address="10.244.1.2", ports=(), execute=self.execute
        )

        async def work() -> None:
            try:
                async with asyncio.timeout(seconds):
                    spec = {"exec": {"command": ["check"]}, **probe}
                    await watch(prober, spec, self.hear, failed=self.failed.append, **how)
            except TimeoutError:
                return

        run(work())
        return self


def test_the_first_probe_waits_for_its_delay_and_the_others_for_the_period() -> None:
    """``initialDelaySeconds`` once, then every ``periodSeconds``."""
    watched = Watched([0]).watch(26, {"initialDelaySeconds": 5, "periodSeconds": 10})
    assert watched.requested == [5, 15, 25]


def test_without_a_period_a_probe_is_run_every_ten_seconds() -> None:
    """The API's default, from the very start."""
    assert Watched([0]).watch(21, {}).requested == [0, 10, 20]


def test_failures_are_told_after_three_in_a_row() -> None:
    """``failureThreshold`` is three by default, and each further failure is told too."""
    watched = Watched([1]).watch(41, {})
    assert watched.heard == [(20, False), (30, False), (40, False)]
    assert set(watched.texts) == {"output 1"}
    assert watched.failed == ["output 1"] * 5  # an event each, from the first on


def test_a_success_in_between_begins_the_count_anew() -> None:
    """Two failures, a success and two failures are never three in a row."""
    watched = Watched([1, 1, 0, 1, 1, 0]).watch(55, {})
    assert watched.heard == [(20, True), (50, True)]


def test_successes_can_be_wanted_in_a_row_too() -> None:
    """``successThreshold``: a container that came back is ready with the second success."""
    watched = Watched([1, 0, 0]).watch(25, {"failureThreshold": 1, "successThreshold": 2})
    assert watched.heard == [(0, False), (20, True)]


def test_a_startup_probe_ends_with_its_first_success() -> None:
    """Liveness and readiness come after it; what it failed before is forgotten."""
    watched = Watched([1, 1, 0]).watch(100, {"failureThreshold": 30}, until_success=True)
    assert (watched.requested, watched.heard) == ([0, 10, 20], [(20, True)])


def test_an_eager_probe_is_run_ten_times_in_the_first_second() -> None:
    """A kubelet also looks at a pod that is not ready at each of its syncs."""
    watched = Watched([1]).watch(21.5, {"periodSeconds": 10}, eager=True)
    assert watched.requested == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 10.9, 20.9]


def test_an_eager_probe_keeps_its_period_once_it_succeeded() -> None:
    """What is ready is looked at every period, also where it fails again."""
    watched = Watched([1, 0, 1]).watch(25, {"periodSeconds": 10}, eager=True)
    assert watched.requested == [0, 0.1, 10.1, 20.1]


def test_a_probe_that_takes_too_long_has_failed() -> None:
    """``timeoutSeconds`` is one by default; the next one begins a period after that."""
    watched = Watched([0], takes=5).watch(12.5, {"failureThreshold": 1})
    assert (watched.requested, watched.heard) == ([0, 11], [(1, False), (12, False)])
    assert watched.texts[0] == "command timed out or no answer within 1 s"


def test_a_longer_timeout_lets_it_succeed() -> None:
    """Five seconds are within six."""
    watched = Watched([0], takes=5).watch(7, {"timeoutSeconds": 6})
    assert watched.heard == [(5, True)]


@pytest.mark.parametrize("handler", [{}, {"grpc": {"port": 1}}])
def test_a_handler_that_the_lab_has_not_fails_with_a_reason(handler: Json) -> None:
    """gRPC probes do not exist here, and say so instead of succeeding."""
    prober = Prober(
        node=Nowhere(), os=OS.LINUX, address="10.244.1.2", ports=(), execute=Watched([0]).execute
    )
    with pytest.raises(ProbeFailedError, match="missing probe handler"):
        run(prober.request(handler))
