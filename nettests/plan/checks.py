"""What can be probed becomes a check: with its claim, its positive controls, and what its source needs.

Fifth stage of planning; the sixth, ``needs``, finds the Pods and Services that all checks together need.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from nettests.model.check import Action, Check, Control
from nettests.model.words import OS, Question
from nettests.plan import targets
from nettests.plan.controls import Topology, controls
from nettests.plan.questions import Candidate


def check(candidate: Candidate, action: Action, topology: Topology) -> Check:
    """Return the check that ``action`` is the question of."""
    # Whether clients stick is in question, or where connections spread: the former needs the latter.
    sticky = candidate.flow.service is not None and candidate.flow.service.session_affinity
    spread = candidate.flow.several_backends and not sticky
    counted = candidate.question is Question.DISTRIBUTE and not spread
    return Check(
        id=candidate.id,
        flow=candidate.flow.name,
        title=candidate.title,
        action=action,
        placement=candidate.cell.placement,
        claim=candidate.flow.expected(candidate.protocol, candidate.question, candidate.case),
        controls=_of_family(
            controls(topology, action, candidate.cell.backends if counted else None), candidate
        ),
        sources=candidate.flow.sources,
        needs=candidate.flow.needs + _needs(candidate),
        required=candidate.flow.required,
        check_class=candidate.flow.check_class,
        suite=candidate.flow.suite,
    )


def _needs(candidate: Candidate) -> tuple[str, ...]:
    """Return what the source needs for this way of sending."""
    if candidate.question is Question.IDLE and candidate.cell.source is not None:
        return _to_hold_an_idle_connection(candidate.cell.source.os)
    return (
        (candidate.resolver.value,) if candidate.resolver and candidate.resolver.is_process else ()
    )


def _to_hold_an_idle_connection(os: OS) -> tuple[str, ...]:
    """Return what an image needs to hold a connection that is silent."""
    match os:
        case OS.LINUX:
            return ("bash",)
        case OS.WINDOWS:
            return ("powershell",)
        case _:
            assert_never(os)


def _of_family(proofs: Iterable[Control], candidate: Candidate) -> tuple[Control, ...]:
    """Return controls whose Services, too, are there in the check's family."""
    return tuple(
        replace(
            proof,
            action=replace(
                proof.action, target=targets.in_family(proof.action.target, candidate.family)
            ),
        )
        for proof in proofs
    )
