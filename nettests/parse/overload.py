"""Tell a lost packet from silence of an overloaded probe or a rate-limited kernel. Pure.

If a probe, its node or the harness's machine is short of CPU time, all answers over its channel are
late; lost packets delay only some, each by a retransmission time-out. Only other checks' requests
to addresses show the difference, because they normally take milliseconds. A kernel's rate limit for
ICMP errors also explains silence: ``probes.pace`` counts the refusals a probe received, and records
with a UDP request if the budget (``icmp_ratelimit``) was used up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from nettests.model.check import Check
from nettests.model.observation import OVERLOADED, Attempt, Raw
from nettests.model.retransmission import PROMPT_SECONDS, after_a_lost_syn
from nettests.model.words import Outcome
from nettests.parse.read import read_raw

REFERENCE = "control:probe"
"""The purpose of reference requests, to the probe itself, sent beside a check that takes long."""
FEWEST_REFERENCES = 2
"""How many reference requests must be answered at once while a request is under way; a busy machine does not."""
OVERLOADED_SECONDS = 0.5
"""A probe is overloaded if its median answer takes longer; on an unloaded cluster it is milliseconds, and 0.2 s
at most when all requests of a run begin at once (measured)."""
BEFORE_SECONDS = 30.0
"""The default deadline for a Service to converge on Linux, the shortest one."""
FEWEST = 12
"""Fewest answers that show overload. A path that loses 40 % of its packets delays two of three answers or more, and so
many in a row once in twenty times (calculated); an overloaded probe gave at least 17 in that time (measured)."""
FEWEST_CHECKS = 3
"""Fewest other checks that these answers belong to: one slow target delays all answers of its own check."""
PROMPT_ONE_IN = 20
"""At most one in so many was prompt: usually none on an overloaded probe, at least one in ten on lossy paths
(measured)."""
ROUNDED = 0.002
"""Records of requests are rounded to the millisecond: one that began in it as another ended was not beside it."""
REQUESTS = frozenset({"dial", "http"})
"""Tools that answer in milliseconds; processes start in a second or two on Windows, and ``ping`` awaits echoes."""


@dataclass(frozen=True, slots=True)
class Carried:
    """When a request occupied a probe's channel: its start in the run, and its duration (s)."""

    started: float
    elapsed: float
    answered: bool = True
    """Whether the target answered; a silent target takes as long as its time-out, on any probe."""
    of: str = ""
    """The check for which it was sent."""
    plain: bool = True
    """Whether only path and probe can delay it: no process start, no name lookup, no payload."""


def carried(raw: Raw, check: Check | None = None) -> Carried:
    """Return when a request occupied its channel, with what its answer and check say about it."""
    quick = check is None or not (check.target.descriptor.by_name or check.action.size)
    return Carried(
        raw.started,
        raw.elapsed,
        answered=read_raw(raw).outcome.positive,
        of=raw.check,
        plain=quick and raw.tool in REQUESTS,
    )


def lies_within(other: Carried, raw: Raw) -> bool:
    """Whether another request was sent and answered while ``raw`` was under way."""
    return raw.started < other.started and other.started + other.elapsed < raw.started + raw.elapsed


def overlaps(other: Carried, raw: Raw, least: float = 0.0) -> bool:
    """Whether both were under way at the same time, for longer than ``least`` seconds."""
    return _shared(other, raw) > least


def _shared(other: Carried, raw: Raw) -> float:
    """Return the seconds for which both were under way, or a negative number."""
    end = min(other.started + other.elapsed, raw.started + raw.elapsed)
    return end - max(other.started, raw.started)


def prompt_beside(raw: Raw, others: Iterable[Carried], within: float = PROMPT_SECONDS) -> int:
    """Return how many other requests were answered at once while ``raw`` was under way.

    0 if most of the other answers were late too, not counting retransmitted SYNs and requests that
    shared less than half of their time, or of its: a burst that ended as ``raw`` began tells little.
    """
    others = [other for other in others if other.answered and other.started != raw.started]
    answered = [
        other.elapsed
        for other in others
        if 2 * _shared(other, raw) >= min(other.elapsed, raw.elapsed) and not _sent_again(other)
    ]
    prompt = [other for other in others if other.elapsed <= within and lies_within(other, raw)]
    return len(prompt) if answered and median(answered) <= within else 0


def overloaded(
    raws: Sequence[Raw], others: Iterable[Carried], everybody: Iterable[Carried] = ()
) -> tuple[int, ...]:
    """Return the attempts whose silence a probe explains that answered everything else late.

    Empty if these are more than were answered or refused: the target is the likely cause.
    ``others`` are the answers over the same channel, ``everybody`` those of all probes, used if
    ``others`` are too few.
    """
    read = [
        (raw, read_raw(raw).outcome) for raw in raws if raw.purpose == "check" and raw.error is None
    ]
    answers = sum(_answer(outcome) for _, outcome in read)
    silent = [raw for raw, outcome in read if outcome is Outcome.TIMED_OUT]
    if not silent or not answers:
        return ()
    others, everybody = _shows_overload(others), _shows_overload(everybody)
    explained = tuple(raw.attempt for raw in silent if _late_beside(raw, others, everybody))
    return explained if len(explained) <= answers else ()


def overloaded_before(moment: float, others: Iterable[Carried]) -> bool:
    """Whether nearly all answers in the ``BEFORE_SECONDS`` before ``moment`` were late.

    If the channels that poll Services are slow, a missed deadline says nothing about rules.
    """
    since = moment - BEFORE_SECONDS
    recent = [answer for answer in _shows_overload(others) if since <= answer.started < moment]
    return _late_throughout(recent)


def too_busy(
    check: Check, raws: Sequence[Raw], others: Iterable[Carried], everybody: Iterable[Carried] = ()
) -> str | None:
    """Return why the silence of a large transfer proves nothing: its probe answered all else late.

    A transfer has a fixed time, 5 s in agnhost, and needs CPU at both ends all the while; the
    silence of small requests counts on a busy probe too. If most transfers succeeded,
    ``overloaded`` leaves out the others.
    """
    if check.action.size is None or not check.action.protocol.retransmitted:
        return None
    outcomes = [Outcome.PROBE_FAILED if raw.error else read_raw(raw).outcome for raw in raws]
    silent = [
        raw for raw, outcome in zip(raws, outcomes, strict=True) if outcome is Outcome.TIMED_OUT
    ]
    answers = sum(map(_answer, outcomes))
    if len(silent) <= answers or len(silent) + answers < len(raws):
        return None
    others, everybody = _shows_overload(others), _shows_overload(everybody)
    if not all(_late_beside(raw, others, everybody) for raw in silent):
        return None
    meanwhile = [
        answer.elapsed for raw in silent for answer in _answers_beside(raw, others, everybody)
    ]
    return (
        f"{OVERLOADED}: its other answers took {median(meanwhile):.1f} s in the median while "
        "nothing came of this transfer"
    )


def _answer(outcome: Outcome) -> bool:
    return outcome.positive or outcome is Outcome.REFUSED


def _shows_overload(answers: Iterable[Carried]) -> list[Carried]:
    """Return the answers that are prompt unless something is slow, without retransmitted ones."""
    return [
        answer for answer in answers if answer.answered and answer.plain and not _sent_again(answer)
    ]


def _answers_beside(
    raw: Raw, others: Sequence[Carried], everybody: Sequence[Carried]
) -> list[Carried]:
    """Return concurrent answers of other checks by this probe, or of all probes if too few."""
    this_probe, all_probes = (
        [answer for answer in answers if answer.of != raw.check and overlaps(answer, raw)]
        for answers in (others, everybody)
    )
    return this_probe if len(this_probe) >= FEWEST else all_probes


def _late_beside(raw: Raw, others: Sequence[Carried], everybody: Sequence[Carried]) -> bool:
    return _late_throughout(_answers_beside(raw, others, everybody))


def _late_throughout(answers: Sequence[Carried]) -> bool:
    """Whether there are enough answers of several checks, late and hardly any prompt."""
    if len(answers) < FEWEST or len({answer.of for answer in answers}) < FEWEST_CHECKS:
        return False
    prompt = sum(answer.elapsed <= PROMPT_SECONDS for answer in answers)
    late = median(answer.elapsed for answer in answers) > OVERLOADED_SECONDS
    return late and prompt * PROMPT_ONE_IN <= len(answers)


def _sent_again(answer: Carried) -> bool:
    return answer.plain and after_a_lost_syn(answer.elapsed)


ICMP = "icmp"
"""The key in ``Raw.context`` for the budget of ICMP errors."""
SPENT = "spent"


def kept_back(raw: Raw, attempt: Attempt) -> bool:
    """Whether an attempt's silence may be a refusal whose ICMP error was rate-limited."""
    return attempt.outcome is Outcome.TIMED_OUT and raw.context.get(ICMP) == SPENT


def telling(raws: Sequence[Raw], attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts that count: if others were refused, without those of ``kept_back``."""
    others = tuple(
        attempt for raw, attempt in zip(raws, attempts, strict=True) if not kept_back(raw, attempt)
    )
    refused = any(attempt.outcome is Outcome.REFUSED for attempt in others)
    return others if refused else tuple(attempts)
