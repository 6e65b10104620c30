"""What a run made that makes Pods is gone after its end, and after `nettests gc` where it was killed: controllers are real."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import connect
from nettests.cluster.access import Access
from nettests.cluster.apply import delete_run
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import find
from nettests.lab.client import Client
from nettests.model.check import Afterwards
from nettests.model.workload import MAKES, Workload
from nettests.probes.workloads import EVERY_MINUTE, around
from nettests.session.run_objects import ownership
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import PODS
from tests.lab.apiserver.test_workload_controller import BATCH, names, reconciled, until

APPS = "/apis/apps/v1/namespaces/default"
MADE = tuple(kind for kind in Workload if kind is not Workload.DAEMON_SET)
"""All but those whose Pods need nodes, of which there are none here."""
LEFT = (PODS, f"{APPS}/replicasets", *(f"{kind.prefix}/namespaces/default/{kind.plural}" for kind in MADE))  # fmt: skip


def pod(name: str) -> dict[str, Any]:
    """Return a Pod as single checks make it."""
    metadata = {"name": name, "namespace": "default", "labels": {"nettests.dev/purpose": "start"}}
    container = {"name": "first", "image": "agnhost", "args": ["pause"]}
    return {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}


@pytest.mark.parametrize("killed", [True, False])
async def test_nothing_of_it_is_left_and_nothing_comes_again(
    running: Running, tmp_path: Path, *, killed: bool
) -> None:
    """In a namespace of others, where objects go one by one: ReplicaSets and Jobs that controllers made, too."""
    marks = ownership("dead")

    def make(running: Running) -> Access:
        access = Access(connect(running.kubeconfig(tmp_path / "k"), None), marks)
        for kind in MADE:
            access.create(around(pod(f"start-{kind.value.lower()}"), kind, Afterwards(how=MAKES), "s"))  # fmt: skip
        return access

    def end(access: Access) -> None:
        if not killed:
            delete_run(access.connection, marks, access.created, wait=10, namespace="default")
            return
        (place,) = find(access.connection, seconds=0.2)
        assert (place.namespace, place.own_namespace, place.removable) == ("default", False, True)
        assert remove(access.connection, [place], wait=10) == {}

    async def work(client: Client) -> None:
        access = await asyncio.to_thread(make, running)
        old = {"status": {"lastScheduleTime": "2026-01-01T00:00:00Z"}}
        await client.patch(f"{BATCH}/cronjobs/start-cronjob/status", old)

        async def all_there() -> bool:
            found = await names(client, PODS)
            return len(found) >= len(MADE)

        await until(all_there)
        assert await names(client, f"{APPS}/replicasets")
        await asyncio.to_thread(end, access)
        await asyncio.sleep(0.5)
        assert {path: await names(client, path) for path in LEFT} == {path: [] for path in LEFT}

    await reconciled(running, work)


def test_a_cron_job_of_a_check_is_one_of_every_minute() -> None:
    """Otherwise its check would wait for longer than it says."""
    item = around(pod("x"), Workload.CRON_JOB, Afterwards(how=MAKES), "")
    assert item["spec"]["schedule"] == EVERY_MINUTE
    assert item["spec"]["concurrencyPolicy"] == "Forbid"
