"""Concurrency limits: every number in one place, and the slots that enforce them.

``Bounds`` holds each limit with its unit and its reason; ``Slots`` admits that many at once. Every module that works
concurrently reads its limit here. This package does not know what the work is.
"""

from nettests.bounds.amounts import Bounds
from nettests.bounds.slots import (
    Slots,
    ahead,
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
