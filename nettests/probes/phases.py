"""Keep calm checks and disruptive ones apart: the latter run while no other check does. Used by ``observer``."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Phases:
    """Keeps calm checks and disruptive ones apart; safe for threads.

    A calm check is announced once it only waits for its turn, so that disruptive checks also wait for
    those in the queue.
    """

    _changed: threading.Condition = field(default_factory=threading.Condition)
    _announced: int = 0
    _disrupted: bool = False

    def announce(self) -> None:
        """Say that a calm check is about to take its turn; it has to take it."""
        with self._changed:
            self._announced += 1

    def withdraw(self) -> None:
        """Say that a check which was announced will not take its turn."""
        with self._changed:
            self._announced -= 1
            self._changed.notify_all()

    @contextmanager
    def calm(self) -> Iterator[None]:
        """Take the turn of one announced check, beside other calm ones."""
        with self._changed:
            self._changed.wait_for(lambda: not self._disrupted)
        try:
            yield
        finally:
            self.withdraw()

    @contextmanager
    def disruptive(self) -> Iterator[None]:
        """Wait until every announced check has had its turn, and let no other begin one meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._announced <= 0)
            self._disrupted = True
        try:
            yield
        finally:
            with self._changed:
                self._disrupted = False
                self._changed.notify_all()
