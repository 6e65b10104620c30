"""ResourceQuotas and LimitRanges: what they refuse, in which words, and what quotas say is used."""

import asyncio
from typing import Any

import pytest

from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.objects import PODS, SERVICES, pod

QUOTAS = "/api/v1/namespaces/default/resourcequotas"
RANGES = "/api/v1/namespaces/default/limitranges"


def quota(**hard: str) -> dict[str, Any]:
    """Return a quota called ``q``; underscores of the names stand for dots."""
    named = {name.replace("_", "."): amount for name, amount in hard.items()}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": named},
    }


def limit_range(kind: str = "Container", **limits: dict[str, str]) -> dict[str, Any]:
    """Return a LimitRange of one limit."""
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "r"},
        "spec": {"limits": [{"type": kind, **limits}]},
    }


def sized(name: str, **resources: dict[str, str]) -> dict[str, Any]:
    """Return a pod whose container states these resources."""
    item = pod(name)
    item["spec"]["containers"][0]["resources"] = resources
    return item


def service(name: str) -> dict[str, Any]:
    """Return a NodePort Service of two ports."""
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": "NodePort", "ports": ports},
    }


async def refused(client: Client, path: str, item: dict[str, Any]) -> str:
    """Return the words in which an object is forbidden."""
    with pytest.raises(ApiError) as error:
        await client.create(path, item)
    assert error.value.status == 403
    return str(error.value)


async def used(client: Client, **expected: str) -> None:
    """Wait until the quota tells these figures."""
    wanted = {name.replace("_", "."): amount for name, amount in expected.items()}
    async with asyncio.timeout(10):
        while (await client.get(f"{QUOTAS}/q")).get("status", {}).get("used") != wanted:
            await asyncio.sleep(0.02)


LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "x"},
    "spec": {},
}
SLICE = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "x"},
    "addressType": "IPv4",
    "endpoints": [],
}
SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "x"},
    "spec": {
        "serviceName": "x",
        "selector": {"matchLabels": {"app": "x"}},
        "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"name": "c", "image": "agnhost"}]},
        },
    },
}


@pytest.mark.parametrize(
    ("item", "plural"), [(LEASE, "leases"), (SLICE, "endpointslices"), (SET, "statefulsets")]
)
async def test_objects_are_counted_by_kind_and_group(
    client: Client, item: dict[str, Any], plural: str
) -> None:
    """``count/<resource>.<group>`` bounds objects of every kind; the quota tells how many there are."""
    group, _, version = item["apiVersion"].partition("/")
    path = f"/apis/{group}/{version}/namespaces/default/{plural}"
    name = f"count/{plural}.{group}"

    await client.create(QUOTAS, quota(**{name: "1"}))
    await client.create(path, {**item, "metadata": {"name": "one"}})
    await used(client, **{name: "1"})
    words = await refused(client, path, {**item, "metadata": {"name": "two"}})
    assert f"exceeded quota: q, requested: {name}=1, used: {name}=1" in words


async def test_the_pod_too_many_is_refused(client: Client) -> None:
    """The quota, what is requested, used and allowed are named; what is gone is free again."""
    await client.create(QUOTAS, quota(pods="1"))
    await client.create(PODS, pod("one"))
    await used(client, pods="1")
    said = await refused(client, PODS, pod("two"))
    assert 'pods "two" is forbidden: exceeded quota: q, ' in said
    assert "requested: pods=1, used: pods=1, limited: pods=1" in said
    await client.delete(f"{PODS}/one", {"gracePeriodSeconds": 0})
    await used(client, pods="0")
    await client.create(PODS, pod("two"))


async def test_compute_has_to_be_stated_and_fits(client: Client) -> None:
    """Containers that leave open what is limited are refused, and so are those that request too much."""
    await client.create(QUOTAS, quota(requests_cpu="100m", limits_memory="1Gi"))
    said = await refused(client, PODS, pod("silent"))
    assert "failed quota: q: must specify limits.memory for: c; requests.cpu for: c" in said
    fits = {"requests": {"cpu": "60m"}, "limits": {"memory": "512Mi"}}
    await client.create(PODS, sized("one", **fits))
    await used(client, requests_cpu="60m", limits_memory="512Mi")
    said = await refused(client, PODS, sized("two", **fits))
    assert (
        "exceeded quota: q, requested: requests.cpu=60m, used: requests.cpu=60m, "
        "limited: requests.cpu=100m"
    ) in said


async def test_services_and_their_node_ports_are_counted(client: Client) -> None:
    """A Service costs one, and each of its NodePorts one of those; a dry run is refused like a creation."""
    await client.create(QUOTAS, quota(services="9", services_nodeports="3"))
    await client.create(SERVICES, service("first"))
    said = await refused(client, f"{SERVICES}?dryRun=All", service("second"))
    assert (
        "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, "
        "limited: services.nodeports=3"
    ) in said


async def test_a_limit_range_gives_defaults_that_a_quota_counts(client: Client) -> None:
    """What a container leaves open is filled in before it is counted; what it states stays."""
    defaults = limit_range(default={"cpu": "500m"}, defaultRequest={"cpu": "50m"})
    await client.create(RANGES, defaults)
    await client.create(QUOTAS, quota(requests_cpu="1"))
    made = await client.create(PODS, pod("silent"))
    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "500m"}, "requests": {"cpu": "50m"}}
    made = await client.create(PODS, sized("stated", requests={"cpu": "10m"}))
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "10m"}
    await used(client, requests_cpu="60m")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            limit_range(max={"cpu": "500m"}),
            "maximum cpu usage per Container is 500m, but limit is 2",
        ),
        (
            limit_range(min={"memory": "64Mi"}),
            "minimum memory usage per Container is 64Mi, but request is 32Mi",
        ),
        (limit_range("Pod", max={"cpu": "1"}), "maximum cpu usage per Pod is 1, but limit is 2"),
        (
            limit_range(max={"memory": "1Gi"}),
            "maximum memory usage per Container is 1Gi.  No limit is specified",
        ),
    ],
)
async def test_a_limit_range_refuses_amounts(
    client: Client, limits: dict[str, Any], said: str
) -> None:
    """Too much, too little, and nothing where something is demanded, of containers and of pods."""
    await client.create(RANGES, limits)
    item = sized("p", requests={"memory": "32Mi"}, limits={"cpu": "2"})
    assert f'pods "p" is forbidden: {said}' in await refused(client, PODS, item)
