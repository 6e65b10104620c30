"""Open many connections over one path, until there are enough or no more succeed.

Used by ``attempts`` to find how many connections a node, its NAT and the network outside sustain.
As in ``trains``, one request makes the probe connect several times in a row, and some requests run
concurrently; each connection keeps its own port for a while after its end (TIME-WAIT).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nettests.model.check import Check
from nettests.model.measured import proves_loss
from nettests.model.observation import Attempt, Raw
from nettests.parse.lost_packets import BESIDE
from nettests.parse.many_flows import AT_LAST, ran_out
from nettests.parse.read import read_raw
from nettests.probes.controls import Controls
from nettests.probes.pending import Pending, results
from nettests.probes.sending import Sender
from nettests.probes.trains import begin_train

LENGTH = AT_LAST
"""Connections per train: once no more succeed, each costs the probe's time-out."""


@dataclass(slots=True)
class ConnectionLimit:
    """The connections of one check."""

    sender: Sender
    check: Check
    controls: Controls
    _seen: list[Attempt] = field(default_factory=list)
    _number: int = 0

    def run(self) -> None:
        """Connect round after round; after failures, send one train alone to see if any succeed."""
        for trains in rounds(self.check.action.connections):
            if not self._sent(trains):
                return
            if self._failing() and (not self._sent((AT_LAST,)) or self._decided()):
                break
        if not all(attempt.outcome.positive for attempt in self._seen):
            self.controls.send(self.sender, self.check)

    def _sent(self, trains: tuple[int, ...]) -> bool:
        raws = results([self._begin(tries) for tries in trains])
        self._seen += [read_raw(raw) for raw in raws]
        return all(raw.error is None for raw in raws)

    def _begin(self, tries: int) -> Pending[Raw]:
        self._number += 1
        return begin_train(self.sender, self.check, self._number, tries)

    def _failing(self) -> bool:
        return any(attempt.lost or not attempt.outcome.positive for attempt in self._seen[-BESIDE:])

    def _decided(self) -> bool:
        """Whether no more connections succeed, or a loss is proven, which is another question."""
        tried, lost = (
            sum(attempt.tries for attempt in self._seen),
            sum(attempt.lost for attempt in self._seen),
        )
        return ran_out(self._seen) or proves_loss(tried, lost)


def rounds(connections: int) -> Iterator[tuple[int, ...]]:
    """Yield the lengths of concurrent trains, up to ``connections`` in all; the first is alone."""
    yield (1,)
    left = connections - 1
    while left > 0:
        whole, rest = divmod(min(left, BESIDE * LENGTH), LENGTH)
        trains = (LENGTH,) * whole + ((rest,) if rest else ())
        yield trains
        left -= sum(trains)
