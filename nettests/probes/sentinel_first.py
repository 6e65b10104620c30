"""In a large cluster, poll a node's Services only after its sentinel has answered there.

Between ``observer``, which waits for every pair of Service and probe, and ``convergence``, which
polls one. The sentinel is the Service that was created last: while it is silent, a node is not
done, and polls of its other Services would time out after 5 s each and cost it time. If all pairs
can be polled at once, they are.
"""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from nettests.model.words import TargetKind
from nettests.probes.service_pairs import Pair

SENTINEL_SECONDS = 60.0
"""The longest wait of other Services for a node's sentinel: they may answer even if it never does."""


@dataclass(slots=True)
class SentinelFirst:
    """The order in which pairs are polled if there are more than ``at_once``; thread-safe."""

    pairs: Collection[Pair]
    sentinel: str | None
    at_once: int
    seconds: float = SENTINEL_SECONDS
    clock: Callable[[], float] = time.monotonic
    _answered: dict[str, threading.Event] = field(init=False)
    """By probe: set when the wait for its sentinel has ended; empty if all pairs can be polled at once."""
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        probes = {pair.probe for pair in self.pairs if self.many and self._is_sentinel(pair)}
        self._answered = {probe: threading.Event() for probe in probes}
        self._until = self.clock() + self.seconds

    @property
    def many(self) -> bool:
        """Whether there are more pairs than can be polled at once."""
        return len(self.pairs) > self.at_once

    def in_order(self) -> list[Pair]:
        """Return the pairs, first those that wait for no other."""
        return sorted(
            self.pairs, key=lambda pair: (not self._is_sentinel(pair), self._waits(pair), pair)
        )

    def wait(self, pair: Pair, stopped: threading.Event) -> None:
        """Return when a pair may be polled."""
        if not self._waits(pair):
            return
        if not stopped.is_set():  # after a stop sentinels count as settled
            self._answered[pair.probe].wait(max(0.0, self._until - self.clock()))

    def settle(self, pair: Pair) -> None:
        """Note that the wait for a pair has ended, whatever the result."""
        if self._is_sentinel(pair) and pair.probe in self._answered:
            self._answered[pair.probe].set()

    def _is_sentinel(self, pair: Pair) -> bool:
        return pair.name == self.sentinel

    def _waits(self, pair: Pair) -> bool:
        """Whether a pair waits for its sentinel: it depends on the same rules of the node."""
        apart = self._is_sentinel(pair) or pair.kind is TargetKind.POD_IP
        return not apart and pair.probe in self._answered
