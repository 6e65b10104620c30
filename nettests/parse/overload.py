"""Tell a lost packet from silence that says nothing: an overloaded probe, or a kernel that limits its errors. Pure.

If a probe, its node or the machine that runs nettests is short of CPU time, all answers over its channel are late. Lost
packets delay some answers and not the others, each by a retransmission time-out. Only requests that normally take
milliseconds can show the difference: those of other checks, to addresses. A kernel's rate limit for ICMP errors also
explains silence: ``probes.pace`` counts the refusals that a probe received, and if the budget (``icmp_ratelimit``) was used
up, the record of a UDP request says so. Used by ``resent``, ``slow`` and ``session``. Nothing is judged here.
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
"""The purpose of requests to the probe itself, sent beside a check that takes long."""
FEWEST_REFERENCES = 2
"""How often a probe has to answer for itself at once while its question is under way; a busy machine does not."""
OVERLOADED_SECONDS = 0.5
"""The median of a probe's answers from which on it is overloaded; on a cluster with nothing else to do it is milliseconds,
and 0.2 s at most where all questions of a run begin at once (measured)."""
BEFORE_SECONDS = 30.0
"""As long as a Service of Linux has to converge by default, the shortest such deadline."""
FEWEST = 12
"""So many answers show overload. Of the answers over a path that loses 40 % of its packets, which delays more than two of
three, so many are all late once in twenty times (calculated); an overloaded probe brought 17 and more in that time (measured)."""
FEWEST_CHECKS = 3
"""Of so many other checks at least: one slow target makes all answers of its own check late."""
PROMPT_ONE_IN = 20
"""At most one of so many came at once: none did as a rule on an overloaded probe, and one of ten at least on
lossy paths (measured)."""
REQUESTS = frozenset({"dial", "http"})
"""Tools that answer in milliseconds; a process takes a second or two to start on Windows, and ``ping`` its echoes."""


@dataclass(frozen=True, slots=True)
class Carried:
    """When a probe's control channel was busy with a question: seconds since the run began, and how long."""

    started: float
    elapsed: float
    answered: bool = True
    """Whether the target answered; a silent target takes as long as its time-out, on any probe."""
    of: str = ""
    """The check for which it was sent."""
    plain: bool = True
    """Whether only the path and the probe can make it late: no process start, no name lookup, no payload."""


def carried(raw: Raw, check: Check | None = None) -> Carried:
    """Return when an answer kept its channel busy, and what its check says about the question."""
    quick = check is None or not (check.target.descriptor.by_name or check.action.size)
    return Carried(
        raw.started,
        raw.elapsed,
        answered=read_raw(raw).outcome.positive,
        of=raw.check,
        plain=quick and raw.tool in REQUESTS,
    )


def during(other: Carried, raw: Raw) -> bool:
    """Whether another question was sent and answered while ``raw`` was under way."""
    return raw.started < other.started and other.started + other.elapsed < raw.started + raw.elapsed


def beside(other: Carried, raw: Raw) -> bool:
    """Whether both were under way at the same time, if only for a moment."""
    return other.started < raw.started + raw.elapsed and raw.started < other.started + other.elapsed


def prompt_beside(raw: Raw, others: Iterable[Carried], within: float = PROMPT_SECONDS) -> int:
    """Return how many other questions were answered at once while ``raw`` was under way.

    0 if most of the other answers were late too, not counting retransmitted SYNs.
    """
    others = [other for other in others if other.answered and other.started != raw.started]
    answered = [other.elapsed for other in others if beside(other, raw) and not _sent_again(other)]
    prompt = [other for other in others if other.elapsed <= within and during(other, raw)]
    return len(prompt) if answered and median(answered) <= within else 0


def overloaded(
    raws: Sequence[Raw], others: Iterable[Carried], everybody: Iterable[Carried] = ()
) -> tuple[int, ...]:
    """Return the attempts that were silent while the probe answered everything else late, in order.

    Only beside attempts that were answered, or refused, and as many of these: what is silent for the most part is so
    for what the target brought. ``others`` are the answers over the same channel, ``everybody`` those of all probes,
    which are looked at where these are too few, as they are beside processes.
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
    """Whether all answers from probes shortly before ``moment`` came late.

    Services are polled over the same channels: if those are slow, a missed deadline says nothing about rules.
    """
    since = moment - BEFORE_SECONDS
    recent = [answer for answer in _shows_overload(others) if since <= answer.started < moment]
    return _late_throughout(recent)


def too_busy(
    check: Check, raws: Sequence[Raw], others: Iterable[Carried], everybody: Iterable[Carried] = ()
) -> str | None:
    """Return why the silence of a large transfer proves nothing: the probe answered everything else late, each time.

    A transfer has a fixed time, 5 s in agnhost, and needs the CPU of both ends for as long as it lasts; small questions
    that are never answered say what they say on a busy probe too. Where most transfers came through, ``overloaded``
    leaves out the others.
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
    """Return the answers that are prompt unless something is slow, without those that a lost packet delayed."""
    return [
        answer for answer in answers if answer.answered and answer.plain and not _sent_again(answer)
    ]


def _answers_beside(
    raw: Raw, others: Sequence[Carried], everybody: Sequence[Carried]
) -> list[Carried]:
    """Return answers of other checks while ``raw`` was under way: of its probe, or of all probes if those are too few."""
    this_probe, all_probes = (
        [answer for answer in answers if answer.of != raw.check and beside(answer, raw)]
        for answers in (others, everybody)
    )
    return this_probe if len(this_probe) >= FEWEST else all_probes


def _late_beside(raw: Raw, others: Sequence[Carried], everybody: Sequence[Carried]) -> bool:
    return _late_throughout(_answers_beside(raw, others, everybody))


def _late_throughout(answers: Sequence[Carried]) -> bool:
    """Whether enough answers of several checks came late, and hardly any at once."""
    if len(answers) < FEWEST or len({answer.of for answer in answers}) < FEWEST_CHECKS:
        return False
    prompt = sum(answer.elapsed <= PROMPT_SECONDS for answer in answers)
    late = median(answer.elapsed for answer in answers) > OVERLOADED_SECONDS
    return late and prompt * PROMPT_ONE_IN <= len(answers)


def _sent_again(answer: Carried) -> bool:
    return answer.plain and after_a_lost_syn(answer.elapsed)


ICMP = "icmp"
"""The key in ``Raw.context``."""
SPENT = "spent"


def kept_back(raw: Raw, attempt: Attempt) -> bool:
    """Whether the silence of one attempt may be a refusal whose ICMP error was suppressed."""
    return attempt.outcome is Outcome.TIMED_OUT and raw.context.get(ICMP) == SPENT


def telling(raws: Sequence[Raw], attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the conclusive attempts: beside refusals, those whose silence may be suppressed do not count."""
    others = tuple(
        attempt for raw, attempt in zip(raws, attempts, strict=True) if not kept_back(raw, attempt)
    )
    refused = any(attempt.outcome is Outcome.REFUSED for attempt in others)
    return others if refused else tuple(attempts)
