"""Read the answers of ``curl``, run on a node: exit code first, then the text that explains it.

Exit codes are the same on Linux and Windows (curl(1), EXIT CODES). Code 7 covers every failed connect:
older versions print the system's reason, newer ones only "Couldn't connect to server", which is read as
refused because a time-out is code 28 as long as ``-m`` is shorter than the system's own.
"""

from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse.answers import answered
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.taxonomy import Stage, classify

_TLS_ANSWERED = {1, 8, 35, 60}
"""Unsupported or malformed answers and TLS errors: the target did answer."""

_WITHOUT_REASON = {
    6: Outcome.NXDOMAIN,  # curl: (6) Could not resolve host: nosuch.demo
    7: Outcome.REFUSED,  # curl: (7) Failed to connect to h port 80 after 2 ms: Couldn't connect to server
    28: Outcome.TIMED_OUT,  # curl: (28) Connection timed out after 5001 milliseconds
    52: Outcome.REFUSED,  # curl: (52) Empty reply from server
    56: Outcome.REFUSED,  # curl: (56) Recv failure: Connection was reset
}
_REASON_COUNTS = {7, 56}
_OLD_WINDOWS_TIMEOUT = "timed out"
"""curl 7.57 on Windows: ``Failed to connect to 192.0.2.1 port 80: Timed out`` with code 7."""


def read(raw: Raw) -> Reading:
    """Read the result of one request."""
    code, error_text = raw.exit_code, one_line(raw.stderr)
    if code is None:
        return probe_failed(f"curl's exit code was lost: {error_text or raw.stdout}")
    if code == 0:
        return _of_body(raw)
    if code in _TLS_ANSWERED:
        return Reading(
            outcome=Outcome.CONNECTED, detail=f"answered, curl code {code}: {error_text}"
        )
    if code not in _WITHOUT_REASON:
        return not_understood(f"curl ended with code {code}: {error_text}")
    outcome = _reason(raw) if code in _REASON_COUNTS else None
    return Reading(
        outcome=outcome or _WITHOUT_REASON[code],
        detail=error_text or f"curl ended with code {code}",
    )


def _reason(raw: Raw) -> Outcome | None:
    if raw.client_os == OS.WINDOWS and _OLD_WINDOWS_TIMEOUT in raw.stderr.lower():
        return Outcome.TIMED_OUT
    # curl on Windows prints the same short texts as on Linux.
    return classify(raw.stderr, OS.LINUX, Stage.ADDRESS)


def _of_body(raw: Raw) -> Reading:
    if not raw.stdout.strip():
        return probe_failed("curl brought an empty answer")
    return answered(raw, raw.stdout, Outcome.CONNECTED)
