"""Run the positive controls of negative answers: concurrently if silent, and shared by checks.

Hundreds of checks share a few controls: one that is silent, or failed a moment ago, is not retried
for each of them. Its answers are recorded for every check that needs them, with the check that sent
them. A control that answers is run by each check in its own window.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nettests.bounds import bearable
from nettests.errors import NettestsError
from nettests.model.check import Action, Check, Control
from nettests.model.observation import Raw
from nettests.model.words import Question, VantageKind
from nettests.parse.read import proves, read_raw
from nettests.probes.pending import (
    Pending,
    begin,
    gave_up,
    one_over,
    one_try_tells,
    patience,
    queries_resolver,
    results,
)
from nettests.probes.sending import Sender

CONTROL_TRIES = 2
WINDOW_SECONDS = 10.0
"""Seconds for which a control's failure holds after its last request: about the time of a check that times out."""
SHARED = "shared"
"""The key in ``Raw.context`` for the check that ran this control in the same window."""


@dataclass(slots=True)
class _Errand:
    """One control that a check runs, or has run."""

    check: str
    action: Action
    answers: Pending[tuple[Raw, ...]] = field(init=False)
    sent: float = 0.0
    """When the last request was sent; 0 while all still wait for a slot."""

    def silent(self) -> bool:
        """Whether it has no positive answer so far."""
        if not self.answers.over:
            return True
        try:
            return not any(proves(raw, self.action) for raw in self.answers.result())
        except NettestsError:
            return False  # its own check reports the error; others send the control themselves


@dataclass(slots=True)
class Controls:
    """The controls of a run; thread-safe.

    Checks share a control, so only ``stopped`` ends it, not the end of the check that started it.
    """

    stopped: threading.Event = field(default_factory=threading.Event)
    clock: Callable[[], float] = time.monotonic
    _errands: dict[tuple[Action, int], _Errand] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(
        self,
        sender: Sender,
        check: Check,
        turn: int = 0,
        on_silence: Callable[[], None] = lambda: None,
    ) -> bool:
        """Run the controls for the failed request's turn; return whether all were answered.

        Another port's answer proves nothing. ``on_silence`` is called if some have no answer yet.
        """
        pending = []
        for control in check.controls:
            errand = self._errand(sender, check, control, turn)
            errand.answers.answered(present_patience(sender, control.action))
            pending.append((control, errand))
        if not all(errand.answers.over for _, errand in pending):
            on_silence()
        alive = True
        for control, errand in pending:
            answers = errand.answers.result()
            alive = alive and any(proves(raw, control.action) for raw in answers)
            if errand.check != check.id:
                for raw in answers:
                    sender.recorder.raw(_shared(raw, check.id, control))
        return alive

    def _errand(self, sender: Sender, check: Check, control: Control, turn: int) -> _Errand:
        """Return this control's errand: another check's recent one without answer, or a new one."""
        key = control.action, turn
        with self._lock:
            earlier = self._errands.get(key)
            if earlier is not None and earlier.check != check.id and self._holds(earlier):
                return earlier
            errand = _Errand(check.id, control.action)

            def carry_out(on_sent: Callable[[], None]) -> tuple[Raw, ...]:
                def sent() -> None:
                    errand.sent = self.clock()
                    on_sent()

                lasting = replace(sender, stopped=self.stopped)
                return _probed(lasting, check, control, turn, sent)

            errand.answers = begin(carry_out)
            self._errands[key] = errand
            return errand

    def _holds(self, errand: _Errand) -> bool:
        """Whether it has no positive answer, and is under way or recent."""
        under_way = not errand.answers.over
        return (under_way or self.clock() - errand.sent < WINDOW_SECONDS) and errand.silent()


def present_patience(sender: Sender, action: Action) -> float:
    """Return ``patience``, or more while the source answers late: an overloaded probe gets no repeats."""
    probe = sender.probes.get(action.source.probe)
    if probe is None:
        return patience(action)
    by_process = action.is_process or action.source.kind is VantageKind.NODE
    slots = probe.execute.slots if by_process and probe.execute else probe.http_slots
    return max(patience(action), bearable(slots))


def _probed(
    sender: Sender, check: Check, control: Control, turn: int, sent: Callable[[], None]
) -> tuple[Raw, ...]:
    if control.action.question is Question.DISTRIBUTE:
        sent()
        return _until_several(sender, check, control)
    return _until_one(sender, check, control, turn, sent)


def _until_one(
    sender: Sender, check: Check, control: Control, turn: int, sent: Callable[[], None]
) -> tuple[Raw, ...]:
    """Probe until one answer is positive; if the first is slow, probe once more meanwhile."""
    purpose = f"control:{control.proves}"

    def send_once(number: int, on_sent: Callable[[], None]) -> Raw:
        return sender.send(check.id, purpose, number, control.action, turn=turn, on_sent=on_sent)

    def first_sent(heard: Callable[[], None]) -> Callable[[], None]:
        def both() -> None:
            heard()
            sent()

        return both

    first = begin(lambda heard: send_once(1, first_sent(heard)))
    if first.answered(present_patience(sender, control.action)) or not _worth_repeating(
        sender, control, first
    ):
        raw = first.result()
        conclusive = (raw.error is None and control.action.question.examined) or (
            one_try_tells(control.action) and gave_up(control.action, raw)
        )
        if conclusive or proves(raw, control.action):
            return (raw,)
    return _until_proven(control.action, (first, begin(lambda _: send_once(CONTROL_TRIES, sent))))


def _until_proven(action: Action, tries: tuple[Pending[Raw], ...]) -> tuple[Raw, ...]:
    """Wait until one try succeeds or all are over; return those that are over."""
    one_over(tries)
    over = [request.result() for request in tries if request.over]
    if any(proves(raw, action) for raw in over):
        return tuple(over)
    return tuple(results(tries))


def _worth_repeating(sender: Sender, control: Control, first: Pending[Raw]) -> bool:
    """Whether to repeat a silent control; one that retries itself, only if queries get lost."""
    losing = queries_resolver(control.action) and sender.resolvers.answered(
        control.action.source.probe, since=first.began
    )
    return losing or not one_try_tells(control.action)


def _shared(raw: Raw, check: str, control: Control) -> Raw:
    """Return the answer to one check's control as that of another check."""
    context = {**raw.context, SHARED: raw.check}
    return replace(raw, check=check, purpose=f"control:{control.proves}", context=context)


def _until_several(sender: Sender, check: Check, control: Control) -> tuple[Raw, ...]:
    """Run a control until two backends have answered; slow connections overlap."""
    connections: list[Pending[Raw]] = []
    for number in range(1, control.action.connections + 1):
        connections.append(_connection(sender, check, control, number))
        connections[-1].answered(present_patience(sender, control.action))
        while (waiting := [connection for connection in connections if not connection.over]) and (
            len(waiting) + _failed(connections, control.action) >= sender.timing.failures
        ):
            one_over(waiting)
        over = tuple(connection.result() for connection in connections if connection.over)
        proven = [raw for raw in over if proves(raw, control.action)]
        if len({read_raw(raw).backend for raw in proven}) > 1:
            return over
        if _failed(connections, control.action) >= sender.timing.failures:
            break
    return tuple(results(connections))


def _failed(connections: Sequence[Pending[Raw]], action: Action) -> int:
    return sum(
        connection.over and not proves(connection.result(), action) for connection in connections
    )


def _connection(sender: Sender, check: Check, control: Control, number: int) -> Pending[Raw]:
    purpose = f"control:{control.proves}"
    return begin(lambda sent: sender.send(check.id, purpose, number, control.action, on_sent=sent))
