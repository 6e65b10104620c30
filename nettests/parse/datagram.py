"""Read the external vantage's answers over UDP: one datagram, directly or by a SOCKS5 proxy.

The vantage records the answer on ``stdout``, or on ``stderr`` why there was none: a time-out, or
without a proxy an ICMP error in Linux's words.
"""

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.http_response import of_error
from nettests.parse.netexec import answered
from nettests.parse.reading import Reading

DATAGRAM = "datagram"
"""The tool's name in the journal."""


def read(raw: Raw) -> Reading:
    """Read the result of one datagram from outside."""
    if raw.stderr or not raw.stdout.strip():
        return of_error(raw.stderr)
    return answered(raw, raw.stdout, Outcome.REPLIED)
