"""Facts × flows → Plan: every check that applies, every one that does not with the reason.

Last step of planning. Same facts, same flows: same ids in the same order. Nothing is dropped: a due
check that cannot be asked on this cluster becomes a skip.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Ask, Case, Check, Control, Plan, Skip, Target, Vantage
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.service import ByHand
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import (
    OS,
    CheckClass,
    Family,
    Placement,
    Protocol,
    Question,
    Resolver,
    VantageKind,
)
from nettests.plan import targets
from nettests.plan.applies import why_not, why_unseen
from nettests.plan.cast import (
    Cast,
    Role,
    api_vantage,
    cast,
    external_vantage,
    node_vantage,
    pod_vantage,
)
from nettests.plan.classes import not_enabled
from nettests.plan.controls import Stage, controls
from nettests.plan.flow import Flow, Matrix, NameForm
from nettests.plan.matrix import OUTSIDE, Cell, Gap, cells
from nettests.plan.permits import NO_READS, Reads
from nettests.plan.samples import connections
from nettests.plan.selection import objects_of

ECHO_HEADERS = 28
"""Bytes of IPv4 and ICMP before an echo request's payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """One check that is due, before it is known whether it can be asked."""

    flow: Flow
    cell: Cell
    protocol: Protocol
    question: Question
    family: Family | None = None
    """The IP family where it is not the cluster's first one."""
    name: NameForm | None = None
    resolver: Resolver | None = None
    case: Case | None = None

    @property
    def id(self) -> str:
        path = self.cell.path
        if self.case is not None:
            return f"{self.flow.name}/{path}/{self.case.label}"
        if descriptor(self.flow.target).owner is Owner.OUTSIDE:
            path = f"{path.partition('/')[0]}/{OUTSIDE}/{self.cell.placement.value}"
        parts = (self.flow.name, path, self.protocol.value, *self.details)
        return "/".join(parts)

    @property
    def details(self) -> tuple[str, ...]:
        """What distinguishes checks of one cell and protocol."""
        label = self.name.label if self.name else ""
        resolver = self.resolver.value if self.resolver else ""
        family = self.family.value.lower() if self.family else ""
        return tuple(part for part in (self.cell.suffix, label, resolver, family) if part)


def build(
    facts: ClusterFacts,
    flows: Iterable[Flow],
    enabled: Collection[CheckClass] = (),
    reads: Reads = NO_READS,
) -> Plan:
    """Return all that a run of ``flows`` will do on a cluster with these facts.

    Checks of classes other than ``default`` that are not ``enabled`` are skips. ``reads`` says what rules of
    configuration need from the API server.
    """
    players = cast(facts)
    stage = Stage(cast=players, facts=facts)
    checks: list[Check] = []
    skips: list[Skip] = []
    for flow in sorted(flows, key=lambda flow: flow.name):
        if flow.dual_stack and len(facts.families) < 2:
            skips.append(_skip(flow, flow.name, f"the cluster has {facts.families[0]} only"))
            continue
        skips.extend(_absences(flow, players))
        for place in cells(flow.matrix, players, flow.backing):
            if isinstance(place, Gap):
                skips.append(_skip(flow, f"{flow.name}/{place.path}", place.reason))
                continue
            for due in _in_families(_due(flow, place), facts):
                ask = _ask(due, stage)
                reason = (
                    why_not(ask, facts, reads)
                    or why_unseen(flow, facts)
                    or not_enabled(flow.check_class, enabled)
                )
                if reason:
                    skips.append(_skip(flow, due.id, reason))
                else:
                    checks.append(_check(due, ask, stage))
    pods, services = objects_of(checks, players, facts)
    return Plan(
        checks=tuple(sorted(checks, key=lambda check: check.id)),
        skips=tuple(sorted(skips, key=lambda skip: skip.id)),
        pods=pods,
        services=services,
    )


def _in_families(dues: Iterable[_Due], facts: ClusterFacts) -> Iterator[_Due]:
    """Yield each question as it is, and again for every other family if its flow asks in each."""
    for due in dues:
        yield due
        for family in facts.families[1:] if due.flow.each_family else ():
            yield replace(due, family=family)


def _absences(flow: Flow, players: Cast) -> Iterator[Skip]:
    if flow.matrix is Matrix.CLUSTER:
        return  # the API server is asked whatever nodes there are
    for who, reason in players.absent:
        yield _skip(flow, f"{flow.name}/{who}", reason)


def _skip(flow: Flow, check_id: str, reason: str) -> Skip:
    return Skip(
        id=check_id, flow=flow.name, reason=reason, required=flow.required, suite=flow.suite
    )


def _due(flow: Flow, cell: Cell) -> Iterator[_Due]:
    for case in flow.cases:
        if case.os not in {None, cell.source.os if cell.source else None}:
            continue
        yield _Due(flow=flow, cell=cell, protocol=Protocol.TCP, question=flow.question, case=case)
    if flow.cases:
        return
    for name in flow.names or (None,):
        if flow.question is not Question.RESOLVE:
            for protocol in flow.protocols:
                yield _Due(
                    flow=flow, cell=cell, protocol=protocol, question=flow.question, name=name
                )
        # Placement makes no difference to a name: it is asked for once a source.
        if name and cell.placement is not Placement.OTHER_NODE:
            yield from _resolutions(flow, cell, name)


def _resolutions(flow: Flow, cell: Cell, name: NameForm) -> Iterator[_Due]:
    """Yield the questions for a name alone: over UDP, unless a name server itself is in question."""
    by_protocol = descriptor(flow.target).name_server
    for resolver in name.resolvers:
        if resolver is Resolver.RESOLVE_DNSNAME and not _on_windows(cell):
            continue
        for protocol in flow.protocols if by_protocol else (Protocol.UDP,):
            yield _Due(
                flow=flow,
                cell=cell,
                protocol=protocol,
                question=Question.RESOLVE,
                name=name,
                resolver=resolver,
            )


def _on_windows(cell: Cell) -> bool:
    return cell.source is not None and cell.source.os is OS.WINDOWS


def _ask(due: _Due, stage: Stage) -> Ask:
    backends = due.cell.backends
    return Ask(
        source=_source(due),
        target=targets.in_family(_target(due, stage.cast), due.family),
        protocol=due.protocol,
        family=due.family or stage.facts.families[0],
        question=due.question,
        resolver=due.resolver,
        size=_size(due.flow, stage.facts),
        connections=connections(len(backends.servers)) if backends else 1,
        pause=due.flow.pause,
        case=due.case,
    )


def _size(flow: Flow, facts: ClusterFacts) -> int | None:
    """Return the payload that makes an echo request as large as the flow wants it."""
    if flow.beyond_mtu is None:
        return None
    return (facts.cni.mtu.value or 0) + flow.beyond_mtu - ECHO_HEADERS


def _source(due: _Due) -> Vantage:
    flow, node = due.flow, due.cell.source
    match flow.source:
        case VantageKind.API:
            return api_vantage(node)
        case VantageKind.NODE if node is not None:
            return node_vantage(node, flow.dns_policy)
        case VantageKind.POD if node is not None:
            return pod_vantage(node, flow.dns_policy)
        case VantageKind.EXTERNAL | VantageKind.NODE | VantageKind.POD:
            return external_vantage()
        case _:
            assert_never(flow.source)


def _target(due: _Due, players: Cast) -> Target:
    cell, kind, settings = due.cell, due.flow.target, due.flow.service
    template = due.name.template if due.name else None
    match descriptor(kind).owner:
        case Owner.CHECK if cell.target and cell.placement is Placement.OTHER_NODE:
            return targets.asked_by_a_pod(cell.target)
        case Owner.CHECK | Owner.NOBODY:
            return targets.pathless(kind, cell.target, settings)
        case Owner.CLUSTER | Owner.OUTSIDE:
            return targets.placeless(kind, template)
        case Owner.PODS:
            return targets.of_pods(kind, players.nodes, template)
        case Owner.SERVICE | Owner.NODE_PORT:
            return _of_service(due, template)
        case Owner.POD:
            return targets.of_pod(kind, _node(due), template)
        case Owner.ASKER:
            return targets.of_asker(kind, _node(due), _source(due).probe)
        case Owner.NODE:
            return targets.of_node(kind, _node(due))
        case Owner.HOST_PORT:
            return targets.at_host_port(kind, _node(due))
        case owner:
            assert_never(owner)


def _of_service(due: _Due, template: str | None) -> Target:
    """Return a Service as the cell and the flow's settings say who backs it."""
    cell, kind, settings = due.cell, due.flow.target, due.flow.service
    if cell.crowd is not None:
        return targets.crowd(cell.crowd, due.flow.backends)
    if cell.backends is not None:
        return _over(due.flow, cell.backends, _source(due))
    if settings is not None and (settings.no_endpoints or settings.external_name):
        return targets.unbacked(kind, cell.target, settings, template)
    node = _node(due)
    if descriptor(kind).owner is Owner.NODE_PORT:
        return targets.node_port(node, cell.backend or node, settings, kind)
    return targets.of_service(kind, node, template, settings)


def _node(due: _Due) -> NodeFacts:
    """Return the node that holds the target; ``PlanError`` where the flow's matrix gives none."""
    if due.cell.target is None:
        kind, matrix = due.flow.target.value, due.flow.matrix.value
        raise PlanError(
            f"flow {due.flow.name} asks for {kind}, which is on a node, and its matrix {matrix} gives none",
            hint="cross it with a matrix that has targets, such as Matrix.PAIRS",
        )
    return due.cell.target


def _over(flow: Flow, role: Role, client: Vantage) -> Target:
    """Return the Service over all servers of ``role`` whose connections are counted."""
    if flow.service is not None:
        if flow.service.by_hand is ByHand.TWO_NUMBERS:
            return targets.two_numbers(role, flow.service)
        if flow.question is Question.CHURN:
            return targets.churned(role, flow.service, client.role or client.probe)
        return targets.affinity(role, flow.service)
    return targets.spread(role) if flow.several_backends else targets.affinity(role)


def _check(due: _Due, ask: Ask, stage: Stage) -> Check:
    # Whether clients stick is in question, or where connections spread: the former needs the latter.
    sticky = due.flow.service is not None and due.flow.service.session_affinity
    spread = due.flow.several_backends and not sticky
    counted = due.question is Question.DISTRIBUTE and not spread
    return Check(
        id=due.id,
        flow=due.flow.name,
        title=_title(due),
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


def _needs(due: _Due) -> tuple[str, ...]:
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


def _of_family(proofs: Iterable[Control], due: _Due) -> tuple[Control, ...]:
    """Return controls whose Services, too, are there in the check's family."""
    return tuple(
        replace(
            proof, ask=replace(proof.ask, target=targets.in_family(proof.ask.target, due.family))
        )
        for proof in proofs
    )


def _title(due: _Due) -> str:
    """Say the check in words: ``windows-1 pod → linux-1 pod-ip on another node, TCP``."""
    if due.case is not None:
        return f"{due.cell.path} {due.question.value} {due.case.label}"
    source = f"{due.cell.source.role} {due.flow.source.value}" if due.cell.source else "outside"
    owner = due.cell.backends or due.cell.crowd or due.cell.target
    target = ""
    if owner is not None and due.cell.placement is not Placement.NOWHERE:
        target = due.cell.path.split("/")[1] + " "
    elif due.flow.service is not None:
        target = f"{due.flow.service.label} "
    words = f"{source} → {target}{due.flow.target.value} {_where(due.cell.placement)}".rstrip()
    return ", ".join((words, due.protocol.value.upper(), *due.details))


def _where(placement: Placement) -> str:
    match placement:
        case Placement.SAME_NODE:
            return "on its own node"
        case Placement.OTHER_NODE:
            return "on another node"
        case Placement.OUTSIDE | Placement.NOWHERE:
            return ""
        case _:
            assert_never(placement)
