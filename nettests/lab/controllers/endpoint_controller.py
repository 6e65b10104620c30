"""The loop that keeps Endpoints and EndpointSlices consistent with Services and pods.

``endpoints`` computes them; this module writes differences. Services without a selector are left alone:
their endpoints are written by others (the bootstrap, a user).
"""

import asyncio
import logging
from collections.abc import Sequence

from nettests.lab.client import FAILURES, ApiError, Client, Json
from nettests.lab.client.informer import Informer, WorkQueue, work_beside
from nettests.lab.controllers import endpoints

_LOG = logging.getLogger(__name__)


class EndpointController:
    """Writes both kinds of endpoints for every Service with a selector."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._services = Informer(client, "/api/v1/services")
        self._pods = Informer(client, "/api/v1/pods")
        self._slices = Informer(client, "/apis/discovery.k8s.io/v1/endpointslices")
        self._queue = WorkQueue()
        self._written: dict[str, tuple[list[Json], Json]] = {}

    async def run(self) -> None:
        """Follow the API until cancelled."""
        self._services.subscribe(lambda key, _old, _new: self._queue.add(key))
        self._pods.subscribe(self._pod_changed)
        self._slices.subscribe(self._slice_changed)
        informers = (self._services, self._pods, self._slices)
        await work_beside(informers, self._work)

    def _pod_changed(self, _key: str, old: Json | None, new: Json | None) -> None:
        pod = new or old
        if pod is None or (old and new and _endpoint_state(old) == _endpoint_state(new)):
            return
        namespace = pod["metadata"]["namespace"]
        for service in self._services.in_namespace(namespace):
            if any(
                side is not None and endpoints.selects_pod(service, side) for side in (old, new)
            ):
                self._queue.add(f"{namespace}/{service['metadata']['name']}")

    def _slice_changed(self, _key: str, old: Json | None, new: Json | None) -> None:
        """Queue the Service of a deleted slice.

        Slices of a deleted Service are collected later: a recreated Service may have had only those.
        """
        metadata = old["metadata"] if old is not None and new is None else {}
        service = (metadata.get("labels") or {}).get(endpoints.SERVICE_LABEL)
        if service:
            self._queue.add(f"{metadata['namespace']}/{service}")

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            try:
                await self._reconcile(key)
            except FAILURES as error:
                _LOG.info("endpoints of %s: %s", key, error)
                self._written.pop(key, None)
                asyncio.get_running_loop().call_later(0.5, self._queue.add, key)

    async def _reconcile(self, key: str) -> None:
        service = self._services.objects.get(key)
        if (
            service is None
        ):  # Endpoints are deleted here, by their Service's name; slices are collected by owner
            self._written.pop(key, None)
            namespace, _, name = key.partition("/")
            await self._client.remove(f"/api/v1/namespaces/{namespace}/endpoints/{name}")
            return
        if not service["spec"].get("selector"):
            return
        pods = list(self._pods.in_namespace(service["metadata"]["namespace"]))
        own_families = endpoints.families(service)
        slices = [endpoints.slice_of(service, pods, family) for family in own_families]
        wanted = (slices, endpoints.endpoints_of(service, pods))
        present = all(self._existing_slice(key, family) for family in own_families)
        if present and self._written.get(key) == wanted:
            return
        for endpoint_slice in slices:
            await self._write_slice(key, endpoint_slice)
        await self._remove_slices(key, own_families)
        await self._write_endpoints(wanted[1])
        self._written[key] = wanted

    async def _write_slice(self, key: str, wanted: Json) -> None:
        namespace = wanted["metadata"]["namespace"]
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        existing = self._existing_slice(key, wanted["addressType"])
        if existing is None:
            created = await self._client.create(path, wanted)
            # Remember the name now, as the next change may come before the watch event.
            self._slices.objects.setdefault(f"{namespace}/{created['metadata']['name']}", created)
            return
        body = {field: wanted[field] for field in ("endpoints", "ports")}
        body["metadata"] = {"annotations": wanted["metadata"]["annotations"]}
        await self._client.patch(f"{path}/{existing['metadata']['name']}", body)

    async def _remove_slices(self, key: str, kept: Sequence[str]) -> None:
        for item in self._slices_of(key):
            metadata = item["metadata"]
            managed = (metadata.get("labels") or {}).get(
                endpoints.MANAGED_LABEL
            ) == endpoints.MANAGED_BY
            if item["addressType"] in kept or not managed:
                continue
            path = f"/apis/discovery.k8s.io/v1/namespaces/{metadata['namespace']}/endpointslices"
            await self._client.remove(f"{path}/{metadata['name']}")

    def _existing_slice(self, key: str, family: str) -> Json | None:
        of_family = (item for item in self._slices_of(key) if item["addressType"] == family)
        return next(of_family, None)

    def _slices_of(self, key: str) -> list[Json]:
        namespace, _, name = key.partition("/")
        return [
            item
            for item in self._slices.in_namespace(namespace)
            if (item["metadata"].get("labels") or {}).get(endpoints.SERVICE_LABEL) == name
        ]

    async def _write_endpoints(self, wanted: Json) -> None:
        metadata = wanted["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/endpoints"
        try:
            await self._client.create(path, wanted)
        except ApiError as error:
            if error.status != 409:
                raise
            metadata_patch = {field: metadata[field] for field in ("labels", "annotations")}
            body = {"subsets": wanted.get("subsets"), "metadata": metadata_patch}
            await self._client.patch(f"{path}/{metadata['name']}", body)


def _endpoint_state(pod: Json) -> tuple[object, ...]:
    status = pod.get("status", {})
    ready = [c["status"] for c in status.get("conditions") or () if c["type"] == "Ready"]
    leaving = "deletionTimestamp" in pod["metadata"]
    fields = (status.get(field) for field in ("podIP", "podIPs", "phase"))
    return (pod["metadata"].get("labels"), leaving, *fields, ready)
