"""Run disruptive checks only while no other check runs. Used by ``observer``."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Phases:
    """Separates calm checks from disruptive ones; thread-safe.

    A calm check is announced when it is queued, so that disruptive checks wait for the queue, too.
    """

    _changed: threading.Condition = field(default_factory=threading.Condition)
    _announced: int = 0
    _disrupted: bool = False

    def announce(self) -> None:
        """Announce a calm check; it must enter ``calm`` or ``withdraw``."""
        with self._changed:
            self._announced += 1

    def withdraw(self) -> None:
        """Withdraw an announced check that will not run, or has run."""
        with self._changed:
            self._announced -= 1
            self._changed.notify_all()

    @contextmanager
    def calm(self) -> Iterator[None]:
        """Run one announced check, at the same time as other calm ones."""
        with self._changed:
            self._changed.wait_for(lambda: not self._disrupted)
        try:
            yield
        finally:
            self.withdraw()

    @contextmanager
    def disruptive(self) -> Iterator[None]:
        """Wait until every announced check has run, and keep others from starting."""
        with self._changed:
            self._changed.wait_for(lambda: self._announced <= 0)
            self._disrupted = True
        try:
            yield
        finally:
            with self._changed:
                self._disrupted = False
                self._changed.notify_all()
