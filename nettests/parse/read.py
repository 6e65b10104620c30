"""Pick the parser of a raw answer, turn its reading into an attempt, and read positive controls.

Called while probes decide whether to continue, and again when a check is judged, so the same answer
is always parsed the same way. A control passes with one positive answer in its window, because one
shows that the path works. A control over many connections must reach several backends; a control
for a non-existent name passes if the server denies the name.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from nettests.model.check import Action, Check, Control
from nettests.model.observation import NOT_RUN, Attempt, ControlResult, Raw
from nettests.model.target_kinds import Naming
from nettests.model.windows_programs import exit_code_in_words, is_crash
from nettests.model.words import OS, Outcome, Question
from nettests.parse import (
    admission,
    arrival,
    connect,
    curl,
    datagram,
    endpoint_changes,
    http_response,
    idle,
    inspection,
    many_services,
    netexec,
    nslookup,
    ping,
    pods_at_once,
    program_start,
    resolve_dnsname,
    start,
    witness,
    workloads,
)
from nettests.parse.netexec import channel_failure, document, of_error
from nettests.parse.reading import Reading, not_understood, probe_failed
from nettests.parse.taxonomy import Stage


def _train(raw: Raw) -> Reading:
    """Read how many tries of a train were lost; another error than a time-out decides it."""
    if failure := channel_failure(raw):
        return failure
    dial_result = document(raw.stdout)
    # sample: GET /dial?host=10.244.2.5&port=18081&protocol=udp&request=hostname&tries=29
    words = raw.command[-1] if raw.command else ""
    wanted = re.search(r"[?&]tries=(\d+)", words)
    if dial_result is None or wanted is None:
        return not_understood(f"/dial answered {raw.status or ''} with {raw.stdout!r}")
    tries, (responses, errors) = int(wanted[1]), dial_result
    if len(errors) > tries or (responses and len(responses) + len(errors) != tries):
        return probe_failed(
            f"/dial brought {len(responses)} answers and {len(errors)} errors to {tries} tries"
        )
    readings = [of_error(text, raw.client_os, Stage.ADDRESS) for text in errors]
    other = next(
        (reading for reading in readings if reading.outcome is not Outcome.TIMED_OUT), None
    )
    if other is not None:
        return other
    over_udp = re.search(r"[?&]protocol=udp\b", words)
    answered = Outcome.REPLIED if over_udp else Outcome.CONNECTED
    return Reading(
        outcome=answered if len(errors) < tries else Outcome.TIMED_OUT,
        detail=f"{tries - len(errors)} of {tries} answered",
        backend=responses[0] if responses and "request=hostname" in words else None,
        tries=tries,
        lost=len(errors),
    )


Parser = Callable[[Raw], Reading]
PARSERS: Mapping[str, Parser] = {
    "dial": netexec.read,
    "curl": curl.read,
    "connect": connect.read,
    "ping": ping.read,
    "nslookup": nslookup.read,
    "resolve_dnsname": resolve_dnsname.read,
    "http": http_response.read,
    datagram.DATAGRAM: datagram.read,
    "admission": admission.read,
    "inspection": inspection.read,
    "start": start.read,
    "crowd": pods_at_once.read,
    "workload": workloads.read,
    "idle": idle.read,
    "train": _train,
    many_services.SERVICES: many_services.read,
    witness.WITNESS: witness.read,
    endpoint_changes.MEANWHILE: endpoint_changes.read,
    arrival.SERVER_LOG: arrival.read,
}
"""The parser of each tool that ``Raw.tool`` may name."""
RESOLVERS: Mapping[str, Parser] = {
    "dial": netexec.read_resolution,
    "nslookup": nslookup.read,
    "resolve_dnsname": resolve_dnsname.read,
}
"""The parsers for answers to name lookups."""
DOUBT = "doubt"
"""The key in ``Raw.context`` (never in a journal) for why the answer's instrument is distrusted (``doubts``)."""
REMEMBERED = 1024
"""Answers whose reading is kept: several rules read each answer of a check when it is judged."""
_OTHER_SHAPES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""The exceptions that parsers raise on data of an unexpected shape."""


@lru_cache(maxsize=REMEMBERED)
def read_raw(raw: Raw) -> Attempt:
    """Read one answer; a control channel error or an answer no parser reads is ``probe_failed``."""
    return _attempt(raw, PARSERS)


@lru_cache(maxsize=REMEMBERED)
def read_resolution(raw: Raw) -> Attempt:
    """Read one answer to a name lookup."""
    return _attempt(raw, RESOLVERS)


def read_answer(raw: Raw, question: Question) -> Attempt:
    """Read one answer to ``question``."""
    return (read_resolution if question is Question.RESOLVE else read_raw)(raw)


def not_read(raw: Raw) -> str | None:
    """Return an answer's detail if no parser understands it, else ``None``."""
    attempt = read_raw(raw)
    return attempt.detail if attempt.unread else None


def positive(raw: Raw, question: Question) -> bool:
    """Whether the target answered or, for a name lookup, whether the name resolved."""
    return raw.error is None and read_answer(raw, question).outcome.positive


def proves(raw: Raw, action: Action) -> bool:
    """Whether a positive control's raw answer succeeded; see ``shows``."""
    return raw.error is None and shows(read_answer(raw, action.question), action)


def shows(answer: Attempt, action: Action) -> bool:
    """Whether an answer makes a control succeed: it is positive, or denies a non-existent name."""
    absent = action.target.descriptor.naming is Naming.ABSENT
    return answer.outcome.positive or (absent and answer.outcome is Outcome.NXDOMAIN)


def _attempt(raw: Raw, parsers: Mapping[str, Parser]) -> Attempt:
    reading = _reading(raw, parsers)
    return Attempt(
        number=raw.attempt,
        outcome=reading.outcome,
        detail=reading.detail,
        started=raw.started,
        elapsed=raw.elapsed,
        channel=raw.channel,
        server_saw=reading.server_saw,
        source_port=reading.source_port,
        backend=reading.backend,
        addresses=reading.addresses,
        tries=reading.tries,
        lost=reading.lost,
        port=int(raw.context["port"]) if "port" in raw.context else None,
        unread=raw.context.get("then", raw.tool) if reading.unread else "",
    )


def _reading(raw: Raw, parsers: Mapping[str, Parser]) -> Reading:
    if raw.error is not None:
        not_started = program_start.is_sentence(raw.error)
        return probe_failed(
            raw.error if not_started else f"control channel {raw.channel}: {raw.error}"
        )
    if why := raw.context.get(DOUBT):
        return probe_failed(why)
    if missing := program_start.of_answer(raw.command, raw.exit_code, raw.stdout, raw.stderr):
        return probe_failed(missing.of(raw.command[0], raw.probe))
    if raw.client_os == OS.WINDOWS and is_crash(raw.exit_code):
        words = exit_code_in_words(raw.exit_code or 0)
        return probe_failed(f"{raw.tool} ended with exit code {words}: {raw.stderr or raw.stdout}")
    parser = parsers.get(raw.tool)
    if parser is None:
        return probe_failed(f"{raw.tool} cannot answer this question")
    try:
        return parser(raw)
    except _OTHER_SHAPES as error:
        # A malformed or hostile answer must not crash the run.
        return not_understood(f"an answer in a form that {raw.tool} does not give: {error!r}")


SEVERAL = 2


def read_controls(check: Check, raws: Sequence[Raw], outcome: Outcome) -> tuple[ControlResult, ...]:
    """Return the controls' results; one that did not run counts if ``outcome`` is negative."""
    return tuple(_results(check, raws, outcome))


def _results(check: Check, raws: Sequence[Raw], outcome: Outcome) -> Iterator[ControlResult]:
    for control in check.controls:
        read = read_resolution if control.action.question is Question.RESOLVE else read_raw
        answers = [read(raw) for raw in raws if raw.purpose == f"control:{control.proves}"]
        if answers:
            yield _result(control, answers)
        elif not outcome.positive:
            yield ControlResult(proves=control.proves, ok=False, detail=NOT_RUN)


def _result(control: Control, answers: Sequence[Attempt]) -> ControlResult:
    positive = [answer for answer in answers if shows(answer, control.action)]
    if control.action.question is Question.DISTRIBUTE:
        backends = {answer.backend for answer in positive} - {None}
        return ControlResult(
            proves=control.proves,
            ok=len(backends) >= SEVERAL,
            detail=f"{len(backends) or 'no'} backend{'' if len(backends) == 1 else 's'} answered {len(answers)} connections",
        )
    last = (positive or list(answers))[-1]
    return ControlResult(
        proves=control.proves, ok=bool(positive), detail=f"{last.outcome.value}: {last.detail}"
    )
