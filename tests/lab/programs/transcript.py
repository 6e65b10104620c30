"""The recorded transcript of agnhost 2.63.0: its rows, and what is compared of them.

Times, ephemeral ports and process ids are those of the recording and are blotted out on both sides;
everything else must be equal, byte by byte.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRANSCRIPT = Path(__file__).parents[2] / "fixtures" / "transcripts" / "agnhost.jsonl"

NOT_PROVIDED = frozenset({"liveness", "porter", "serve-hostname", "test-webserver"})
"""Servers that were recorded and that the lab's agnhost refuses by name; their help is compared."""

_BLOTS = (
    # Sample: NOW: 2026-11-21 01:06:58.295635182 +0000 UTC m=+1.202502234
    (re.compile(r"NOW: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]* \+0000 UTC m=\+[.\d]+"), "NOW"),
    # Sample: Date: Sat, 21 Nov 2026 01:32:15 GMT
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "DATE"),
    # Sample: I1121 01:06:58.380590   18863 log.go:244] GET /hostname
    (re.compile(r"I\d{4} \d\d:\d\d:\d\d\.\d{6} {1,7}\d+ log\.go:244\]"), "KLOG"),
    # Samples: 127.0.0.1:43406 and, behind a masquerade, 172.30.0.12:5115
    (re.compile(r"(172\.30\.0\.12|10\.244\.1\.1):\d{4,5}"), r"\1:PORT"),
    (re.compile(r":(3[2-9]\d{3}|[45]\d{4}|6[0-5]\d{3})\b"), ":PORT"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the transcript."""

    line: int
    data: dict[str, Any]

    @property
    def kind(self) -> str:
        """What was recorded: ``http``, ``cli`` …"""
        return str(self.data["kind"])


def rows() -> list[Row]:
    """Return all rows, numbered from 1."""
    lines = TRANSCRIPT.read_text(encoding="utf-8").splitlines()
    return [Row(number, json.loads(line)) for number, line in enumerate(lines, 1)]


def rows_of_servers_not_provided() -> set[int]:
    """Return the lines of what was required of servers that the lab has not, and of their logs."""
    return {
        row.line
        for queried, log in _recorded_groups()
        if log.data["argv"][1] in NOT_PROVIDED
        for row in (*queried, log)
    }


def groups() -> Iterator[tuple[list[Row], Row]]:
    """Yield the rows required of one server of node n1, and the row that holds its log."""
    for queried, log in _recorded_groups():
        if log.data["argv"][1] not in NOT_PROVIDED:
            yield queried, log


def _recorded_groups() -> Iterator[tuple[list[Row], Row]]:
    pending: list[Row] = []
    for row in rows():
        if not 20 <= row.line <= 205:
            continue
        if row.kind == "server-log":
            yield pending, row
            pending = []
        else:
            pending.append(row)


def blot(text: str) -> str:
    """Blot out what belongs to the recording only."""
    for pattern, instead in _BLOTS:
        text = pattern.sub(instead, text)
    return text


def blot_body(text: str) -> str:
    """Blot a response with its length, when the blotted text may be of another length."""
    blotted = blot(text)
    if any(mark in blotted for mark in ("NOW", "PORT")):
        return re.sub(r"Content-Length: \d+", "Content-Length: N", blotted)
    return blotted


def recorded_response(row: Row) -> str | None:
    """Return the recorded response as it was on the wire; ``None`` when there was none."""
    response = row.data["response"]
    if response is None:
        return None
    head = [response["status_line"], *(f"{name}: {value}" for name, value in response["headers"])]
    return "\r\n".join([*head, "", ""]) + str(response["body"])


def log_lines(text: str) -> list[str]:
    """Return log lines, blotted and sorted: requests are replayed at the same time."""
    lines = [line for line in blot(text).splitlines() if line.startswith("KLOG")]
    return sorted(lines)
