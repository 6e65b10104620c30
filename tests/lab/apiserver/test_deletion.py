"""Deletion: grace, finalizers, owners, namespaces."""

import asyncio
from typing import Any

import pytest

from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, config_map, deployment, pod

NAMESPACES = "/api/v1/namespaces"


async def _bound_pod(client: Client, name: str, **spec: Any) -> dict[str, Any]:
    return await client.create(PODS, pod(name, nodeName="n1", **spec))


async def _is_gone(client: Client, path: str) -> bool:
    try:
        await client.get(path)
    except ApiError as error:
        return error.status == 404
    return False


async def _vanishes(client: Client, path: str) -> None:
    async with asyncio.timeout(10):
        while not await _is_gone(client, path):
            await asyncio.sleep(0.01)


async def test_a_pod_on_a_node_stays_until_its_kubelet_deletes_it(client: Client) -> None:
    """DELETE marks it with its grace period; DELETE with grace 0 removes it."""
    await _bound_pod(client, "p", terminationGracePeriodSeconds=7)
    marked = await client.delete(f"{PODS}/p")
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 7
    assert marked["metadata"]["generation"] == 2
    assert not await _is_gone(client, f"{PODS}/p")
    await client.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
    assert await _is_gone(client, f"{PODS}/p")


async def test_a_grace_period_can_be_shortened_and_not_lengthened(client: Client) -> None:
    """A later DELETE counts only when it requests less."""
    await _bound_pod(client, "p")
    seconds = []
    for wanted in (20, 5, 60):
        answer = await client.delete(f"{PODS}/p", {"gracePeriodSeconds": wanted})
        seconds.append(answer["metadata"]["deletionGracePeriodSeconds"])
    assert seconds == [20, 5, 5]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_has_ended_is_removed_at_once(client: Client, phase: str) -> None:
    """There is nothing to wait for, with a node or without one."""
    await _bound_pod(client, "p")
    await client.patch(f"{PODS}/p/status", {"status": {"phase": phase}})
    await client.delete(f"{PODS}/p")
    assert await _is_gone(client, f"{PODS}/p")
    await client.create(PODS, pod("q"))
    await client.delete(f"{PODS}/q")
    assert await _is_gone(client, f"{PODS}/q")


async def test_a_deletion_with_another_uid_is_refused(client: Client) -> None:
    """A kubelet that means an older pod of that name deletes nothing."""
    await client.create(PODS, pod("p"))
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": "other"}}
    with pytest.raises(ApiError) as error:
        await client.delete(f"{PODS}/p", options)
    assert error.value.status == 409
    assert not await _is_gone(client, f"{PODS}/p")


@pytest.mark.parametrize("key", ["uid", "resourceVersion"])
@pytest.mark.parametrize("collection", [CONFIG_MAPS, NAMESPACES])
async def test_a_deletion_names_the_very_state_that_was_seen(
    client: Client, collection: str, key: str
) -> None:
    """409 Conflict for another UID or version, with Kubernetes' words; the one that was seen goes."""

    def seen_of(meta: dict[str, Any]) -> dict[str, Any]:
        return {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}

    kind = "ConfigMap" if collection == CONFIG_MAPS else "Namespace"
    item = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}}
    seen = (await client.create(collection, item))["metadata"]
    path = f"{collection}/a"
    with pytest.raises(ApiError) as error:
        await client.delete(path, {"preconditions": {**seen_of(seen), key: "other"}})
    assert (error.value.status, "recondition" in error.value.message) == (409, True)
    assert "Operation cannot be fulfilled on" in error.value.message
    await client.delete(path, {"preconditions": seen_of(seen)})
    await _vanishes(client, path)


async def test_a_finalizer_holds_an_object_until_it_is_removed(client: Client) -> None:
    """DELETE marks; taking the last finalizer away deletes."""
    item = config_map("a")
    item["metadata"]["finalizers"] = ["example.com/hold"]
    await client.create(CONFIG_MAPS, item)
    marked = await client.delete(f"{CONFIG_MAPS}/a")
    assert marked["metadata"]["deletionTimestamp"]
    await client.patch(f"{CONFIG_MAPS}/a", {"metadata": {"finalizers": []}})
    assert await _is_gone(client, f"{CONFIG_MAPS}/a")


async def test_a_dry_run_deletes_nothing(client: Client) -> None:
    """``dryRun=All`` answers and leaves the object."""
    await client.create(CONFIG_MAPS, config_map("a"))
    await client.delete(f"{CONFIG_MAPS}/a?dryRun=All")
    assert not await _is_gone(client, f"{CONFIG_MAPS}/a")


async def test_a_plain_object_is_answered_with_a_status(client: Client) -> None:
    """Kind, name and uid of what was deleted."""
    created = await client.create(CONFIG_MAPS, config_map("a"))
    answer = await client.delete(f"{CONFIG_MAPS}/a")
    uid = created["metadata"]["uid"]
    assert answer["status"] == "Success"
    assert answer["details"] == {"name": "a", "kind": "configmaps", "uid": uid}


async def test_a_collection_is_deleted_by_selector(client: Client) -> None:
    """Only what the selector picks goes."""
    for name in ("a", "b"):
        await client.create(PODS, pod(name))
    await client.delete(f"{PODS}?labelSelector=app%3Da")
    assert [p["metadata"]["name"] for p in (await client.get(PODS))["items"]] == ["b"]


def _owned(name: str, owner: dict[str, Any]) -> dict[str, Any]:
    item = config_map(name)
    item["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": True,
        }
    ]
    return item


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_dependents_go_with_their_owner(client: Client, policy: str) -> None:
    """Background and Foreground end alike: owner and dependents are gone."""
    owner = await client.create(DEPLOYMENTS, deployment("d"))
    await client.create(CONFIG_MAPS, _owned("kept-by-d", owner))
    await client.delete(f"{DEPLOYMENTS}/d", {"propagationPolicy": policy})
    await _vanishes(client, f"{CONFIG_MAPS}/kept-by-d")
    await _vanishes(client, f"{DEPLOYMENTS}/d")


async def test_orphans_stay_and_forget_their_owner(client: Client) -> None:
    """``Orphan`` removes the owner and its references."""
    owner = await client.create(DEPLOYMENTS, deployment("d"))
    await client.create(CONFIG_MAPS, _owned("a", owner))
    await client.delete(f"{DEPLOYMENTS}/d", {"propagationPolicy": "Orphan"})
    await _vanishes(client, f"{DEPLOYMENTS}/d")
    assert not (await client.get(f"{CONFIG_MAPS}/a"))["metadata"]["ownerReferences"]


async def test_a_namespace_goes_with_all_it_holds(client: Client) -> None:
    """It is Terminating until its last pod is gone, then it is not found."""
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    await client.create(NAMESPACES, item)
    held = pod("p")
    held["spec"]["nodeName"] = "n1"
    pods = PODS.replace("default", "n")
    await client.create(pods, held)
    await client.create(CONFIG_MAPS.replace("default", "n"), config_map("a"))
    answer = await client.delete(f"{NAMESPACES}/n")
    assert answer["status"]["phase"] == "Terminating"
    await _vanishes(client, CONFIG_MAPS.replace("default", "n") + "/a")
    waiting = await client.get(f"{pods}/p")
    assert waiting["metadata"]["deletionTimestamp"]
    assert not await _is_gone(client, f"{NAMESPACES}/n")
    await client.delete(f"{pods}/p", {"gracePeriodSeconds": 0})
    await _vanishes(client, f"{NAMESPACES}/n")


@pytest.mark.parametrize("name", ["default", "kube-system"])
async def test_system_namespaces_cannot_be_deleted(client: Client, name: str) -> None:
    """403, as the lifecycle admission says."""
    with pytest.raises(ApiError) as error:
        await client.delete(f"{NAMESPACES}/{name}")
    assert error.value.status == 403
    assert "this namespace may not be deleted" in error.value.message


async def test_an_eviction_deletes_its_pod(client: Client) -> None:
    """With the pod's grace period, as DELETE does."""
    await _bound_pod(client, "p")
    metadata = {"name": "p"}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    answer = await client.create(f"{PODS}/p/eviction", eviction)
    assert answer["status"] == "Success"
    assert (await client.get(f"{PODS}/p"))["metadata"]["deletionTimestamp"]
