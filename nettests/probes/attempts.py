"""Repeat a question until its answer means something, with positive controls around a negative one.

A positive result needs several successes in a row; a negative one is a sandwich: negative, controls,
negative again. ``turns`` says what is asked next. It reads answers only to know whether to go on, never to judge.
"""

from nettests.model.check import Check, Control
from nettests.model.observation import Attempt, Raw
from nettests.model.profile import Timing
from nettests.model.words import Outcome, Protocol, Question, VantageKind
from nettests.parse.kept_back import kept_back
from nettests.parse.observe import BEHIND, some_may_refuse
from nettests.parse.read import read_raw, read_resolution
from nettests.probes.asking import Asker
from nettests.probes.churn import Churn
from nettests.probes.commands import CannotAskError
from nettests.probes.pace import BURST
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
CONTROL_TRIES = 2


def attempt(asker: Asker, check: Check, churn: Churn | None = None) -> None:
    """Ask a check to its end; everything that was seen is in the journal."""
    if check.ask.question is Question.DISTRIBUTE:
        _distribute(asker, check)
    elif check.ask.question is Question.CHURN:
        _after_churn(asker, check, churn)
    else:
        _repeat(asker, check)


def positive(raw: Raw, question: Question) -> bool:
    """Whether the target answered; for a name alone, whether it resolved."""
    return raw.error is None and _read(raw, question).outcome.positive


def _read(raw: Raw, question: Question) -> Attempt:
    return (read_resolution if question is Question.RESOLVE else read_raw)(raw)


def _repeat(asker: Asker, check: Check) -> None:
    turns: list[int] = []
    seen: list[Attempt] = []
    turn: int | None = 0
    silences, paced = 0, _refused_by_icmp(check)
    while turn is not None:
        number = len(seen) + silences + 1
        raw = asker.ask(check.id, "check", number, check.ask, turn=turn, paced=paced)
        if raw.error is not None:
            return
        one = _read(raw, check.ask.question)
        if paced and kept_back(raw, one) and silences < BURST:
            silences += 1
            continue
        if not one.outcome.positive and all(before.outcome.positive for before in seen):
            _ask_controls(asker, check, turn)
        turns.append(turn)
        seen.append(one)
        successes, failures = _enough(raw, asker.timing)
        turn = next_turn(turns, seen, successes=successes, failures=failures)


def _refused_by_icmp(check: Check) -> bool:
    """Whether all is well if a kernel tells the probe's Pod by ICMP that nobody is there; over TCP a SYN is sent again."""
    ask = check.ask
    claimed = check.claim.outcome is Outcome.REFUSED and ask.question is Question.REACH
    return claimed and ask.protocol is Protocol.UDP and ask.source.kind is VantageKind.POD


def _enough(raw: Raw, timing: Timing) -> tuple[int, int]:
    """Return how many successes in a row, and how many failures, make a result."""
    successes = 1 if raw.tool in ONE_IS_ENOUGH else timing.successes
    return successes, 1 if raw.tool in SAID else timing.failures


def _distribute(asker: Asker, check: Check) -> None:
    """Open many new connections for who answers, then some for the client's port.

    The controls are always asked here: that several backends can be reached is what gives a
    distribution its meaning.
    """
    _ask_controls(asker, check)
    count = check.ask.connections
    turns = [0] * count + [1] * asker.timing.client_addresses
    failures = answered = 0
    mixed = some_may_refuse(check.target)
    for number, turn in enumerate(turns, 1):
        if number > 1 and turn == 0:  # who the client is can be asked at any time
            asker.stopped.wait(check.ask.pause)
        raw = asker.ask(check.id, "check", number, check.ask, turn=turn)
        if raw.error is not None:
            return
        if positive(raw, check.ask.question):
            answered += 1
        else:
            failures += 1
        bearable = mixed and read_raw(raw).outcome in {Outcome.CONNECTED, Outcome.REFUSED}
        if failures >= asker.timing.failures and (answered or not bearable):
            return


def _after_churn(asker: Asker, check: Check, churn: Churn | None) -> None:
    """Let the Service go and come, then open many new connections: a stale rule would take some."""
    if churn is None:
        raise CannotAskError("nobody here can change a Service")
    behind = {BEHIND: churn.carry_out(asker, check)}
    failures = 0
    for number in range(1, check.ask.connections + 1):
        raw = asker.ask(check.id, "check", number, check.ask, more=behind)
        if raw.error is not None:
            return
        if not positive(raw, check.ask.question):
            failures += 1
            if failures == 1:
                _ask_controls(asker, check)
            if failures >= asker.timing.failures:
                return


def _ask_controls(asker: Asker, check: Check, turn: int = 0) -> None:
    """Ask the controls for the request that failed: what another port answers proves nothing of it."""
    for control in check.controls:
        if control.ask.question is Question.DISTRIBUTE:
            _ask_until_several(asker, check, control)
            continue
        for number in range(1, CONTROL_TRIES + 1):
            purpose = f"control:{control.proves}"
            raw = asker.ask(check.id, purpose, number, control.ask, turn=turn)
            if positive(raw, control.ask.question):
                break


def _ask_until_several(asker: Asker, check: Check, control: Control) -> None:
    """Ask a control that has to reach several backends, until two have answered."""
    backends: set[str | None] = set()
    failures = 0
    for number in range(1, control.ask.connections + 1):
        raw = asker.ask(check.id, f"control:{control.proves}", number, control.ask)
        if positive(raw, control.ask.question):
            backends.add(read_raw(raw).backend)
        else:
            failures += 1
        if len(backends) > 1 or failures >= asker.timing.failures:
            return
