"""Read what came of a connection that was silent: the record that ``probes.silence`` keeps.

Lost is only what stood before the silence, at a server that is still there, and beside a new connection that is
answered: everything else says nothing of idle connections.
"""

import json
from dataclasses import replace
from typing import Any

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse import curl
from nettests.parse.reading import Reading, one_line, probe_failed

Line = dict[str, Any]

_RESET = frozenset({55, 56})
"""curl(1): failed sending, failure in receiving. ``curl: (56) Recv failure: Connection reset by peer``"""
_NETWORK = frozenset({7, 28, 56})
"""Codes by which curl speaks of the network; others are its own, such as 1 where it was built without telnet."""
_SILENT = 28
"""``curl: (28) Time-out``: nothing more came until the client's own deadline."""


def read(raw: Raw) -> Reading:
    """Read what was heard before the silence, after it, and over a new connection."""
    try:
        record: dict[str, Any] = json.loads(raw.stdout)
    except ValueError:
        return probe_failed(f"no record of the connection: {raw.stdout}")
    kept: Line = record["kept"]
    seconds = f"{record['seconds']:g} s"
    match kept["heard"]:
        case []:
            return _never_stood(raw, kept)
        case [_, _]:
            detail = f"answered before and after {seconds} of silence"
            return Reading(outcome=Outcome.CONNECTED, detail=detail)
    return _not_proven(kept, record["fresh"]) or _lost(kept, seconds)


def _never_stood(raw: Raw, kept: Line) -> Reading:
    """Read a connection over which nothing ever came back."""
    if kept["server_exit"] is not None:
        return probe_failed(_ended(kept))
    if kept["exit"] is None:
        detail = "nothing came back over the connection before any silence"
        return Reading(outcome=Outcome.TIMED_OUT, detail=detail)
    if kept["exit"] not in _NETWORK:
        return probe_failed(_client_ended(kept))
    return curl.read(replace(raw, exit_code=kept["exit"], stderr=kept["stderr"], stdout=""))


def _not_proven(kept: Line, fresh: Line | None) -> Reading | None:
    """Say why the silence may not be what ended the connection."""
    if kept["server_exit"] is not None and kept["exit"] not in _RESET:
        return probe_failed(_ended(kept))
    if fresh is None or not fresh["heard"]:
        why = one_line(fresh["stderr"] or fresh["server_stderr"]) if fresh else ""
        return probe_failed(f"a new connection beside the silent one was not answered: {why}")
    if kept["exit"] not in {*_RESET, _SILENT}:
        return probe_failed(_client_ended(kept))
    return None


def _lost(kept: Line, seconds: str) -> Reading:
    how = "reset" if kept["exit"] in _RESET else "unanswered"
    detail = f"{how} after {seconds} of silence, while a new connection was answered"
    return Reading(outcome=Outcome.LOST, detail=detail)


def _client_ended(kept: Line) -> str:
    code = "without an exit code" if kept["exit"] is None else f"with code {kept['exit']}"
    return f"the client ended {code}: {kept['stderr']}"


def _ended(kept: Line) -> str:
    return f"the server ended with code {kept['server_exit']}: {kept['server_stderr']}"
