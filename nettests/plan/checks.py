"""Candidates that can run become checks: with claim, positive controls, and the source's needs.

Fifth stage of planning; the sixth, ``needs``, collects the Pods and Services of all checks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from nettests.model.check import Action, Check, Control, Member, Target, Vantage
from nettests.model.words import OS, Placement, Protocol, Question
from nettests.plan import targets
from nettests.plan.controls import Topology, controls
from nettests.plan.questions import Candidate


def _check(candidate: Candidate, action: Action, topology: Topology) -> Check:
    # A flow tests session affinity or distribution; affinity needs distribution as a control.
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
        alike=candidate.flow.alike,
    )


def with_members(candidates: Sequence[tuple[Candidate, Action]], topology: Topology) -> Check:
    """Return the check with these candidates as members; a single candidate is the check itself."""
    checks = [_check(candidate, action, topology) for candidate, action in candidates]
    first = checks[0]
    if len(checks) == 1:
        return first
    placements = [member.placement for member in checks]
    elsewhere = Placement.OTHER_NODE in placements
    return replace(
        first,
        action=_shared(first.action),
        placement=Placement.OTHER_NODE if elsewhere else placements[0],
        controls=(),
        members=tuple(
            Member(
                label=candidate.cell.label,
                action=member.action,
                placement=member.placement,
                controls=member.controls,
            )
            for (candidate, _), member in zip(candidates, checks, strict=True)
        ),
    )


def _shared(action: Action) -> Action:
    """Return what the actions of all members have in common with this one."""
    source, target = action.source, action.target
    return replace(
        action,
        source=Vantage(
            kind=source.kind,
            probe="",
            pool=source.pool,
            os=source.os,
            dns_policy=source.dns_policy,
        ),
        target=Target(kind=target.kind, pool=target.pool, os=target.os, name_form=target.name_form),
    )


def _needs(candidate: Candidate) -> tuple[str, ...]:
    kept = candidate.question is Question.DURING and candidate.protocol is Protocol.UDP
    if (kept or candidate.question is Question.IDLE) and candidate.cell.source is not None:
        return _to_hold_a_flow(candidate.cell.source.os)
    return (
        (candidate.resolver.value,) if candidate.resolver and candidate.resolver.is_process else ()
    )


def _to_hold_a_flow(os: OS) -> tuple[str, ...]:
    """Return the needs of a source that keeps a connection or a flow of datagrams open."""
    match os:
        case OS.LINUX:
            return ("bash",)
        case OS.WINDOWS:
            return ("powershell",)
        case _:
            assert_never(os)


def _of_family(proofs: Iterable[Control], candidate: Candidate) -> tuple[Control, ...]:
    if candidate.family is None:
        return tuple(proofs)
    return tuple(
        replace(
            proof,
            action=replace(
                proof.action, target=targets.in_family(proof.action.target, candidate.family)
            ),
        )
        for proof in proofs
    )
