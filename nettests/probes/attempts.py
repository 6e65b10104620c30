"""Repeat a request until its answer is conclusive, with positive controls around a negative one.

A positive result needs several successes in a row. A negative one needs controls in between:
negative, controls, negative again, unless the client already retried by itself (a resolver,
``ping``, a process's TCP) and the controls are silent too. If the first request is silent for so
long that an answer is unlikely, controls and the repeat are sent while it still waits.
``next_attempt`` picks the next request. Answers are read only to decide whether to continue.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.cluster_profile import Timing
from nettests.model.observation import Attempt, Raw
from nettests.model.payload import ONE_MIB
from nettests.model.words import Outcome, Question, VantageKind
from nettests.parse.endpoint_changes import MEANWHILE
from nettests.parse.first_packets import shows_busy_node
from nettests.parse.late_answers import limit
from nettests.parse.lost_packets import wants_more
from nettests.parse.many_services import SERVICES
from nettests.parse.overload import kept_back
from nettests.parse.read import positive, read_answer
from nettests.parse.witness import WITNESS
from nettests.probes.arrivals import Arrivals, in_question
from nettests.probes.churn import Churn
from nettests.probes.commands import CannotProbeError
from nettests.probes.connection_limit import ConnectionLimit
from nettests.probes.controls import Controls, present_patience
from nettests.probes.pace import BURST
from nettests.probes.pending import (
    Pending,
    begin,
    gave_up,
    one_over,
    queries_resolver,
    repeats_itself,
    results,
)
from nettests.probes.reference import beside_names, compare_if_late
from nettests.probes.sending import Sender
from nettests.probes.series import Series, next_attempt
from nettests.probes.size_search import SizeSearch
from nettests.probes.trains import Trains

ONE_IS_ENOUGH = frozenset(
    {
        *("ping", "nslookup", "resolve_dnsname", "admission", "inspection", "start", "crowd"),
        *("workload", "idle", SERVICES, WITNESS, MEANWHILE),
    }
)
"""Tools for which one success is enough: ``ping`` sends three echoes itself, a transfer of 1 MiB hundreds of packets,
and answers of resolvers, the API server or a configuration are complete at once."""
SAID = frozenset({"admission", "inspection", "start", "crowd", "workload", "idle", SERVICES})
"""Tools whose negative answer is explicit, so that a retry would change nothing; an idle connection counts as lost
only beside a new one in the same record."""


BUSY_TRIES = 2
"""How many new Pods are tried while their node is too busy to show anything about its network."""


RESOLVER_PAUSE = 1.0
"""Seconds after which to look again whether a resolver has answered another lookup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Runs checks to their end; the sender's recorder gets every answer. Thread-safe."""

    churn: Churn | None = None
    """Changes Services for the checks that test changes."""
    controls: Controls = field(default_factory=Controls)
    arrivals: Arrivals | None = None
    """Searches servers' logs."""

    def carry_out(self, sender: Sender, check: Check) -> None:
        """Run one check to its end."""
        match check.action.question:
            case Question.DISTRIBUTE:
                self._distribute(sender, check)
            case Question.CHURN:
                self._after_churn(sender, check)
            case Question.PATH_MTU:
                SizeSearch(sender, check, self.controls).run()
            case Question.LOSS:
                Trains(sender, check, self.controls).run()
            case Question.FLOWS:
                ConnectionLimit(sender, check, self.controls).run()
            case Question.REACH | Question.RESOLVE:
                ladder = _Ladder(sender, check, self.controls)
                ladder.climb()
                compare_if_late(sender, check, ladder.raws, ladder.references)
                if self.arrivals and ladder.proven and in_question(check, ladder.raws):
                    self.arrivals.look(sender, check)
            case (
                Question.PING | Question.IDLE | Question.SCALE | Question.WITNESS | Question.DURING
            ):
                _Ladder(sender, check, self.controls).climb()
            case Question.ADMIT | Question.INSPECT | Question.START:
                _Ladder(sender, check, self.controls).climb()
            case question:
                assert_never(question)

    def _distribute(self, sender: Sender, check: Check) -> None:
        """Open many new connections to see which backends answer, and the client's ports.

        Controls always run here: a distribution means something only if several backends are
        reachable. Connections are opened while the controls wait.
        """
        controls = begin(lambda silent: self.controls.send(sender, check, on_silence=silent))
        controls.answered(0)
        try:
            Series(sender, check).run()
        finally:
            controls.result()

    def _after_churn(self, sender: Sender, check: Check) -> None:
        """Recreate the Service, then open many new connections: a stale rule would catch some."""
        if self.churn is None:
            raise CannotProbeError("nobody here can change a Service")
        behind = self.churn.carry_out(sender, check)
        failures = 0
        for number in range(1, check.action.connections + 1):
            raw = sender.send(check.id, "check", number, check.action, more=behind)
            if raw.error is not None:
                return
            if not positive(raw, check.action.question):
                failures += 1
                if failures == 1:
                    self.controls.send(sender, check)
                if failures >= sender.timing.failures:
                    return


@dataclass(slots=True)
class _Ladder:
    """The repeats of one check's request."""

    sender: Sender
    check: Check
    controls: Controls
    turns: list[int] = field(default_factory=list)
    seen: list[Attempt] = field(default_factory=list)
    raws: list[Raw] = field(default_factory=list)
    references: list[Raw] = field(default_factory=list)
    """The probe's reference answers while it waited for name lookups."""
    _probed: int = 0
    _controls: Pending[bool] | None = None
    _losing: bool = False
    """Whether queries or retransmitted packets were lost: each further answer may take half a minute."""

    _lost: bool = False
    """Whether a channel failed: then no control can make the check trusted."""

    @property
    def _successes(self) -> int:
        """Return the successes in a row needed; fewer for a member, whose node has others."""
        if not member_of(self.check.id):
            return self.sender.timing.successes
        return 1 if self.check.claim.source_seen is None else min(2, self.sender.timing.successes)

    @property
    def proven(self) -> bool:
        """Whether all positive controls ran and were answered."""
        return self._controls is not None and self._controls.over and self._controls.result()

    def climb(self) -> None:
        """Probe until answers suffice; then wait for the controls unless they cannot matter.

        They cannot if one port both answered and failed, or if a channel failed.
        """
        try:
            if _refused_by_icmp(self.check):
                self._paced()
            else:
                self._repeat()
                self._follow_up()
        finally:
            if self._controls is not None and not (self._lost or _disagree(self.seen)):
                self._controls.result()

    def _repeat(self) -> None:
        turn: int | None = 0
        while turn is not None:
            probed = self._probe_side_by_side(turn)
            self._take_references(list(probed.values()))
            for of, raw in zip(probed, results(probed.values()), strict=True):
                if raw.error is not None:
                    self._lost = True
                    return
                turn = self._take(of, raw)
            if _disagree(self.seen) and (self._losing or self._controls_silent()):
                return

    def _take_references(self, waiting: Sequence[Pending[Raw]]) -> None:
        """Send reference requests while several requests wait for names, if all came late."""
        named = queries_resolver(self.check.action) and limit(self.check) is not None
        if len(waiting) < 2 or not named or self.check.action.is_process:
            return
        if all(attempt.outcome.positive for attempt in self.seen):
            first = len(self.references) + 1
            self.references += beside_names(self.sender, self.check, waiting, first)

    def _follow_up(self) -> None:
        """Send more datagrams after one was lost, until another is lost or enough are answered."""
        while wants_more(self.check, self.seen):
            turn = next(
                turn
                for turn, attempt in zip(self.turns, self.seen, strict=True)
                if not attempt.outcome.positive
            )
            raw = self._begin(turn).result()
            if raw.error is not None:
                return
            self._take(turn, raw)

    def _probe_side_by_side(self, turn: int) -> dict[int, Pending[Raw]]:
        """Probe once; if no answer comes, run controls and start the next attempts meanwhile.

        A time-out must be confirmed by another; late answers are collected until there are enough.
        """
        probed = {turn: self._begin(turn)}
        if probed[turn].answered(present_patience(self.sender, self.check.action)):
            return probed
        if self.seen:  # a slow path gets no extra probes, which would slow down everything
            slow = all(attempt.outcome.positive for attempt in self.seen)
            left = self._successes - len(self.seen)
            return probed | self._further(turn, left - 1) if slow else probed
        self._probe_controls(turn)
        if self._resolver_answers(probed[turn]):
            self._losing = True
            wanted = max(self._successes, self.sender.timing.failures)
            return probed | self._further(turn, wanted - 1)
        if self.sender.timing.failures > 1 and self._worth_repeating(probed[turn]):
            probed |= self._further(turn, 1)
            one_over(probed.values())
            probed |= self._further(turn + 1, self._enough_late_answers(probed) - len(probed))
        return probed

    def _further(self, turn: int, number: int) -> dict[int, Pending[Raw]]:
        return {
            next_turn: self._begin(next_turn) for next_turn in range(turn + 1, turn + 1 + number)
        }

    def _enough_late_answers(self, probed: Mapping[int, Pending[Raw]]) -> int:
        """Return how many answers make a result if any of these is positive; otherwise 0."""
        raws = [request.result() for request in probed.values() if request.over]
        positives = [raw for raw in raws if positive(raw, self.check.action.question)]
        enough = (_enough(self.check, raw, self.sender.timing)[0] for raw in positives)
        return min(self._successes, max(enough, default=0))

    def _resolver_answers(self, first: Pending[Raw]) -> bool:
        """Whether a silent request queries a resolver that answered others: queries get lost.

        Each answer may then take as long as the resolver's retries, and several are needed.
        """
        actions = queries_resolver(self.check.action) and not self.check.action.is_process
        return actions and self.sender.resolvers.answered(
            self.check.source.probe, since=first.began
        )

    def _paced(self) -> None:
        """Probe no faster than the kernel's ICMP rate limit; retry time-outs that it explains.

        Requests at this pace do not wait for the previous one.
        """
        turn: int | None = 0
        silences = 0
        pending: deque[tuple[int, Pending[Raw]]] = deque()
        while turn is not None or pending:
            if not pending:
                assert turn is not None
                pending.append((turn, self._begin(turn, paced=True)))
            self._begin_more(pending, BURST - silences)
            of, first = pending.popleft()
            raw = first.result()
            if raw.error is not None:
                results([request for _, request in pending])
                return
            if kept_back(raw, read_answer(raw, self.check.action.question)) and silences < BURST:
                silences += 1
                turn = of
                continue
            turn = self._take(of, raw)

    def _begin_more(self, pending: deque[tuple[int, Pending[Raw]]], bearable: int) -> None:
        """Start further requests while neither the first nor the newest has an answer.

        Two time-outs are needed, plus those that the rate limit explains, up to ``bearable``.
        """
        probe = self.check.source.probe
        while not pending[0][1].over and not pending[-1][1].answered(
            present_patience(self.sender, self.check.action)
        ):
            explained = sum(self.sender.pace.spent(probe, request.began) for _, request in pending)
            wanted = self.sender.timing.failures + min(explained, bearable)
            if len(self.seen) + len(pending) >= wanted:
                return
            self._probe_controls(pending[0][0])
            turn = pending[-1][0] + 1
            pending.append((turn, self._begin(turn, paced=True)))

    def _begin(self, turn: int, *, paced: bool = False) -> Pending[Raw]:
        self._probed += 1
        number, check = self._probed, self.check
        return begin(
            lambda sent: self.sender.send(
                check.id, "check", number, check.action, turn=turn, paced=paced, on_sent=sent
            )
        )

    def _take(self, turn: int, raw: Raw) -> int | None:
        attempt = read_answer(raw, self.check.action.question)
        self.raws.append(raw)
        if not attempt.outcome.positive:
            self._probe_controls(turn)
            self._losing |= gave_up(self.check.action, raw)
        self.turns.append(turn)
        self.seen.append(attempt)
        successes, failures = _enough(self.check, raw, self.sender.timing)
        if raw.tool == MEANWHILE and attempt.outcome is Outcome.PROBE_FAILED:
            failures = 1  # nothing was seen; a retry would change the Service again for nothing
        successes = min(successes, self._successes)
        if shows_busy_node(attempt) and len(self.seen) < BUSY_TRIES:
            return turn + 1
        if failures > 1 and gave_up(self.check.action, raw) and not self._controls_answer():
            failures = 1
        if attempt.outcome is Outcome.NXDOMAIN is self.check.claim.outcome and member_of(
            self.check.id
        ):
            # A name server said what is expected: one such answer is enough, like a positive one.
            failures = 1
        return next_attempt(self.turns, self.seen, successes=successes, failures=failures)

    def _worth_repeating(self, first: Pending[Raw]) -> bool:
        """Whether to repeat a silent request; if it retries itself, only if its controls answer.

        Each name may take 40 s (four names of the search list, two queries each), that of a control
        too: meanwhile it is enough that the resolver answers anything.
        """
        if not repeats_itself(self.check.action) or self._controls is None:
            return True
        while not (first.over or self._controls.over):
            one_over((first, self._controls), RESOLVER_PAUSE)
            if self._resolver_answers(first):
                return True
        return self._controls.over and self._controls.result()

    def _controls_silent(self) -> bool:
        """Whether controls are still unanswered: further packets may be lost and take as long."""
        return self._controls is not None and not self._controls.over

    def _controls_answer(self) -> bool:
        """Wait for the controls; if one failed, a second time-out would show nothing more."""
        return self._controls is not None and self._controls.result()

    def _probe_controls(self, turn: int) -> None:
        """Start the controls once; return when they have answered or seem to time out."""
        if self._controls is None:
            probing = begin(
                lambda sent: self.controls.send(self.sender, self.check, turn, on_silence=sent)
            )
            self._controls = probing
            probing.answered(0)


def _disagree(attempts: Sequence[Attempt]) -> bool:
    """Whether attempts at one port disagree, which no further attempt could change."""
    outcomes = {(attempt.port, attempt.outcome.positive) for attempt in attempts}
    return any((port, not positive) in outcomes for port, positive in outcomes)


def _refused_by_icmp(check: Check) -> bool:
    """Whether the check expects an ICMP refusal and cannot retransmit, unlike a TCP SYN."""
    action = check.action
    claimed = check.claim.outcome is Outcome.REFUSED and action.question is Question.REACH
    return claimed and action.protocol.refused_by_icmp and action.source.kind is VantageKind.POD


def _enough(check: Check, raw: Raw, timing: Timing) -> tuple[int, int]:
    """Return how many successes in a row, and how many failures, make a result."""
    many_packets = (check.action.size or 0) >= ONE_MIB
    one_is_enough = raw.tool in ONE_IS_ENOUGH or many_packets
    return 1 if one_is_enough else timing.successes, 1 if raw.tool in SAID else timing.failures
