"""The result of parsing one tool's answer, before it becomes an attempt of a check.

Shared by all tool modules. ``probe_failed`` means that the answer says nothing about the network:
the tool failed, not the target.
"""

from dataclasses import dataclass

from nettests.model.visible import cut
from nettests.model.words import Outcome

DETAIL_LENGTH = 300
"""Maximum characters of a detail, so that it fits one line of a report; the journal keeps the full text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One parsed answer; the fields are those of ``Attempt``."""

    outcome: Outcome
    detail: str
    server_saw: str | None = None
    source_port: int | None = None
    backend: str | None = None
    addresses: tuple[str, ...] = ()
    tries: int = 1
    lost: int = 0
    unread: bool = False
    """Whether the tool printed text that no parser understands."""


def probe_failed(reason: str) -> Reading:
    """Return a ``probe_failed`` reading: the answer says nothing about the network."""
    return Reading(outcome=Outcome.PROBE_FAILED, detail=one_line(reason))


def not_understood(reason: str) -> Reading:
    """Return a ``probe_failed`` reading for text that no parser understands."""
    return Reading(outcome=Outcome.PROBE_FAILED, detail=one_line(reason), unread=True)


def one_line(text: str) -> str:
    """Return ``text`` on one line, its middle cut out if it is longer than ``DETAIL_LENGTH``."""
    return cut(" ".join(text.split()), DETAIL_LENGTH)
