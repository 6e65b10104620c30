"""The questions of a plan: each flow in the cells of its matrix, by protocol, family, name, resolver and case.

Second and third stage of planning. Missing nodes become skips. A question gets its stable id and
its title here; ``actions`` adds source and target. Whether it can run is decided later.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import assert_never

from nettests.model.check import Case, Skip
from nettests.model.check_id import EXTERNAL, between, check_id
from nettests.model.facts import ClusterFacts, ExistingService
from nettests.model.target_kinds import Location, Owner, descriptor
from nettests.model.words import OS, Family, Placement, Protocol, Question, Resolver
from nettests.plan.cell import Cell, Gap
from nettests.plan.flow import Flow, Matrix, NameForm
from nettests.plan.matrix import cells
from nettests.plan.node_pools import NodePools


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One planned check, before it is known whether it can run.

    ``id`` is stable and built from node pools; ``title`` describes the check in words.
    """

    flow: Flow
    cell: Cell
    protocol: Protocol
    question: Question
    family: Family | None = None
    """The IP family if it is not the cluster's first one."""
    name: NameForm | None = None
    resolver: Resolver | None = None
    case: Case | None = None
    existing: ExistingService | None = None

    @property
    def id(self) -> str:
        """The check's id."""
        place = self.cell.path
        if self.case is not None:
            return check_id(self.flow.name, place, self.case.label)
        if descriptor(self.flow.target).owner is Owner.OUTSIDE:
            place = between(self.cell.source_name, EXTERNAL, self.cell.placement.value)
        return check_id(self.flow.name, place, self.protocol.value, *self.details)

    @property
    def details(self) -> tuple[str, ...]:
        """What distinguishes checks of one cell and protocol."""
        label = self.name.label if self.name else ""
        resolver = self.resolver.value if self.resolver else ""
        family = self.family.value.lower() if self.family else ""
        service = self.existing.name.replace("/", ".") if self.existing else ""
        return tuple(part for part in (self.cell.suffix, service, label, resolver, family) if part)

    @property
    def title(self) -> str:
        """The check in words, with systems: ``Windows pod → Linux pod-ip on another node, TCP``."""
        if self.case is not None:
            place = self.cell.source.os.words if self.cell.source else "API server"
            return f"{place}: {self.question.value} {self.case.label}"
        source = (
            f"{self.cell.source.os.words} {self.flow.source.value}"
            if self.cell.source
            else "outside"
        )
        owner = self.cell.backends or self.cell.many_backends or self.cell.target
        target = ""
        if owner is not None and self.cell.placement is not Placement.NOWHERE:
            target = f"{owner.os.words} "
        elif self.flow.service is not None:
            target = f"{self.flow.service.label} "
        words = (
            f"{source} → {target}{self.flow.target.value} {_where(self.cell.placement)}".rstrip()
        )
        return ", ".join((words, self.protocol.value.upper(), *self.details))


def questions(
    flows: Iterable[Flow], node_pools: NodePools, facts: ClusterFacts
) -> Iterator[Candidate | Skip]:
    """Yield the candidates of every flow, by the flows' names, and a skip for each missing cell."""
    for flow in sorted(flows, key=lambda flow: flow.name):
        if flow.dual_stack and len(facts.families) < 2:
            yield flow.skipped(flow.name, f"the cluster has {facts.families[0]} only")
            continue
        if flow.matrix is not Matrix.CLUSTER:  # the API server is tested with any nodes
            for who, reason in node_pools.absent:
                yield flow.skipped(f"{flow.name}/{who}", reason)
        existing = descriptor(flow.target).location is Location.EXISTING_SERVICE
        services = (facts.existing_services.value if existing else ()) or (None,)
        families = (None, *(facts.families[1:] if flow.each_family else ()))
        for cell in cells(flow, node_pools):
            if isinstance(cell, Gap):
                yield flow.skipped(f"{flow.name}/{cell.path}", cell.reason)
                continue
            for candidate, service, family in product(_in_place(flow, cell), services, families):
                yield replace(candidate, existing=service, family=family)


def _in_place(flow: Flow, cell: Cell) -> Iterator[Candidate]:
    for case in flow.cases:
        if case.os not in {None, cell.source.os if cell.source else None}:
            continue
        yield Candidate(
            flow=flow, cell=cell, protocol=Protocol.TCP, question=flow.question, case=case
        )
    if flow.cases:
        return
    for name in flow.names or (None,):
        if flow.question is not Question.RESOLVE:
            for protocol in flow.protocols:
                yield Candidate(
                    flow=flow, cell=cell, protocol=protocol, question=flow.question, name=name
                )
        # A name does not depend on placement: each source queries it once.
        if name and cell.placement is not Placement.OTHER_NODE:
            yield from _resolutions(flow, cell, name)


def _resolutions(flow: Flow, cell: Cell, name: NameForm) -> Iterator[Candidate]:
    """Yield the candidates that only resolve a name: over UDP, unless a name server is tested."""
    by_protocol = descriptor(flow.target).name_server
    on_windows = cell.source is not None and cell.source.os is OS.WINDOWS
    for resolver in name.resolvers:
        if resolver is Resolver.RESOLVE_DNSNAME and not on_windows:
            continue
        for protocol in flow.protocols if by_protocol else (Protocol.UDP,):
            yield Candidate(
                flow=flow,
                cell=cell,
                protocol=protocol,
                question=Question.RESOLVE,
                name=name,
                resolver=resolver,
            )


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
