"""From where a question is asked, to what it goes, and how: a due question made concrete.

Still the third stage of planning. Objects are named by role and node; addresses are looked up when they stand.
"""

from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Ask, Target, Vantage
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.service import ByHand
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import Placement, Question, VantageKind
from nettests.plan import targets
from nettests.plan.cast import (
    Cast,
    Role,
    api_vantage,
    external_vantage,
    node_vantage,
    pod_vantage,
)
from nettests.plan.flow import Flow
from nettests.plan.questions import Due
from nettests.plan.samples import connections

ECHO_HEADERS = 28
"""Bytes of IPv4 and ICMP before an echo request's payload."""


def ask(due: Due, players: Cast, facts: ClusterFacts) -> Ask:
    """Return the concrete question; ``PlanError`` where the flow's matrix gives its target no node."""
    backends = due.cell.backends
    return Ask(
        source=_source(due),
        target=targets.in_family(_target(due, players), due.family),
        protocol=due.protocol,
        family=due.family or facts.families[0],
        question=due.question,
        resolver=due.resolver,
        size=_size(due.flow, facts),
        connections=connections(len(backends.servers)) if backends else 1,
        pause=due.flow.pause,
        case=due.case,
    )


def _size(flow: Flow, facts: ClusterFacts) -> int | None:
    """Return the payload that makes an echo request as large as the flow wants it."""
    if flow.beyond_mtu is None:
        return None
    return (facts.cni.mtu.value or 0) + flow.beyond_mtu - ECHO_HEADERS


def _source(due: Due) -> Vantage:
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


def _target(due: Due, players: Cast) -> Target:
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


def _of_service(due: Due, template: str | None) -> Target:
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


def _node(due: Due) -> NodeFacts:
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
