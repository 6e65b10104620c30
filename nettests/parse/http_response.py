"""Read the answers of the external vantage to an HTTP request, directly or through a forward proxy.

A squid-like proxy that cannot connect answers 503 with ``X-Squid-Error``, whose number is the errno
of its own Linux socket. A SOCKS proxy replies with a number (RFC 1928, section 6). The vantage
records either on ``stderr``, and for direct requests the error's text.
"""

import re

from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse.netexec import answered
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.taxonomy import Stage, classify

# sample: "X-Squid-Error: ERR_CONNECT_FAIL 111"
_SQUID = re.compile(r"X-Squid-Error: (\w+)(?: (\d+))?")
_ERRNO = {
    111: Outcome.REFUSED,
    104: Outcome.REFUSED,
    110: Outcome.TIMED_OUT,
    113: Outcome.UNREACHABLE,
    101: Outcome.UNREACHABLE,
}
_ERRORS = {
    "ERR_DNS_FAIL": Outcome.NXDOMAIN,
    "ERR_READ_TIMEOUT": Outcome.TIMED_OUT,
    "ERR_ZERO_SIZE_OBJECT": Outcome.REFUSED,
}
_PROXY_REFUSES = {407}
# sample: "SOCKS reply 5: Connection refused"
_SOCKS = re.compile(r"SOCKS reply (\d+): (.*)")
_REPLIES = {
    3: Outcome.UNREACHABLE,
    4: Outcome.UNREACHABLE,
    5: Outcome.REFUSED,
    6: Outcome.TIMED_OUT,
}
"""Other numbers are about the proxy itself: a general failure, or a rule of its own. For a time-out, proxies
use 6, "TTL expired", the only reply that fits."""


def read(raw: Raw) -> Reading:
    """Read the result of a request from outside."""
    squid = _SQUID.search(raw.stderr)
    if squid is not None:
        return _of_squid(squid[1], int(squid[2] or 0))
    socks = _SOCKS.search(raw.stderr)
    if socks is not None:
        return _of_socks(int(socks[1]), socks[2])
    if raw.status is None:
        return of_error(raw.stderr)
    if raw.status in _PROXY_REFUSES:
        return probe_failed(f"the external proxy answered {raw.status}")
    if not raw.stdout.strip():
        return probe_failed(f"an empty answer with status {raw.status}")
    return answered(raw, raw.stdout, Outcome.CONNECTED)


def _of_squid(error: str, number: int) -> Reading:
    outcome = _ERRNO.get(number) if error == "ERR_CONNECT_FAIL" else _ERRORS.get(error)
    if outcome is None:
        return probe_failed(f"the external proxy reports {error} {number}")
    return Reading(outcome=outcome, detail=f"the proxy outside reports {error} {number}")


def _of_socks(number: int, text: str) -> Reading:
    outcome = _REPLIES.get(number)
    if outcome is None:
        return probe_failed(f"the external proxy replies {number}: {text}")
    return Reading(outcome=outcome, detail=f"the proxy outside replies {number}: {text}")


def of_error(text: str) -> Reading:
    """Read a direct request's error: requests prints Linux's text, or that it timed out."""
    # sample: "timed out: ConnectTimeoutError: …", "NewConnectionError: [Errno 111] Connection refused"
    if text.startswith("timed out"):
        return Reading(outcome=Outcome.TIMED_OUT, detail=one_line(text))
    # sample: "NameResolutionError: [Errno -2] Name or service not known"
    if "Name or service not known" in text:
        return Reading(outcome=Outcome.NXDOMAIN, detail=one_line(text))
    outcome = classify(text, OS.LINUX, Stage.ADDRESS)
    if outcome is None:
        return not_understood(f"not understood: {text or 'no answer'}")
    return Reading(outcome=outcome, detail=one_line(text))
