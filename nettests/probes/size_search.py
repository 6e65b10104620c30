"""Find the largest packet that a path carries: echoes of many sizes, then of sizes in between.

Used by ``attempts`` for checks of the path MTU. If the limit stays open, a TCP stream is sent on
the same path. Nothing is judged here.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from nettests.model.check import Action, Check
from nettests.model.observation import Raw
from nettests.model.payload import SIXTY_FOUR_KIB, udp_headers
from nettests.model.words import Protocol, Question
from nettests.parse.path_mtu import BYTES, ROUND, STREAM
from nettests.parse.read import positive
from nettests.probes.controls import Controls
from nettests.probes.pending import Pending, begin, results
from nettests.probes.sending import Sender

SIZES = (576, 1280, 1400, 1410, 1450, 1460, 1480, 1500)
"""What every host accepts (RFC 1122), what every IPv6 link carries (RFC 8200), and the MTUs of plugins, clouds and
tunnels over Ethernet: VXLAN 1450 and 1410 over 1460, GCP 1460, IPIP 1480."""
IN_FRAGMENTS = 2000
"""More than Ethernet carries in one packet, and less than agnhost's buffers (2048 bytes)."""
BETWEEN = 15
"""Sizes that are tried at once between two others: two rounds find one size in 256."""
ROUNDS = 2


@dataclass(slots=True)
class SizeSearch:
    """The echoes of one check."""

    sender: Sender
    check: Check
    controls: Controls
    _passed: set[int] = field(default_factory=set)
    _lost: set[int] = field(default_factory=set)
    _number: int = 0
    _round: int = 0
    _broken: bool = False

    def run(self) -> None:
        """Send all sizes; if some are lost and others not, narrow down the limit."""
        self._send(first_sizes(self.check.action.size))
        if not self._lost:
            return
        self.controls.send(self.sender, self.check)
        for _ in range(ROUNDS):
            if self._undecided():
                self._send(self._lost | self._between())
        if self._undecided():
            stream = replace(
                self.check.action,
                question=Question.REACH,
                protocol=Protocol.TCP,
                size=SIXTY_FOUR_KIB,
            )
            self._beginning(stream, STREAM).wait()

    def _undecided(self) -> bool:
        return bool(self._lost and self._passed) and not self._broken

    def _between(self) -> set[int]:
        """Return sizes between the largest that passed and the smallest that was lost."""
        largest, smallest = max(self._passed), min(self._lost)
        if smallest <= largest:
            return set()  # size is not the reason
        gap = smallest - largest
        return {largest + gap * step // (BETWEEN + 1) for step in range(1, BETWEEN + 1)} - {largest}

    def _send(self, sizes: Collection[int]) -> None:
        self._round += 1
        pending = [self._begin(size) for size in sorted(sizes)]
        for size, raw in zip(sorted(sizes), results(pending), strict=True):
            self._take(size, raw)

    def _begin(self, size: int) -> Pending[Raw]:
        headers = udp_headers(self.check.action.family)
        echo = replace(self.check.action, question=Question.REACH, size=size - headers)
        return self._beginning(echo, str(size))

    def _beginning(self, action: Action, size: str) -> Pending[Raw]:
        self._number += 1
        number, check = self._number, self.check
        more = {BYTES: size, ROUND: str(self._round)}
        return begin(
            lambda sent: self.sender.send(
                check.id, "check", number, action, more=more, on_sent=sent
            )
        )

    def _take(self, size: int, raw: Raw) -> None:
        self._broken = self._broken or raw.error is not None
        if positive(raw, Question.REACH):
            self._passed.add(size)
            self._lost.discard(size)
        elif size not in self._passed:
            self._lost.add(size)


def first_sizes(mtu: int | None) -> frozenset[int]:
    """Return the first sizes, including those around the Pods' MTU if known and possible."""
    around = {mtu, mtu - 1} if mtu is not None and SIZES[0] < mtu < IN_FRAGMENTS else set()
    return frozenset({*SIZES, *around, IN_FRAGMENTS})
