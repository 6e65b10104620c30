"""A check and its deployed objects → the scene of its flow, by facts and limitations. Pure.

A check without packets that can be marked is refused, with the reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Action, Check
from nettests.model.expectation import Expectation
from nettests.model.facts import Address, ClusterFacts
from nettests.model.network_drivers import HYBRID, TUNNELS
from nettests.model.question import Trait
from nettests.model.target_kinds import Location, Owner, Proxy
from nettests.model.words import OS, Protocol, Question, SourceSeen, VantageKind
from nettests.probes import Directory
from nettests.probes.addresses import of_family
from nettests.probes.endpoint import Endpoint, of_pod
from nettests.probes.marked_flow import TRAIN
from nettests.probes.sources_seen import seen_of
from nettests.tracing.packet import End, Scene

DNS = 53
OUTSIDE = "outside"
"""Stands for a node outside the cluster, where nothing can be captured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSetup:
    """The scene of a check's flow, and the endpoint to which it is sent."""

    scene: Scene
    endpoint: Endpoint


def refusal(check: Check) -> str:
    """Return why no flow of a check can be marked and captured, or an empty string."""
    action = check.action
    if check.members:
        return "it is run at several places: name one of them (nettests plan --json)"
    if not action.source.kind.has_pod:
        return f"its packets begin at {action.source.kind.value}, where nothing can be captured"
    if Trait.ONE_FLOW not in action.question.traits:
        return f"it does not send one flow that can be marked ({action.question.value})"
    if action.question is Question.RESOLVE and action.protocol is Protocol.TCP:
        return "queries over TCP bear no mark"
    if action.target.descriptor.loopback:
        return "its packets stay on loopback, where no node shows them"
    outside = action.target.descriptor.location is Location.EXTERNAL_ADDRESS
    if action.question is Question.IDLE and outside:
        return "a server outside has no port that tells one idle connection from others"
    if action.protocol is Protocol.UDP and action.source.kind is VantageKind.NODE:
        return "a datagram from a node itself bears no mark"
    return ""


def scene_of(check: Check, expectation: Expectation, directory: Directory) -> FlowSetup:
    """Return a check's scene; ``PlanError`` without a flow to trace, or ``NotStandingError``."""
    why = refusal(check)
    if why:
        raise PlanError(f"{check.id} cannot be traced: {why}")
    setup = scene_of_action(check.action, directory)
    documented = _documented(expectation)
    kept = None if documented else _source_kept(check, expectation, directory.facts)
    return replace(setup, scene=replace(setup.scene, source_kept=kept, documented=documented))


def scene_of_action(action: Action, directory: Directory, request: str = "") -> FlowSetup:
    """Return the scene of an action, without expectations from documents.

    ``request`` is what the server is queried for; by default its first request.
    """
    facts = directory.facts
    endpoint = directory.endpoint(action)
    if action.question is Question.RESOLVE:
        return _of_query(action, endpoint, directory)
    requested = _requested(action, endpoint, directory)
    translator = _translator(action, directory)
    backends = tuple(_backends(action, requested, directory, request, translated=bool(translator)))
    tunnelled = facts.cni.backend.value in TUNNELS
    source = _source(action, directory)
    scene = Scene(
        protocol=action.protocol,
        source=source,
        requested=requested,
        requested_port=_port(endpoint, action.protocol, request),
        backends=backends,
        translator=translator,
        owners=_owners(directory),
        encapsulated=True
        if tunnelled and not any(backend.on_host for backend in backends)
        else None,
        vni=_vni((source, *backends), facts),
        size=action.size or 0,
        tries=TRAIN if action.question is Question.LOSS else 0,
    )
    return FlowSetup(scene=scene, endpoint=endpoint)


def _of_query(action: Action, endpoint: Endpoint, directory: Directory) -> FlowSetup:
    """Return the scene of a DNS query to the cluster's DNS Service or one of its Pods."""
    facts = directory.facts
    service = facts.dns_address.value
    server = ip_address(endpoint.server) if endpoint.server else service
    if server is None:
        raise PlanError(
            f"nothing can be traced: the address of the cluster's DNS is not known ({facts.dns_address.origin})"
        )
    source = _source(action, directory)
    pods = (facts.dns_pods.value or ()) if server == service else (server,)
    backends = tuple(
        End(address=address, node=_node_of(address, facts), port=DNS) for address in pods
    )
    scene = Scene(
        protocol=Protocol.UDP,
        source=source,
        requested=server,
        requested_port=DNS,
        backends=backends,
        translator=source.node if server == service else "",
        owners=_owners(directory),
        encapsulated=True if facts.cni.backend.value in TUNNELS else None,
        vni=_vni((source, *backends), facts),
    )
    return FlowSetup(scene=scene, endpoint=endpoint)


def _vni(ends: Iterable[End], facts: ClusterFacts) -> int | None:
    """Return the network id between the nodes of these ends, if facts show it."""
    backend, nodes = facts.cni.backend.value, {end.node for end in ends}
    if backend not in TUNNELS:
        return None
    if backend == HYBRID and not any(
        node.os is OS.WINDOWS and node.name in nodes for node in facts.nodes
    ):
        return None
    return facts.cni.vni.value


def _node_of(address: Address, facts: ClusterFacts) -> str:
    """Return the node that has the address, or whose pod CIDR does."""
    for node in facts.nodes:
        if address in node.addresses or any(address in cidr for cidr in node.pod_cidrs):
            return node.name
    return OUTSIDE


def _source(action: Action, directory: Directory) -> End:
    source, family = action.source, action.family
    node = source.node or ""
    if source.kind is VantageKind.NODE:
        address = of_family(directory.facts.node(node).addresses, family)
        return End(address=address, node=node, on_host=True)
    pod = directory.pod(source.probe)
    return End(address=of_family(pod.addresses, family), node=node, name=pod.name)


def _requested(action: Action, endpoint: Endpoint, directory: Directory) -> Address:
    """Return the address to which the flow is sent; names are resolved by facts."""
    try:
        return ip_address(endpoint.host)
    except ValueError:
        target, family = action.target, action.family
        if target.service:
            service = directory.service(target.service)
            return (
                of_family(service.addresses, family)
                if service.addresses
                else directory.pod(service.backends[0]).addresses[0]
            )
        if target.pod:
            return of_family(directory.pod(target.pod).addresses, family)
        raise PlanError(
            f"nothing can be traced: no fact tells the address of {endpoint.host}"
        ) from None


def _translator(action: Action, directory: Directory) -> str:
    """Return the node whose Service proxy or plugin must translate; empty if none must."""
    reached, target = action.target.descriptor, action.target
    match reached.proxy:
        case Proxy.TARGET:
            return target.node or ""
        case Proxy.SOURCE if target.service:
            settings = directory.service(target.service).settings
            by_name = settings is not None and (settings.headless or bool(settings.external_name))
            return "" if by_name else action.source.node or ""
        case Proxy.SOURCE:
            return ""
        case Proxy.NONE:
            return target.node or "" if reached.owner is Owner.HOST_PORT else ""
        case _:
            assert_never(reached.proxy)


def _backends(
    action: Action, requested: Address, directory: Directory, request: str, *, translated: bool
) -> Iterator[End]:
    protocol, version, target = action.protocol, requested.version, action.target
    if translated and target.service:
        names: tuple[str, ...] = directory.service(target.service).backends
    else:
        names = target.backends or ((target.pod,) if target.pod else ())
    standing = [directory.pod(name) for name in names if name in directory.deployment.pods]
    has_backend = False
    for pod in standing:
        for address in (address for address in pod.addresses if address.version == version):
            if translated or address == requested:
                has_backend = True
                on_host = address in pod.host_addresses
                yield End(
                    address=address,
                    node=pod.node,
                    port=_port(of_pod(pod, str(address)), protocol, request),
                    on_host=on_host,
                    name=pod.name,
                )
    if not has_backend:
        owner = _owners(directory).get(requested, OUTSIDE)
        yield End(address=requested, node=owner, on_host=True)


def _port(endpoint: Endpoint, protocol: Protocol, request: str) -> int | None:
    if protocol is Protocol.TCP and endpoint.health_port is not None:
        return endpoint.health_port
    requests = endpoint.requests(protocol)
    wanted = [port for name, port in requests if name == request] or [port for _, port in requests]
    return wanted[0] if wanted else None


def _owners(directory: Directory) -> dict[Address, str]:
    owners: dict[Address, str] = {}
    for node in directory.facts.nodes:
        vip = node.kube_proxy.source_vip.value
        for address in (*seen_of(node), *((vip,) if vip else ())):
            owners[address] = node.name
    for pod in directory.deployment.pods.values():
        for address in pod.addresses:
            owners[address] = pod.node
    return owners


def _source_kept(check: Check, expectation: Expectation, facts: ClusterFacts) -> bool | None:
    """Whether the backend must see the source's address: if expected, between Pods, or by DSR."""
    expected = expectation.expected
    if expected is not None and expected.source_seen is not None:
        return True if expected.source_seen is SourceSeen.CLIENT_POD else None
    if check.source.kind is not VantageKind.POD or expectation.limitation is not None:
        return None
    if check.target.descriptor.of_pod:
        return True
    node = facts.node(check.source.node or "")
    by_source = check.target.descriptor.location is Location.CLUSTER_IP
    direct = node.os is OS.WINDOWS and node.kube_proxy.dsr.value is True
    return True if by_source and direct else None


def _documented(expectation: Expectation) -> str:
    """Return what documents expect instead of an answer; empty if they expect one."""
    expected, entry = expectation.expected, expectation.limitation
    if expected is None:
        return f"left open by {entry.id}" if entry else "left open by the documents"
    if any(outcome.positive for outcome in expected.outcomes):
        return ""
    by = f", by {entry.id}" if entry else ""
    return f"{expected}{by}"
