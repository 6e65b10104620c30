"""Read the answer to a train: one ``/dial`` of agnhost's ``netexec`` with many tries, one after another.

Beside ``dial``, whose form the answer has. Each try is answered or has an error. ``netexec`` omits all answers if the
last try failed, so answers are counted by missing errors.
"""

import re

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.dial import channel_failure, document, of_error
from nettests.parse.reading import Reading, not_understood, probe_failed
from nettests.parse.taxonomy import Stage


def read(raw: Raw) -> Reading:
    """Read how many tries were lost; an error other than silence is the result of the whole train."""
    if failure := channel_failure(raw):
        return failure
    dial_result = document(raw.stdout)
    # sample: GET /dial?host=10.244.2.5&port=18081&protocol=udp&request=hostname&tries=29
    words = raw.command[-1] if raw.command else ""
    wanted = re.search(r"[?&]tries=(\d+)", words)
    if dial_result is None or wanted is None:
        return not_understood(f"/dial answered {raw.status or ''} with {raw.stdout!r}")
    tries, (responses, errors) = int(wanted[1]), dial_result
    if len(errors) > tries or (responses and len(responses) + len(errors) != tries):
        return probe_failed(
            f"/dial brought {len(responses)} answers and {len(errors)} errors to {tries} tries"
        )
    readings = [of_error(text, raw.client_os, Stage.ADDRESS) for text in errors]
    other = next(
        (reading for reading in readings if reading.outcome is not Outcome.TIMED_OUT), None
    )
    if other is not None:
        return other
    over_udp = re.search(r"[?&]protocol=udp\b", words)
    answered = Outcome.REPLIED if over_udp else Outcome.CONNECTED
    return Reading(
        outcome=answered if len(errors) < tries else Outcome.TIMED_OUT,
        detail=f"{tries - len(errors)} of {tries} answered",
        backend=responses[0] if responses else None,
        tries=tries,
        lost=len(errors),
    )
