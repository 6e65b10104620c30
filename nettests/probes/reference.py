"""Let a probe answer for itself while a question of a check is under way and takes long.

Used by ``attempts`` and ``trains`` when all their answers came late, and by ``trains`` beside each round of
connections: ``parse.slow`` and ``parse.resent`` read from it whether it was the path that took so long, or the way to the
probe and the machines at both ends of it. Nothing is judged here.
"""

from collections.abc import Sequence
from dataclasses import replace

from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.parse.resent import REFERENCE
from nettests.parse.slow import BY_REQUEST, late
from nettests.probes.beside import Pending, all_over, begin
from nettests.probes.own_time import itself
from nettests.probes.sending import Sender

REFERENCES = 4
"""How often a probe answers for itself at most, beside the question that is sent once more."""
APART_SECONDS = 0.1
"""Between two of these."""
BESIDE_TRAINS = 8
"""How often a probe answers for itself at most beside one round of trains: for the first two seconds."""
BEGIN_SECONDS = 0.3
"""Trains that are over by then waited for no lost SYN."""
APART_BESIDE_TRAINS = 0.2
"""Between two of these: a SYN that was lost is waited for through at least three."""


def compare_if_late(sender: Sender, check: Check, raws: Sequence[Raw]) -> None:
    """Send the question again if all its answers came late, and request the probe's own name of it meanwhile."""
    if not late(check, raws) or raws[0].tool not in BY_REQUEST:
        return
    number = max(raw.attempt for raw in raws) + 1
    once = replace(check.action, connections=1)
    again = begin(lambda sent: sender.send(check.id, "check", number, once, on_sent=sent))
    for reference in range(1, REFERENCES + 1):
        if again.answered(APART_SECONDS):
            break
        sender.send(check.id, REFERENCE, reference, itself(check.action))
    again.result()


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
