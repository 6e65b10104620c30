"""Silence explained by a kernel's rate limit: the ICMP error for a datagram may have been suppressed.

``probes.pace`` counts the refusals that a probe received; if the kernel's budget was used up (``icmp_ratelimit``),
the record of a UDP request says so. Such a silence beside refusals shows nothing. Used by ``observe``, and by probes
to know that they have to retry.
"""

from collections.abc import Sequence

from nettests.model.observation import Attempt, Raw
from nettests.model.words import Outcome

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
