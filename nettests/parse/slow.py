"""Find checks whose every answer is so late that clients retransmit. Pure.

``resent`` compares one late answer with prompt ones; if all are late, each is measured against the
protocol's time-outs instead. The probe's reference answers over the same channel, while the request
is repeated, show that the path is slow and not the channel.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.retransmission import PROMPT_SECONDS, SYN_AGAIN
from nettests.model.words import OS, Outcome, Question, VantageKind
from nettests.parse.overload import (
    FEWEST_REFERENCES,
    REFERENCE,
    Carried,
    during,
    prompt_beside,
)
from nettests.parse.read import read_answer, read_raw
from nettests.parse.resent import LOOKUP

RETRANSMITTED = SYN_AGAIN[0]
"""Seconds after which TCP retransmits its first packet, and UDP clients should (RFC 6298, 2.1; RFC 8085, 3.1.1)."""
QUERIED_AGAIN = 2.0
"""Seconds after which a resolver may query again at the earliest (RFC 1035, 4.2.1); Linux waits 5 s, Windows 1 s."""
NEXT_TO_NOTHING = 4
"""A reference answer is negligible if it took at most one part in this many of the delay."""
BY_REQUEST = frozenset({"dial", "train"})
"""Tools of probes reached over HTTP, which can answer reference requests over the same channel."""


def limit(check: Check) -> float | None:
    """Return the seconds from which an answer is late; ``None`` if its time proves nothing."""
    if check.source.kind is not VantageKind.POD or check.action.size is not None:
        return None
    match check.action.question:
        case Question.REACH | Question.LOSS:
            return QUERIED_AGAIN if check.target.descriptor.by_name else RETRANSMITTED
        case Question.RESOLVE:
            return QUERIED_AGAIN
        case Question.PING | Question.DISTRIBUTE | Question.CHURN | Question.IDLE:
            return None
        case Question.PATH_MTU | Question.FLOWS | Question.SCALE | Question.WITNESS:
            return None
        case Question.DURING:  # its own record says it
            return None
        case Question.ADMIT | Question.INSPECT | Question.START:
            return None
        case _:
            assert_never(check.action.question)


def late(check: Check, raws: Sequence[Raw]) -> bool:
    """Whether all answers of a check are positive and late."""
    bound = limit(check)
    answers = [raw for raw in raws if raw.purpose == "check"]
    return bound is not None and bool(answers) and all(_late(check, raw, bound) for raw in answers)


def _late(check: Check, raw: Raw, bound: float) -> bool:
    if raw.error is not None or _of_one(raw) < bound:
        return False
    outcome = read_raw(raw).outcome
    refused_late = outcome is Outcome.REFUSED and raw.client_os == OS.WINDOWS
    if check.action.question is Question.RESOLVE and (outcome is Outcome.TIMED_OUT or refused_late):
        return False  # the name resolved, but its server was silent, or Windows took its time to be refused
    return read_answer(raw, check.action.question).outcome.positive


def _of_one(raw: Raw) -> float:
    """Return the seconds that an answer took; for a train, those of one try."""
    return raw.elapsed / read_raw(raw).tries


def slow(check: Check, raws: Sequence[Raw], others: Iterable[Carried]) -> str | None:
    """Say how late all answers of a check were, with evidence that the path is slow; else ``None``.

    ``others`` are the same probe's other answers over the same channel.
    """
    if check.action.size is not None and check.action.question is Question.REACH:
        return _beside_a_payload(raws, tuple(others))
    if not late(check, raws):
        return None
    answers = [raw for raw in raws if raw.purpose == "check"]
    shown = (
        by_itself(check, raws, answers)
        if answers[0].tool in BY_REQUEST
        else _by_others(answers, others)
    )
    if shown is None:
        return None
    least = min(_of_one(raw) for raw in answers)
    return (
        f"every answer took {least:.1f} s or more, and {limit(check):.0f} s are waited for at most before "
        f"something is sent again; {shown}"
    )


def _beside_a_payload(raws: Sequence[Raw], others: Sequence[Carried]) -> str | None:
    """Say how late small requests were if a payload got no answer: its size is not the reason."""
    answers = [raw for raw in raws if raw.purpose == "check"]
    small = [raw for raw in raws if raw.purpose == "control:target" and raw.error is None]
    answered = [raw.elapsed for raw in small if read_raw(raw).outcome.positive]
    lost = answers and all(read_raw(raw).outcome is Outcome.TIMED_OUT for raw in answers)
    if not lost or not answered or min(answered) < RETRANSMITTED:
        return None
    prompt = [
        other
        for other in others
        if other.elapsed <= PROMPT_SECONDS and any(during(other, raw) for raw in answers)
    ]
    if not prompt:
        return None
    return (
        f"small questions were answered after {min(answered):.1f} s, and the probe answered {len(prompt)} other "
        "questions at once meanwhile"
    )


def by_itself(check: Check, raws: Sequence[Raw], answers: Sequence[Raw]) -> str | None:
    """Say how fast the probe answered reference requests meanwhile, if it did at once.

    A busy machine may take longer, as long as it is negligible compared with the delay.
    """
    last = max(answers, key=lambda raw: raw.attempt)
    at_once = max(PROMPT_SECONDS, (_of_one(last) - (limit(check) or 0)) / NEXT_TO_NOTHING)
    itself = [
        raw.elapsed
        for raw in raws
        if raw.purpose == REFERENCE and raw.error is None and read_raw(raw).outcome.positive
        if raw.elapsed <= at_once and during(Carried(raw.started, raw.elapsed), last)
    ]
    if len(itself) < FEWEST_REFERENCES:
        return None
    return f"the probe answered for itself in {max(itself) * 1000:.0f} ms meanwhile"


def _by_others(answers: Sequence[Raw], others: Iterable[Carried]) -> str | None:
    """Say how many other commands a probe carried out at once while nslookup took long.

    Several are needed beside each answer, because one may be quick on a busy machine too. Not on
    Windows: Microsoft's nslookup queries the server's own name first, and PowerShell starts slowly.
    """
    if any(raw.tool != "nslookup" or raw.client_os == OS.WINDOWS for raw in answers):
        return None
    others = tuple(others)
    beside_each = [prompt_beside(raw, others, LOOKUP) for raw in answers]
    if not all(beside_each) or sum(beside_each) < FEWEST_REFERENCES:
        return None
    return f"the probe carried out {sum(beside_each)} other commands meanwhile"
