"""Positive controls: what must work in the same window before a negative result counts.

Used by ``build``, the fifth stage of planning. A ``vantage`` control shows that this vantage
reaches something over the same protocol, on a path that is documented to work and shares as little
as possible with the tested one; a ``target`` control shows that the target answers another vantage.
Without such a vantage there is no control, and the judge leaves a negative result ``unknown``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from nettests.model.check import Action, Case, Control, Target
from nettests.model.dns_names import KUBERNETES_FQDN, absolute, is_whole
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.payload import EVERY_PATH
from nettests.model.service import ByHand
from nettests.model.target_kinds import Location, Naming, Owner, ShownBy
from nettests.model.words import OS, Protocol, Question, Resolver, TargetKind, VantageKind
from nettests.plan import pod_security, targets
from nettests.plan.node_pools import (
    NodePool,
    NodePools,
    external_vantage,
    node_vantage,
    pod_vantage,
    second_server,
    server,
)

_OPENED = {"pod-proxy", "port-forward", "port-read"}
"""Steps whose stream may fail to open: the counter-case opens one in the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """What controls can use of a cluster: its node pools and facts."""

    node_pools: NodePools
    facts: ClusterFacts

    def may_stand_on(self, node: NodeFacts) -> bool:
        """Whether a Pod in the host network of ``node`` may serve as a control."""
        if self.facts.pod_security.value not in {None, pod_security.PRIVILEGED}:
            return False
        takes = self.facts.privileged.value is not False and node.host_process.value is True
        return node.os is OS.LINUX or takes

    def may_ping(self, node: NodeFacts) -> bool:
        """Whether a Pod on ``node`` may send echo requests: on Linux that needs NET_RAW."""
        return node.os is OS.WINDOWS or self.facts.pod_security.value != pod_security.RESTRICTED


def controls(topology: Topology, action: Action, backends: NodePool | None) -> tuple[Control, ...]:
    """Return the positive controls of ``action``; ``backends`` are those of a distribution."""
    action = _at_once(action)
    if not action.question.has_path:
        return (*_without_a_path(action), *_requested_otherwise(topology, action))
    proofs = (
        ("vantage", _of_own_servers(topology, action) or _vantage(topology, action)),
        ("target", _distribution(action, backends) if backends else _target(topology, action)),
    )
    return tuple(Control(proves=proves, action=proof) for proves, proof in proofs if proof)


def _at_once(action: Action) -> Action:
    """Return the plain form of an action for a control: it changes nothing and does not wait."""
    match action.question:
        case Question.CHURN | Question.IDLE | Question.LOSS | Question.FLOWS | Question.SCALE:
            return replace(action, question=Question.REACH, connections=1)
        case Question.WITNESS | Question.DURING:
            return replace(action, question=Question.REACH)
        case Question.PATH_MTU:  # small packets on the same path
            return replace(action, question=Question.REACH, size=action.size or EVERY_PATH)
        case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
            return action
        case Question.START:
            return replace(action, connections=1)
        case Question.ADMIT | Question.INSPECT:
            return action
        case _:
            assert_never(action.question)


def _without_a_path(action: Action) -> Iterator[Control]:
    """Yield the counter-case, which must be accepted: the object without the tested field."""
    if action.case is not None and action.case.counter:
        then = action.case.then
        again = then if then and then.how in _OPENED else None
        counter = Case(
            label="counter", object=action.case.counter, then=again, level=action.case.level
        )
        yield Control(proves="path", action=replace(action, case=counter))


def _requested_otherwise(topology: Topology, action: Action) -> Iterator[Control]:
    """Yield a control: the server that the Pod's hook calls answers another Pod on that node."""
    if action.question is Question.START and action.target.pod:
        here, there = (
            topology.facts.node(action.source.node or ""),
            topology.facts.node(action.target.node or ""),
        )
        plain = Action(
            source=pod_vantage(here),
            target=targets.pod_ip(there),
            protocol=action.protocol,
            family=action.family,
        )
        yield Control(proves="target", action=plain)


def _of_own_servers(topology: Topology, action: Action) -> Action | None:
    """Return the control for a cluster name queried at the node's name servers: they answer at all.

    Without an external name, a nonexistent name is queried: NXDOMAIN is an answer (``parse.read``).
    """
    of_own_servers = action.question is Question.RESOLVE and action.source.dns_policy == "Default"
    if not of_own_servers or action.target.descriptor.naming is not Naming.CLUSTER:
        return None
    external = topology.facts.external_target
    named = external is not None and external.name
    return replace(action, target=targets.external_name() if named else targets.no_name())


def _vantage(topology: Topology, action: Action) -> Action | None:
    settings = action.target.settings
    if action.source.kind is VantageKind.EXTERNAL:
        target = _other_node_port(topology, action)
    elif (
        action.target.descriptor.location is Location.LOAD_BALANCER
        and settings != targets.LOAD_BALANCED
    ):
        target = _balanced(topology, action)
    elif settings is not None and (settings.internal_local or settings.behind == "node"):
        target = _ordinary(topology, action)
    else:
        target = _other_pod(topology, action)
    if target is None:
        return None
    return replace(
        action,
        target=target,
        question=Question.PING if action.question is Question.PING else Question.REACH,
        resolver=None,
        connections=1,
        pause=0,
        size=None,
    )


def _other_pod(topology: Topology, action: Action) -> Target | None:
    """Return a server Pod other than the target, for the source to reach by address.

    For a Pod, the one on its own node, or one elsewhere if that is the target; for a node, only its
    own Pods, because reaching others is not documented on every network.
    """
    here = topology.facts.node(action.source.node or "")
    probed = {action.target.pod, *action.target.backends}
    places = [(server(here), here)]
    if action.source.kind is VantageKind.POD:
        places += [(server(node), node) for node in topology.node_pools.nodes if node is not here]
    places.append((second_server(here), here))
    pod, node = next(place for place in places if place[0] not in probed)
    return targets.pod_ip(node, pod)


def _ordinary(topology: Topology, action: Action) -> Target | None:
    """Return an ordinary Service of another Pod, which shows that this node serves Services."""
    other = _other_pod(topology, action)
    node = topology.facts.node(other.node or "") if other else None
    if node is None or other is None or other.pod != server(node):
        return other
    return targets.of_service(TargetKind.SERVICE_CLUSTERIP, node)


def _balanced(topology: Topology, action: Action) -> Target:
    """Return an ordinary load balancer's address, which shows that this node serves such addresses."""
    others = (
        node for node in topology.node_pools.nodes if server(node) not in action.target.backends
    )
    node = next(others, topology.facts.node(action.source.node or ""))
    return targets.of_service(TargetKind.LOADBALANCER, node, settings=targets.LOAD_BALANCED)


def _backing(topology: Topology, action: Action) -> NodeFacts | None:
    backends = action.target.backends
    return next((node for node in topology.node_pools.nodes if server(node) in backends), None)


def _other_node_port(topology: Topology, action: Action) -> Target | None:
    """Return another node's NodePort, or the external target, for an external vantage."""
    for node in topology.node_pools.nodes:
        if node.name != action.target.node and server(node) not in action.target.backends:
            return targets.node_port(node, node)
    external = topology.facts.external_target
    served = external and external.address and external.port(action.protocol)
    return targets.external_ip() if served else None


def _distribution(action: Action, backends: NodePool) -> Action:
    """Return the same connections through a Service without affinity: several backends answer."""
    return replace(action, target=targets.spread(backends), pause=0)


def _target(topology: Topology, action: Action) -> Action | None:
    special = _of_settings(topology, action) if action.target.settings is not None else None
    return special or _past_empty_node(topology, action) or _of_kind(topology, action)


def _past_empty_node(topology: Topology, action: Action) -> Action | None:
    """Return the Service at its backend's node, as a node without Pods may forward no NodePort."""
    backing = _backing(topology, action)
    empty = action.target.node in {node.name for node in topology.node_pools.empty}
    if backing is None or not empty or action.target.descriptor.owner is not Owner.NODE_PORT:
        return None
    return replace(action, target=targets.node_port(backing, backing))


def _of_kind(topology: Topology, action: Action) -> Action | None:
    """Return the control for targets of this kind, unless Service settings need another one."""
    target = action.target
    match target.descriptor.shown_by:
        case ShownBy.NOTHING:
            return None
        case ShownBy.FULL_NAME if action.question is Question.RESOLVE:
            return replace(action, target=targets.fully_qualified(target))
        case ShownBy.KUBERNETES_NAME if target.name_form != KUBERNETES_FQDN:
            # The result counts only if the same resolver answers for an existing name.
            return replace(action, target=targets.kubernetes())
        case ShownBy.SERVICE_PORT if action.question is Question.PING:
            # A Service may answer no echo: its port shows to the same source that it exists.
            return replace(action, question=Question.REACH, protocol=Protocol.TCP)
        case _ if action.size is not None:
            return replace(action, size=None)  # the same path, by packets of any network's size
        case ShownBy.POD_PORT:
            # The port must refuse all clients: its Pod answers the same source at another port.
            return replace(action, target=replace(target, kind=TargetKind.POD_IP))
        case ShownBy.NODE_LISTENER:
            return replace(action, target=replace(target, kind=TargetKind.NODE_IP))
        case ShownBy.POD_ITSELF:
            # The node's address must lead to the Pod: the Pod answers at its own address.
            at_own_address = replace(action, target=replace(target, kind=TargetKind.POD_IP))
            return next(_from_elsewhere(topology, at_own_address), None)
        case ShownBy.OTHER_NODE:
            through = replace(action, target=replace(target, kind=TargetKind.NODEPORT))
            return next(_through_node_port(topology, through), None)
        case (
            ShownBy.OTHER_VANTAGE
            | ShownBy.FULL_NAME
            | ShownBy.KUBERNETES_NAME
            | ShownBy.SERVICE_PORT
        ):
            return next(_from_elsewhere(topology, _without_search_list(action)), None)
        case shown:
            assert_never(shown)


def _without_search_list(action: Action) -> Action:
    """Return the action with an absolute name, if any: search lists belong to the source."""
    target = action.target
    if action.question is Question.RESOLVE or target.name_form is None:
        return action
    if target.service is not None and not is_whole(target.name_form):
        target = targets.fully_qualified(target)
    return replace(action, target=replace(target, name_form=absolute(target.name_form or "")))


def _of_settings(topology: Topology, action: Action) -> Action | None:
    """Return the control that a Service's settings need, if the ordinary one cannot work.

    A Service without endpoints never answers: an ordinary one of the same kind shows to the same
    source that Services are served. A Service for one node's clients answers through that node.
    """
    settings, target = action.target.settings, action.target
    if settings is None:
        return None
    if settings.no_endpoints:
        owner = topology.facts.node(target.node or action.source.node or "")
        by_port = target.descriptor.owner is Owner.NODE_PORT
        served = (
            targets.node_port(owner, owner)
            if by_port
            else targets.of_service(TargetKind.SERVICE_CLUSTERIP, owner)
        )
        return replace(action, target=served)
    if settings.source_ranges:
        # No client is admitted: the ClusterIP, without source ranges, shows the backend.
        return replace(action, target=replace(target, kind=TargetKind.SERVICE_CLUSTERIP))
    backing = _backing(topology, action)
    if backing is None:
        return None
    if settings.by_hand is ByHand.TERMINATING:
        # Only the slice says so: the backend answers through an ordinary Service.
        return replace(action, target=targets.of_service(TargetKind.SERVICE_CLUSTERIP, backing))
    if target.descriptor.location is Location.HEALTH_CHECK_PORT:
        through = targets.node_port(backing, backing, settings, target.kind)
        return replace(action, target=through) if backing.name != target.node else None
    if settings.external_local and target.kind is TargetKind.NODEPORT:  # not a NodePort at loopback
        elsewhere = backing.name != target.node
        through = targets.node_port(backing, backing, settings)
        return replace(action, target=through) if elsewhere else None
    if settings.internal_local and action.source.node != backing.name:
        return replace(action, source=pod_vantage(backing))
    return None


def _from_elsewhere(topology: Topology, action: Action) -> Iterator[Action]:
    """Yield the same action from other Pods, Linux first; external pings from Linux only."""
    outside_ping = (
        action.question is Question.PING
        and action.target.descriptor.location is Location.EXTERNAL_ADDRESS
    )
    if action.resolver is Resolver.RESOLVE_DNSNAME:
        action = replace(action, resolver=Resolver.NSLOOKUP)  # Linux does not have it
    for node in topology.node_pools.nodes:
        source = pod_vantage(node)
        silent = action.question is Question.PING and not topology.may_ping(node)
        other = source.probe != action.source.probe and not silent
        if other and not (outside_ping and node.os is OS.WINDOWS):
            yield replace(action, source=source)
    if outside_ping:
        for node in topology.node_pools.nodes:
            if node.os is OS.LINUX and topology.may_stand_on(node):
                yield replace(action, source=node_vantage(node))


def _through_node_port(topology: Topology, action: Action) -> Iterator[Action]:
    """Yield the same action from nodes that do not own the address, then from outside.

    A Linux node that owns the address comes last: its own NodePorts work too.
    """
    nodes = [node for node in topology.node_pools.nodes if topology.may_stand_on(node)]
    for node in nodes:
        if node.name not in {action.source.node, action.target.node}:
            yield replace(action, source=node_vantage(node))
    inside = action.source.kind is not VantageKind.EXTERNAL
    if inside and topology.facts.from_outside(action.protocol):
        yield replace(action, source=external_vantage())
    for node in nodes:
        if node.os is OS.LINUX and node.name == action.target.node != action.source.node:
            yield replace(action, source=node_vantage(node))
