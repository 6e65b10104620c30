"""What can be asked becomes a check: with its claim, its positive controls, and what its source needs.

Fifth stage of planning; the sixth, ``objects``, finds the Pods and Services that all checks together need.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from nettests.model.check import Ask, Check, Control
from nettests.model.words import OS, Question
from nettests.plan import targets
from nettests.plan.controls import Stage, controls
from nettests.plan.questions import Due


def check(due: Due, ask: Ask, stage: Stage) -> Check:
    """Return the check that ``ask`` is the question of."""
    # Whether clients stick is in question, or where connections spread: the former needs the latter.
    sticky = due.flow.service is not None and due.flow.service.session_affinity
    spread = due.flow.several_backends and not sticky
    counted = due.question is Question.DISTRIBUTE and not spread
    return Check(
        id=due.id,
        flow=due.flow.name,
        title=due.title,
        ask=ask,
        placement=due.cell.placement,
        claim=due.flow.expected(due.protocol, due.question, due.case),
        controls=_of_family(controls(stage, ask, due.cell.backends if counted else None), due),
        sources=due.flow.sources,
        needs=due.flow.needs + _needs(due),
        required=due.flow.required,
        check_class=due.flow.check_class,
        suite=due.flow.suite,
    )


def _needs(due: Due) -> tuple[str, ...]:
    """Return what the source needs for this way of asking."""
    if due.question is Question.IDLE and due.cell.source is not None:
        return _to_be_silent(due.cell.source.os)
    return (due.resolver.value,) if due.resolver and due.resolver.is_process else ()


def _to_be_silent(os: OS) -> tuple[str, ...]:
    """Return what an image needs to hold a connection that is silent."""
    match os:
        case OS.LINUX:
            return ("bash",)
        case OS.WINDOWS:
            return ("powershell",)
        case _:
            assert_never(os)


def _of_family(proofs: Iterable[Control], due: Due) -> tuple[Control, ...]:
    """Return controls whose Services, too, are there in the check's family."""
    return tuple(
        replace(
            proof, ask=replace(proof.ask, target=targets.in_family(proof.ask.target, due.family))
        )
        for proof in proofs
    )
