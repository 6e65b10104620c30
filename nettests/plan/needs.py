"""The Pods and Services that a set of checks needs.

Sixth stage of planning, after all checks and controls. Names and nodes only; ``probes`` creates the
objects.
"""

from collections.abc import Iterable, Iterator, Mapping

from nettests.errors import PlanError
from nettests.model.check import Action, ProbePod, ServiceObject, Target
from nettests.model.facts import NodeFacts
from nettests.model.service import Change, Crowd, ServiceSettings, sibling_of
from nettests.model.target_kinds import Owner
from nettests.model.words import OS, VantageKind
from nettests.plan.node_pools import (
    HEADLESS,
    MANY_BACKENDS,
    NodePools,
    host_port,
    host_probe,
    many_backend_pods,
    node_vantage,
    pod_vantage,
    second_server,
    server,
    unready,
)
from nettests.plan.targets import SEVERAL, SINGLE

POD_POLICIES = ("Default", "None")
NODE_POLICY = "ClusterFirstWithHostNet"
"""The values of ``dnsPolicy`` that need separate Pods."""
_NAMES = ServiceSettings(label=HEADLESS, headless=True)


def pods_for(
    actions: Iterable[Action], node_pools: NodePools, *, may_stand: bool, on_hosts: bool = False
) -> tuple[ProbePod, ...]:
    """Return the source and target Pods, and, if they ``may_stand``, those for inspection, by name.

    ``on_hosts`` is whether Pods may inspect nodes: some then search Windows for leftover rules.
    """
    actions = tuple(actions)
    nodes = {node.name: node for node in node_pools.nodes}
    every = {pod.name: pod for node in nodes.values() for pod in _possible(node)}
    for action in actions:
        every |= _many_backend_pods(action, node_pools)
    needed = {name for action in actions for name in _needed(action, nodes)}
    if may_stand:
        looked_at = {
            action.target.node for action in actions if action.case and action.case.beside_pod
        }
        needed |= {server(node) for node in node_pools.nodes if node.name in looked_at}
    if on_hosts:
        needed |= {node_vantage(node).probe for node in _searched(actions, nodes)}
    return tuple(every[name] for name in sorted(needed))


def _searched(actions: Iterable[Action], nodes: Mapping[str, NodeFacts]) -> Iterator[NodeFacts]:
    """Yield the Windows nodes whose HNS is searched for rules of removed Services."""
    for action in actions:
        settings, node = action.target.settings, nodes.get(action.source.node or "")
        left = settings is not None and settings.crowd is Crowd.REMOVED
        if left and node is not None and node.os is OS.WINDOWS and node.host_process.value:
            yield node


def services_for(actions: Iterable[Action]) -> tuple[ServiceObject, ...]:
    """Return the Services that are targets, by name; server Pods get names from a headless one.

    ``PlanError`` if two flows give one Service different settings.
    """
    actions = tuple(actions)
    services: dict[str, ServiceObject] = {}
    targets = [action.target for action in actions if action.target.service]
    for wanted in (service for target in targets for service in _services(target)):
        first = services.setdefault(wanted.name, wanted)
        if first != wanted:
            raise PlanError(
                f"two flows want Service {wanted.name} with different settings",
                hint="give the settings of one of them another label",
            )
    named = {
        pod
        for action in actions
        if action.target.descriptor.named_by_headless
        for pod in action.target.backends
    }
    if named:
        services[HEADLESS] = ServiceObject(
            name=HEADLESS, backends=tuple(sorted(named)), settings=_NAMES
        )
    return tuple(services[name] for name in sorted(services))


def _services(target: Target) -> Iterator[ServiceObject]:
    ordinary = SEVERAL if len(target.backends) > 1 else SINGLE
    settings, name = target.settings or ordinary, target.service or ""
    yield ServiceObject(name=name, backends=target.backends, settings=settings)
    if settings.change is Change.SIBLING:
        twin = ServiceSettings(label=settings.label)
        yield ServiceObject(name=sibling_of(name), backends=target.backends, settings=twin)


def _possible(node: NodeFacts) -> Iterator[ProbePod]:
    names = (
        (pod_vantage(node).probe, "probe"),
        (node_vantage(node).probe, "node"),
        (server(node), "server"),
        (second_server(node), "server"),
        (unready(node), "unready"),
        (host_port(node), "hostport"),
    )
    for name, purpose in names:
        yield ProbePod(name=name, purpose=purpose, node=node.name, os=node.os, pool=node.pool)
    special = [(pod_vantage(node, policy), "resolver") for policy in POD_POLICIES]
    for vantage, purpose in (*special, (node_vantage(node, NODE_POLICY), "node")):
        yield ProbePod(
            name=vantage.probe,
            purpose=purpose,
            node=node.name,
            os=node.os,
            pool=node.pool,
            dns_policy=vantage.dns_policy,
        )


def _many_backend_pods(action: Action, node_pools: NodePools) -> dict[str, ProbePod]:
    if not (action.target.service or "").startswith(f"{MANY_BACKENDS}-"):
        return {}
    places = many_backend_pods(node_pools.many_backends, len(action.target.backends))
    return {
        name: ProbePod(name=name, purpose="server", node=node.name, os=node.os, pool=node.pool)
        for name, node in places.items()
    }


def _needed(action: Action, nodes: Mapping[str, NodeFacts]) -> Iterator[str]:
    if action.source.kind.has_pod:
        yield action.source.probe
    if action.source.kind is VantageKind.NODE and action.source.dns_policy:
        # Instruments on a node are calibrated at ports that its ordinary probe alone serves.
        yield from (host_probe(node) for node in nodes.values() if node.name == action.source.node)
    yield from (*action.target.backends, *action.target.former)
    owner = nodes.get(action.target.node or "")
    if owner is None:
        return
    reached = action.target.descriptor
    if reached.owner is Owner.NODE_PORT:
        # A Windows node forwards NodePorts only while a pod of its network runs on it ("Kubernetes
        # on Windows, common problems": my Windows node cannot access NodePort).
        yield server(owner)
    if reached.owner is Owner.NOTHING and action.source.kind is VantageKind.NODE:
        # A pod's endpoint is needed for inspection, and a target to prove the origin.
        yield server(owner)
    if action.answered_on_host:
        yield node_vantage(owner).probe
