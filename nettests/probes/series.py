"""Open the many connections of one check, and the next one beside one that is slow to be answered.

Used by ``attempts`` for checks of distribution and affinity. If packets are lost, each connection takes the seconds
after which a SYN is sent again: one after the other, they would hold up the whole run. Nothing is judged here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nettests.bounds import Bounds
from nettests.model.check import Action, Check
from nettests.model.check_id import member_of
from nettests.model.observation import Attempt, Raw
from nettests.model.payload import SIXTY_FOUR_KIB, udp_headers
from nettests.model.retransmission import PROMPT_SECONDS
from nettests.model.words import Outcome, Protocol, Question
from nettests.parse.observe import some_may_refuse
from nettests.parse.path_mtu import BYTES, ROUND, STREAM
from nettests.parse.ports import ENOUGH, by_port
from nettests.parse.read import positive, read_raw
from nettests.probes.beside import DIAL_PATIENCE, Pending, begin, one_over, results
from nettests.probes.controls import Controls
from nettests.probes.sending import Sender


def next_attempt(
    turns: Sequence[int], attempts: Sequence[Attempt], *, successes: int, failures: int
) -> int | None:
    """Return the next turn after these turns and their attempts; ``None`` if they are enough."""
    ports = by_port(attempts)
    if ports:
        return _of_a_port(ports, turns, attempts, successes=successes, failures=failures)
    if sum(not attempt.outcome.positive for attempt in attempts) >= failures:
        return None
    if len(attempts) >= successes and all(
        attempt.outcome.positive for attempt in attempts[-successes:]
    ):
        return None
    return len(attempts)


def _of_a_port(
    ports: Mapping[int, Sequence[Attempt]],
    turns: Sequence[int],
    attempts: Sequence[Attempt],
    *,
    successes: int,
    failures: int,
) -> int | None:
    """Return a turn for a port that was not probed often enough."""
    reaches = {attempt.port: turn for turn, attempt in zip(turns, attempts, strict=True)}
    for port, those in sorted(ports.items(), key=lambda item: item[1][0].outcome.positive):
        wanted = successes if those[0].outcome.positive else failures
        if len(those) < max(ENOUGH, wanted):
            return reaches[port]
    return None


SIZES = (576, 1280, 1400, 1410, 1450, 1460, 1480, 1500)
"""The size that every host accepts (RFC 1122), the one that every link carries (RFC 8200), and the MTUs of plugins,
clouds and tunnels over Ethernet: VXLAN 1450 and 1410 over 1460, GCP 1460, IPIP 1480."""
IN_FRAGMENTS = 2000
"""More than Ethernet carries in one packet, and less than agnhost's buffers of 2048 bytes hold."""
BETWEEN = 15
"""Sizes that are tried at once between two others: two rounds find the exact one of 256."""
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
        """Send the sizes; if some are lost and others not, narrow down the limit."""
        self._send(first_sizes(self.check.action.size))
        if not self._lost:
            return
        self.controls.send(self.sender, self.check)
        for _ in range(ROUNDS):
            if self._undecided():
                self._send(self._lost | self._between())
        if self._undecided():
            self._stream()

    def _undecided(self) -> bool:
        """Whether some sizes pass and others do not, as far as answers can be read."""
        return bool(self._lost and self._passed) and not self._broken

    def _between(self) -> set[int]:
        """Return sizes between the largest that passed below all that were lost, and the smallest of those."""
        largest, smallest = max(self._passed), min(self._lost)
        if smallest <= largest:
            return set()  # size is not the reason
        gap = smallest - largest
        return {largest + gap * step // (BETWEEN + 1) for step in range(1, BETWEEN + 1)} - {largest}

    def _send(self, sizes: Collection[int]) -> None:
        """Send an echo of each size, all at once."""
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

    def _stream(self) -> None:
        """Send 64 KiB over TCP on the same path."""
        stream = replace(
            self.check.action,
            question=Question.REACH,
            protocol=Protocol.TCP,
            size=SIXTY_FOUR_KIB,
        )
        self._beginning(stream, STREAM).wait()


def first_sizes(mtu: int | None) -> frozenset[int]:
    """Return the first sizes; with those around the Pods' MTU, if it is known and can be sent."""
    around = {mtu, mtu - 1} if mtu is not None and SIZES[0] < mtu < IN_FRAGMENTS else set()
    return frozenset({*SIZES, *around, IN_FRAGMENTS})


BESIDE_SECONDS = PROMPT_SECONDS
"""A connection without an answer by then is slow: two nodes need milliseconds."""
UNDER_WAY = Bounds().connections_per_check


@dataclass(slots=True)
class Series:
    """The connections of one check, by turn: first which backend answers, then which client the server saw."""

    sender: Sender
    check: Check
    _begun: list[Pending[Raw]] = field(default_factory=list)

    def run(self) -> None:
        """Open connections until there are enough, or too many have failed; wait for all of them."""
        action = self.check.action
        turns = [0] * action.connections + [1] * self._client_addresses
        try:
            for number, turn in enumerate(turns, 1):
                if number > 1 and turn == 0:  # the client's address can be probed at any time
                    self.sender.stopped.wait(action.pause)
                self._begin(number, turn)
                if action.pause:
                    self._begun[-1].wait()
                self._wait(alone=number == 1)
                if self._over():
                    return
        finally:
            for connection in self._begun:
                connection.wait()
        for connection in self._begun:
            connection.result()  # raises if nothing could be probed

    @property
    def _client_addresses(self) -> int:
        """How many connections report the client's port: for a member just enough to show that ports differ."""
        wanted = self.sender.timing.client_addresses
        return min(2, wanted) if member_of(self.check.id) else wanted

    def _begin(self, number: int, turn: int) -> None:
        check = self.check
        self._begun.append(
            begin(
                lambda sent: self.sender.send(
                    check.id, "check", number, check.action, turn=turn, on_sent=sent
                )
            )
        )

    def _wait(self, *, alone: bool) -> None:
        """Wait until the next one may be opened.

        The first one is alone, as it shows a client's backend under session affinity; without an answer it shows none.
        """
        newest = self._begun[-1]
        newest.answered(DIAL_PATIENCE if alone else BESIDE_SECONDS)
        while (under_way := [connection for connection in self._begun if not connection.over]) and (
            self._full(len(under_way))
        ):
            one_over(under_way)

    def _full(self, under_way: int) -> bool:
        """Whether enough are under way; if none was answered, as many as make a failure.

        Where some ports refuse by design, all answers so far may be refusals, which take Windows 1.5 s.
        """
        question = self.check.action.question
        over = [connection.result() for connection in self._begun if connection.over]
        refused = over and all(read_raw(raw).outcome is Outcome.REFUSED for raw in over)
        if any(positive(raw, question) for raw in over) or (
            refused and some_may_refuse(self.check.target)
        ):
            return under_way >= UNDER_WAY
        return under_way + len(over) >= self.sender.timing.failures

    def _over(self) -> bool:
        """Whether to open no more: a channel failed, or too many connections did."""
        raws = [connection.result() for connection in self._begun if connection.over]
        if any(raw.error is not None for raw in raws):
            return True
        failed = [raw for raw in raws if not positive(raw, self.check.action.question)]
        mixed = some_may_refuse(self.check.target)
        bearable = mixed and all(
            read_raw(raw).outcome in {Outcome.CONNECTED, Outcome.REFUSED} for raw in failed[-1:]
        )
        answered = len(failed) < len(raws)
        return len(failed) >= self.sender.timing.failures and (answered or not bearable)
