"""One finding of preflight: its subject, its severity, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nettests.errors import NettestsError


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; changes nothing."""
    WARNING = "warning"
    """A part of what is planned will not be tested, or will say less."""
    BLOCKER = "blocker"
    """A run would judge nothing, leave out a required flow, or end in ``unknown``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What preflight found about one topic; ``details`` are lines, ``next_step`` is for people."""

    topic: str
    level: Level
    summary: str
    details: tuple[str, ...] = ()
    next_step: str = ""


def ok(topic: str, summary: str) -> Finding:
    """Return the finding of a topic without problems."""
    return Finding(topic=topic, level=Level.OK, summary=summary)


def note(topic: str, summary: str) -> Finding:
    """Return a finding that is worth knowing and changes nothing."""
    return Finding(topic=topic, level=Level.NOTE, summary=summary)


def worst(levels: Iterable[Level]) -> Level:
    """Return the level that matters most."""
    order = tuple(Level)
    return max(levels, key=order.index, default=Level.OK)


def unreachable(error: NettestsError, *, topic: str = "reachability") -> Finding:
    """Return the finding that ends every preflight: the cluster could not be tested."""
    return Finding(topic=topic, level=Level.BLOCKER, summary=error.message, next_step=error.hint)
