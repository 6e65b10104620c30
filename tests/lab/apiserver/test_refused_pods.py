"""Pods of workloads that a quota refuses: events and conditions, as Kubernetes' controllers have them, and what the harness reads."""

import json
from typing import Any

import pytest

from nettests.lab.client import Client
from nettests.model.words import Outcome
from nettests.parse import workloads
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import DEPLOYMENTS, PODS, deployment
from tests.lab.apiserver.test_quota import QUOTAS, quota
from tests.lab.apiserver.test_workload_controller import SETS, names, reconciled, until
from tests.parse.raws import raw

Json = dict[str, Any]
WHY = "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"


def workload(kind: str) -> Json:
    """Return a workload of one Pod called ``w``."""
    item = deployment("w", 1)
    item["kind"] = kind
    if kind == "DaemonSet":
        del item["spec"]["replicas"]
    return item


async def said(client: Client, kind: str) -> list[Json]:
    """Return the events of a kind's object."""
    listed = (await client.get("/api/v1/namespaces/default/events"))["items"]
    return [one for one in listed if one["involvedObject"]["kind"] == kind]


async def conditions(client: Client, path: str) -> dict[str, Json]:
    """Return the conditions of the only object of a kind, by type."""
    (item,) = (await client.get(path))["items"]
    return {one["type"]: one for one in (item.get("status") or {}).get("conditions") or ()}


def read(kind: str, own: Json, events: list[Json]) -> tuple[Outcome, str]:
    """Return what the harness says of an object that made no Pod."""
    record = {"pods": [], "own": own, "said": events, "events": [], "seconds": 35}
    seen = workloads.read(
        raw("workload", stdout=json.dumps(record), context={"kind": kind, "then": "", "says": ""})
    )
    return seen.outcome, seen.detail


async def test_a_deployment_tells_by_a_condition_that_its_pods_are_refused(
    running: Running,
) -> None:
    """The ReplicaSet has an event and the condition, the Deployment the condition, until there is room."""

    async def work(client: Client) -> None:
        await client.create(QUOTAS, quota(pods="0"))
        await client.create(DEPLOYMENTS, workload("Deployment"))
        failure = (await until(lambda: _failure(client, DEPLOYMENTS)))["ReplicaFailure"]
        assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
        assert failure["message"].startswith('pods "w-')
        assert failure["message"].endswith(WHY)
        assert failure["lastUpdateTime"] == failure["lastTransitionTime"]
        (replica_set,) = (await client.get(SETS))["items"]
        assert replica_set["status"]["replicas"] == 0
        event, *_ = await until(lambda: said(client, "ReplicaSet"))
        assert (event["type"], event["reason"]) == ("Warning", "FailedCreate")
        assert event["source"]["component"] == "replicaset-controller"
        assert event["message"] == f"Error creating: {failure['message']}"
        (own,) = (await client.get(DEPLOYMENTS))["items"]
        assert not await said(client, "Deployment")
        outcome, detail = read("Deployment", own, [])
        assert outcome is Outcome.PROBE_FAILED
        assert detail == f"a Pod of the Deployment was refused: {failure['message']}"
        await client.patch(f"{QUOTAS}/q", {"spec": {"hard": {"pods": "5"}}})
        await until(lambda: names(client, PODS))
        await until(lambda: _recovered(client))
        assert "ReplicaFailure" not in await conditions(client, SETS)

    await reconciled(running, work)


async def _failure(client: Client, path: str) -> dict[str, Json]:
    listed = (await client.get(path))["items"]
    found = await conditions(client, path) if listed else {}
    return found if "ReplicaFailure" in found else {}


async def _recovered(client: Client) -> bool:
    return "ReplicaFailure" not in await conditions(client, DEPLOYMENTS)


@pytest.mark.parametrize(
    ("kind", "component", "told"),
    [
        ("DaemonSet", "daemonset-controller", "Error creating: pods "),
        (
            "StatefulSet",
            "statefulset-controller",
            "create Pod w-0 in StatefulSet w failed error: pods ",
        ),
    ],
)
async def test_other_workloads_tell_by_events_alone(
    running: Running, kind: str, component: str, told: str
) -> None:
    """A DaemonSet has none of its Pods, and no condition; the harness takes the event's words."""
    path = DEPLOYMENTS.replace("deployments", f"{kind.lower()}s")

    async def work(client: Client) -> None:
        await client.create("/api/v1/nodes", {"kind": "Node", "metadata": {"name": "n1"}})
        await client.create(QUOTAS, quota(pods="0"))
        await client.create(path, workload(kind))
        event, *_ = await until(lambda: said(client, kind))
        assert event["source"]["component"] == component
        assert event["reason"] == "FailedCreate"
        assert event["message"].startswith(told)
        assert event["message"].endswith(WHY)
        assert await conditions(client, path) == {}
        (own,) = (await client.get(path))["items"]
        status = own.get("status") or {}
        assert status.get("currentNumberScheduled", 0) == 0
        if kind == "DaemonSet":
            assert (await until(lambda: _desired(client, path))) == 1
        outcome, detail = read(kind, own, [event])
        assert (outcome, detail.partition(": ")[0]) == (
            Outcome.PROBE_FAILED,
            f"a Pod of the {kind} was refused",
        )

    await reconciled(running, work)


async def _desired(client: Client, path: str) -> int:
    (own,) = (await client.get(path))["items"]
    return int((own.get("status") or {}).get("desiredNumberScheduled", 0))
