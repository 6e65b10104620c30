"""Ask the positive controls of a negative answer, all at once where they are silent, and dead ones once for all.

Used by ``attempts``. Hundreds of checks lean on the same few controls: one that is silent, or was found dead a
moment ago, is not asked again by each of them. Its answers are written for every check that needs them, with the
check that asked. A control that answers is asked by each check in its own window.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nettests.errors import NettestsError
from nettests.model.check import Ask, Check, Control
from nettests.model.observation import Raw
from nettests.model.words import Question
from nettests.parse.read import proves, read_raw
from nettests.probes.asking import Asker
from nettests.probes.beside import Pending, asks_resolver, begin, gave_up, one_try_tells, patience

CONTROL_TRIES = 2
WINDOW_SECONDS = 10.0
"""What a control brought holds for so long after its last question was sent: about one ladder of silence."""
SHARED = "shared"
"""In ``Raw.context``: the check that asked this control in the same window."""


@dataclass(slots=True)
class _Errand:
    """One control that some check asks, or has asked."""

    check: str
    ask: Ask
    answers: Pending[tuple[Raw, ...]] = field(init=False)
    sent: float = 0.0
    """When the last question had its turn; none had yet where all still wait for it."""

    def silent(self) -> bool:
        """Whether it has brought no positive answer so far."""
        if not self.answers.over:
            return True
        try:
            return not any(proves(raw, self.ask) for raw in self.answers.result())
        except NettestsError:
            return False  # whoever asked says why; others ask themselves


@dataclass(slots=True)
class Controls:
    """The controls of a run; safe for threads.

    A control is asked for other checks, too: ``stopped`` ends it, not what ends the check that began it.
    """

    stopped: threading.Event = field(default_factory=threading.Event)
    clock: Callable[[], float] = time.monotonic
    _errands: dict[tuple[Ask, int], _Errand] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self,
        asker: Asker,
        check: Check,
        turn: int = 0,
        on_silence: Callable[[], None] = lambda: None,
    ) -> bool:
        """Ask the controls for the request that failed: what another port answers proves nothing of it.

        Return whether all of them answered. ``on_silence`` is called when all were asked and some only wait.
        """
        pending = []
        for control in check.controls:
            found = self._begun(asker, check, control, turn)
            found.answers.answered(patience(control.ask))
            pending.append((control, found))
        if not all(errand.answers.over for _, errand in pending):
            on_silence()
        alive = True
        for control, errand in pending:
            answers = errand.answers.result()
            alive = alive and any(proves(raw, control.ask) for raw in answers)
            if errand.check != check.id:
                for raw in answers:
                    asker.recorder.raw(_shared(raw, check.id, control))
        return alive

    def _begun(self, asker: Asker, check: Check, control: Control, turn: int) -> _Errand:
        """Return the errand of this control: one that is silent in this window, or a new one."""
        key = control.ask, turn
        with self._lock:
            known = self._errands.get(key)
            if known is not None and known.check != check.id and self._holds(known):
                return known
            made = _Errand(check.id, control.ask)

            def carry_out(on_sent: Callable[[], None]) -> tuple[Raw, ...]:
                def sent() -> None:
                    made.sent = self.clock()
                    on_sent()

                lasting = replace(asker, stopped=self.stopped)
                return _asked(lasting, check, control, turn, sent)

            made.answers = begin(carry_out)
            self._errands[key] = made
            return made

    def _holds(self, known: _Errand) -> bool:
        """Whether its silence is of now: it is still under way, or was a moment ago."""
        under_way = not known.answers.over
        return (under_way or self.clock() - known.sent < WINDOW_SECONDS) and known.silent()


def _asked(
    asker: Asker, check: Check, control: Control, turn: int, sent: Callable[[], None]
) -> tuple[Raw, ...]:
    if control.ask.question is Question.DISTRIBUTE:
        sent()
        return _until_several(asker, check, control)
    return _until_one(asker, check, control, turn, sent)


def _until_one(
    asker: Asker, check: Check, control: Control, turn: int, sent: Callable[[], None]
) -> tuple[Raw, ...]:
    """Ask until one answer is positive; where the first is slow to come, ask once more beside it."""
    purpose = f"control:{control.proves}"

    def ask(number: int, on_sent: Callable[[], None]) -> Raw:
        return asker.ask(check.id, purpose, number, control.ask, turn=turn, on_sent=on_sent)

    def first_sent(heard: Callable[[], None]) -> Callable[[], None]:
        def both() -> None:
            heard()
            sent()

        return both

    first = begin(lambda heard: ask(1, first_sent(heard)))
    if first.answered(patience(control.ask)) or not _worth_repeating(asker, control, first):
        raw = first.result()
        if proves(raw, control.ask) or (one_try_tells(control.ask) and gave_up(control.ask, raw)):
            return (raw,)
    second = ask(CONTROL_TRIES, sent)
    return first.result(), second


def _worth_repeating(asker: Asker, control: Control, first: Pending[Raw]) -> bool:
    """Whether to ask once more beside a silent control: where it repeats itself, only if its resolver loses queries."""
    losing = asks_resolver(control.ask) and asker.resolvers.answered(
        control.ask.source.probe, since=first.began
    )
    return losing or not one_try_tells(control.ask)


def _shared(raw: Raw, check: str, control: Control) -> Raw:
    """Return the answer to one check's control as that of another check."""
    context = {**raw.context, SHARED: raw.check}
    return replace(raw, check=check, purpose=f"control:{control.proves}", context=context)


def _until_several(asker: Asker, check: Check, control: Control) -> tuple[Raw, ...]:
    """Ask a control that has to reach several backends, until two have answered."""
    found: list[Raw] = []
    backends: set[str | None] = set()
    failures = 0
    for number in range(1, control.ask.connections + 1):
        raw = asker.ask(check.id, f"control:{control.proves}", number, control.ask)
        found.append(raw)
        if proves(raw, control.ask):
            backends.add(read_raw(raw).backend)
        else:
            failures += 1
        if len(backends) > 1 or failures >= asker.timing.failures:
            break
    return tuple(found)
