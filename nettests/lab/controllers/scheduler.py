"""The scheduler's loop: bind pods that have no node, and report why others stay pending.

A pod is scheduled when it appears; pending pods are retried when nodes or placed pods change.
``scheduling`` decides.
"""

import asyncio
import logging

from nettests.lab.client import FAILURES, STRATEGIC, ApiError, Client, Json, pod_path
from nettests.lab.client.events import Recorder, timestamp
from nettests.lab.client.informer import Informer, WorkQueue, work_beside
from nettests.lab.controllers.scheduling import place

_LOG = logging.getLogger(__name__)

_OBSERVED_GENERATION = 34
"""PodObservedGenerationTracking is on by default since 1.34."""


class Scheduler:
    """Binds pods; ``minor`` is the cluster's Kubernetes 1.x, and ``apart`` enables anti-affinity."""

    def __init__(self, client: Client, minor: int, *, apart: bool = True) -> None:
        self._client = client
        self._minor = minor
        self._apart = apart
        self._pods = Informer(client, "/api/v1/pods")
        self._nodes = Informer(client, "/api/v1/nodes")
        self._recorder = Recorder(client, "default-scheduler")
        self._queue = WorkQueue()
        self._reported: dict[str, str] = {}
        self._assumed: dict[str, Json] = {}

    async def run(self) -> None:
        """Schedule until cancelled."""
        self._pods.subscribe(self._pod_changed)
        self._nodes.subscribe(self._node_changed)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._recorder.run())
            await work_beside((self._pods, self._nodes), self._work)

    def _pod_changed(self, key: str, _old: Json | None, new: Json | None) -> None:
        if new is not None and _waits(new):
            self._queue.add(key)
            return
        if new is None or new["spec"].get("nodeName"):
            self._assumed.pop(key, None)
        if new is None:
            self._reported.pop(key, None)
            self._retry_pending()

    def _node_changed(self, _key: str, old: Json | None, new: Json | None) -> None:
        if old is None or new is None or _placing(old) != _placing(new):
            self._retry_pending()

    def _retry_pending(self) -> None:
        for key, pod in self._pods.objects.items():
            if _waits(pod):
                self._queue.add(key)

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            pod = self._pods.objects.get(key)
            if pod is None or not _waits(pod) or key in self._assumed:
                continue
            try:
                await self._schedule(key, pod)
            except FAILURES as error:
                _LOG.info("scheduler: %s: %s", key, error)

    async def _schedule(self, key: str, pod: Json) -> None:
        all_pods = [*self._pods.objects.values(), *self._assumed.values()]
        decision = place(
            pod, list(self._nodes.objects.values()), all_pods, self._minor, apart=self._apart
        )
        if decision.node is None:
            await self._report(key, pod, decision.message)
            return
        self._assumed[key] = {**pod, "spec": {**pod["spec"], "nodeName": decision.node}}
        try:
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {name: pod["metadata"][name] for name in ("name", "namespace")},
                "target": {"apiVersion": "v1", "kind": "Node", "name": decision.node},
            }
            await self._client.create(f"{pod_path(pod)}/binding", binding)
        except ApiError:
            self._assumed.pop(key, None)
            raise
        message = f"Successfully assigned {key} to {decision.node}"
        self._recorder.scheduler(pod, "Normal", "Scheduled", message, "Binding")

    async def _report(self, key: str, pod: Json, message: str) -> None:
        if self._reported.get(key) == message:
            return
        self._reported[key] = message
        metadata = pod["metadata"]
        condition: Json = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": timestamp(),
            "reason": "Unschedulable",
            "message": message,
        }
        if self._minor >= _OBSERVED_GENERATION and "generation" in metadata:
            condition["observedGeneration"] = metadata["generation"]
        body = {"status": {"conditions": [condition]}}
        await self._client.patch(f"{pod_path(pod)}/status", body, kind=STRATEGIC)
        self._recorder.scheduler(pod, "Warning", "FailedScheduling", message, "Scheduling")


def _waits(pod: Json) -> bool:
    return (
        not pod["spec"].get("nodeName")
        and "deletionTimestamp" not in pod["metadata"]
        and pod["spec"].get("schedulerName", "default-scheduler") == "default-scheduler"
    )


def _placing(node: Json) -> tuple[object, ...]:
    spec = node["spec"]
    return (node["metadata"].get("labels"), spec.get("taints"), spec.get("unschedulable"))
