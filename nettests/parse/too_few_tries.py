"""Why the absence of losses proves nothing: too few tries, or a busy probe that hides them. Pure.

Used by ``observe`` for checks of loss, when everything else of a check is known. A proven loss needs no more tries,
and a path that is late as a whole is a finding of its own (``slow``). Nothing is judged here.
"""

from collections.abc import Sequence

from nettests.model.check import Check
from nettests.model.loss import LossEstimate
from nettests.model.observation import Raw
from nettests.parse.late_trains import unclear_trains

SLOW_TRIES = 80
"""How many tries go over any path, however slow: they prove a loss of 8 % with a probability of 99 %."""


def too_few_tries(check: Check, loss: LossEstimate | None, raws: Sequence[Raw]) -> str | None:
    """Return why the absence of losses proves nothing; ``None`` if it does."""
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
