"""What a run takes of a namespace's quotas: counted and added up on its very objects."""

from dataclasses import replace
from fractions import Fraction

import pytest

from nettests.bounds import Bounds
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.words import CheckClass
from nettests.model.workload import Workload
from nettests.plan import build
from nettests.preflight import Level
from nettests.preflight.demand import Passing, needed, quantity, spelled
from nettests.probes.short_lived import short_lived_objects
from nettests.session.prepare import blank_of
from tests.preflight.made import FLOWS, STAGING, evidence, finding, objects_of, only, quota


@pytest.mark.parametrize("resource", ["services.nodeports", "services.loadbalancers"])
def test_load_balancers_count_where_they_are_enabled(resource: str) -> None:
    """A quota with room for all that a run makes by itself is too small for Services of type LoadBalancer."""
    unprobed = evidence(STAGING)
    room = quota(resource, needed(unprobed.objects)[resource])
    enabled = build(STAGING, FLOWS, (CheckClass.EXPOSED,))
    assert finding("quota", replace(unprobed, quotas=room)).level is Level.OK
    objects = objects_of(enabled, STAGING)
    found = finding("quota", replace(unprobed, quotas=room, plan=enabled, objects=objects))
    assert found.level is Level.BLOCKER
    assert resource in found.details[0]


SERVICES = only("nodeport-from-other-node", "pod-to-service-clusterip")


@pytest.mark.parametrize("resource", ["pods", "services", "services.nodeports"])
def test_a_quota_has_to_hold_the_very_objects_of_a_run(resource: str) -> None:
    """What is needed is counted on them, the Service that is made last among them: one less is too little."""
    found = evidence(STAGING, SERVICES)
    services = [one for one in found.objects if one["kind"] == "Service"]
    exposed = [one for one in services if one["spec"].get("type") == "NodePort"]
    count = {
        "pods": len([one for one in found.objects if one["kind"] == "Pod"]),
        "services": len(found.plan.services) + 1,
        "services.nodeports": sum(len(one["spec"]["ports"]) for one in exposed),
    }[resource]
    assert count > 1
    enough = replace(found, quotas=quota(resource, count + 3, used=3))
    short = replace(found, quotas=quota(resource, count + 2, used=3))
    assert finding("quota", enough).level is Level.OK
    assert finding("quota", short).level is Level.BLOCKER
    assert f"a run needs {count}" in finding("quota", short).details[0]


def test_a_load_balancer_takes_its_node_ports_too() -> None:
    """As the quota of Kubernetes counts: a NodePort for each port, unless it is a ClusterIP's."""
    ports = [{"port": 80}, {"port": 81}]
    kinds = ("ClusterIP", "NodePort", "LoadBalancer")
    items = [{"kind": "Service", "spec": {"type": kind, "ports": ports}} for kind in kinds]
    counted = needed([*items, {"kind": "Secret"}, {"kind": "Namespace"}])
    assert counted["services"] == counted["count/services"] == 3
    assert counted["services.nodeports"] == 4
    assert counted["services.loadbalancers"] == 1
    assert counted["secrets"] == 1


def test_a_service_takes_what_controllers_write_of_it() -> None:
    """A slice for each family and the Endpoints, where it has a selector; the run's own slices as they are."""
    selecting: dict[str, object] = {"selector": {"app": "a"}, "ports": []}
    specs = [selecting, {**selecting, "ipFamilyPolicy": "RequireDualStack"}, {"ports": []}]
    services = [{"kind": "Service", "spec": spec} for spec in specs]
    counted = needed([*services, {"kind": "EndpointSlice"}])
    assert counted["count/endpointslices.discovery.k8s.io"] == 1 + 2 + 1
    assert counted["count/endpoints"] == 2
    assert counted["count/services"] == 3


@pytest.mark.parametrize(
    ("resource", "most"),
    [
        ("count/statefulsets.apps", 1),
        ("count/controllerrevisions.apps", 1),
        ("count/leases.coordination.k8s.io", 1),
        ("count/pods", None),
        ("count/endpointslices.discovery.k8s.io", None),
    ],
)
def test_quotas_that_count_by_kind_have_to_hold_a_run(resource: str, most: int | None) -> None:
    """Whatever a run makes is compared with the quota of its kind; one less than it needs is too little."""
    found = evidence(STAGING, only("stateful-set-names", "pod-to-service-clusterip"))
    count = int(needed(found.objects, found.passing)[resource])
    assert count >= 1
    assert most is None or count <= max(most, len(found.usable))
    enough = quota(resource, count + 3, used=3)
    assert finding("quota", replace(found, quotas=enough)).level is Level.OK
    told = finding("quota", replace(found, quotas=quota(resource, count + 2, used=3)))
    assert told.level is Level.BLOCKER
    assert f"{resource} leaves" in told.details[0]


@pytest.mark.parametrize(
    ("kind", "beside"),
    [
        (Workload.DEPLOYMENT, {"replicasets.apps": 2}),
        (Workload.DAEMON_SET, {"controllerrevisions.apps": 1}),
        (Workload.STATEFUL_SET, {"controllerrevisions.apps": 1}),
        (Workload.CRON_JOB, {"jobs.batch": 1}),
        (Workload.JOB, {}),
    ],
)
def test_what_makes_pods_takes_what_its_controllers_put_between(
    kind: Workload, beside: dict[str, int]
) -> None:
    """A Deployment has a set for each of its templates, a CronJob its Job."""
    made = {name: Fraction(number) for name, number in beside.items()}
    counted = needed([{"kind": kind.value, "spec": {}}])
    assert counted == {
        f"count/{name}": number for name, number in ({kind.resource: Fraction(1)} | made).items()
    }


def test_a_deployment_needs_room_for_the_pod_that_replaces_its_own() -> None:
    """On each node one more than of other checks, which come and go beside it."""
    flows = only("deployment-rollout", "pod-volumes")
    plan = build(STAGING, flows, (CheckClass.COSTLY,))
    blank = blank_of({}, ClusterProfile(), STAGING, "staging")
    bounds = Bounds()
    groups = short_lived_objects(plan, STAGING, blank, bounds)
    crowded = {at_once for items, at_once in groups if {one["kind"] for one in items} == {"Pod"}}
    assert crowded == {bounds.starts_per_node + 1}


def test_pods_of_single_checks_need_room_beside_the_others() -> None:
    """They come and go, so many at a time on each node, however many there are."""
    found = evidence(STAGING, only("pod-starts"))
    most = sum(min(group.at_once, len(group.objects)) for group in found.passing)
    assert most > 0
    taken = len([one for one in found.objects if one["kind"] == "Pod"])
    enough = quota("pods", taken + most)
    assert finding("quota", replace(found, quotas=enough)).level is Level.OK
    short = quota("pods", taken + most - 1)
    assert finding("quota", replace(found, quotas=short)).level is Level.BLOCKER


def test_a_pod_that_is_tried_out_needs_room_too() -> None:
    """A quota is tested in a dry run as well: one Pod at a time, and what it states."""
    found = evidence(STAGING, only("windows-pod-fields"))
    assert not [one for one in found.objects if one["kind"] == "Pod"]
    assert finding("quota", replace(found, quotas=quota("pods", 1))).level is Level.OK
    assert finding("quota", replace(found, quotas=quota("pods", 1, 1))).level is Level.BLOCKER
    tight = finding("quota", replace(found, quotas=quota("limits.memory", 2**19)))
    assert "limits.memory leaves 0.5Mi of 0.5Mi; a run needs 1Mi" in tight.details[0]


@pytest.mark.parametrize(
    ("resource", "each"),
    [
        ("cpu", {"linux": "10m", "windows": "20m"}),
        ("requests.cpu", {"linux": "10m", "windows": "20m"}),
        ("limits.cpu", {"linux": "2", "windows": "2"}),
        ("memory", {"linux": "32Mi", "windows": "64Mi"}),
        ("requests.memory", {"linux": "32Mi", "windows": "64Mi"}),
        ("limits.memory", {"linux": "512Mi", "windows": "1Gi"}),
    ],
)
def test_a_quota_has_to_hold_what_the_very_containers_state(
    resource: str, each: dict[str, str]
) -> None:
    """Amounts are added up exactly over all containers of all Pods; the least too little is named."""
    found = evidence(STAGING, SERVICES)
    containers = [
        (one["spec"]["os"]["name"], container)
        for one in found.objects
        if one["kind"] == "Pod"
        for container in one["spec"]["containers"]
    ]
    whole = sum((quantity(each[os]) for os, _ in containers), Fraction(0))
    enough = replace(found, quotas=quota(resource, whole + 3, used=3))
    short = replace(found, quotas=quota(resource, whole + 3 - Fraction(1, 1000), used=3))
    assert finding("quota", enough).level is Level.OK
    told = finding("quota", short)
    assert told.level is Level.BLOCKER
    assert f"a run needs {spelled(whole, resource)}" in told.details[0]


def test_what_a_limit_range_gives_is_counted() -> None:
    """Containers that state nothing take what they are given, and a quota has to hold it."""
    pods = [
        {"kind": "Pod", "spec": {"containers": [{"name": "a"}, {"name": "b"}]}},
        {"kind": "Pod", "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "3"}}}]}},
    ]  # fmt: skip
    given = {"limits.cpu": Fraction(1, 2), "requests.cpu": Fraction(1, 4)}
    found = needed(pods, defaults=given)
    assert float(found["limits.cpu"]) == 4
    assert float(found["requests.cpu"]) == float(found["cpu"]) == 3.5


def test_init_containers_run_one_by_one() -> None:
    """The greatest of them counts where it exceeds the others together."""

    def container(cpu: str) -> dict[str, object]:
        return {"name": "c", "resources": {"requests": {"cpu": cpu}}}

    spec = {"initContainers": [container("2"), container("3")], "containers": [container("1")] * 2}
    found = needed([{"kind": "Pod", "spec": spec}])
    assert float(found["requests.cpu"]) == 3
    spec["initContainers"] = [container("1")]
    assert float(needed([{"kind": "Pod", "spec": spec}])["requests.cpu"]) == 2


def test_of_pods_that_pass_the_heaviest_count() -> None:
    """Nobody knows which of them stand together."""
    pods = tuple(
        {"kind": "Pod", "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": cpu}}}]}}
        for cpu in ("1", "4", "2")
    )  # fmt: skip
    found = needed([], [Passing(objects=pods, at_once=2)])
    assert (float(found["pods"]), float(found["limits.cpu"])) == (2, 6)
