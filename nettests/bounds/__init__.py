"""How much happens at once: the one place that decides it, and the mechanism that keeps to it.

``Bounds`` holds every number with its unit and its reason, ``Slots`` lets so many in. Whoever works concurrently reads
its bound here; which work there is, is not known here.
"""

from nettests.bounds.amounts import Bounds
from nettests.bounds.slots import (
    Slots,
    ahead,
    for_members,
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
    "for_members",
    "for_processes",
    "for_questions",
    "for_requests",
    "for_starts",
    "opened",
    "room_for_questions",
    "took",
]
