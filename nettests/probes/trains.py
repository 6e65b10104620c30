"""Send trains of short requests over one path, ever longer, until a loss shows or enough were sent.

Used by ``attempts`` for checks of loss. One request makes the probe try many times in sequence: no
burst fills a queue, and the channel is used once. Each lost try costs the probe's time-out, so
trains stay short until few are lost, and end when a loss is proven. Nothing is judged here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import median
from typing import assert_never

from nettests.model.check import Check
from nettests.model.measured import proves_loss, tries_without_loss
from nettests.model.observation import Attempt, Raw
from nettests.model.retransmission import SYN_AGAIN
from nettests.model.words import Protocol
from nettests.parse.late_answers import by_itself, late
from nettests.parse.lost_packets import BESIDE, SLOW_TRIES, unclear_trains
from nettests.parse.overload import REFERENCE, ROUNDED
from nettests.parse.read import read_raw
from nettests.probes.controls import Controls
from nettests.probes.pending import Pending, begin, results
from nettests.probes.reference import beside_trains, compare_if_late
from nettests.probes.sending import Sender

LENGTHS = (1, 4, 12)
"""Tries per train in each round; further rounds have the longest trains (``longest_train``)."""
LENGTHS_OF_ECHOES = (1, 4, 12, 24, 48)
"""The same for datagrams: longer trains, so fewer requests for as many tries."""
FEW, BESIDE_OF_ECHOES = 4, 2
"""Concurrent trains: in the first round, which shows a dead path, and of datagrams later. Connections need more,
because a lost SYN shows only in comparison with others (``parse.lost_packets``)."""
SLOW_SECONDS = 0.5
"""If a try takes this long, at most ``SLOW_TRIES`` are sent, because hundreds would take minutes."""
TRAIN_SECONDS = 20.0
"""How long a train over a slow path may take: its channel waits for all of its answers."""
UNCLEAR_TRIES = 8
"""The most further rounds after a SYN seemed lost: three in order clear it (``SLOW_TRIES``)."""


@dataclass(slots=True)
class Trains:
    """The trains of one check."""

    sender: Sender
    check: Check
    controls: Controls
    _raws: list[Raw] = field(default_factory=list)
    _seen: list[Attempt] = field(default_factory=list)
    _number: int = 0
    _references: list[Raw] = field(default_factory=list)

    def run(self) -> None:
        """Send round after round; run the controls if nothing at all was answered."""
        wanted = self.check.action.connections
        slow = self._sent_rounds(min(wanted, tries_without_loss()), hurried=True)
        if self._lost and not slow and not self._decided():
            slow = self._sent_rounds(wanted, hurried=True)
        if not any(attempt.outcome.positive for attempt in self._seen):
            self.controls.send(self.sender, self.check)
        # If all were late and no reference shows why, a request is repeated beside references.
        for raw in compare_if_late(self.sender, self.check, self._raws, self._references):
            (self._references if raw.purpose == REFERENCE else self._raws).append(raw)
            self._number = max(self._number, raw.attempt)
        if slow and not self._late():
            self._sent_rounds(min(wanted, SLOW_TRIES), hurried=False)
        self._sent_until_clear()

    def _sent_rounds(self, tries: int, *, hurried: bool) -> bool:
        """Send the rest of ``tries``; if ``hurried``, return whether slow tries stopped it.

        A busy probe slows them too, but usually only briefly; the rest is then sent later.
        """
        longest = None if hurried else max(1, int(TRAIN_SECONDS / max(self._typical(), ROUNDED)))
        for trains in rounds(tries - self._tries, self.check.action.protocol, longest):
            if not self._sent(trains) or self._decided():
                return False
            if hurried and self._slow():
                return True
        return False

    def _late(self) -> bool:
        """Whether references already show that the path is late as a whole, and not the probe."""
        return late(self.check, self._raws) and bool(
            by_itself(self.check, self._references, self._raws)
        )

    @property
    def _tries(self) -> int:
        return sum(attempt.tries for attempt in self._seen)

    @property
    def _lost(self) -> int:
        return sum(attempt.lost for attempt in self._seen)

    def _sent_until_clear(self) -> None:
        """Send short trains after a SYN seemed lost, until a loss is proven or enough were in order."""
        for _ in range(UNCLEAR_TRIES):
            if unclear_trains(self.check, [*self._raws, *self._references]) is None:
                return
            if not self._sent((LENGTHS[1],) * BESIDE):
                return

    def _sent(self, trains: tuple[int, ...]) -> bool:
        """Send concurrent trains; return whether no channel failed."""
        pending = [self._begin(tries) for tries in trains]
        if self.check.action.protocol.retransmitted:
            self._references += beside_trains(
                self.sender, self.check, pending, len(self._references) + 1
            )
        raws = results(pending)
        self._raws += raws
        self._seen += [read_raw(raw) for raw in raws]
        return all(raw.error is None for raw in raws)

    def _begin(self, tries: int) -> Pending[Raw]:
        self._number += 1
        return begin_train(self.sender, self.check, self._number, tries)

    def _decided(self) -> bool:
        """Whether more trains would show nothing new: another failure, or a proven loss."""
        if any(not attempt.outcome.positive and attempt.lost == 0 for attempt in self._seen):
            return True
        return proves_loss(self._tries, self._lost)

    def _typical(self) -> float:
        return median(attempt.elapsed / attempt.tries for attempt in self._seen)

    def _slow(self) -> bool:
        each = self._typical()
        return each >= SYN_AGAIN[0] or (each >= SLOW_SECONDS and self._tries >= SLOW_TRIES)


def begin_train(sender: Sender, check: Check, number: int, tries: int) -> Pending[Raw]:
    """Start one train of a check, as attempt ``number``."""
    action = replace(check.action, connections=tries)
    return begin(lambda sent: sender.send(check.id, "check", number, action, on_sent=sent))


def longest_train(protocol: Protocol) -> int:
    """Return the most tries of a train; a retransmitted SYN's second must stand out over TCP."""
    match protocol:
        case Protocol.TCP:
            return 12
        case Protocol.UDP | Protocol.ICMP:
            return 96
        case _:
            assert_never(protocol)


def rounds(tries: int, protocol: Protocol, slow: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the lengths of concurrent trains, up to ``tries`` in all.

    ``slow`` limits them on a slow path, where more trains beside each other fill no queue.
    """
    longest = longest_train(protocol)
    longest = min(slow or longest, longest)
    retransmitted = protocol.retransmitted
    lengths = list(LENGTHS if retransmitted else LENGTHS_OF_ECHOES)
    beside = FEW
    left = tries
    while left > 0:
        length = min(lengths.pop(0), longest) if lengths else longest
        whole, rest = divmod(min(left, beside * length), length)
        trains = (length,) * whole + ((rest,) if rest else ())
        yield trains
        left -= sum(trains)
        beside = BESIDE if retransmitted else FEW if slow else BESIDE_OF_ECHOES
