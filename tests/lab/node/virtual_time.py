"""An event loop whose clock jumps to the next thing that is planned: back-offs of minutes in no time, exactly.

For what waits and decides, and moves no packets: a loop that jumps would overtake a real socket.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.SelectSelector):
    """Never waits: what the loop would have slept is added to its clock."""

    loop: "VirtualTime"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits for something that never comes")
        if not ready and timeout:
            self.loop.now += timeout
        return ready


class VirtualTime(asyncio.SelectorEventLoop):
    """Begins at 0 s."""

    def __init__(self) -> None:
        self.now = 0.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        """Return the seconds that would have gone by."""
        return self.now


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(work)


def now() -> float:
    """Return the time of the running loop, without the noise of its additions."""
    return round(asyncio.get_running_loop().time(), 3)
