"""Construct the targets of checks and of their controls. Pure.

``actions`` and ``controls`` decide which target is used.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from nettests.model.check import FIRST_PACKETS, Case, Target
from nettests.model.dns_names import KUBERNETES_FQDN, NAMESPACE_DOMAIN, POD_FQDN, SERVICE_FQDN
from nettests.model.facts import NodeFacts
from nettests.model.service import LOAD_BALANCER, ServiceSettings
from nettests.model.target_kinds import descriptor
from nettests.model.words import Family, TargetKind
from nettests.plan.node_pools import (
    MANY_BACKENDS,
    NodePool,
    host_port,
    host_probe,
    many_backend_pods,
    probe,
    server,
    service,
    unready,
)

_BEHIND: dict[str, Callable[[NodeFacts], str]] = {
    "server": server,
    "probe": probe,
    "node": host_probe,
    "unready": unready,
}
LOAD_BALANCED = ServiceSettings(label="lb", type=LOAD_BALANCER)
"""An ordinary Service of type LoadBalancer, in front of one Pod."""
SINGLE = ServiceSettings(label="svc", type="NodePort")
"""The default Service of one Pod: ClusterIP and NodePort in one."""
SEVERAL = ServiceSettings(label="spread")
"""The default Service of several Pods."""


def pod_ip(node: NodeFacts, pod: str | None = None) -> Target:
    """Return a server Pod by its address: the node's first one, unless another is named."""
    pod = pod or server(node)
    return _on(node, TargetKind.POD_IP, pod=pod, backends=(pod,))


def of_pod(kind: TargetKind, node: NodeFacts, template: str | None) -> Target:
    """Return the server pod of a node, by its address or by one of its names."""
    pod = server(node)
    form = (template or POD_FQDN) if descriptor(kind).by_name else None
    return _on(node, kind, pod=pod, backends=(pod,), name_form=form)


def of_service(
    kind: TargetKind,
    node: NodeFacts,
    template: str | None = None,
    settings: ServiceSettings | None = None,
) -> Target:
    """Return the Service in front of a node's server Pod, by ClusterIP or by a name.

    Settings may select another Pod of the node.
    """
    behind = _BEHIND[settings.behind] if settings else server
    return _before(node, kind, behind(node), settings, template)


def unbacked(
    kind: TargetKind,
    owner: NodeFacts | None,
    settings: ServiceSettings,
    template: str | None = None,
) -> Target:
    """Return the Service without endpoints: by ClusterIP, a name, or a NodePort of ``owner``."""
    if owner is None:
        return Target(kind=kind, service=settings.label, settings=settings, name_form=template)
    return _on(owner, kind, service=settings.label, settings=settings)


def fully_qualified(target: Target) -> Target:
    """Return the same Service by its fully qualified name."""
    return replace(target, kind=TargetKind.SERVICE_FQDN, name_form=SERVICE_FQDN)


def node_port(
    owner: NodeFacts,
    backend: NodeFacts,
    settings: ServiceSettings | None = None,
    kind: TargetKind = TargetKind.NODEPORT,
) -> Target:
    """Return ``owner``'s address at the NodePort of the Service whose backend is on ``backend``."""
    return _before(owner, kind, server(backend), settings)


def at_host_port(kind: TargetKind, node: NodeFacts) -> Target:
    """Return a node's address, or its loopback, at a host port of a server Pod on it."""
    pod = host_port(node)
    return _on(node, kind, pod=pod, backends=(pod,))


def of_node(kind: TargetKind, node: NodeFacts) -> Target:
    """Return a node by its address."""
    return _on(node, kind)


def of_source(kind: TargetKind, node: NodeFacts, probe: str) -> Target:
    """Return the source pod by its own address."""
    return _on(node, kind, pod=probe, backends=(probe,))


def of_pods(kind: TargetKind, nodes: Iterable[NodeFacts], template: str | None) -> Target:
    """Return the headless Service over the first server pod of every node."""
    backends = tuple(sorted(server(node) for node in nodes))
    return Target(kind=kind, backends=backends, name_form=template)


def placeless(kind: TargetKind, template: str | None) -> Target:
    """Return a target with a name or address but no probe node: in the cluster, or outside."""
    return Target(kind=kind, name_form=template)


def kubernetes() -> Target:
    """Return the Service ``kubernetes`` by its fully qualified name."""
    return placeless(TargetKind.KUBERNETES_SERVICE, KUBERNETES_FQDN)


def external_name() -> Target:
    """Return the name of the external target."""
    return placeless(TargetKind.EXTERNAL_NAME, "{external}")


def no_name() -> Target:
    """Return a name in the cluster's domain that does not exist."""
    return placeless(TargetKind.NO_NAME, f"nosuch.{NAMESPACE_DOMAIN}.")


AFFINITY = ServiceSettings(label="affinity", session_affinity=True)


def affinity(pool: NodePool, settings: ServiceSettings = AFFINITY) -> Target:
    """Return the Service over all servers of a node pool, with ClientIP affinity by default."""
    return _over(pool, settings.label, settings)


def mixed_target_ports(pool: NodePool, settings: ServiceSettings, client: str) -> Target:
    """Return a Service over a server and a probe of a pool, which serve at different target ports.

    The probe is not the client if the pool has another one: other flows test a Pod that reaches
    itself through a Service.
    """
    serving, probing = pool.first, pool.few[-1]
    label = settings.label
    if probe(probing) == client and serving is not probing:
        serving, probing, label = probing, serving, f"{label}-swapped"
    over = replace(affinity(pool, settings), service=service(pool.name, label))
    return replace(over, backends=(server(serving), probe(probing)))


def churned(
    pool: NodePool,
    settings: ServiceSettings,
    client: str,
    owner: NodeFacts | None = None,
    kind: TargetKind = TargetKind.SERVICE_CLUSTERIP,
) -> Target:
    """Return a client pool's own Service that changes backends and ends with the first server.

    No other check uses it, as its backends are removed. With ``owner`` the target is its NodePort,
    at that node's address.
    """
    final, *former = pool.servers
    over = replace(affinity(pool, settings), kind=kind)
    if owner is not None:
        over = replace(over, node=owner.name, build=owner.build.value, os=owner.os)
    return replace(
        over,
        service=service(pool.name, f"{settings.label}-{client}"),
        backends=(final,),
        former=tuple(former),
    )


def spread(pool: NodePool) -> Target:
    """Return the Service without affinity over the same servers."""
    return _over(pool, "spread")


def many_backends(pool: NodePool, count: int) -> Target:
    """Return the Service over ``count`` servers of a pool; each includes those of a smaller one."""
    over = _over(pool, f"{MANY_BACKENDS}-{count}")
    return replace(over, backends=tuple(many_backend_pods(pool, count)))


def external_ip() -> Target:
    """Return the declared external target by address."""
    return Target(kind=TargetKind.EXTERNAL_IP)


def pathless(
    kind: TargetKind, node: NodeFacts | None, settings: ServiceSettings | None = None
) -> Target:
    """Return a target without a path: an API server, a configuration, a Pod to be created.

    ``settings`` are those of the Service in front of a Pod to be created, if any.
    """
    label = settings.label if settings else None
    target = _on(node, kind) if node else Target(kind=kind)
    return replace(target, service=label, settings=settings)


def requested_by_a_pod(node: NodeFacts, case: Case | None) -> Target:
    """Return a Pod to be created that requests the server on ``node``, or the server's Service."""
    probed = replace(pod_ip(node), kind=TargetKind.POD)
    then = case.then if case else None
    if then is None or then.how != FIRST_PACKETS:
        return probed
    return replace(probed, service=service(server(node)))


def in_family(target: Target, family: Family | None) -> Target:
    """Return the target for a family that is not the cluster's first one.

    A Service gets a single-family twin, unless its families are what is tested: single-family
    Services are what is documented to work.
    """
    settings = target.settings or (SEVERAL if len(target.backends) > 1 else SINGLE)
    stated = settings.ip_family_policy or settings.ip_families
    if family is None or target.service is None or stated:
        return target
    label = f"{settings.label}-{family.value.lower()}"
    alone = replace(settings, label=label, ip_families=(family,))
    return replace(target, service=f"{target.service}-{family.value.lower()}", settings=alone)


def _over(pool: NodePool, label: str, settings: ServiceSettings | None = None) -> Target:
    return Target(
        kind=TargetKind.SERVICE_CLUSTERIP,
        pool=pool.name,
        os=pool.os,
        build=pool.first.build.value,
        service=service(pool.name, label),
        backends=pool.servers,
        settings=settings,
    )


def _before(
    node: NodeFacts,
    kind: TargetKind,
    pod: str,
    settings: ServiceSettings | None,
    template: str | None = None,
) -> Target:
    """Return the Service in front of one pod; ``node`` owns the address or holds the pod."""
    name = service(pod, settings.label) if settings else service(pod)
    return _on(node, kind, service=name, backends=(pod,), name_form=template, settings=settings)


def _on(
    node: NodeFacts,
    kind: TargetKind,
    *,
    pod: str | None = None,
    service: str | None = None,
    backends: tuple[str, ...] = (),
    name_form: str | None = None,
    settings: ServiceSettings | None = None,
) -> Target:
    return Target(
        kind=kind,
        pool=node.pool,
        os=node.os,
        node=node.name,
        build=node.build.value,
        pod=pod,
        service=service,
        backends=backends,
        name_form=name_form,
        settings=settings,
    )
