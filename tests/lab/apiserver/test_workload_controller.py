"""The loop that makes Pods, with a real API server and no kubelets: roll-outs, CronJobs, what is stopped, and the end of it all."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from nettests.lab.client import ApiError, Client
from nettests.lab.controllers.workload_controller import Switches, WorkloadController
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import DEPLOYMENTS, PODS, deployment

Json = dict[str, Any]
BATCH = "/apis/batch/v1/namespaces/default"
SETS = DEPLOYMENTS.replace("deployments", "replicasets")
ENDING: Json = {
    "metadata": {"labels": {"run": "1"}, "annotations": {"why": "a test"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
}
UNREADABLE = "UnparseableSchedule"
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


async def until(found: Callable[[], Awaitable[Any]]) -> Any:
    """Look until there is something."""
    async with asyncio.timeout(10):
        while not (value := await found()):
            await asyncio.sleep(0.02)
    return value


async def reconciled(
    running: Running, work: Callable[[Client], Awaitable[None]], switches: Switches | None = None
) -> None:
    """Do ``work`` beside the controller."""
    async with running.client() as client, running.client("controller") as own:
        task = asyncio.create_task(WorkloadController(own, switches).run())
        try:
            await work(client)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def names(client: Client, path: str) -> list[str]:
    """Return the names of what stands."""
    return [item["metadata"]["name"] for item in (await client.get(path))["items"]]


async def pods_of(client: Client, note: str = "") -> list[Json]:
    """Return the Pods whose template has this note."""
    listed = (await client.get(PODS))["items"]
    return [p for p in listed if (p["metadata"].get("annotations") or {}).get("n", "") == note]


async def test_a_new_template_is_rolled_out_pod_by_pod(running: Running) -> None:
    """The old Pod stays until the new one is Ready; then its set is empty."""

    async def work(client: Client) -> None:
        await client.create(DEPLOYMENTS, deployment("d", 1))
        (old,) = await until(lambda: pods_of(client))
        await client.patch(f"{PODS}/{old['metadata']['name']}/status", {"status": READY})
        path = f"{DEPLOYMENTS}/d"
        await until(lambda: _told(client, path, "readyReplicas"))
        note = {"spec": {"template": {"metadata": {"annotations": {"n": "2"}}}}}
        await client.patch(path, note)
        (new,) = await until(lambda: pods_of(client, "2"))
        assert not await _leaves(client, f"{PODS}/{old['metadata']['name']}")
        await client.patch(f"{PODS}/{new['metadata']['name']}/status", {"status": READY})
        await until(lambda: _gone(client, f"{PODS}/{old['metadata']['name']}"))
        assert len(await names(client, SETS)) == 2

    await reconciled(running, work)


async def _told(client: Client, path: str, field: str) -> Any:
    return ((await client.get(path)).get("status") or {}).get(field)


async def _gone(client: Client, path: str) -> bool:
    try:
        await client.get(path)
    except ApiError as error:
        return error.status == 404
    return False


async def test_a_deployment_that_goes_in_the_foreground_stays_until_its_pods_are_gone(
    running: Running,
) -> None:
    """Its ReplicaSet between them too: who sees that it is gone has to wait for nothing more."""

    async def work(client: Client) -> None:
        item = deployment("d", 1)
        item["spec"]["template"]["spec"]["nodeName"] = "n1"
        await client.create(DEPLOYMENTS, item)
        (pod,) = await until(lambda: pods_of(client))
        await client.delete(f"{DEPLOYMENTS}/d", {"propagationPolicy": "Foreground"})
        path = f"{PODS}/{pod['metadata']['name']}"
        await until(lambda: _leaves(client, path))
        assert len(await names(client, DEPLOYMENTS)) == len(await names(client, SETS)) == 1
        await client.delete(path, {"gracePeriodSeconds": 0})
        await until(lambda: _gone(client, f"{DEPLOYMENTS}/d"))
        assert await names(client, SETS) == []

    await reconciled(running, work)


async def _leaves(client: Client, path: str) -> Any:
    return (await client.get(path))["metadata"].get("deletionTimestamp")


@pytest.mark.parametrize("policy", [None, "Background"])
async def test_a_job_leaves_its_pods_behind_unless_it_is_told_otherwise(
    running: Running, policy: str | None
) -> None:
    """As its kind does by default, and no other."""

    async def work(client: Client) -> None:
        await client.create(
            f"{BATCH}/jobs", {"metadata": {"name": "j"}, "spec": {"template": ENDING}}
        )
        (pod,) = await until(lambda: names(client, PODS))
        await client.delete(f"{BATCH}/jobs/j", {"propagationPolicy": policy} if policy else None)
        await until(lambda: _gone(client, f"{BATCH}/jobs/j"))
        if policy:
            await until(lambda: _gone(client, f"{PODS}/{pod}"))
        else:
            assert not (await client.get(f"{PODS}/{pod}"))["metadata"]["ownerReferences"]

    await reconciled(running, work)


async def _cron_job(client: Client, schedule: str = "* * * * *") -> None:
    """Make one whose last moment is long ago."""
    job = {"metadata": {"labels": {"run": "1"}}, "spec": {"template": ENDING}}
    spec = {"schedule": schedule, "jobTemplate": job}
    await client.create(f"{BATCH}/cronjobs", {"metadata": {"name": "c"}, "spec": spec})
    old = {"status": {"lastScheduleTime": "2026-01-01T00:00:00Z"}}
    await client.patch(f"{BATCH}/cronjobs/c/status", old)


async def test_a_cron_job_makes_a_job_that_makes_a_pod(running: Running) -> None:
    """All three carry what the templates say, and go one with the other."""

    async def work(client: Client) -> None:
        await _cron_job(client)
        (pod,) = await until(lambda: names(client, PODS))
        (job,) = (await client.get(f"{BATCH}/jobs"))["items"]
        assert job["metadata"]["labels"]["run"] == "1"
        assert (await client.get(f"{PODS}/{pod}"))["metadata"]["annotations"] == {"why": "a test"}
        told = (await client.get(f"{BATCH}/cronjobs/c"))["status"]["lastScheduleTime"]
        assert told > "2026-01-02"
        await client.delete(f"{BATCH}/cronjobs/c", {"propagationPolicy": "Foreground"})
        await until(lambda: _gone(client, f"{BATCH}/cronjobs/c"))
        assert await names(client, f"{BATCH}/jobs") == await names(client, PODS) == []

    await reconciled(running, work)


async def test_a_schedule_that_cannot_be_read_is_an_event(running: Running) -> None:
    """The loop goes on, and other objects get their Pods."""

    async def events(client: Client) -> list[str]:
        listed = (await client.get("/api/v1/namespaces/default/events"))["items"]
        return [one["involvedObject"]["name"] for one in listed if one["reason"] == UNREADABLE]

    async def work(client: Client) -> None:
        await _cron_job(client, "0 0 * * MON")
        assert set(await until(lambda: events(client))) == {"c"}
        await client.create(DEPLOYMENTS, deployment("d", 1))
        await until(lambda: names(client, PODS))

    await reconciled(running, work)


async def test_a_controller_that_is_stopped_goes_on_where_it_was(running: Running) -> None:
    """What is stopped makes nothing; other kinds are not concerned."""
    switches = Switches(stopped={"cronjobs"})

    async def work(client: Client) -> None:
        await _cron_job(client)
        await client.create(DEPLOYMENTS, deployment("d", 1))
        await until(lambda: names(client, PODS))
        assert await names(client, f"{BATCH}/jobs") == []
        switches.stopped.clear()
        await until(lambda: names(client, f"{BATCH}/jobs"))

    await reconciled(running, work, switches)
