"""Let a probe answer requests to itself (references) while a check's request takes long.

Used by ``attempts`` beside name lookups, by ``attempts`` and ``trains`` when all answers were late,
and by ``trains`` beside each round of connections. ``parse.late_answers`` tells from them whether the
path was slow, or the channel to the probe and the machines at its ends.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.parse.late_answers import BY_REQUEST, by_itself, late
from nettests.parse.overload import REFERENCE
from nettests.probes.own_time import itself
from nettests.probes.pending import Pending, all_over, begin
from nettests.probes.sending import Sender

REFERENCES = 4
"""The most references while the request is repeated."""
APART_SECONDS = 0.1
"""Seconds between two of these."""
BESIDE_TRAINS = 8
"""The most references beside one round of trains: for the first two seconds."""
BEGIN_SECONDS = 0.3
"""Seconds until the first: trains that end earlier did not wait for a lost SYN."""
APART_BESIDE_TRAINS = 0.2
"""Seconds between two of these: the wait for a lost SYN spans at least three."""


def compare_if_late(
    sender: Sender, check: Check, raws: Sequence[Raw], references: Sequence[Raw] = ()
) -> list[Raw]:
    """Repeat the request if all its answers were late, with references meanwhile; return all.

    Not if ``references`` already cover the last answer. The request's answer comes last.
    """
    if (
        not late(check, raws)
        or raws[0].tool not in BY_REQUEST
        or by_itself(check, references, raws)
    ):
        return []
    number = max(raw.attempt for raw in raws) + 1
    once = replace(check.action, connections=1)
    again = begin(lambda sent: sender.send(check.id, "check", number, once, on_sent=sent))
    answered: list[Raw] = []
    for reference in range(len(references) + 1, len(references) + REFERENCES + 1):
        if again.answered(APART_SECONDS):
            break
        answered.append(sender.send(check.id, REFERENCE, reference, itself(check.action)))
    return [*answered, again.result()]


def beside_names(
    sender: Sender, check: Check, questions: Collection[Pending[Raw]], first: int
) -> list[Raw]:
    """Send some references, numbered from ``first``, while name lookups are under way.

    A resolver waits for 5 s and more: repeating a request to compare would cost as much.
    """
    answered: list[Raw] = []
    while len(answered) < REFERENCES and not all_over(questions, APART_SECONDS):
        number = first + len(answered)
        answered.append(sender.send(check.id, REFERENCE, number, itself(check.action)))
    return answered


def beside_trains(
    sender: Sender, check: Check, trains: Sequence[Pending[Raw]], first: int
) -> list[Raw]:
    """Send references repeatedly, numbered from ``first``, once the first train was sent."""
    answered: list[Raw] = []
    if trains:
        trains[0].wait_sent()
    apart = BEGIN_SECONDS
    while len(answered) < BESIDE_TRAINS and not all_over(trains, apart):
        number = first + len(answered)
        answered.append(sender.send(check.id, REFERENCE, number, itself(check.action)))
        apart = APART_BESIDE_TRAINS
    return answered
