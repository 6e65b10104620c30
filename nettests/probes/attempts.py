"""Repeat a request until its answer is conclusive, with positive controls around a negative one.

A positive result needs several successes in a row. A negative one needs controls in between: negative, controls,
negative again, unless the client already retried by itself (a resolver, ``ping``, a process' TCP) and the controls
are as silent. If the first request stays silent for so long that an answer is unlikely, controls, and the repeat, are
sent while it still waits, in the same window. ``next_attempt`` chooses the next request. Answers are read only to
know whether to go on, never to judge.
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
from nettests.parse.during import MEANWHILE
from nettests.parse.first_packets import shows_busy_node
from nettests.parse.kept_back import kept_back
from nettests.parse.lost_datagram import wants_more
from nettests.parse.many_services import SERVICES
from nettests.parse.read import positive, read_answer
from nettests.parse.slow import limit
from nettests.parse.witness import WITNESS
from nettests.probes.arrivals import Arrivals, in_question
from nettests.probes.beside import (
    Pending,
    begin,
    gave_up,
    one_over,
    patience,
    queries_resolver,
    repeats_itself,
    results,
)
from nettests.probes.churn import Churn
from nettests.probes.commands import CannotProbeError
from nettests.probes.controls import Controls
from nettests.probes.many_flows import ManyFlows
from nettests.probes.next_attempt import next_attempt
from nettests.probes.pace import BURST
from nettests.probes.reference import beside_names, compare_if_late
from nettests.probes.sending import Sender
from nettests.probes.series import Series
from nettests.probes.size_search import SizeSearch
from nettests.probes.trains import Trains

ONE_IS_ENOUGH = frozenset(
    {
        "ping",
        "nslookup",
        "resolve_dnsname",
        "admission",
        "inspection",
        "start",
        "crowd",
        "workload",
        "idle",
        SERVICES,
        WITNESS,
        MEANWHILE,
    }
)
"""``ping`` sends three echoes itself, a transfer of 1 MiB is hundreds of packets; a resolver's positive answer is complete at once, and so is what
the API server says or a configuration holds."""
SAID = frozenset({"admission", "inspection", "start", "crowd", "workload", "idle", SERVICES})
"""Tools whose negative answer is said, not inferred from silence: retrying would change nothing. A
connection that was lost is so beside a new one in the same record, and nothing else that a silent one may bring is
believed."""


BUSY_TRIES = 2
"""A new Pod whose node was too busy to tell anything of its network is followed by another: it starts beside others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Probes checks to their end; everything that was seen is in the asker's recorder. Safe for threads."""

    churn: Churn | None = None
    """Who changes Services for the checks that request it."""
    controls: Controls = field(default_factory=Controls)
    arrivals: Arrivals | None = None
    """Who looks in servers' logs."""

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
                ManyFlows(sender, check, self.controls).run()
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
        """Open many new connections for who answers, then some for the client's port.

        The controls are always run here: that several backends can be reached is what gives a
        distribution its meaning. Where they only wait, the connections are opened meanwhile.
        """
        controls = begin(lambda silent: self.controls.send(sender, check, on_silence=silent))
        controls.answered(0)
        try:
            Series(sender, check).run()
        finally:
            controls.result()

    def _after_churn(self, sender: Sender, check: Check) -> None:
        """Let the Service go and come, then open many new connections: a stale rule would take some."""
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
    """The repeats of one check's question."""

    sender: Sender
    check: Check
    controls: Controls
    turns: list[int] = field(default_factory=list)
    seen: list[Attempt] = field(default_factory=list)
    raws: list[Raw] = field(default_factory=list)
    references: list[Raw] = field(default_factory=list)
    """What the probe answered for itself while names were waited for."""
    _probed: int = 0
    _controls: Pending[bool] | None = None
    _losing: bool = False
    """Whether queries, or packets that a client sends again, were seen to get lost: each further answer may take half a minute."""

    _lost: bool = False
    """Whether a channel failed: nothing can be said of the check, whatever its controls bring."""

    @property
    def _successes(self) -> int:
        """How many successes in a row are enough; of a member as many as tell what is claimed: its node has others."""
        if not member_of(self.check.id):
            return self.sender.timing.successes
        return 1 if self.check.claim.source_seen is None else min(2, self.sender.timing.successes)

    @property
    def proven(self) -> bool:
        """Whether all positive controls were run, and answered."""
        return self._controls is not None and self._controls.over and self._controls.result()

    def climb(self) -> None:
        """Probe until the answers are enough, and wait for the controls unless the answers disagree, or one was lost.

        Where one port answered and failed, it did so from here: no control says more of vantage or target.
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
            probed = self._asked_side_by_side(turn)
            self._refer(list(probed.values()))
            for of, raw in zip(probed, results(probed.values()), strict=True):
                if raw.error is not None:
                    self._lost = True
                    return
                turn = self._take(of, raw)
            if _disagree(self.seen) and (self._losing or self._controls_silent()):
                return

    def _refer(self, waiting: Sequence[Pending[Raw]]) -> None:
        """Let the probe answer for itself beside names that several questions wait for, if all of them are late so far."""
        named = queries_resolver(self.check.action) and limit(self.check) is not None
        if len(waiting) < 2 or not named or self.check.action.is_process:
            return
        if all(one.outcome.positive for one in self.seen):
            first = len(self.references) + 1
            self.references += beside_names(self.sender, self.check, waiting, first)

    def _follow_up(self) -> None:
        """Send more datagrams where one was lost: the next that is lost ends it, and so do enough that are answered."""
        while wants_more(self.check, self.seen):
            turn = next(
                turn
                for turn, one in zip(self.turns, self.seen, strict=True)
                if not one.outcome.positive
            )
            raw = self._begin(turn).result()
            if raw.error is not None:
                return
            self._take(turn, raw)

    def _asked_side_by_side(self, turn: int) -> dict[int, Pending[Raw]]:
        """Probe once; where that is silent, its controls too, and beside it what will be run next in any case.

        A second silence is wanted where there is one; answers that come late are wanted until there are enough.
        """
        probed = {turn: self._begin(turn)}
        if probed[turn].answered(patience(self.check.action)):
            return probed
        if self.seen:  # what is only slow is not run more often: all would be slower
            slow = all(one.outcome.positive for one in self.seen)
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
            probed |= self._further(turn + 1, self._wanted_of_late_answers(probed) - len(probed))
        return probed

    def _further(self, turn: int, number: int) -> dict[int, Pending[Raw]]:
        """Probe the next turns."""
        return {one: self._begin(one) for one in range(turn + 1, turn + 1 + number)}

    def _wanted_of_late_answers(self, probed: Mapping[int, Pending[Raw]]) -> int:
        """Return how many answers make a result where one of these was positive; none where none was."""
        raws = [one.result() for one in probed.values() if one.over]
        told = [raw for raw in raws if positive(raw, self.check.action.question)]
        return max((_enough(self.check, raw, self.sender.timing)[0] for raw in told), default=0)

    def _resolver_answers(self, first: Pending[Raw]) -> bool:
        """Whether the silent question queries a resolver that has answered others meanwhile: queries get lost then.

        Each answer may then take as long as the resolver repeats them, and several are wanted.
        """
        actions = queries_resolver(self.check.action) and not self.check.action.is_process
        return actions and self.sender.resolvers.answered(
            self.check.source.probe, since=first.began
        )

    def _paced(self) -> None:
        """Probe at the pace of the kernel that refuses by ICMP; a silence that its limit explains is retried.

        One that is silent is not waited for to probe the next one: that has its pace, too.
        """
        turn: int | None = 0
        silences = 0
        begun: deque[tuple[int, Pending[Raw]]] = deque()
        while turn is not None or begun:
            if not begun:
                assert turn is not None
                begun.append((turn, self._begin(turn, paced=True)))
            self._go_on_beside(begun, BURST - silences)
            of, first = begun.popleft()
            raw = first.result()
            if raw.error is not None:
                results([one for _, one in begun])
                return
            if kept_back(raw, read_answer(raw, self.check.action.question)) and silences < BURST:
                silences += 1
                turn = of
                continue
            turn = self._take(of, raw)

    def _go_on_beside(self, begun: deque[tuple[int, Pending[Raw]]], bearable: int) -> None:
        """Wait for the first of them, and as long as it and the newest are silent probe what will be wanted next.

        Two silences are wanted, and one more for each that the limit explains, up to so many as are ``bearable``.
        """
        probe = self.check.source.probe
        while not begun[0][1].over and not begun[-1][1].answered(patience(self.check.action)):
            explained = sum(self.sender.pace.spent(probe, one.began) for _, one in begun)
            wanted = self.sender.timing.failures + min(explained, bearable)
            if len(self.seen) + len(begun) >= wanted:
                return
            self._probe_controls(begun[0][0])
            turn = begun[-1][0] + 1
            begun.append((turn, self._begin(turn, paced=True)))

    def _begin(self, turn: int, *, paced: bool = False) -> Pending[Raw]:
        self._probed += 1
        number, check = self._probed, self.check
        return begin(
            lambda sent: self.sender.send(
                check.id, "check", number, check.action, turn=turn, paced=paced, on_sent=sent
            )
        )

    def _take(self, turn: int, raw: Raw) -> int | None:
        """Read one answer and return the turn that comes next."""
        one = read_answer(raw, self.check.action.question)
        self.raws.append(raw)
        if not one.outcome.positive:
            self._probe_controls(turn)
            self._losing |= gave_up(self.check.action, raw)
        self.turns.append(turn)
        self.seen.append(one)
        successes, failures = _enough(self.check, raw, self.sender.timing)
        if raw.tool == MEANWHILE and one.outcome is Outcome.PROBE_FAILED:
            failures = 1  # nothing was seen, and the Service would be changed for nothing again
        successes = min(successes, self._successes)
        if shows_busy_node(one) and len(self.seen) < BUSY_TRIES:
            return turn + 1
        if failures > 1 and gave_up(self.check.action, raw) and not self._controls_answer():
            failures = 1
        return next_attempt(self.turns, self.seen, successes=successes, failures=failures)

    def _worth_repeating(self, first: Pending[Raw]) -> bool:
        """Whether to probe once more beside the silent first question; where that repeats itself, only if its controls answer."""
        if not repeats_itself(self.check.action) or self._controls is None:
            return True
        one_over((first, self._controls))
        return self._controls.over and self._controls.result()

    def _controls_silent(self) -> bool:
        """Whether controls still wait for an answer: more of the same packets get lost, and each may take as long."""
        return self._controls is not None and not self._controls.over

    def _controls_answer(self) -> bool:
        """Wait for the controls; return whether all of them answered: beside dead ones a second silence shows no more."""
        return self._controls is not None and self._controls.result()

    def _probe_controls(self, turn: int) -> None:
        """Begin to run the controls, once; return when they have answered, or are silent."""
        if self._controls is None:
            probing = begin(
                lambda sent: self.controls.send(self.sender, self.check, turn, on_silence=sent)
            )
            self._controls = probing
            probing.answered(0)


def _disagree(attempts: Sequence[Attempt]) -> bool:
    """Whether attempts at one port disagree: that is what they are, whatever would follow."""
    said = {(attempt.port, attempt.outcome.positive) for attempt in attempts}
    return any((port, not positive) in said for port, positive in said)


def _refused_by_icmp(check: Check) -> bool:
    """Whether all is well if a kernel tells the probe's Pod by ICMP that nobody is there; over TCP a SYN is sent again."""
    action = check.action
    claimed = check.claim.outcome is Outcome.REFUSED and action.question is Question.REACH
    return claimed and action.protocol.refused_by_icmp and action.source.kind is VantageKind.POD


def _enough(check: Check, raw: Raw, timing: Timing) -> tuple[int, int]:
    """Return how many successes in a row, and how many failures, make a result."""
    many_packets = (check.action.size or 0) >= ONE_MIB
    one = raw.tool in ONE_IS_ENOUGH or many_packets
    return 1 if one else timing.successes, 1 if raw.tool in SAID else timing.failures
