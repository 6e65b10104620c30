"""Raw answers for tables, and those that real programs gave: rows of the recorded agnhost transcript."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from nettests.model.observation import Raw

TRANSCRIPT = Path(__file__).parents[1] / "fixtures" / "transcripts" / "agnhost.jsonl"
GIVEN = ("GET", "/dial?host=10.244.2.5&port=18080&protocol=http&request=hostname&tries=1")
UDP = ("GET", "/dial?host=10.244.2.5&port=18081&protocol=udp&request=hostname&tries=1")


def raw(tool: str, **changes: Any) -> Raw:
    """Return a raw answer of ``tool`` with nothing in it but what is given."""
    given: dict[str, Any] = {
        "check": "flow/a/b/same-node/tcp",
        "purpose": "check",
        "attempt": 1,
        "tool": tool,
        "client_os": "linux",
        "probe": "probe-linux-1-1",
        "channel": "pod-proxy",
        "command": GIVEN if tool == "dial" else (),
        "started": 1.0,
        "elapsed": 0.1,
    }
    return Raw(**{**given, **changes})


@cache
def rows() -> tuple[dict[str, Any], ...]:
    """Return the transcript's rows in the order of its lines."""
    return tuple(json.loads(line) for line in TRANSCRIPT.read_text().splitlines())


def recorded_dial(note: str) -> Raw:
    """Return the recorded answer of ``/dial`` with that note, over HTTP or by curl inside a pod."""
    for row in rows():
        if row.get("note") != note:
            continue
        if row["kind"] == "http" and row["request"]["target"].startswith("/dial"):
            answer = row["response"]
            return raw(
                "dial",
                command=("GET", row["request"]["target"]),
                status=answer["status"],
                stdout=answer["body"],
            )
        if row["kind"] == "pod-cli" and "/dial?" in row["argv"][-1]:
            head, _, body = row["stdout"].replace("\r\n", "\n").partition("\n\n")
            return raw(
                "dial",
                channel="exec",
                command=("GET", "/" + row["argv"][-1].split("/", 3)[3]),
                status=int(head.split()[1]),
                stdout=body,
            )
    raise KeyError(note)


def recorded_connects() -> list[tuple[str, Raw]]:
    """Return every recorded ``agnhost connect``, with its command line."""
    return [
        (
            " ".join(row["argv"]),
            raw(
                "connect",
                command=tuple(row["argv"]),
                exit_code=row["exit_code"],
                stdout=row["stdout"],
                stderr=row["stderr"],
            ),
        )
        for row in rows()
        if row["kind"] in {"cli", "pod-cli"} and "connect" in row["argv"][:2]
    ]
