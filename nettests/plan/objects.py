"""Which Pods and Services must stand for a set of questions to be asked.

Used by ``build`` once all checks and their controls are known. Only names and places; the objects
themselves are written by ``probes``.
"""

from collections.abc import Iterable, Iterator

from nettests.model.check import Ask, ProbePod, ServiceObject
from nettests.model.facts import NodeFacts
from nettests.model.words import Protocol, TargetKind, VantageKind
from nettests.plan.cast import HEADLESS, Cast, node_vantage, pod_vantage, second_server, server

AFFINITY = "affinity-"
POD_POLICIES = ("Default", "None")
NODE_POLICY = "ClusterFirstWithHostNet"
"""The values of ``dnsPolicy`` that pods of their own have, on top of the usual ones."""


def pods_for(asks: Iterable[Ask], cast: Cast) -> tuple[ProbePod, ...]:
    """Return the pods that ask and answer, by name."""
    every = {pod.name: pod for node in cast.nodes for pod in _possible(node)}
    needed = {name for ask in asks for name in _needed(ask, cast)}
    return tuple(every[name] for name in sorted(needed))


def services_for(asks: Iterable[Ask]) -> tuple[ServiceObject, ...]:
    """Return the Services that are asked, by name; server pods have names through a headless one."""
    asks = tuple(asks)
    found = {
        ask.target.service: ServiceObject(
            name=ask.target.service,
            backends=ask.target.backends,
            type="ClusterIP" if len(ask.target.backends) > 1 else "NodePort",
            session_affinity=ask.target.service.startswith(AFFINITY),
        )
        for ask in asks
        if ask.target.service
    }
    named = {
        pod
        for ask in asks
        if ask.target.kind in {TargetKind.POD_NAME, TargetKind.HEADLESS_NAME}
        for pod in ask.target.backends
    }
    if named:
        found[HEADLESS] = ServiceObject(name=HEADLESS, backends=tuple(sorted(named)), headless=True)
    return tuple(found[name] for name in sorted(found))


def _possible(node: NodeFacts) -> Iterator[ProbePod]:
    names = (
        (pod_vantage(node).probe, "probe"),
        (node_vantage(node).probe, "node"),
        (server(node), "server"),
        (second_server(node), "server"),
    )
    for name, purpose in names:
        yield ProbePod(name=name, purpose=purpose, node=node.name, os=node.os, role=node.role)
    special = [(pod_vantage(node, policy), "resolver") for policy in POD_POLICIES]
    for vantage, purpose in (*special, (node_vantage(node, NODE_POLICY), "node")):
        yield ProbePod(
            name=vantage.probe,
            purpose=purpose,
            node=node.name,
            os=node.os,
            role=node.role,
            dns_policy=vantage.dns_policy,
        )


def _needed(ask: Ask, cast: Cast) -> Iterator[str]:
    if ask.source.kind not in {VantageKind.EXTERNAL, VantageKind.API}:
        yield ask.source.probe
    yield from ask.target.backends
    owner = next((node for node in cast.nodes if node.name == ask.target.node), None)
    if owner is None:
        return
    if ask.target.kind is TargetKind.NODEPORT:
        # A Windows node forwards NodePorts only when a pod of its network stands on it ("Kubernetes
        # on Windows, common problems": my Windows node cannot access NodePort).
        yield server(owner)
    if ask.target.kind is TargetKind.CONFIGURATION and ask.source.kind is VantageKind.NODE:
        # An endpoint of a pod has to be there to be looked at, and a target that proves the origin.
        yield server(owner)
    if ask.target.kind is TargetKind.NODE_IP and ask.protocol is Protocol.UDP:
        yield node_vantage(owner).probe
