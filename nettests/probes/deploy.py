"""Make the probes stand: namespace, pods and Services, created concurrently and waited for.

A pod or Service that does not come up is a recorded problem, and its checks become ``unknown`` with
that reason; only when nothing stands is it an error.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nettests.errors import ClusterError, DeployError
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.profile import ClusterProfile
from nettests.probes import objects
from nettests.probes.deployment import Deployment, standing_pod, standing_service
from nettests.probes.seams import Cluster

Object = dict[str, Any]

CREATING_AT_ONCE = 8


def deploy(
    cluster: Cluster,
    plan: Plan,
    facts: ClusterFacts,
    *,
    namespace: str,
    labels: Mapping[str, str],
    profile: ClusterProfile,
    on_progress: Callable[[int, int], None],
) -> Deployment:
    """Create what ``plan`` needs in ``namespace`` and wait for it; ``DeployError`` if nothing stands.

    ``on_progress`` hears how many of how many pods are settled.
    """
    blank = objects.Blank(namespace=namespace, labels=labels, image=profile.image)
    cluster.create(objects.namespace(blank))
    wanted = [*objects.services(plan, facts, blank), *objects.pods(plan, facts, blank)]
    created, problems = _create_all(cluster, wanted)
    purposes = {pod.name: pod.purpose for pod in plan.pods}
    ready, not_ready = cluster.wait_for_pods(
        namespace,
        [name for name in purposes if name in created],
        ready=profile.timing.ready,
        stuck=profile.timing.stuck,
        on_change=on_progress,
    )
    problems |= {name: f"pod {name} is not Ready: {why}" for name, why in not_ready.items()}
    if purposes and not ready:
        first = next(iter(problems.values()))
        raise DeployError(
            f"none of {len(purposes)} probe pods came up; the first: {first}",
            hint=f"look at `kubectl -n {namespace} describe pods` while a run is on",
        )
    return Deployment(
        namespace=namespace,
        pods={name: standing_pod(pod, purposes[name]) for name, pod in ready.items()},
        services={
            service.name: standing_service(created[service.name], service)
            for service in plan.services
            if service.name in created
        },
        problems=problems,
    )


def _create_all(cluster: Cluster, wanted: list[Object]) -> tuple[dict[str, Object], dict[str, str]]:
    created: dict[str, Object] = {}
    problems: dict[str, str] = {}

    def create(item: Object) -> None:
        name = item["metadata"]["name"]
        try:
            created[name] = cluster.create(item)
        except ClusterError as error:
            problems[name] = f"{item['kind']} {name} was not created: {error.message}"

    with ThreadPoolExecutor(max_workers=CREATING_AT_ONCE) as pool:
        list(pool.map(create, wanted))
    return created, problems
