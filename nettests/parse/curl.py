"""Read the answers of ``curl``, run on a node: the exit code first, then the error text.

Exit codes are the same on Linux and Windows (curl(1), EXIT CODES). Code 7 covers every failed
connect: older versions print the system's reason, newer ones only "Couldn't connect to server",
which is read as refused because a time-out is code 28 as long as ``-m`` is shorter than the
system's own. Windows retries a refused SYN, so a refusal takes about two seconds (curl#14144); a
failure much later is not a refusal.
"""

import re

from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse.netexec import answered
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.taxonomy import Stage, classify

_TLS_ANSWERED = {1, 8, 35, 60}
"""Exit codes for malformed answers and TLS errors: the target did answer."""

_WITHOUT_REASON = {
    6: Outcome.NXDOMAIN,  # curl: (6) Could not resolve host: nosuch.demo
    7: Outcome.REFUSED,  # curl: (7) Failed to connect to h port 80 after 2 ms: Couldn't connect to server
    28: Outcome.TIMED_OUT,  # curl: (28) Connection timed out after 5001 milliseconds
    52: Outcome.REFUSED,  # curl: (52) Empty reply from server
    56: Outcome.REFUSED,  # curl: (56) Recv failure: Connection was reset
}
_REASON_COUNTS = {7, 56}
_OF_WINDOWS = {
    "Connection refused": Outcome.REFUSED,
    "Connection was reset": Outcome.REFUSED,
    "Bad access": Outcome.REFUSED,  # WSAEACCES: the node's own firewall, as in ``taxonomy``
    "Connection was aborted": Outcome.TIMED_OUT,
    "Timed out": Outcome.TIMED_OUT,  # 7.5x; later versions end with 28
    "Host unreachable": Outcome.UNREACHABLE,
    "Network unreachable": Outcome.UNREACHABLE,
    "Address already in use": Outcome.NO_PORT,
    "No buffer space": Outcome.NO_PORT,
}
"""curl's own texts for Winsock errors (lib/strerror.c, lib/curlx/strerr.c), never translated, unlike the system's."""
# samples: "curl: (7) Failed to connect to h port 80: Host unreachable", "curl: (56) Recv failure: Connection was reset"
#          "curl: (7) Failed to connect to h port 80 after 2043 ms: Couldn't connect to server"
_REASON = re.compile(r"(?:port \d+|after (?P<waited>\d+) ms|failure): (?P<reason>[^\r\n]+?)\.?\s*$")
_NO_REASON = frozenset({"Couldn't connect to server", "Could not connect to server"})
REFUSED_WITHIN = 5.0
"""Seconds within which a refusal shows on Windows, at most; a later failure without a reason is not one."""


def read(raw: Raw) -> Reading:
    """Read the result of one request."""
    code, error_text = raw.exit_code, one_line(raw.stderr)
    if code is None:
        return probe_failed(f"curl's exit code was lost: {error_text or raw.stdout}")
    if code == 0:
        if not raw.stdout.strip():
            return probe_failed("curl brought an empty answer")
        return answered(raw, raw.stdout, Outcome.CONNECTED)
    if code in _TLS_ANSWERED:
        return Reading(
            outcome=Outcome.CONNECTED, detail=f"answered, curl code {code}: {error_text}"
        )
    if code not in _WITHOUT_REASON:
        return not_understood(f"curl ended with code {code}: {error_text}")
    outcome = _WITHOUT_REASON[code]
    if code in _REASON_COUNTS:
        reason = _reason_on_windows if raw.client_os == OS.WINDOWS else _reason_on_linux
        given = reason(raw.stderr, outcome)
        if given is None:
            return not_understood(f"curl ended with code {code}: {error_text}")
        outcome = given
    return Reading(outcome=outcome, detail=error_text or f"curl ended with code {code}")


def _reason_on_linux(text: str, without: Outcome) -> Outcome | None:
    return classify(text, OS.LINUX, Stage.ADDRESS) or without


def _reason_on_windows(text: str, without: Outcome) -> Outcome | None:
    match = _REASON.search(text)
    if match is None or match["reason"] in _NO_REASON:
        waited = float((match and match["waited"]) or 0) / 1000
        return without if waited < REFUSED_WITHIN else None
    return _OF_WINDOWS.get(match["reason"])
