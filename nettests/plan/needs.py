"""Which Pods and Services must stand for a set of questions to be asked.

Sixth stage of planning: needs, once all checks and their controls are known. Only names and places; the objects
themselves are written by ``probes``.
"""

from collections.abc import Iterable, Iterator

from nettests.errors import PlanError
from nettests.model.check import Ask, ProbePod, ServiceObject, Target
from nettests.model.facts import NodeFacts
from nettests.model.service import ServiceSettings
from nettests.model.target_kinds import Owner
from nettests.model.words import VantageKind
from nettests.plan.cast import (
    CROWD,
    HEADLESS,
    Cast,
    crowd_pods,
    host_port,
    node_vantage,
    pod_vantage,
    second_server,
    server,
    unready,
)
from nettests.plan.targets import SEVERAL, SINGLE

POD_POLICIES = ("Default", "None")
NODE_POLICY = "ClusterFirstWithHostNet"
"""The values of ``dnsPolicy`` that pods of their own have, on top of the usual ones."""
_NAMES = ServiceSettings(label=HEADLESS, headless=True)


def pods_for(asks: Iterable[Ask], cast: Cast, *, may_stand: bool) -> tuple[ProbePod, ...]:
    """Return the pods that ask and answer, and those that are looked at if any ``may_stand``, by name."""
    asks = tuple(asks)
    every = {pod.name: pod for node in cast.nodes for pod in _possible(node)}
    for ask in asks:
        every |= _crowded(ask, cast)
    needed = {name for ask in asks for name in _needed(ask, cast)}
    if may_stand:
        looked_at = {ask.target.node for ask in asks if ask.case and ask.case.beside_pod}
        needed |= {server(node) for node in cast.nodes if node.name in looked_at}
    return tuple(every[name] for name in sorted(needed))


def services_for(asks: Iterable[Ask]) -> tuple[ServiceObject, ...]:
    """Return the Services that are asked, by name; server pods have names through a headless one.

    ``PlanError`` when two flows give a Service of one name different settings.
    """
    asks = tuple(asks)
    found: dict[str, ServiceObject] = {}
    for wanted in (_service(ask.target) for ask in asks if ask.target.service):
        known = found.setdefault(wanted.name, wanted)
        if known != wanted:
            raise PlanError(
                f"two flows want Service {wanted.name} with different settings",
                hint="give the settings of one of them another label",
            )
    named = {
        pod
        for ask in asks
        if ask.target.descriptor.named_by_headless
        for pod in ask.target.backends
    }
    if named:
        found[HEADLESS] = ServiceObject(
            name=HEADLESS, backends=tuple(sorted(named)), settings=_NAMES
        )
    return tuple(found[name] for name in sorted(found))


def _service(target: Target) -> ServiceObject:
    ordinary = SEVERAL if len(target.backends) > 1 else SINGLE
    return ServiceObject(
        name=target.service or "",
        backends=target.backends,
        settings=target.settings or ordinary,
    )


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


def _crowded(ask: Ask, cast: Cast) -> dict[str, ProbePod]:
    """Return the pods behind a Service with many backends."""
    if not (ask.target.service or "").startswith(f"{CROWD}-"):
        return {}
    places = crowd_pods(cast.crowd, len(ask.target.backends))
    return {
        name: ProbePod(name=name, purpose="server", node=node.name, os=node.os, role=node.role)
        for name, node in places.items()
    }


def _needed(ask: Ask, cast: Cast) -> Iterator[str]:
    if ask.source.kind.has_pod:
        yield ask.source.probe
    yield from (*ask.target.backends, *ask.target.former)
    owner = next((node for node in cast.nodes if node.name == ask.target.node), None)
    if owner is None:
        return
    reached = ask.target.descriptor
    if reached.owner is Owner.NODE_PORT:
        # A Windows node forwards NodePorts only when a pod of its network stands on it ("Kubernetes
        # on Windows, common problems": my Windows node cannot access NodePort).
        yield server(owner)
    if reached.owner is Owner.NOBODY and ask.source.kind is VantageKind.NODE:
        # An endpoint of a pod has to be there to be looked at, and a target that proves the origin.
        yield server(owner)
    if ask.answered_on_host:
        yield node_vantage(owner).probe
