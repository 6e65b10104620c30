"""Send a question once more where all answers of a check came late, and let the probe answer for itself meanwhile.

Used by ``attempts`` and ``trains`` when they are done: ``parse.slow`` reads from it whether it was the path that took so
long, or the way to the probe and the machines at both ends of it. Nothing is judged here.
"""

from collections.abc import Sequence
from dataclasses import replace

from nettests.model.check import Action, Check, Target
from nettests.model.observation import Raw
from nettests.model.words import Protocol, Question, TargetKind
from nettests.parse.slow import BY_REQUEST, REFERENCE, late
from nettests.probes.beside import begin
from nettests.probes.sending import Sender

REFERENCES = 4
"""How often a probe answers for itself at most, beside the question that is sent once more."""
APART_SECONDS = 0.1
"""Between two of these."""


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
        sender.send(check.id, REFERENCE, reference, _itself(check.action))
    again.result()


def _itself(action: Action) -> Action:
    """Return the question of the probe for its own name, at its own address."""
    own = Target(kind=TargetKind.OWN_IP, pod=action.source.probe, node=action.source.node)
    return replace(
        action,
        target=own,
        question=Question.REACH,
        protocol=Protocol.TCP,
        resolver=None,
        connections=1,
    )
