"""Open the many connections of one check, the next one while a slow one still waits.

Used by ``attempts`` for checks of distribution and affinity. If packets are lost, each connection
takes as long as a SYN's retransmission; in sequence they would delay the whole run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nettests.bounds import Bounds
from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.observation import Attempt, Raw
from nettests.model.retransmission import PROMPT_SECONDS
from nettests.model.words import Distribution, Outcome
from nettests.parse.observe import some_may_refuse
from nettests.parse.ports import ENOUGH, by_port
from nettests.parse.read import positive, read_raw
from nettests.probes.pending import DIAL_PATIENCE, Pending, begin, one_over
from nettests.probes.sending import Sender


def next_attempt(
    turns: Sequence[int], attempts: Sequence[Attempt], *, successes: int, failures: int
) -> int | None:
    """Return the next turn after these attempts; ``None`` if they are enough."""
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


BESIDE_SECONDS = PROMPT_SECONDS
"""A connection without an answer by then is slow: normally it takes milliseconds."""
UNDER_WAY = Bounds().connections_per_check


RETURNS = 3
"""How often a client stays away for a moment: of two backends, one that is chosen anew each time differs 7 times of 8."""
RETURNS_AFTER = 1.2
"""Seconds; an affinity lasts three hours by default, and never less than a second (Service API, ``timeoutSeconds``)."""


def _returning(check: Check) -> frozenset[int]:
    """Return the numbers of the connections by which a client comes back to the backend that it has to keep."""
    settings, connections = check.target.settings, check.action.connections
    kept = check.claim.distribution is Distribution.ONE_BACKEND
    if settings is None or not settings.session_affinity or not kept or check.action.pause:
        return frozenset()
    return frozenset(1 + connections * turn // (RETURNS + 1) for turn in range(1, RETURNS + 1))


@dataclass(slots=True)
class Series:
    """The connections of one check: first for the backend's name, then for the client's address."""

    sender: Sender
    check: Check
    _begun: list[Pending[Raw]] = field(default_factory=list)

    def run(self) -> None:
        """Open connections until there are enough or too many have failed; wait for all of them."""
        action = self.check.action
        turns = [0] * action.connections + [1] * self._client_addresses
        returning = _returning(self.check)
        try:
            for number, turn in enumerate(turns, 1):
                if number > 1 and turn == 0:  # the client's address can be probed at any time
                    self.sender.stopped.wait(RETURNS_AFTER if number in returning else action.pause)
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
        """How many connections report the client's port; two suffice for a member."""
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

        The first one is alone because it shows the client's backend under session affinity.
        """
        newest = self._begun[-1]
        newest.answered(DIAL_PATIENCE if alone else BESIDE_SECONDS)
        while (under_way := [connection for connection in self._begun if not connection.over]) and (
            self._full(len(under_way))
        ):
            one_over(under_way)

    def _full(self, under_way: int) -> bool:
        """Whether enough are under way; if none was answered, as many as make a failure.

        If some ports refuse by design, a refusal counts as an answer; on Windows it takes 1.5 s.
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
