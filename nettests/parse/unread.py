"""Answers that no parser understands, grouped by similarity. Pure.

Nothing is guessed, so a check with such an answer is ``unknown``. Users can send the texts with
``nettests export``. Failures of the control channel and tools that could not run do not count.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nettests.model.check_id import parent_of
from nettests.model.observation import Raw
from nettests.parse.read import not_read

# The parts that vary between similar answers: addresses, names with digits, times.
VARYING = re.compile(r"[\w.:-]*\d[\w.:-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A text that no parser understands: its tool, one sample, and the checks with such answers."""

    tool: str
    client_os: str
    text: str
    checks: tuple[str, ...]


def unread_texts(raws: Iterable[Raw]) -> tuple[Unread, ...]:
    """Return the texts that no parser understands, grouped but for numbers, most checks first."""
    texts: dict[tuple[str, str, str], str] = {}
    checks: dict[tuple[str, str, str], dict[str, None]] = {}
    for raw in raws:
        if (text := not_read(raw)) is None:
            continue
        kind = (raw.tool, raw.client_os, VARYING.sub("#", text))
        texts.setdefault(kind, text)
        checks.setdefault(kind, {})[parent_of(raw.check)] = None
    groups = [
        Unread(tool=kind[0], client_os=kind[1], text=text, checks=tuple(checks[kind]))
        for kind, text in texts.items()
    ]
    return tuple(sorted(groups, key=lambda group: -len(group.checks)))
