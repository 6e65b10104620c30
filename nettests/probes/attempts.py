"""Repeat a question until its answer means something, with positive controls around a negative one.

A positive result needs several successes in a row; a negative one is a sandwich: negative, controls,
negative again, unless whoever asks has repeated the question by itself (a resolver, ``ping``, a process' TCP) and
the controls are as silent. Where the first question is silent for so long that it will hardly be answered, the
controls go out beside it, and the second question where nobody repeats the first one: all of them wait in the same
window. ``turns`` says what is asked next. It reads
answers only to know whether to go on, never to judge.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.observation import Attempt, Raw
from nettests.model.words import Outcome, Question, VantageKind
from nettests.parse.kept_back import kept_back
from nettests.parse.observe import BEHIND
from nettests.parse.read import positive, read_answer
from nettests.probes.asking import Asker
from nettests.probes.beside import (
    Pending,
    asks_resolver,
    begin,
    gave_up,
    one_over,
    patience,
    repeats_itself,
    results,
)
from nettests.probes.churn import Churn
from nettests.probes.commands import CannotAskError
from nettests.probes.controls import Controls
from nettests.probes.pace import BURST
from nettests.probes.series import Series
from nettests.probes.turns import next_turn

ONE_IS_ENOUGH = frozenset(
    {"ping", "nslookup", "resolve_dnsname", "admission", "inspection", "start", "idle"}
)
"""``ping`` sends three echoes itself; a resolver's positive answer is complete at once, and so is what
the API server says or a configuration holds."""
SAID = frozenset({"admission", "inspection", "start", "idle"})
"""Tools whose negative answer is said, not inferred from silence: asking again would change nothing. A
connection that was lost is so beside a new one in the same record, and nothing else that a silent one may bring is
believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Asks checks to their end; everything that was seen is in the asker's recorder. Safe for threads."""

    churn: Churn | None = None
    """Who changes Services for the checks that ask for it."""
    controls: Controls = field(default_factory=Controls)

    def carry_out(self, asker: Asker, check: Check) -> None:
        """Ask one check to its end."""
        match check.ask.question:
            case Question.DISTRIBUTE:
                self._distribute(asker, check)
            case Question.CHURN:
                self._after_churn(asker, check)
            case Question.REACH | Question.PING | Question.RESOLVE | Question.IDLE:
                _Ladder(asker, check, self.controls).climb()
            case Question.ADMIT | Question.INSPECT | Question.START:
                _Ladder(asker, check, self.controls).climb()
            case question:
                assert_never(question)

    def _distribute(self, asker: Asker, check: Check) -> None:
        """Open many new connections for who answers, then some for the client's port.

        The controls are always asked here: that several backends can be reached is what gives a
        distribution its meaning.
        """
        self.controls.ask(asker, check)
        Series(asker, check).run()

    def _after_churn(self, asker: Asker, check: Check) -> None:
        """Let the Service go and come, then open many new connections: a stale rule would take some."""
        if self.churn is None:
            raise CannotAskError("nobody here can change a Service")
        behind = {BEHIND: self.churn.carry_out(asker, check)}
        failures = 0
        for number in range(1, check.ask.connections + 1):
            raw = asker.ask(check.id, "check", number, check.ask, more=behind)
            if raw.error is not None:
                return
            if not positive(raw, check.ask.question):
                failures += 1
                if failures == 1:
                    self.controls.ask(asker, check)
                if failures >= asker.timing.failures:
                    return


@dataclass(slots=True)
class _Ladder:
    """The repeats of one check's question."""

    asker: Asker
    check: Check
    controls: Controls
    turns: list[int] = field(default_factory=list)
    seen: list[Attempt] = field(default_factory=list)
    _asked: int = 0
    _controls: Pending[bool] | None = None
    _losing: bool = False
    """Whether a resolver was seen to lose queries: each further answer may take half a minute."""

    def climb(self) -> None:
        """Ask until the answers are enough, and wait for all that was asked beside."""
        try:
            if _refused_by_icmp(self.check):
                self._paced()
            else:
                self._repeat()
        finally:
            if self._controls is not None:
                self._controls.result()

    def _repeat(self) -> None:
        turn: int | None = 0
        while turn is not None:
            asked = self._asked_side_by_side(turn)
            for of, raw in zip(asked, results(asked.values()), strict=True):
                if raw.error is not None:
                    return
                turn = self._take(of, raw)
            if self._losing and _disagree(self.seen):
                return

    def _asked_side_by_side(self, turn: int) -> dict[int, Pending[Raw]]:
        """Ask once; where that is silent, its controls too, and beside it what will be asked next in any case.

        A second silence is wanted where there is one; answers that come late are wanted until there are enough.
        """
        asked = {turn: self._begin(turn)}
        if asked[turn].answered(patience(self.check.ask)):
            return asked
        if self.seen:  # what is only slow is not asked more often: all would be slower
            slow = all(one.outcome.positive for one in self.seen)
            left = self.asker.timing.successes - len(self.seen)
            return asked | self._further(turn, left - 1) if slow else asked
        self._ask_controls(turn)
        if self._resolver_answers(asked[turn]):
            self._losing = True
            return asked | self._further(turn, self.asker.timing.successes - 1)
        if self.asker.timing.failures > 1 and self._worth_repeating(asked[turn]):
            asked |= self._further(turn, 1)
            one_over(asked.values())
            asked |= self._further(turn + 1, self._wanted_of_late_answers(asked) - len(asked))
        return asked

    def _further(self, turn: int, number: int) -> dict[int, Pending[Raw]]:
        """Ask the next turns."""
        return {one: self._begin(one) for one in range(turn + 1, turn + 1 + number)}

    def _wanted_of_late_answers(self, asked: Mapping[int, Pending[Raw]]) -> int:
        """Return how many answers make a result where one of these was positive; none where none was."""
        raws = [one.result() for one in asked.values() if one.over]
        told = [raw for raw in raws if positive(raw, self.check.ask.question)]
        return max((_enough(raw, self.asker.timing)[0] for raw in told), default=0)

    def _resolver_answers(self, first: Pending[Raw]) -> bool:
        """Whether the silent question asks a resolver that has answered others meanwhile: queries get lost then.

        Each answer may then take as long as the resolver repeats them, and several are wanted.
        """
        asks = asks_resolver(self.check.ask) and not self.check.ask.is_process
        return asks and self.asker.resolvers.answered(self.check.source.probe, since=first.began)

    def _paced(self) -> None:
        """Ask at the pace of the kernel that refuses by ICMP; a silence that its limit explains is asked again.

        One that is silent is not waited for to ask the next one: that has its pace, too.
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
            if kept_back(raw, read_answer(raw, self.check.ask.question)) and silences < BURST:
                silences += 1
                turn = of
                continue
            turn = self._take(of, raw)

    def _go_on_beside(self, begun: deque[tuple[int, Pending[Raw]]], bearable: int) -> None:
        """Wait for the first of them, and as long as it and the newest are silent ask what will be wanted next.

        Two silences are wanted, and one more for each that the limit explains, up to so many as are ``bearable``.
        """
        probe = self.check.source.probe
        while not begun[0][1].over and not begun[-1][1].answered(patience(self.check.ask)):
            explained = sum(self.asker.pace.spent(probe, one.began) for _, one in begun)
            wanted = self.asker.timing.failures + min(explained, bearable)
            if len(self.seen) + len(begun) >= wanted:
                return
            self._ask_controls(begun[0][0])
            turn = begun[-1][0] + 1
            begun.append((turn, self._begin(turn, paced=True)))

    def _begin(self, turn: int, *, paced: bool = False) -> Pending[Raw]:
        self._asked += 1
        number, check = self._asked, self.check
        return begin(
            lambda sent: self.asker.ask(
                check.id, "check", number, check.ask, turn=turn, paced=paced, on_sent=sent
            )
        )

    def _take(self, turn: int, raw: Raw) -> int | None:
        """Read one answer and return the turn that comes next."""
        one = read_answer(raw, self.check.ask.question)
        if not one.outcome.positive:
            self._ask_controls(turn)
        self.turns.append(turn)
        self.seen.append(one)
        successes, failures = _enough(raw, self.asker.timing)
        if failures > 1 and gave_up(self.check.ask, raw) and not self._controls_answer():
            failures = 1
        return next_turn(self.turns, self.seen, successes=successes, failures=failures)

    def _worth_repeating(self, first: Pending[Raw]) -> bool:
        """Whether to ask once more beside the silent first question; where that repeats itself, only if its controls answer."""
        if not repeats_itself(self.check.ask) or self._controls is None:
            return True
        one_over((first, self._controls))
        return self._controls.over and self._controls.result()

    def _controls_answer(self) -> bool:
        """Wait for the controls; return whether all of them answered: beside dead ones a second silence shows no more."""
        return self._controls is not None and self._controls.result()

    def _ask_controls(self, turn: int) -> None:
        """Begin to ask the controls, once; return when they have answered, or are silent."""
        if self._controls is None:
            asking = begin(
                lambda sent: self.controls.ask(self.asker, self.check, turn, on_silence=sent)
            )
            self._controls = asking
            asking.answered(0)


def _disagree(attempts: Sequence[Attempt]) -> bool:
    """Whether attempts at one port disagree: that is what they are, whatever would follow."""
    said = {(one.port, one.outcome.positive) for one in attempts}
    return any((port, not positive) in said for port, positive in said)


def _refused_by_icmp(check: Check) -> bool:
    """Whether all is well if a kernel tells the probe's Pod by ICMP that nobody is there; over TCP a SYN is sent again."""
    ask = check.ask
    claimed = check.claim.outcome is Outcome.REFUSED and ask.question is Question.REACH
    return claimed and ask.protocol.refused_by_icmp and ask.source.kind is VantageKind.POD


def _enough(raw: Raw, timing: Timing) -> tuple[int, int]:
    """Return how many successes in a row, and how many failures, make a result."""
    successes = 1 if raw.tool in ONE_IS_ENOUGH else timing.successes
    return successes, 1 if raw.tool in SAID else timing.failures
