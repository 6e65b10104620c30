"""Answers that came late because a packet was retransmitted, or because their path is slow. Pure.

``session`` calls it when all answers of a check are there. A lost SYN is retransmitted after 1 s,
then 2 s later (RFC 6298; Windows' ``InitialRto`` is 1 s or 3 s), a DNS query after 5 s
(resolv.conf(5)), so the answer takes little longer than that. It shows a loss only if the backend's
other answers, and the probe's others on the same channel meanwhile, were prompt (``resent``). If all
answers are late, each is measured against the protocol's time-outs instead (``slow``): the probe's
reference answers over the same channel, while the request is repeated, show that the path is slow
and not the channel.
"""

import re
from collections.abc import Iterable, Sequence
from statistics import median
from typing import assert_never

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.retransmission import PROMPT_SECONDS, QUERY_SECONDS, SYN_AGAIN
from nettests.model.words import OS, Outcome, Protocol, Question, VantageKind
from nettests.parse.lost_packets import late_trains
from nettests.parse.observe import some_may_refuse
from nettests.parse.overload import (
    FEWEST_REFERENCES,
    REFERENCE,
    Carried,
    lies_within,
    prompt_beside,
)
from nettests.parse.read import read_answer, read_raw, read_resolution

QUERY_AGAIN = (QUERY_SECONDS,)
WELL_BEFORE = SYN_AGAIN[0] / 2
"""Seconds within which most other answers come, where no machine delayed one by as much as a lost packet is waited for."""
LOOKUP = 1.0
"""Seconds that a lookup process and its exec may take in addition to waiting."""
_SAID_AGAIN = re.compile(
    # sample: ";; communications error to 10.96.0.10#53: timed out" (BIND 9.18 and newer, before it asks again)
    # sample: ";; Connection to 10.96.0.10#53(10.96.0.10) for a.b failed: host unreachable." (BIND, over TCP)
    # sample: "DNS request timed out." (Microsoft)
    r"^(?:;; communications error to .*: timed out|;; Connection to .* failed: [a-z ]+|DNS request timed out)",
    re.MULTILINE,
)
LATER = frozenset({Outcome.TIMED_OUT, Outcome.REFUSED})
"""Outcomes that take time after a name was resolved: a refusal takes two seconds on Windows (curl#14144)."""
SPEAKS_TCP = frozenset({"dial", "curl", "http", "connect"})


def resent(check: Check, raws: Sequence[Raw], others: Iterable[Carried]) -> str | None:
    """Say which answer came only after a retransmission, and the evidence; ``None`` if none did.

    ``raws`` are all answers of the check, ``others`` the probe's other requests over that channel.
    """
    others = tuple(others)
    if check.action.question is Question.DURING:
        return _said_again(check, raws)
    if again := late_trains(check, raws) or _looked_up_again(raws, others):
        return again
    if some_may_refuse(check.target):
        return None  # Windows retransmits a refused SYN after half a second, twice (TcpMaxConnectRetransmissions)
    if check.action.size is not None and not check.action.protocol.echoed:
        return None  # a payload's time depends on path and both ends: waiting cannot be told from sending
    answered = [raw for raw in raws if raw.purpose == "check" and _positive(check, raw)]
    delays = _delays(check)
    if len(answered) < 2 or not delays:
        return None
    for raw in answered:
        length = _as_a_lost_packet(check, raw, delays)
        if length is None:
            continue
        prompt = _prompt_otherwise(raw, answered, several=len(check.target.backends) > 1)
        meanwhile = prompt_beside(raw, others)
        if prompt and meanwhile:
            return (
                f"attempt {raw.attempt} took {raw.elapsed:.2f} s, {length} a lost {_what(check, raw)} takes, "
                f"and the others {median(other.elapsed for other in prompt) * 1000:.0f} ms; the probe was not "
                f"busy: meanwhile it answered other requests ({meanwhile})"
            )
    return None


def _as_a_lost_packet(check: Check, raw: Raw, delays: Sequence[float]) -> str | None:
    """Say how an answer's time compares with the wait for a lost packet; ``None`` if it took less.

    A busy machine adds any time to that wait, but a name may also take its time for other reasons.
    """
    if any(0 <= raw.elapsed - delay <= PROMPT_SECONDS for delay in delays):
        return "as long as"
    longer = not check.target.descriptor.by_name and raw.elapsed >= min(delays)
    return "longer than" if longer else None


def _said_again(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say how many of a flow's first datagrams were lost before one was answered."""
    attempts = [read_raw(raw) for raw in raws if raw.purpose == "check" and raw.error is None]
    lost = sum(attempt.lost for attempt in attempts)
    if check.action.protocol is not Protocol.UDP or not lost:
        return None
    return f"{lost} of the flow's first datagrams got no answer, the next one did"


def _looked_up_again(raws: Sequence[Raw], others: Sequence[Carried]) -> str | None:
    """Say which lookup needed a second query: nslookup reports it, or it took that long.

    nslookup retries by itself; older BIND versions do not report it. Any time beyond the resolver's
    time-out counts, because several queries in a row, or later ones, may be lost.
    """
    lookups = [
        raw
        for raw in raws
        if raw.purpose == "check" and raw.tool == "nslookup" and raw.error is None
    ]
    in_steps = all(raw.elapsed % QUERY_SECONDS <= LOOKUP for raw in lookups)
    for raw in lookups:
        if not read_raw(raw).outcome.positive:
            continue
        if match := _SAID_AGAIN.search(_about_the_name(raw)):
            return f"attempt {raw.attempt} found the name only at a second query ({match[0].strip('; ')})"
        if raw.elapsed < QUERY_SECONDS:
            continue
        several = raw.elapsed >= 2 * QUERY_SECONDS and raw.elapsed % QUERY_SECONDS <= PROMPT_SECONDS
        meanwhile = prompt_beside(raw, others, LOOKUP)
        # a busy machine takes any time: seldom a multiple to the moment, hardly ever one each time
        if meanwhile or (several and in_steps):
            shown = f"the probe was not busy: meanwhile it ran other commands ({meanwhile})"
            return (
                f"attempt {raw.attempt} took {raw.elapsed:.2f} s, and a query to the name server that is lost is sent "
                f"again after {QUERY_SECONDS:g} s; {shown if meanwhile else 'and after that once more'}"
            )
    return None


def _about_the_name(raw: Raw) -> str:
    """Return nslookup's output about the name; Microsoft's queries the server's name first."""
    by_microsoft = raw.client_os == OS.WINDOWS and not raw.stdout.startswith(";;")
    return raw.stdout.partition("Server:")[2] if by_microsoft else raw.stdout


def _prompt_otherwise(slow: Raw, answered: Sequence[Raw], *, several: bool) -> list[Raw]:
    """Return the backend's prompt answers if most are prompt; else it is far away or slow.

    An unnamed late answer of several backends may be from any of them.
    """
    backend = read_raw(slow).backend
    if several and backend is None:
        return []
    same = [raw for raw in answered if not several or read_raw(raw).backend == backend]
    prompt = [raw for raw in same if raw.elapsed <= WELL_BEFORE]
    return prompt if len(prompt) * 2 >= len(same) else []


def _positive(check: Check, raw: Raw) -> bool:
    if raw.error is not None or raw.tool not in SPEAKS_TCP:
        return False
    seen = read_raw(raw).outcome
    if check.action.question is not Question.RESOLVE:
        return seen.positive
    return read_resolution(raw).outcome.positive and seen not in LATER


def _delays(check: Check) -> tuple[float, ...]:
    match check.action.protocol:
        case Protocol.TCP:
            again: tuple[float, ...] = SYN_AGAIN
        case Protocol.UDP | Protocol.ICMP:
            again = ()
        case _:
            assert_never(check.action.protocol)
    return (*again, *(QUERY_AGAIN if check.target.descriptor.by_name else ()))


def _what(check: Check, raw: Raw) -> str:
    named = check.target.descriptor.by_name and raw.elapsed >= QUERY_AGAIN[0]
    return "query to the name server" if named else "SYN"


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
            named = check.target.descriptor.by_name or check.target.descriptor.name_server
            return QUERIED_AGAIN if named else RETRANSMITTED
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
        f"every answer took {least:.1f} s or more, longer than the {limit(check):.0f} s after which a lost packet "
        f"is sent again; {shown}"
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
        if other.elapsed <= PROMPT_SECONDS and any(lies_within(other, raw) for raw in answers)
    ]
    if not prompt:
        return None
    return (
        f"small requests were answered only after {min(answered):.1f} s, while the probe answered "
        f"others at once ({len(prompt)})"
    )


def by_itself(check: Check, raws: Sequence[Raw], answers: Sequence[Raw]) -> str | None:
    """Say how fast the probe answered reference requests meanwhile, if it did at once.

    A busy machine may take longer, as long as it is negligible compared with the least delay.
    """
    last = max(answers, key=lambda raw: raw.attempt)
    least = min(map(_of_one, answers))
    at_once = max(PROMPT_SECONDS, (least - (limit(check) or 0)) / NEXT_TO_NOTHING)
    itself = [
        raw.elapsed
        for raw in raws
        if raw.purpose == REFERENCE and raw.error is None and read_raw(raw).outcome.positive
        if raw.elapsed <= at_once and lies_within(Carried(raw.started, raw.elapsed), last)
    ]
    if len(itself) < FEWEST_REFERENCES:
        return None
    return f"meanwhile the probe itself answered within {max(itself) * 1000:.0f} ms"


def _by_others(answers: Sequence[Raw], others: Iterable[Carried]) -> str | None:
    """Say how many other commands a probe carried out at once while nslookup took long.

    Several are needed beside each answer, because one may be quick on a busy machine too; what
    delayed them may have delayed the answer as much, so it must be late without that. Not on Windows:
    Microsoft's nslookup queries the server's own name first, and PowerShell starts slowly.
    """
    if any(raw.tool != "nslookup" or raw.client_os == OS.WINDOWS for raw in answers):
        return None
    others = tuple(others)
    beside_each = [
        prompt_beside(raw, others, min(LOOKUP, _of_one(raw) - QUERIED_AGAIN)) for raw in answers
    ]
    if not all(beside_each) or sum(beside_each) < FEWEST_REFERENCES:
        return None
    return f"meanwhile the probe ran other commands at once ({sum(beside_each)})"
