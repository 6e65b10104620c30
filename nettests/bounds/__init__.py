"""Concurrency limits: every number in one place, and the slots that enforce them.

``Bounds`` has each limit with its unit and reason; ``Slots`` admits that many at once. Modules that
work concurrently take their limits from here; this package does not know the work.
"""

from nettests.bounds.amounts import Bounds
from nettests.bounds.slots import (
    Slots,
    ahead,
    bearable,
    for_batches,
    for_checks,
    for_processes,
    for_questions,
    for_requests,
    for_starts,
    opened,
    room_for_questions,
    took,
)

__all__ = [
    "Bounds",
    "Slots",
    "ahead",
    "bearable",
    "for_batches",
    "for_checks",
    "for_processes",
    "for_questions",
    "for_requests",
    "for_starts",
    "opened",
    "room_for_questions",
    "took",
]
