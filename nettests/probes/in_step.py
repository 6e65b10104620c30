"""Synchronise several watchers of one object: they go from step to step together, and one of them makes each change.

Used by ``churn``, whose Services are watched from many nodes. A watcher that misses a change leaves, and the others
wait until it has collected its evidence. Nothing is known here of Services.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class InStep:
    """Threads by name; each comes to every step, or leaves. Safe for threads."""

    names: Iterable[str]
    _left: set[str] = field(init=False)
    """The threads that have not left."""
    _came: set[str] = field(default_factory=set)
    _step: int = 0
    _failed: Exception | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._left = set(self.names)

    def come(self, name: str, act: Callable[[], None]) -> None:
        """Wait until all remaining threads have come; one of them acts, and all go on, or fail as it failed."""
        with self._changed:
            self._came.add(name)
            step = self._step
            while self._step == step and not self._left <= self._came:
                self._changed.wait()
            if self._step == step:
                self._go_on(act)
            if self._failed is not None:
                raise self._failed

    def leave(self, name: str) -> bool:
        """Come to no further step; return whether nobody is left."""
        with self._changed:
            self._left.discard(name)
            self._came.discard(name)
            self._changed.notify_all()
            return not self._left

    def _go_on(self, act: Callable[[], None]) -> None:
        self._failed = None
        try:
            act()
        except Exception as error:  # noqa: BLE001 - each of them has to fail as it did
            self._failed = error
        self._came.clear()
        self._step += 1
        self._changed.notify_all()
