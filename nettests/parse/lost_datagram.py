"""A single lost datagram: the retries that follow, and when it becomes a finding. Pure.

UDP promises no delivery, and a healthy cluster loses one of some hundred thousand datagrams. If one datagram of a check is
silent and the others were answered, ``probes`` sends more (``wants_more``); a second loss makes the check flaky. So does the
first, unless ``session.watch`` knows it as the only one of the run: a defect that loses the first packet of every path loses
one on each. Checks that count losses themselves (``LOSS``) are not affected.
"""

from collections.abc import Sequence

from nettests.model.check import Check
from nettests.model.observation import Attempt
from nettests.model.question import Trait
from nettests.model.words import Outcome, Protocol, Question

ANSWERED = 12
"""So many answers beside a lost datagram make it one: of a path that loses one of five, as many come once in fifteen times
(calculated), and smaller shares are what ``path-loss`` measures."""
ALONE = "the only datagram that this run lost until then"


def wants_more(check: Check, attempts: Sequence[Attempt]) -> bool:
    """Whether one datagram was lost, with too few answered ones to say that it is the only one."""
    return _lost(check, attempts) is not None and len(attempts) <= ANSWERED


def lost_alone(check: Check, attempts: Sequence[Attempt]) -> int | None:
    """Return the number of the only silent attempt, if enough others were answered; of a flow, see ``_first_of_flow``."""
    if check.action.question is Question.DURING:
        return _first_of_flow(attempts)
    lost = _lost(check, attempts)
    return lost.number if lost is not None and len(attempts) > ANSWERED else None


def _first_of_flow(attempts: Sequence[Attempt]) -> int | None:
    """Return the number of the one attempt whose flow was answered from its second datagram on; it was seen to the end."""
    if not all(attempt.outcome.positive for attempt in attempts):
        return None
    losing = [attempt for attempt in attempts if attempt.lost]
    return losing[0].number if sum(attempt.lost for attempt in losing) == 1 else None


def loses(check: Check, attempts: Sequence[Attempt]) -> bool:
    """Whether a check lost some datagrams while others were answered; trains count too."""
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
