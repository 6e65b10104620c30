"""A single lost datagram: when to send more, and when the loss is a finding. Pure.

UDP promises no delivery, and a healthy cluster loses one in some hundred thousand datagrams. If one
datagram of a check is unanswered, ``probes`` sends more (``wants_more``); a second loss makes the
check flaky. So does the first, unless ``session.watch`` finds that it is the only one of the run: a
defect that drops the first packet of every path loses one on each. Checks that count losses
themselves (``LOSS``) are not affected.
"""

from collections.abc import Sequence

from nettests.model.check import Check
from nettests.model.observation import Attempt
from nettests.model.question import Trait
from nettests.model.words import Outcome, Protocol, Question

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
