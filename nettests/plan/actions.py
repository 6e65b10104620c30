"""A candidate check made concrete: its source, its target, and the request.

Part of the third stage of planning. Objects are named by node pool and node; addresses are looked
up after deployment.
"""

import math
from dataclasses import replace
from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Action, Target, Vantage
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.measured import tries
from nettests.model.payload import EVERY_PATH, udp_headers
from nettests.model.service import ByHand
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import CheckClass, Placement, Protocol, Question, VantageKind
from nettests.plan import targets
from nettests.plan.flow import Flow
from nettests.plan.node_pools import (
    NodePool,
    NodePools,
    api_vantage,
    external_vantage,
    node_vantage,
    pod_vantage,
)
from nettests.plan.questions import Candidate

FALSE_RATE = 1e-8
"""The chance, per check, that connections spread over several backends all reach the same one."""

FEWEST = 32
"""The minimum number of connections, as hashes of consecutive ports are not quite independent."""


SHARED_FALSE_RATE = 1e-6
"""The same for a member of a check with several members, each of which makes connections."""


def connections(backends: int, *, shared: bool = False) -> int:
    """Return how many new connections to make to ``backends`` (at least 2) backends.

    All ``n`` reach one of ``k`` backends by chance with probability ``k * (1/k)**n``, which must be
    at most ``FALSE_RATE``. One of several members of a check (``shared``) makes fewer: a node that
    distributes shows it by the second or third connection.
    """
    if shared:
        return _enough(backends, SHARED_FALSE_RATE)
    return max(FEWEST, _enough(backends, FALSE_RATE))


def _enough(backends: int, false_rate: float) -> int:
    if backends < 2:
        raise ValueError(f"a distribution needs 2 backends, not {backends}")
    return math.ceil(1 - math.log(false_rate) / math.log(backends))


SHORT_TRAIN = 200
"""TCP connections in a row where UDP echoes, ten times cheaper, test the same path. Echoes show
losses of all protocols; a loss of 3 % in either direction, of TCP alone, shows with a probability
of 99.9 %."""

SHARED_TRAIN = 80
"""The same for a member of a check with several: if 5 % of packets are lost in either direction,
two first packets are lost with a probability of 99.7 %, and each node is a target as well. Also the
queries that each source sends to cluster DNS, which all nodes share."""


def train(protocol: Protocol, check_class: CheckClass, *, shared: bool = False) -> int:
    """Return how many tries show a loss: for costly classes, enough to show a loss of 1 %.

    A member of a check with several members (``shared``) makes fewer connections.
    """
    match protocol:
        case Protocol.TCP if shared:
            return SHARED_TRAIN
        case Protocol.TCP if check_class is CheckClass.DEFAULT:
            return SHORT_TRAIN
        case Protocol.TCP | Protocol.UDP | Protocol.ICMP:
            return tries()
        case _:
            assert_never(protocol)


def share_of_pods(pods: int, nodes: int) -> int:
    """Return how many of the Pods each node gets, rounded up."""
    return math.ceil(pods / nodes)


ECHO_HEADERS = 28
"""Bytes of IPv4 and ICMP before an echo request's payload."""


def action(candidate: Candidate, node_pools: NodePools, facts: ClusterFacts) -> Action:
    """Return the concrete action; ``PlanError`` if the flow's matrix gives its target no node."""
    return Action(
        source=_source(candidate),
        target=targets.in_family(_target(candidate, node_pools), candidate.family),
        protocol=candidate.protocol,
        family=candidate.family or facts.families[0],
        question=candidate.question,
        resolver=candidate.resolver,
        size=_size(candidate, facts),
        connections=_connections(candidate, facts),
        pause=candidate.flow.pause,
        case=candidate.case,
    )


def _connections(candidate: Candidate, facts: ClusterFacts) -> int:
    """Return how many connections, tries, Services or Pods an action takes, by its question."""
    if candidate.question is Question.FLOWS:
        return facts.scale.flows
    if candidate.question is Question.SCALE:
        return facts.scale.services
    backends = candidate.cell.backends
    if candidate.question is Question.START and candidate.case is not None:
        return share_of_pods(candidate.case.pods, candidate.cell.member_count)
    shared = candidate.cell.member_count > 1
    if candidate.question is Question.LOSS and descriptor(candidate.flow.target).name_server:
        return SHARED_TRAIN
    if candidate.question is Question.LOSS:
        return train(candidate.protocol, candidate.flow.check_class, shared=shared)
    if backends is None:
        return 1
    return connections(len(backends.servers), shared=shared)


def _size(candidate: Candidate, facts: ClusterFacts) -> int | None:
    """Return the flow's payload in bytes, of one packet of the wanted size or of a connection."""
    flow = candidate.flow
    if flow.question is Question.PATH_MTU:
        return facts.cni.mtu.value
    if flow.beyond_mtu is not None:
        return (facts.cni.mtu.value or 0) + flow.beyond_mtu - ECHO_HEADERS
    if flow.payload is None:
        return None
    match candidate.protocol:
        case Protocol.TCP:
            return flow.payload
        case Protocol.UDP | Protocol.ICMP:
            family = candidate.family or facts.families[0]
            return (facts.cni.mtu.value or EVERY_PATH) - udp_headers(family)
        case _:
            assert_never(candidate.protocol)


def _source(candidate: Candidate) -> Vantage:
    flow, node = candidate.flow, candidate.cell.source
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


def _target(candidate: Candidate, node_pools: NodePools) -> Target:
    cell, kind, settings = candidate.cell, candidate.flow.target, candidate.flow.service
    template = candidate.name.template if candidate.name else None
    match descriptor(kind).owner:
        case Owner.CHECK if cell.target and cell.placement is Placement.OTHER_NODE:
            return targets.requested_by_a_pod(cell.target, candidate.case)
        case Owner.CHECK | Owner.NOTHING:
            return targets.pathless(kind, cell.target, settings)
        case Owner.CLUSTER | Owner.OUTSIDE:
            return replace(targets.placeless(kind, template), existing=candidate.existing)
        case Owner.PODS:
            return targets.of_pods(kind, node_pools.named_servers, template)
        case Owner.SERVICE | Owner.NODE_PORT:
            return _of_service(candidate, template)
        case Owner.POD:
            return targets.of_pod(kind, _node(candidate), template)
        case Owner.SOURCE:
            return targets.of_source(kind, _node(candidate), _source(candidate).probe)
        case Owner.NODE:
            return targets.of_node(kind, _node(candidate))
        case Owner.HOST_PORT:
            return targets.at_host_port(kind, _node(candidate))
        case owner:
            assert_never(owner)


def _of_service(candidate: Candidate, template: str | None) -> Target:
    """Return a Service with the endpoints that the cell and the flow's settings give it."""
    cell, kind, settings = candidate.cell, candidate.flow.target, candidate.flow.service
    if cell.many_backends is not None:
        return targets.many_backends(cell.many_backends, candidate.flow.backends)
    if cell.backends is not None:
        return _over(candidate.flow, cell.backends, _source(candidate), cell.target)
    if settings is not None and (settings.no_endpoints or settings.external_name):
        return targets.unbacked(kind, cell.target, settings, template)
    node = _node(candidate)
    if descriptor(kind).owner is Owner.NODE_PORT:
        return targets.node_port(node, cell.backend or node, settings, kind)
    return targets.of_service(kind, node, template, settings)


def _node(candidate: Candidate) -> NodeFacts:
    if candidate.cell.target is None:
        kind, matrix = candidate.flow.target.value, candidate.flow.matrix.value
        raise PlanError(
            f"flow {candidate.flow.name} requests {kind}, which is on a node, and its matrix {matrix} names no target node",
            hint="cross it with a matrix that has targets, such as Matrix.PAIRS",
        )
    return candidate.cell.target


def _owner(pool: NodePool, client: Vantage) -> NodeFacts:
    """Return the node of a pool whose NodePorts a client dials, if possible not its own."""
    others = [node for node in pool.few if node.name != client.node]
    return (others or list(pool.few))[-1]


def _over(flow: Flow, pool: NodePool, client: Vantage, owner: NodeFacts | None) -> Target:
    """Return the Service over the servers of ``pool``, at a NodePort of ``owner`` if given."""
    if flow.service is not None:
        if flow.service.by_hand is ByHand.MIXED_TARGET_PORTS:
            return targets.mixed_target_ports(pool, flow.service, client.probe)
        if flow.question.changes_services:
            at_node = descriptor(flow.target).owner is Owner.NODE_PORT
            owner_node = (owner or _owner(pool, client)) if at_node else None
            named = client.pool or client.probe
            return targets.churned(pool, flow.service, named, owner_node, flow.target)
        return targets.affinity(pool, flow.service)
    return targets.spread(pool) if flow.several_backends else targets.affinity(pool)
