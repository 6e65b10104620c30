"""Positive controls: what must work in the same window before a negative result is believed.

Used by ``checks``, the fifth stage of planning, when a check's own question can be asked. ``vantage`` controls show that this
vantage reaches something by this protocol, on a path that is documented to work and shares as little
as possible with the one in question; ``target`` controls show that the target answers another
vantage. Where a cluster offers no such vantage the control is absent, and the judge then leaves a
negative result ``unknown``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from nettests.model.check import Ask, Case, Control, Target
from nettests.model.dns_names import KUBERNETES_FQDN
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.service import ByHand
from nettests.model.target_kinds import Location, Naming, Owner, ShownBy
from nettests.model.words import OS, Protocol, Question, Resolver, TargetKind, VantageKind
from nettests.plan import pod_security, targets
from nettests.plan.cast import (
    Cast,
    Role,
    external_vantage,
    node_vantage,
    pod_vantage,
    second_server,
    server,
)

_OPENED = {"pod-proxy", "port-forward", "port-read"}
"""What may fail to be opened: the counter-case is opened in the same way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a cluster offers to controls: who plays, and what is known of the outside."""

    cast: Cast
    facts: ClusterFacts

    def may_stand_on(self, node: NodeFacts) -> bool:
        """Whether a node vantage on ``node`` may serve as a control."""
        if self.facts.pod_security.value not in {None, pod_security.PRIVILEGED}:
            return False
        takes = self.facts.privileged.value is not False and node.host_process.value is True
        return node.os is OS.LINUX or takes

    def may_ping(self, node: NodeFacts) -> bool:
        """Whether a pod on ``node`` may send echo requests: on Linux that takes NET_RAW."""
        return node.os is OS.WINDOWS or self.facts.pod_security.value != pod_security.RESTRICTED


def controls(stage: Stage, ask: Ask, backends: Role | None) -> tuple[Control, ...]:
    """Return the positive controls of ``ask``; ``backends`` is the role that a distribution meets."""
    ask = _at_once(ask)
    if not ask.question.has_path:
        return (*_without_a_path(ask), *_asked_otherwise(stage, ask))
    found = (
        ("vantage", _of_own_servers(stage, ask) or _vantage(stage, ask)),
        ("target", _distribution(ask, backends) if backends else _target(stage, ask)),
    )
    return tuple(Control(proves=proves, ask=proof) for proves, proof in found if proof)


def _at_once(ask: Ask) -> Ask:
    """Return what stands for a question beside itself: a control changes nothing, and waits for nothing."""
    match ask.question:
        case Question.CHURN | Question.IDLE:
            return replace(ask, question=Question.REACH, connections=1)
        case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
            return ask
        case Question.ADMIT | Question.INSPECT | Question.START:
            return ask
        case _:
            assert_never(ask.question)


def _without_a_path(ask: Ask) -> Iterator[Control]:
    """Yield the case's own counter-case: the same object without what is in question is accepted."""
    if ask.case is not None and ask.case.counter:
        then = ask.case.then
        again = then if then and then.how in _OPENED else None
        counter = Case(label="counter", object=ask.case.counter, then=again, level=ask.case.level)
        yield Control(proves="path", ask=replace(ask, case=counter))


def _asked_otherwise(stage: Stage, ask: Ask) -> Iterator[Control]:
    """Yield the question whether the server that a Pod's hook asks answers a Pod of that node."""
    if ask.question is Question.START and ask.target.pod:
        here, there = (
            stage.facts.node(ask.source.node or ""),
            stage.facts.node(ask.target.node or ""),
        )
        plain = Ask(
            source=pod_vantage(here),
            target=targets.pod_ip(there),
            protocol=ask.protocol,
            family=ask.family,
        )
        yield Control(proves="target", ask=plain)


def _of_own_servers(stage: Stage, ask: Ask) -> Ask | None:
    """Return the question whether the node's own servers answer a Pod that is to ask them for a name of the cluster.

    Where no name outside is known, they answer one that does not exist: their denial shows them (``parse.controls``).
    """
    own = ask.question is Question.RESOLVE and ask.source.dns_policy == "Default"
    if not own or ask.target.descriptor.naming is not Naming.CLUSTER:
        return None
    external = stage.facts.external_target
    named = external is not None and external.name
    return replace(ask, target=targets.external_name() if named else targets.no_name())


def _vantage(stage: Stage, ask: Ask) -> Ask | None:
    settings = ask.target.settings
    if ask.source.kind is VantageKind.EXTERNAL:
        target = _other_node_port(stage, ask)
    elif (
        ask.target.descriptor.location is Location.LOAD_BALANCER
        and settings != targets.LOAD_BALANCED
    ):
        target = _balanced(stage, ask)
    elif settings is not None and (settings.internal_local or settings.behind == "node"):
        target = _ordinary(stage, ask)
    else:
        target = _other_pod(stage, ask)
    if target is None:
        return None
    return replace(
        ask,
        target=target,
        question=_beside(ask.question),
        resolver=None,
        connections=1,
        pause=0,
        size=None,
    )


def _beside(question: Question) -> Question:
    """Return what shows that a vantage reaches something: by echoes what sends echoes, else by a connection."""
    match question:
        case Question.PING:
            return Question.PING
        case Question.REACH | Question.RESOLVE | Question.DISTRIBUTE:
            return Question.REACH
        case Question.IDLE | Question.CHURN:
            return Question.REACH
        case Question.ADMIT | Question.INSPECT | Question.START:
            return Question.REACH
        case _:
            assert_never(question)


def _other_pod(stage: Stage, ask: Ask) -> Target | None:
    """Return a server pod other than the one in question, for the source to reach by address.

    For a pod the pod on its own node, or one elsewhere if that is in question; for a node only pods
    of its own, because reaching others is not documented on every network.
    """
    here = stage.facts.node(ask.source.node or "")
    asked = {ask.target.pod, *ask.target.backends}
    places = [(server(here), here)]
    if ask.source.kind is VantageKind.POD:
        places += [(server(node), node) for node in stage.cast.nodes if node is not here]
    places.append((second_server(here), here))
    pod, node = next(place for place in places if place[0] not in asked)
    return targets.pod_ip(node, pod)


def _ordinary(stage: Stage, ask: Ask) -> Target | None:
    """Return an ordinary Service of another pod, which shows that this node serves Services."""
    other = _other_pod(stage, ask)
    node = stage.facts.node(other.node or "") if other else None
    if node is None or other is None or other.pod != server(node):
        return other
    return targets.of_service(TargetKind.SERVICE_CLUSTERIP, node)


def _balanced(stage: Stage, ask: Ask) -> Target:
    """Return an ordinary load balancer's address, which shows that this node serves such addresses."""
    others = (node for node in stage.cast.nodes if server(node) not in ask.target.backends)
    node = next(others, stage.facts.node(ask.source.node or ""))
    return targets.of_service(TargetKind.LOADBALANCER, node, settings=targets.LOAD_BALANCED)


def _backing(stage: Stage, ask: Ask) -> NodeFacts | None:
    """Return the node whose server pod backs the Service in question."""
    backends = ask.target.backends
    return next((node for node in stage.cast.nodes if server(node) in backends), None)


def _other_node_port(stage: Stage, ask: Ask) -> Target | None:
    """Return another node's NodePort, or the external target, for the outside to reach."""
    for node in stage.cast.nodes:
        if node.name != ask.target.node and server(node) not in ask.target.backends:
            return targets.node_port(node, node)
    external = stage.facts.external_target
    return targets.external_ip() if external and external.address and external.tcp_port else None


def _distribution(ask: Ask, backends: Role) -> Ask:
    """Return the same connections through a Service without affinity: several backends answer."""
    return replace(ask, target=targets.spread(backends), pause=0)


def _target(stage: Stage, ask: Ask) -> Ask | None:
    special = _of_settings(stage, ask) if ask.target.settings is not None else None
    return special or _of_kind(stage, ask)


def _of_kind(stage: Stage, ask: Ask) -> Ask | None:
    """Return the control that shows targets of this kind, where their Service asks for no other."""
    target = ask.target
    match target.descriptor.shown_by:
        case ShownBy.NOTHING:
            return None
        case ShownBy.FULL_NAME if ask.question is Question.RESOLVE:
            return replace(ask, target=targets.fully_qualified(target))
        case ShownBy.KUBERNETES_NAME if target.name_form != KUBERNETES_FQDN:
            # The name means something only beside one that exists, asked of the same resolver.
            return replace(ask, target=targets.kubernetes())
        case ShownBy.SERVICE_PORT if ask.question is Question.PING:
            # Nobody may be answered there: that the Service stands shows at its port, to this very source.
            return replace(ask, question=Question.REACH, protocol=Protocol.TCP)
        case _ if ask.size is not None:
            return replace(ask, size=None)  # the same path, by packets of any network's size
        case ShownBy.POD_PORT:
            # That it refuses everybody is what is asked: its owner answers this very source elsewhere.
            return replace(ask, target=replace(target, kind=TargetKind.POD_IP))
        case ShownBy.NODE_LISTENER:
            return replace(ask, target=replace(target, kind=TargetKind.NODE_IP))
        case ShownBy.POD_ITSELF:
            # Whether the node's address leads to the pod is in question: the pod answers at its own.
            own = replace(ask, target=replace(target, kind=TargetKind.POD_IP))
            return next(_from_elsewhere(stage, own), None)
        case ShownBy.OTHER_NODE:
            through = replace(ask, target=replace(target, kind=TargetKind.NODEPORT))
            return next(_through_node_port(stage, through), None)
        case (
            ShownBy.OTHER_VANTAGE
            | ShownBy.FULL_NAME
            | ShownBy.KUBERNETES_NAME
            | ShownBy.SERVICE_PORT
        ):
            return next(_from_elsewhere(stage, ask), None)
        case shown:
            assert_never(shown)


def _of_settings(stage: Stage, ask: Ask) -> Ask | None:
    """Return the control that a Service's settings call for, where the ordinary one cannot work.

    What nobody backs answers nobody: the ordinary Service of the same kind, asked from the same place,
    shows that Services are served there. What is for one node's clients answers through that node.
    """
    settings, target = ask.target.settings, ask.target
    if settings is None:
        return None
    if settings.no_endpoints:
        owner = stage.facts.node(target.node or ask.source.node or "")
        by_port = target.descriptor.owner is Owner.NODE_PORT
        served = (
            targets.node_port(owner, owner)
            if by_port
            else targets.of_service(TargetKind.SERVICE_CLUSTERIP, owner)
        )
        return replace(ask, target=served)
    if settings.source_ranges:
        # Nobody is let in: that its backend answers shows at an address that has no ranges.
        return replace(ask, target=replace(target, kind=TargetKind.SERVICE_CLUSTERIP))
    backing = _backing(stage, ask)
    if backing is None:
        return None
    if settings.by_hand is ByHand.TERMINATING:
        # What nothing but the slice says of it: the backend answers as an ordinary Service's.
        return replace(ask, target=targets.of_service(TargetKind.SERVICE_CLUSTERIP, backing))
    if target.descriptor.location is Location.HEALTH_CHECK_PORT:
        through = targets.node_port(backing, backing, settings, target.kind)
        return replace(ask, target=through) if backing.name != target.node else None
    if settings.external_local and target.kind is TargetKind.NODEPORT:  # not that of loopback
        elsewhere = backing.name != target.node
        through = targets.node_port(backing, backing, settings)
        return replace(ask, target=through) if elsewhere else None
    if settings.internal_local and ask.source.node != backing.name:
        return replace(ask, source=pod_vantage(backing))
    return None


def _from_elsewhere(stage: Stage, ask: Ask) -> Iterator[Ask]:
    """Yield the same question from other pods, Linux first; pings outside from Linux alone."""
    outside_ping = (
        ask.question is Question.PING
        and ask.target.descriptor.location is Location.EXTERNAL_ADDRESS
    )
    if ask.resolver is Resolver.RESOLVE_DNSNAME:
        ask = replace(ask, resolver=Resolver.NSLOOKUP)  # the others may not have it
    for node in stage.cast.nodes:
        source = pod_vantage(node)
        silent = ask.question is Question.PING and not stage.may_ping(node)
        other = source.probe != ask.source.probe and not silent
        if other and not (outside_ping and node.os is OS.WINDOWS):
            yield replace(ask, source=source)
    if outside_ping:
        for node in stage.cast.nodes:
            if node.os is OS.LINUX and stage.may_stand_on(node):
                yield replace(ask, source=node_vantage(node))


def _through_node_port(stage: Stage, ask: Ask) -> Iterator[Ask]:
    """Yield the same question from nodes that do not own the address, then from outside.

    A Linux node that owns the address comes last: its own NodePorts work too.
    """
    nodes = [node for node in stage.cast.nodes if stage.may_stand_on(node)]
    for node in nodes:
        if node.name not in {ask.source.node, ask.target.node}:
            yield replace(ask, source=node_vantage(node))
    inside = ask.source.kind is not VantageKind.EXTERNAL
    if inside and ask.protocol.from_outside and stage.facts.external_vantage != "none":
        yield replace(ask, source=external_vantage())
    for node in nodes:
        if node.os is OS.LINUX and node.name == ask.target.node != ask.source.node:
            yield replace(ask, source=node_vantage(node))
