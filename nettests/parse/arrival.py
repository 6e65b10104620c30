"""Whether an unanswered datagram arrived, from its server's log. Pure.

It changes no outcome; incidents use it to tell which direction is broken. agnhost's UDP server logs
each echo with its text, and no other request of a run has a text of that size.
"""

import re
from collections.abc import Iterable

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading

ARRIVAL = "arrival"
"""The purpose of the raw answers that this module reads."""
SERVER_LOG = "server-log"


def echoed(log: str, text: str) -> str:
    """Return the lines of a server's log that report an echo of exactly this text."""
    # sample: I1121 01:07:31.501832   18863 log.go:244] Echoing hello world to UDP client 127.0.0.1:46582
    echo_line = re.compile(rf"^.*\bEchoing {re.escape(text)} to UDP client .*$", re.MULTILINE)
    return "\n".join(echo_line.findall(log))


def read(raw: Raw) -> Reading:
    """Read the log lines: the datagram arrived if there are any."""
    if raw.stdout:
        return Reading(outcome=Outcome.REPLIED, detail=f"it arrived: {raw.stdout.splitlines()[0]}")
    return Reading(outcome=Outcome.TIMED_OUT, detail="the server's log has no line of it")


def arrived(raws: Iterable[Raw]) -> bool | None:
    """Return whether a check's datagram arrived; ``None`` without a readable log."""
    logs = [raw for raw in raws if raw.purpose == ARRIVAL and raw.tool == SERVER_LOG]
    if not logs or logs[-1].error is not None:
        return None
    return bool(logs[-1].stdout)
