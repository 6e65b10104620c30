"""Find connections and name lookups that succeeded only after a retransmission.

``session`` calls it when all answers of a check are there. A lost SYN is retransmitted after 1 s,
then 2 s later (RFC 6298; Windows' ``InitialRto`` is 1 s or 3 s), a DNS query after 5 s
(resolv.conf(5)), so the answer takes little longer than that. It shows a loss only if the backend's
other answers, and the probe's others on the same channel meanwhile, were prompt.
"""

import re
from collections.abc import Iterable, Sequence
from statistics import median
from typing import assert_never

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.retransmission import PROMPT_SECONDS, QUERY_SECONDS, SYN_AGAIN
from nettests.model.words import OS, Outcome, Protocol, Question
from nettests.parse.late_trains import late_trains
from nettests.parse.observe import some_may_refuse
from nettests.parse.overload import Carried, prompt_beside
from nettests.parse.read import read_raw, read_resolution

QUERY_AGAIN = (QUERY_SECONDS,)
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
    slow = [
        raw
        for raw in answered
        if any(0 <= raw.elapsed - delay <= PROMPT_SECONDS for delay in delays)
    ]
    for raw in slow:
        prompt = _prompt_otherwise(raw, answered, several=len(check.target.backends) > 1)
        meanwhile = prompt_beside(raw, others)
        if prompt and meanwhile:
            return (
                f"attempt {raw.attempt} took {raw.elapsed:.2f} s, as long as a lost {_what(check, raw)} is waited "
                f"for, and the others {median(other.elapsed for other in prompt) * 1000:.0f} ms; the probe answered "
                f"{meanwhile} other questions meanwhile"
            )
    return None


def _said_again(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say how many of a flow's first datagrams were lost before one was answered."""
    attempts = [read_raw(raw) for raw in raws if raw.purpose == "check" and raw.error is None]
    lost = sum(attempt.lost for attempt in attempts)
    if check.action.protocol is not Protocol.UDP or not lost:
        return None
    return f"{lost} of the flow's first datagrams had no answer, the next one had"


def _looked_up_again(raws: Sequence[Raw], others: Sequence[Carried]) -> str | None:
    """Say which lookup needed a second query: nslookup reports it, or it took that long.

    nslookup retries by itself; older BIND versions do not report it. Any time beyond the resolver's
    time-out counts, because several queries in a row, or later ones, may be lost.
    """
    for raw in raws:
        if raw.purpose != "check" or raw.tool != "nslookup" or raw.error is not None:
            continue
        if not read_raw(raw).outcome.positive:
            continue
        if match := _SAID_AGAIN.search(_about_the_name(raw)):
            return f"attempt {raw.attempt} found the name only at a second query ({match[0].strip('; ')})"
        waited = raw.elapsed >= QUERY_SECONDS
        if waited and (meanwhile := prompt_beside(raw, others, LOOKUP)):
            return (
                f"attempt {raw.attempt} took {raw.elapsed:.2f} s, and a query to the name server that is lost is sent "
                f"again after {QUERY_SECONDS:g} s; the probe carried out {meanwhile} other commands meanwhile"
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
    prompt = [raw for raw in same if raw.elapsed <= PROMPT_SECONDS]
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
