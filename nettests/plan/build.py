"""Facts × flows → Plan, in order: node pools → cells → questions → skips → controls → needs.

Each stage has a module, runs once and passes all results on. Nothing is dropped: a check that
cannot run here becomes a skip with the reason. Same facts, same flows: same ids in the same order.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar, assert_never

from nettests.model.check import Action, Check, Control, Member, Plan, Skip, Target, Vantage
from nettests.model.check_id import LEFT_OUT
from nettests.model.facts import ClusterFacts
from nettests.model.grouping import grouped
from nettests.model.words import OS, CheckClass, Placement, Protocol, Question
from nettests.plan import targets
from nettests.plan.actions import action
from nettests.plan.applicability import sift
from nettests.plan.controls import Topology, controls
from nettests.plan.flow import Flow
from nettests.plan.node_pools import choose_pools, of_use
from nettests.plan.questions import Candidate, questions
from nettests.plan.selection import objects_of

T = TypeVar("T")


def build(
    facts: ClusterFacts,
    flows: Iterable[Flow],
    enabled: Collection[CheckClass] = (),
) -> Plan:
    """Return everything that a run of ``flows`` will do on a cluster with these facts.

    Checks of classes other than ``default`` that are not ``enabled`` are skips.
    """
    node_pools = choose_pools(facts)
    candidates, without_nodes = _separated(questions(flows, node_pools, facts))
    probed = [(candidate, action(candidate, node_pools, facts)) for candidate in candidates]
    possible, left_out = _separated(sift(probed, facts, enabled))
    topology = Topology(node_pools=of_use(node_pools, facts), facts=facts)
    # Candidates with the same id are the members of one check.
    by_id = grouped((candidate.id, (candidate, question)) for candidate, question in possible)
    checks = [with_members(members, topology) for members in by_id.values()]
    left_out = _one_per_id(left_out, {check.id for check in checks})
    pods, services = objects_of(checks, node_pools, facts)
    return Plan(
        checks=tuple(sorted(checks, key=lambda check: check.id)),
        skips=tuple(sorted((*without_nodes, *left_out), key=lambda skip: skip.id)),
        pods=pods,
        services=services,
    )


def _one_per_id(skips: Iterable[Skip], planned: Collection[str]) -> list[Skip]:
    """Return one skip per id: members of a check share it.

    If other members of the check can run, the skip gets a separate id.
    """
    by_id: dict[str, Skip] = {}
    for skip in skips:
        name = f"{skip.id}/{LEFT_OUT}" if skip.id in planned else skip.id
        by_id.setdefault(name, replace(skip, id=name))
    return list(by_id.values())


def _separated(candidates: Iterable[T | Skip]) -> tuple[list[T], list[Skip]]:
    kept: list[T] = []
    skips: list[Skip] = []
    for candidate in candidates:
        if isinstance(candidate, Skip):
            skips.append(candidate)
        else:
            kept.append(candidate)
    return kept, skips


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
