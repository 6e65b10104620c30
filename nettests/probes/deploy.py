"""Deploy the probes: namespace, pods and Services, created concurrently and waited for.

A pod or Service that does not come up is a recorded problem, and its checks become ``unknown`` with
that reason; it is an error only if nothing comes up. Nodes learn of Services later: the sentinel,
created once the API knows all endpoints of the others, shows which nodes have.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from nettests.bounds import Bounds
from nettests.errors import ClusterError, DeployError
from nettests.model.check import Plan, ServiceObject
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from nettests.model.service import LOAD_BALANCER, ByHand, ServiceSettings
from nettests.probes import objects
from nettests.probes.deployment import (
    Deployment,
    StandingService,
    standing_pod,
    standing_service,
)
from nettests.probes.exposure import exposed_ports
from nettests.probes.isolation import PROBES, network_policies, why_not_isolated
from nettests.probes.pulling import pulling_pods
from nettests.probes.seams import Cluster
from nettests.probes.slices import planned as planned_slices
from nettests.probes.slices import slices, zones_of
from nettests.probes.start_objects import pods_of
from nettests.probes.unsupported import forbidden_services, unbalanced, without_external_ips


def deploy(
    cluster: Cluster,
    plan: Plan,
    facts: ClusterFacts,
    *,
    blank: objects.Blank,
    timing: Timing,
    on_namespace: Callable[[], None],
    on_progress: Callable[[int, int], None],
    pull: Callable[[], None] | None = None,
) -> Deployment:
    """Create what ``plan`` needs and wait for it; raises ``DeployError`` if nothing comes up.

    The namespace is created too, unless the facts name an existing one or nothing is created in it.
    ``on_namespace`` is called when the namespace exists and is empty, ``pull`` when images can be
    pulled; ``on_progress`` gets the numbers of settled and of all pods.
    """
    namespace = blank.namespace
    wanted = objects.resident(plan, facts, blank)
    declined = without_external_ips(plan, wanted, facts, blank.external_ips)
    wanted = [item for item in wanted if item["metadata"]["name"] not in declined]
    refuse_commands([*wanted, *pods_of(plan, facts, blank)])
    wanted += _other_namespaces(plan, blank)
    if in_cluster(plan):
        _make_namespace(cluster, blank, on_namespace)
    bounds = Bounds.of(timing)
    with ThreadPoolExecutor(bounds.requests_open, "create") as pool:
        guarding = pool.submit(_isolate, cluster, plan, facts, blank)
        created, problems, forbidden = _create_all(pool, cluster, wanted, guarding.result, pull)
    declined |= forbidden_services(plan, forbidden)
    purposes = {pod.name: pod.purpose for pod in plan.pods}
    ready, not_ready = cluster.wait_for_pods(
        namespace,
        [name for name in purposes if name in created],
        ready=timing.ready,
        stuck=timing.stuck,
        on_change=on_progress,
    )
    problems |= {name: f"pod {name} is not Ready: {why}" for name, why in not_ready.items()}
    if purposes and not ready:
        raise DeployError(
            f"none of {len(purposes)} probe pods came up; the first: {next(iter(problems.values()))}",
            hint=f"look at `kubectl -n {namespace} describe pods` while a run is on",
        )
    settled = partial(on_progress, len(purposes), len(purposes))
    assigned, without, missing = _balanced(
        cluster, plan, created, namespace=namespace, seconds=timing.load_balancer, on_poll=settled
    )
    created |= assigned
    standing = _standing(plan, created)
    up = {name: standing_pod(pod, purposes[name]) for name, pod in ready.items()}
    endpoint_slices = slices(plan.services, created, up, blank, zones_of(facts))
    problems |= _create_slices(cluster, endpoint_slices, bounds)
    serving = frozenset(name for name in ready if purposes[name] != "unready")
    behind = _behind(standing, serving)
    lacking = _wait_for_endpoints(cluster, namespace, behind, timing.convergence)
    sentinel = _sentinel(cluster, standing, sorted(ready), purposes, blank)
    return Deployment(
        namespace=namespace,
        pods=up,
        services=standing,
        problems=problems | missing,
        barren=_barren(plan, ready, problems),
        declined=declined | without,
        sentinel=sentinel,
        remarks=guarding.result() + lacking,
    )


def _standing(plan: Plan, created: Mapping[str, Object]) -> dict[str, StandingService]:
    return {
        service.name: standing_service(created[service.name], service)
        for service in plan.services
        if service.name in created
    }


def _create_slices(
    cluster: Cluster, endpoint_slices: Iterable[Object], bounds: Bounds
) -> dict[str, str]:
    with ThreadPoolExecutor(bounds.requests_open, "slices") as pool:
        return _created(_begin(pool, cluster, endpoint_slices, "EndpointSlice"))[1]


def _barren(plan: Plan, ready: Collection[str], problems: Mapping[str, str]) -> dict[str, str]:
    """Return, by node where no Pod started in the Pod network, why the first one did not."""
    started = {pod.node for pod in plan.pods if pod.name in ready and pod.purpose != "node"}
    standing = {pod.node for pod in plan.pods if pod.name in ready}
    reasons: dict[str, str] = {}
    for pod in plan.pods:
        if pod.node not in started and pod.name in problems:
            network = "in the Pod network " if pod.node in standing else ""
            reasons.setdefault(
                pod.node, f"no Pod of this run {network}started on {pod.node}: {problems[pod.name]}"
            )
    return reasons


def _make_namespace(
    cluster: Cluster, blank: objects.Blank, on_namespace: Callable[[], None]
) -> None:
    if not blank.existing:
        cluster.create(objects.namespace(blank))
    on_namespace()


def _other_namespaces(plan: Plan, blank: objects.Blank) -> list[Object]:
    """Return the namespaces that enforce other Pod Security levels, for dry runs."""
    return [objects.namespace_of_level(blank, level) for level in levels(plan)]


def _isolate(
    cluster: Cluster, plan: Plan, facts: ClusterFacts, blank: objects.Blank
) -> tuple[str, ...]:
    """Create the NetworkPolicies before any Pod; return a remark if wanted ones are missing."""
    if not blank.isolated or not any(pod.purpose in PROBES for pod in plan.pods):
        return ()
    why = why_not_isolated(facts)
    try:
        for policy in network_policies(plan, facts, blank):
            cluster.create(policy)
    except ClusterError as error:
        why = error.message
    return (f"no NetworkPolicy guards the probes: {why}",) if why else ()


def _behind(
    standing: Mapping[str, StandingService], serving: frozenset[str]
) -> dict[str, frozenset[str]]:
    """Return the pods that should become ready endpoints, by Service; terminating ones never are."""
    return {
        name: serving.intersection(item.backends)
        for name, item in standing.items()
        if item.settings is None or item.settings.by_hand is not ByHand.TERMINATING
    }


def _wait_for_endpoints(
    cluster: Cluster, namespace: str, behind: Mapping[str, frozenset[str]], seconds: float
) -> tuple[str, ...]:
    """Wait until the API knows all backends; return remarks on missing ones."""
    try:
        lacking = cluster.wait_for_endpoints(
            namespace,
            {name: pods for name, pods in behind.items() if pods},
            seconds=seconds,
        )
    except ClusterError as error:
        return (
            f"Services may be probed before all their backends are known to the nodes: {error.message}",
        )
    return tuple(
        f"Service {name}: after {seconds:g} s its EndpointSlices lack {', '.join(sorted(pods))}"
        for name, pods in sorted(lacking.items())
    )


def _sentinel(
    cluster: Cluster,
    services: dict[str, StandingService],
    ready: Iterable[str],
    purposes: Mapping[str, str],
    blank: objects.Blank,
) -> str | None:
    """Create the sentinel and add it to the other Services; ``None`` if there are none."""
    backends = [name for name in ready if purposes[name] == "server"]
    if not services or not backends:
        return None
    planned = ServiceObject(
        name=objects.SENTINEL,
        backends=tuple(backends),
        settings=ServiceSettings(label=objects.SENTINEL),
    )
    with suppress(ClusterError):
        stored = cluster.create(objects.sentinel(blank))
        services[planned.name] = standing_service(stored, planned)
        return planned.name
    return None


def rendered(plan: Plan, facts: ClusterFacts, blank: objects.Blank) -> list[Object]:
    """Return every object that ``deploy`` creates, in order, then the short-lived Pods."""
    pulling = pulling_pods(plan, facts, blank) if blank.images.pre_pull else []
    return [*standing(plan, facts, blank), *pulling, *pods_of(plan, facts, blank)]


def standing(plan: Plan, facts: ClusterFacts, blank: objects.Blank) -> list[Object]:
    """Return every object that ``deploy`` creates, in order."""
    guarded = bool(plan.services) and any(pod.purpose == "server" for pod in plan.pods)
    return [
        *([objects.namespace(blank)] if in_cluster(plan) and not blank.existing else []),
        *_other_namespaces(plan, blank),
        *network_policies(plan, facts, blank),
        *objects.resident(plan, facts, blank),
        *planned_slices(plan, facts, blank),
        *([objects.sentinel(blank)] if guarded else []),
    ]


def in_cluster(plan: Plan) -> bool:
    """Whether the plan creates, or dry-runs, anything in a namespace."""
    tried = any(check.action.question.tries_objects for check in plan.checks)
    return tried or bool(plan.pods or plan.services)


def levels(plan: Plan) -> list[str]:
    """Return the Pod Security levels whose namespaces the plan's cases use."""
    cases = (check.action.case for check in plan.checks)
    return sorted({case.level for case in cases if case and case.level})


def refuse_commands(items: Sequence[Object]) -> None:
    """Raise ``DeployError`` if an object lets anyone outside the pod network run commands."""
    for port in exposed_ports(items):
        if port.commands:
            raise DeployError(
                f"{port}: nothing is created",
                hint="a Service in front of probes has to be a ClusterIP (decision 0004)",
            )


def _balanced(
    cluster: Cluster,
    plan: Plan,
    created: Mapping[str, Object],
    *,
    namespace: str,
    seconds: float,
    on_poll: Callable[[], None],
) -> tuple[dict[str, Object], dict[str, str], dict[str, str]]:
    """Wait for load balancers; return their Services, those not offered, and those missing.

    A Service that cannot be read counts as missing and affects no other.
    """
    names = [
        service.name
        for service in plan.services
        if service.name in created and service.settings.type == LOAD_BALANCER
    ]
    if not names:
        return {}, {}, {}
    try:
        latest = cluster.wait_for_addresses(namespace, names, seconds=seconds, on_poll=on_poll)
    except ClusterError as error:
        why = f"whether it was assigned an address could not be read: {error.message}"
        return {}, {}, dict.fromkeys(names, why)
    return latest, *unbalanced(latest, seconds)


def _create_all(
    pool: Executor,
    cluster: Cluster,
    wanted: Sequence[Object],
    guarded: Callable[[], object],
    pull: Callable[[], None] | None,
) -> tuple[dict[str, Object], dict[str, str], dict[str, str]]:
    """Create Services, and Pods once they are ``guarded`` and have their images.

    Raises ``ClusterError`` if a namespace is rejected.
    """
    namespaces = _begin(pool, cluster, wanted, "Namespace")
    services = _begin(pool, cluster, wanted, "Service")
    guarded()
    # Secrets first: a Pod created before its Secret would wait for the next attempt to pull.
    for item in wanted:
        if item["kind"] == "Secret":
            cluster.create(item)
    if pull is not None:
        pull()
    pods = _begin(pool, cluster, wanted, "Pod")
    for _, pending in namespaces.values():
        pending.result()
    return _created({**services, **pods})


def _begin(
    pool: Executor, cluster: Cluster, wanted: Iterable[Object], kind: str
) -> dict[str, tuple[str, Future[Object]]]:
    """Start to create the objects of a kind in order; return kind and future by name."""
    return {
        item["metadata"]["name"]: (kind, pool.submit(cluster.create, item))
        for item in wanted
        if item["kind"] == kind
    }


def _created(
    creations: Mapping[str, tuple[str, Future[Object]]],
) -> tuple[dict[str, Object], dict[str, str], dict[str, str]]:
    """Return what was created, why the others were not, and which were forbidden."""
    created: dict[str, Object] = {}
    problems: dict[str, str] = {}
    forbidden: dict[str, str] = {}
    for name, (kind, pending) in creations.items():
        try:
            created[name] = pending.result()
        except ClusterError as error:
            problems[name] = f"{kind} {name} was not created: {error.message}"
            if error.forbidden:
                forbidden[name] = problems[name]
    return created, problems, forbidden
