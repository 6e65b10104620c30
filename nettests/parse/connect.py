"""Read the answers of ``agnhost connect``: no output on success, or one error text with a prefix.

Prefixes (agnhost, cmd/connect): ``REFUSED``, ``TIMEOUT``, ``DNS``, ``OTHER``, ``UNKNOWN``. On
Windows a refusal has the prefix ``OTHER`` or ``UNKNOWN``, so the text decides. The error text takes
precedence over the exit code, because exec sometimes reports success although the command failed.
"""

import re

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, not_understood, one_line
from nettests.parse.taxonomy import Stage, classify

_FIXED = {"REFUSED": Outcome.REFUSED, "TIMEOUT": Outcome.TIMED_OUT}


def read(raw: Raw) -> Reading:
    """Read one attempt to connect; over UDP success means that the target replied."""
    error_text = raw.stderr.strip()
    # sample: "REFUSED", "TIMEOUT: read udp …: i/o timeout", "DNS: lookup nosuch.demo …: no such host"
    match = re.match(r"(REFUSED|TIMEOUT|DNS|OTHER|UNKNOWN)(?::\s*(.*))?$", error_text, re.DOTALL)
    if match is not None:
        return _of_error(match[1], match[2] or "", raw.client_os)
    if raw.exit_code != 0:
        code = "lost" if raw.exit_code is None else str(raw.exit_code)
        return not_understood(f"agnhost connect: exit code {code}: {error_text or raw.stdout}")
    udp = "--protocol=udp" in raw.command
    return Reading(outcome=Outcome.REPLIED if udp else Outcome.CONNECTED, detail="answered")


def _of_error(prefix: str, text: str, client_os: str) -> Reading:
    outcome = _FIXED.get(prefix)
    if outcome is None:
        outcome = classify(text, client_os, Stage.NAME if prefix == "DNS" else Stage.ADDRESS)
    detail = f"{prefix}: {text}" if text else prefix
    if outcome is None:
        return not_understood(f"not understood: {detail}")
    return Reading(outcome=outcome, detail=one_line(detail))
