"""Let a probe answer for itself, over the same channel, where all answers of a check came late.

Used by ``attempts`` and ``trains`` when they are done: ``parse.slow`` reads from it whether it was the path that took so
long, or the way to the probe. Nothing is judged here.
"""

from collections.abc import Sequence
from dataclasses import replace

from nettests.model.check import Check, Target
from nettests.model.observation import Raw
from nettests.model.words import Protocol, Question, TargetKind
from nettests.parse.slow import BY_REQUEST, REFERENCE, late
from nettests.probes.sending import Sender

REFERENCES = 2
"""How often a probe answers for itself beside late answers: the sooner one counts."""


def compare_if_late(sender: Sender, check: Check, raws: Sequence[Raw]) -> None:
    """Request the probe's own name of it, at its own address, if that tells anything."""
    if not late(check, raws) or raws[0].tool not in BY_REQUEST:
        return
    itself = replace(
        check.action,
        target=Target(kind=TargetKind.OWN_IP, pod=check.source.probe, node=check.source.node),
        question=Question.REACH,
        protocol=Protocol.TCP,
        resolver=None,
    )
    for number in range(1, REFERENCES + 1):
        sender.send(check.id, REFERENCE, number, itself)
