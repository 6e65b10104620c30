"""Tell a lost packet from a probe that is overloaded, by what else the same probe answered at that time. Pure.

Used by ``resent`` and ``slow``, whose findings need other answers that came at once meanwhile, and by ``session`` to
leave out a time-out that an overloaded probe explains where another attempt was answered. A probe, its node or the
machine that runs nettests may be short of CPU time: all answers over its channel are late then, whatever was probed,
whereas lost packets delay some answers and not the others. It judges nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from nettests.model.check import Check
from nettests.model.observation import OVERLOADED, Raw
from nettests.model.retransmission import PROMPT_SECONDS
from nettests.model.words import Outcome
from nettests.parse.read import read_raw

OVERLOADED_SECONDS = 0.5
"""The median of a probe's answers from which on it is overloaded; on a cluster with nothing else to do it is milliseconds,
and 0.2 s at most where all questions of a run begin at once (measured)."""
BEFORE_SECONDS = 30.0
"""As long as a Service of Linux has to converge by default, the shortest such deadline."""
FEWEST = 3
"""So many answers make a median."""


@dataclass(frozen=True, slots=True)
class Carried:
    """When a probe's control channel was busy with a question: seconds since the run began, and how long."""

    started: float
    elapsed: float
    answered: bool = True
    """Whether the target answered: what is silent takes as long as its time-out, on any probe."""


def carried(raw: Raw) -> Carried:
    """Return what one raw answer says of its channel."""
    return Carried(raw.started, raw.elapsed, read_raw(raw).outcome.positive)


def during(one: Carried, raw: Raw) -> bool:
    """Whether something else was sent and answered while ``raw`` was on its way."""
    return raw.started < one.started and one.started + one.elapsed < raw.started + raw.elapsed


def beside(one: Carried, raw: Raw) -> bool:
    """Whether both were on their way at the same time, for a moment at least."""
    return one.started < raw.started + raw.elapsed and raw.started < one.started + one.elapsed


def prompt_beside(raw: Raw, others: Iterable[Carried], within: float = PROMPT_SECONDS) -> int:
    """Return how many other questions were answered at once while ``raw`` was on its way.

    None count where most of what was answered meanwhile was late as well.
    """
    others = [one for one in others if one.answered and one.started != raw.started]
    answered = [one.elapsed for one in others if beside(one, raw)]
    prompt = [one for one in others if one.elapsed <= within and during(one, raw)]
    return len(prompt) if answered and median(answered) <= within else 0


def overloaded(raws: Sequence[Raw], others: Iterable[Carried]) -> tuple[int, ...]:
    """Return the attempts that were silent while the probe answered everything else late, in order.

    Only beside an attempt that was answered, or refused: without one, silence is what the target brought.
    """
    read = [
        (raw, read_raw(raw).outcome) for raw in raws if raw.purpose == "check" and raw.error is None
    ]
    if not any(outcome.positive or outcome is Outcome.REFUSED for _, outcome in read):
        return ()
    silent = [raw for raw, outcome in read if outcome is Outcome.TIMED_OUT]
    if not silent:
        return ()
    others = [one for one in others if one.answered]
    return tuple(raw.attempt for raw in silent if _late_beside(raw, others))


def overloaded_before(moment: float, others: Iterable[Carried]) -> bool:
    """Whether what all probes were answered in the time before a moment came late for the most part.

    Services are polled over the same channels: where those are slow, a deadline that passed says nothing of rules.
    """
    since = moment - BEFORE_SECONDS
    recent = [one.elapsed for one in others if one.answered and since <= one.started < moment]
    return len(recent) >= FEWEST and median(recent) > OVERLOADED_SECONDS


def too_busy(check: Check, raws: Sequence[Raw], others: Iterable[Carried]) -> str | None:
    """Return why the silence of a large transfer proves nothing: the probe answered everything else late, each time.

    A transfer has a fixed time, 5 s in agnhost, and needs the CPU of both ends for as long as it lasts; small questions
    that are never answered say what they say on a busy probe too.
    """
    if check.action.size is None or not check.action.protocol.retransmitted or not raws:
        return None
    silent = all(raw.error is None and read_raw(raw).outcome is Outcome.TIMED_OUT for raw in raws)
    answered = [one for one in others if one.answered]
    if not silent or not all(_late_beside(raw, answered) for raw in raws):
        return None
    meanwhile = [one.elapsed for one in answered if any(beside(one, raw) for raw in raws)]
    return (
        f"{OVERLOADED}: its other answers took {median(meanwhile):.1f} s in the median while "
        "nothing came of this transfer"
    )


def _late_beside(raw: Raw, answered: Iterable[Carried]) -> bool:
    meanwhile = [one.elapsed for one in answered if beside(one, raw)]
    return len(meanwhile) >= FEWEST and median(meanwhile) > OVERLOADED_SECONDS
