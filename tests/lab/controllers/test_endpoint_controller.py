"""Endpoints follow Services, against the lab's own API server on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from nettests.lab.apiserver import Store
from nettests.lab.client import Client
from nettests.lab.controllers.endpoint_controller import EndpointController
from tests.lab.client.test_informer import serving

Json = dict[str, Any]

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@asynccontextmanager
async def controlled() -> AsyncIterator[Client]:
    """A client of an API whose endpoints are kept in step."""
    async with serving(Store()) as port:
        url = f"http://127.0.0.1:{port}"
        async with Client(url, "token", agent="test") as client:
            task = asyncio.create_task(EndpointController(client).run())
            try:
                yield client
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def service(app: str) -> Json:
    """Return a Service of Pods with this label."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": app}, "ports": [{"name": "http", "port": 80}]},
    }


async def _owned_by(client: Client, uid: str) -> None:
    """Wait until all slices of the API are this Service's, and there is one."""
    async with asyncio.timeout(10):
        while True:
            items = (await client.get(SLICES))["items"]
            owners = [one["metadata"]["ownerReferences"][0]["uid"] for one in items]
            if owners == [uid]:
                return
            await asyncio.sleep(0.02)


def test_a_service_that_is_recreated_at_once_gets_slices_of_its_own() -> None:
    """Those of the deleted one are collected after it, when they are thought to be the new one's already."""

    async def run() -> None:
        async with controlled() as client:
            made = await client.create(SERVICES, service("a"))
            await _owned_by(client, made["metadata"]["uid"])
            for app in ("b", "c", "a"):
                await client.delete(f"{SERVICES}/web")
                made = await client.create(SERVICES, service(app))
                await _owned_by(client, made["metadata"]["uid"])

    asyncio.run(run())
