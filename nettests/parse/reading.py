"""The result of parsing a tool's answer, before it becomes an attempt of a check.

Common to all tool modules. ``probe_failed`` means that the answer says nothing about the network: the tool failed,
not the target.
"""

from dataclasses import dataclass

from nettests.model.visible import cut
from nettests.model.words import Outcome

DETAIL_LENGTH = 300
"""A detail has to fit one line of a report; the journal keeps the whole text."""


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
    """Whether the tool answered with a text that no parser knows."""


def probe_failed(reason: str) -> Reading:
    """Return the reading of an answer that says nothing about the network, with the reason."""
    return Reading(outcome=Outcome.PROBE_FAILED, detail=one_line(reason))


def not_understood(reason: str) -> Reading:
    """Return the reading of an answer that no parser knows, with its text in the reason."""
    return Reading(outcome=Outcome.PROBE_FAILED, detail=one_line(reason), unread=True)


def one_line(text: str) -> str:
    """Return ``text`` on one line, without its middle where it is too long for a report."""
    return cut(" ".join(text.split()), DETAIL_LENGTH)
