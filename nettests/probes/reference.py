"""Let a probe answer for itself while a request of a check takes long.

Used by ``attempts`` beside lookups of names, by ``attempts`` and ``trains`` when all their answers came late, and by
``trains`` beside each round of connections. ``parse.slow`` and ``parse.resent`` tell from it whether the path was
slow, or the channel to the probe and the machines at both ends of it. Nothing is judged here.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.parse.overload import REFERENCE
from nettests.parse.slow import BY_REQUEST, by_itself, late
from nettests.probes.beside import Pending, all_over, begin
from nettests.probes.own_time import itself
from nettests.probes.sending import Sender

REFERENCES = 4
"""How often a probe answers for itself at most, while the request is sent once more."""
APART_SECONDS = 0.1
"""Between two of these."""
BESIDE_TRAINS = 8
"""How often a probe answers for itself at most beside one round of trains: for the first two seconds."""
BEGIN_SECONDS = 0.3
"""Trains that are over by then waited for no lost SYN."""
APART_BESIDE_TRAINS = 0.2
"""Between two of these: a SYN that was lost is waited for through at least three."""


def compare_if_late(
    sender: Sender, check: Check, raws: Sequence[Raw], references: Sequence[Raw] = ()
) -> list[Raw]:
    """Send the request again if all its answers came late, and let the probe answer for itself meanwhile.

    Not if ``references`` already show the probe's own time during the last answer. Return all answers, the
    request's last.
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
    """Let the probe answer for itself a few times while names are waited for; these are counted from ``first`` on.

    A resolver waits for 5 s and more: repeating a late request only for a comparison would cost as much again.
    """
    answered: list[Raw] = []
    while len(answered) < REFERENCES and not all_over(questions, APART_SECONDS):
        number = first + len(answered)
        answered.append(sender.send(check.id, REFERENCE, number, itself(check.action)))
    return answered


def beside_trains(
    sender: Sender, check: Check, trains: Sequence[Pending[Raw]], first: int
) -> list[Raw]:
    """Let the probe answer for itself, again and again, while trains wait; they are counted from ``first`` on."""
    answered: list[Raw] = []
    apart = BEGIN_SECONDS
    while len(answered) < BESIDE_TRAINS and not all_over(trains, apart):
        number = first + len(answered)
        answered.append(sender.send(check.id, REFERENCE, number, itself(check.action)))
        apart = APART_BESIDE_TRAINS
    return answered
