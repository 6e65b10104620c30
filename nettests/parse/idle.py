"""Read the result of an idle connection: the record of ``probes.idle_connection``.

A connection is lost only if it worked before the idle time, data was sent on it afterwards, its
server still ran, and a new connection to it was answered. Anything else says nothing about idle
connections. ``probes.client_scripts`` describes what the clients print.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, one_line, probe_failed

BEFORE, AFTER, ANEW = "before", "after", "anew"
"""The words sent before the idle time, after it, and over a new connection."""

# samples: bash: connect: Connection refused      error ConnectionRefused
_REFUSED = re.compile(r"connection ?refused", re.IGNORECASE)
# samples: 10.244.1.5: line 1: read: read error: 0: Connection reset by peer      none ConnectionReset
#          cat: read error: Connection reset by peer
_RESET = re.compile(r"connection ?reset", re.IGNORECASE)
# samples: none 142 (bash: read's time-out, 128 and a signal)      none TimedOut
#          none ConnectionAborted (Winsock: the data's own time-out)
_SILENT = re.compile(r"none (1[3-9]\d|TimedOut|ConnectionAborted)")


class Fate(StrEnum):
    """What became of a word, from the client's output."""

    ANSWERED = "answered"
    SILENT = "unanswered"
    RESET = "reset"
    OTHER = "other"
    """It was sent, but the connection ended in a way that the network alone does not explain."""
    UNTOLD = "untold"
    """No output shows that it was sent, or its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The output of the processes at both ends of one connection."""

    output: str
    stderr: str
    exit: int | None
    server_exit: int | None
    server_stderr: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    seconds: float
    kept: _Line
    fresh: _Line | None


def opened(output: str) -> bool:
    """Whether the client's connection was established."""
    return "open" in _lines(output)


def refused(output: str) -> bool:
    """Whether the client's connection was refused."""
    return not opened(output) and _REFUSED.search(output) is not None


def fate(output: str, word: str) -> Fate:
    """Return what became of a word, from the client's output."""
    since: list[str] = []
    sent = False
    for line in _lines(output):
        since.append(line)
        if line == f"failed {word}" or line.startswith(f"failed {word} "):
            return Fate.RESET if _RESET.search(" ".join(since)) else Fate.OTHER
        if sent and line.startswith(("back ", "none ")):
            if since[-1] == f"back {word}":
                return Fate.ANSWERED
            if _SILENT.fullmatch(since[-1]):
                return Fate.SILENT
            return Fate.RESET if _RESET.search(" ".join(since)) else Fate.OTHER
        if line == f"took {word}":
            sent = True
        if line.startswith(("took ", "back ", "none ")):
            since = []
    return Fate.UNTOLD


def _lines(output: str) -> list[str]:
    return output[: output.rfind("\n") + 1].splitlines()


def read(raw: Raw) -> Reading:
    """Read what became of the words before and after the idle time and on a new connection."""
    try:
        record = _record(read_json(raw.stdout))
    except (ValueError, KeyError, TypeError):
        return probe_failed(f"no record of a silent connection: {raw.stdout}")
    kept, seconds = record.kept, f"{record.seconds:g} s"
    if fate(kept.output, BEFORE) is not Fate.ANSWERED:
        return probe_failed(f"no connection was open that could stay silent: {_both_ends(kept)}")
    after = fate(kept.output, AFTER)
    if after is Fate.ANSWERED:
        detail = f"answered before and after {seconds} of silence"
        return Reading(outcome=Outcome.CONNECTED, detail=detail)
    return _not_proven(kept, after, record.fresh) or Reading(
        outcome=Outcome.LOST,
        detail=f"{after.value} after {seconds} of silence, while a new connection was answered",
    )


def _not_proven(kept: _Line, after: Fate, fresh: _Line | None) -> Reading | None:
    """Say why something other than the idle time may have ended the connection."""
    if after is Fate.UNTOLD:
        return probe_failed(
            f"nothing shows that a word was sent after the silence: {_both_ends(kept)}"
        )
    if kept.server_exit is not None and not _RESET.search(kept.server_stderr):
        # A server that got a reset ended because of the connection, not before it.
        return probe_failed(f"the server had ended: {_both_ends(kept)}")
    if after is Fate.OTHER:
        return probe_failed(f"the connection was ended by one of its ends: {_both_ends(kept)}")
    if fresh is None or fate(fresh.output, ANEW) is not Fate.ANSWERED:
        why = _both_ends(fresh) if fresh else "there is none"
        return probe_failed(f"a new connection beside the silent one was not answered: {why}")
    return None


def _both_ends(line: _Line) -> str:
    client = f"client {_ended(line.exit)}: {line.output[-120:]} {line.stderr[-80:]}"
    return one_line(f"{client}; server {_ended(line.server_exit)}: {line.server_stderr[-80:]}")


def _ended(code: int | None) -> str:
    return "still there" if code is None else f"ended with {code}"


def _record(given: Any) -> _Record:
    seconds, fresh = _of_type(given, dict)["seconds"], given["fresh"]
    return _Record(
        seconds=float(_of_type(seconds, int | float)),
        kept=_line(given["kept"]),
        fresh=None if fresh is None else _line(fresh),
    )


def _line(given: Any) -> _Line:
    _of_type(given, dict)
    return _Line(
        output=_of_type(given["said"], str),
        stderr=_of_type(given["stderr"], str),
        exit=_of_type(given["exit"], int | None),
        server_exit=_of_type(given["server_exit"], int | None),
        server_stderr=_of_type(given["server_stderr"], str),
    )


def _of_type(given: Any, wanted: Any) -> Any:
    if not isinstance(given, wanted):
        raise TypeError(f"{type(given).__name__} is no {wanted}")
    return given
