"""A lost packet: trains that waited for a lost SYN, and a single lost datagram. Pure.

``late_answers`` makes a finding of late trains, ``probes.trains`` sends more while the result is
unclear, and ``observe`` trusts an absence of losses only after enough tries. A train takes as long
as its connections, so it is late only compared with another of as many at the same time, and only
if the probe answered reference requests at once.

UDP promises no delivery, and a healthy cluster loses one in some hundred thousand datagrams. If one
datagram of a check is unanswered, ``probes`` sends more (``wants_more``); a second loss makes the
check flaky. So does the first, unless the session finds that it is the only one of the run: a
defect that drops the first packet of every path loses one on each. Checks that count losses
themselves (``LOSS``) are not affected.
"""

from collections.abc import Sequence
from itertools import accumulate
from statistics import median

from nettests.model.check import Check
from nettests.model.measured import LossEstimate, proves_loss
from nettests.model.observation import Attempt, Raw
from nettests.model.question import Trait
from nettests.model.retransmission import PROMPT_SECONDS, SYN_AGAIN
from nettests.model.words import Outcome, Protocol, Question
from nettests.parse.overload import (
    FEWEST_REFERENCES,
    REFERENCE,
    ROUNDED,
    Carried,
    carried,
    overlaps,
)
from nettests.parse.read import read_raw

UNCLEAR = "trains of connections took a second longer than others beside them"
"""Marks the reason of a check that cannot tell lost SYNs from a busy probe."""
BESIDE = 8
"""The number of a check's trains that run at the same time: one round."""
SLOW_TRIES = 80
"""Fewest tries over any path, however slow: they prove a loss of 8 % with a probability of 99 %."""


def late_trains(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say how many trains of connections waited for a lost SYN, if that proves a loss."""
    if not _counts_connections(check):
        return None
    trains, itself = _trains(raws), _itself(raws)
    late = [raw for raw in _waited(trains, SYN_AGAIN[0]) if _prompt_throughout(raw, itself)]
    tries = sum(read_raw(raw).tries for raw in trains)
    if not proves_loss(tries, len(late)):
        return None
    return (
        f"{len(late)} of {len(trains)} trains, of {tries} connections in all, took {min(raw.elapsed for raw in late):.1f} s "
        f"and more, which is as long as a lost SYN is waited for longer than others of as many connections beside them; "
        f"the probe answered for itself within {PROMPT_SECONDS:.2f} s"
    )


def unclear_trains(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say which of the last trains may have waited for lost SYNs, if that is neither proven nor disproved.

    A train did not if the machine stood still at that time. Any other is cleared only by
    ``SLOW_TRIES`` further tries without one.
    """
    if not _counts_connections(check) or late_trains(check, raws) is not None:
        return None
    trains, itself = sorted(_trains(raws), key=lambda raw: raw.attempt), _itself(raws)
    following = accumulate(read_raw(raw).tries for raw in reversed(trains))
    last = trains[-1 - sum(tries < SLOW_TRIES for tries in following) :]
    waited = _waited(trains, _almost())
    unclear = [raw for raw in waited if raw in last and not _stood_still(raw, itself)]
    if not unclear:
        return None
    meanwhile = [
        reference.elapsed for raw in unclear for reference in itself if overlaps(reference, raw)
    ]
    took = f"took {max(meanwhile):.1f} s to answer for itself" if meanwhile else "said nothing"
    return (
        f"{len(unclear)} of {len(last)} {UNCLEAR}, and their probe "
        f"{took} meanwhile: SYNs were lost, or its node was busy"
    )


def _almost() -> float:
    """Return how much longer than others a train that waited takes at least: on a busy machine these are slower."""
    return SYN_AGAIN[0] - PROMPT_SECONDS


def _stood_still(raw: Raw, itself: Sequence[Carried]) -> bool:
    """Whether the probe once took so much longer to answer for itself, too, than it usually did."""
    usual = median(reference.elapsed for reference in itself) if itself else 0.0
    return any(
        reference.elapsed >= usual + _almost() for reference in itself if overlaps(reference, raw)
    )


def _counts_connections(check: Check) -> bool:
    return check.action.question is Question.LOSS and check.action.protocol.retransmitted


def _trains(raws: Sequence[Raw]) -> list[Raw]:
    return [raw for raw in raws if raw.tool == "train" and raw.error is None]


def _itself(raws: Sequence[Raw]) -> list[Carried]:
    return [carried(raw) for raw in raws if raw.purpose == REFERENCE]


def _waited(trains: Sequence[Raw], least: float) -> list[Raw]:
    """Return the trains without losses that took so much longer than one of as many tries beside them."""
    read = [(raw, read_raw(raw), Carried(raw.started, raw.elapsed)) for raw in trains]
    return [
        raw
        for raw, seen, _ in read
        if seen.lost == 0
        and any(
            raw.elapsed >= other_raw.elapsed + least
            for other_raw, other, way in read
            if other.tries >= seen.tries and overlaps(way, raw, ROUNDED)
        )
    ]


def _prompt_throughout(raw: Raw, itself: Sequence[Carried]) -> bool:
    """Whether the probe answered all reference requests at once: its machine did not stall."""
    meanwhile = [reference for reference in itself if overlaps(reference, raw)]
    return len(meanwhile) >= FEWEST_REFERENCES and all(
        reference.answered and reference.elapsed <= PROMPT_SECONDS for reference in meanwhile
    )


def too_few_tries(check: Check, loss: LossEstimate | None, raws: Sequence[Raw]) -> str | None:
    """Return why the absence of losses proves nothing; ``None`` otherwise."""
    if loss is None or loss.proven:
        return None
    wanted = min(check.action.connections, SLOW_TRIES)
    if loss.sent < wanted:
        longest = max(raw.elapsed for raw in raws if raw.purpose == "check")
        return (
            f"{loss.sent} of {check.action.connections} tries were sent, which took up to {longest:.1f} s: so few prove "
            f"nothing of a path that is not late as a whole"
        )
    return unclear_trains(check, raws)


ANSWERED = 12
"""With so many other answers, a lost datagram counts as a single loss: a path that loses one in five gives as many
once in fifteen times (calculated); ``path-loss`` measures smaller shares."""
ALONE = "the only datagram that this run lost until then"


def wants_more(check: Check, attempts: Sequence[Attempt]) -> bool:
    """Whether one datagram was lost and too few others were answered to call it a single loss."""
    return _lost(check, attempts) is not None and len(attempts) <= ANSWERED


def lost_alone(check: Check, attempts: Sequence[Attempt]) -> int | None:
    """Return the number of the only unanswered attempt, if enough others were answered."""
    if check.action.question is Question.DURING:
        return _first_of_flow(attempts)
    lost = _lost(check, attempts)
    return lost.number if lost is not None and len(attempts) > ANSWERED else None


def _first_of_flow(attempts: Sequence[Attempt]) -> int | None:
    """Return the number of the only attempt whose flow lost a datagram, if it lost just one."""
    if not all(attempt.outcome.positive for attempt in attempts):
        return None
    losing = [attempt for attempt in attempts if attempt.lost]
    return losing[0].number if sum(attempt.lost for attempt in losing) == 1 else None


def loses(check: Check, attempts: Sequence[Attempt]) -> bool:
    """Whether a check lost some datagrams while others were answered, in trains too."""
    if check.action.protocol is not Protocol.UDP:
        return False
    answered = any(attempt.outcome.positive for attempt in attempts)
    return answered and any(
        attempt.outcome is Outcome.TIMED_OUT or attempt.lost for attempt in attempts
    )


def _lost(check: Check, attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the only silent attempt over UDP, if all others were answered."""
    if (
        check.action.protocol is not Protocol.UDP
        or Trait.DATAGRAMS not in check.action.question.traits
    ):
        return None
    silent = [attempt for attempt in attempts if not attempt.outcome.positive]
    if len(silent) != 1 or len(attempts) == 1 or silent[0].outcome is not Outcome.TIMED_OUT:
        return None
    return silent[0]
