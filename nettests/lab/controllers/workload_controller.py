"""The loop that creates pods of Deployments, ReplicaSets, DaemonSets, StatefulSets, Jobs and CronJobs and reports their status.

``workloads``, ``rollouts`` and ``jobs`` decide; this module follows the API and writes. Keys are
``kind namespace/name``.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime

from nettests.lab.client import FAILURES, ApiError, Client, Json
from nettests.lab.client.events import Recorder, timestamp
from nettests.lab.client.informer import Handler, Informer, WorkQueue, key_of, work_beside
from nettests.lab.controllers import rollouts, workloads
from nettests.lab.controllers.jobs import reconcile_cron_job, reconcile_job

_LOG = logging.getLogger(__name__)

_APPS = "/apis/apps/v1"
_RETRY = 0.2
_LONGEST = 5.0
"""The longest wait in seconds after a refusal; Kubernetes' controllers wait for up to 15 minutes."""
_GATHER = 0.05
"""Seconds in which changes of a DaemonSet's Pods are gathered: reconciling goes through all nodes and Pods, and with
hundreds of nodes many Pods change at once."""
_KINDS = {
    kind: f"{kind.lower()}s"
    for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "CronJob")
}
_GROUPS = {"jobs": "/apis/batch/v1", "cronjobs": "/apis/batch/v1"}
"""API paths of kinds that are not in ``_APPS``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Switches of the controllers; ``stopped`` has the kinds whose controllers do nothing at the moment."""

    identity: bool = True
    """Whether StatefulSets' Pods have host names."""
    rolling: bool = True
    """Whether Deployments replace their Pods one after the other."""
    counted: bool = True
    """Whether Jobs count finished Pods."""
    stopped: set[str] = field(default_factory=set)


class WorkloadController:
    """Reconciles all workloads, one at a time."""

    def __init__(self, client: Client, switches: Switches | None = None) -> None:
        self._client = client
        self._switches = switches or Switches()
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self._pods = Informer(client, "/api/v1/pods")
        self._nodes = Informer(client, "/api/v1/nodes")
        self._sets = {
            kind: Informer(client, f"{_GROUPS.get(kind, _APPS)}/{kind}") for kind in _KINDS.values()
        }
        self._recorders = {
            plural: Recorder(client, f"{kind.lower()}-controller")
            for kind, plural in _KINDS.items()
        }
        self._queue = WorkQueue()
        self._gathering: set[str] = set()
        self._refusals: dict[str, int] = {}
        """Consecutive refusals, by entry."""

    async def run(self) -> None:
        """Follow the API until cancelled."""
        for kind, informer in self._sets.items():
            informer.subscribe(self._queueing(kind))
        self._pods.subscribe(self._owned_changed)
        for owned in ("replicasets", "jobs"):
            self._sets[owned].subscribe(self._owned_changed)
        self._nodes.subscribe(self._node_changed)
        informers = (self._pods, self._nodes, *self._sets.values())
        async with asyncio.TaskGroup() as group:
            for recorder in self._recorders.values():
                group.create_task(recorder.run())
            await work_beside(informers, self._work)

    def _queueing(self, kind: str) -> Handler:
        def note(key: str, _old: Json | None, _new: Json | None) -> None:
            self._queue.add(f"{kind} {key}")

        return note

    def _owned_changed(self, _key: str, old: Json | None, new: Json | None) -> None:
        item = new or old
        if item is None:
            return
        for owner in item["metadata"].get("ownerReferences") or ():
            if owner["kind"] in _KINDS:
                namespace = item["metadata"]["namespace"]
                entry = f"{_KINDS[owner['kind']]} {namespace}/{owner['name']}"
                if owner["kind"] == "DaemonSet":
                    self._gather(entry)
                else:
                    self._queue.add(entry)

    def _node_changed(self, _key: str, old: Json | None, new: Json | None) -> None:
        if old is None or new is None:
            for key in self._sets["daemonsets"].objects:
                self._gather(f"daemonsets {key}")

    def _gather(self, entry: str) -> None:
        """Queue a DaemonSet after a moment, once for all changes until then."""
        if entry not in self._gathering:
            self._gathering.add(entry)
            asyncio.get_running_loop().call_later(_GATHER, self._gathered, entry)

    def _gathered(self, entry: str) -> None:
        self._gathering.discard(entry)
        self._queue.add(entry)

    async def _work(self) -> None:
        while True:
            entry = await self._queue.take()
            try:
                await self._reconcile(*entry.split(" ", 1))
                self._refusals.pop(entry, None)
            except FAILURES as error:
                _LOG.info("%s: %s", entry, error)
                asyncio.get_running_loop().call_later(
                    self._pause(entry, error), self._queue.add, entry
                )

    def _pause(self, entry: str, error: Exception) -> float:
        """Return the wait before a retry, which grows with each refusal, as every refusal writes an event."""
        if not _refused(error):
            return _RETRY
        tries = self._refusals[entry] = self._refusals.get(entry, 0) + 1
        return min(_RETRY * 2.0 ** (tries - 1), _LONGEST)

    async def _reconcile(self, kind: str, key: str) -> None:
        item = self._sets[kind].objects.get(key)
        if item is None or "deletionTimestamp" in item["metadata"]:
            return None
        if kind in self._switches.stopped:
            asyncio.get_running_loop().call_later(_RETRY, self._queue.add, f"{kind} {key}")
            return None
        pods = list(self._pods.in_namespace(item["metadata"]["namespace"]))
        switches, nodes = self._switches, self._nodes.objects.values()
        match kind:
            case "deployments":
                return await self._deployment(item)
            case "cronjobs":
                return await self._cron_job(key, item)
            case "daemonsets":
                changes = workloads.reconcile_daemon_set(item, nodes, pods)
            case "statefulsets":
                changes = workloads.reconcile_stateful_set(item, pods, identity=switches.identity)
            case "jobs":
                changes = reconcile_job(item, pods, timestamp(), counted=switches.counted)
            case _:
                changes = workloads.reconcile_replica_set(item, pods)
        return await self._apply(kind, item, changes)

    async def _deployment(self, deployment: Json) -> None:
        namespace = deployment["metadata"]["namespace"]
        sets = self._sets["replicasets"]
        wanted = rollouts.replica_set_of(deployment)
        owned_sets = workloads.owned_by(deployment, sets.in_namespace(namespace))
        path = f"{_APPS}/namespaces/{namespace}/replicasets"
        current = wanted["metadata"]["name"]
        if current not in {item["metadata"]["name"] for item in owned_sets}:
            wanted["spec"]["replicas"] = 0
            wanted["spec"]["replicas"] = self._scales(deployment, [*owned_sets, wanted])[current]
            created = await self._client.create(path, wanted)
            sets.objects.setdefault(key_of(created), created)
            self._queue.add(f"replicasets {key_of(created)}")
            owned_sets = [*owned_sets, created]
        replicas = self._scales(deployment, owned_sets)
        for item in owned_sets:
            name = item["metadata"]["name"]
            if item["spec"].get("replicas") != replicas[name]:
                await self._client.patch(f"{path}/{name}", {"spec": {"replicas": replicas[name]}})
        status = rollouts.deployment_with_refusals(
            rollouts.deployment_status(deployment, owned_sets), current, owned_sets
        )
        await self._report("deployments", deployment, status)

    def _scales(self, deployment: Json, owned_sets: list[Json]) -> dict[str, int]:
        current = rollouts.replica_set_of(deployment)["metadata"]["name"]
        return rollouts.scales(deployment, current, owned_sets, rolling=self._switches.rolling)

    async def _cron_job(self, key: str, item: Json) -> None:
        namespace = item["metadata"]["namespace"]
        jobs = self._sets["jobs"]
        due = reconcile_cron_job(item, jobs.in_namespace(namespace), datetime.now(UTC))
        path = f"{_GROUPS['jobs']}/namespaces/{namespace}/jobs"
        if due.problem:
            about = {"apiVersion": "batch/v1", "kind": "CronJob", **item}
            self._recorders["cronjobs"].kubelet(
                about, "Warning", "UnparseableSchedule", due.problem
            )
        if due.create is not None:
            created = await self._client.create(path, due.create)
            jobs.objects.setdefault(key_of(created), created)
        for job in due.delete:
            await self._client.delete(f"{path}/{job['metadata']['name']}")
        await self._report("cronjobs", item, due.status)
        if key in self._alarms:
            self._alarms[key].cancel()
        loop = asyncio.get_running_loop()
        self._alarms[key] = loop.call_later(due.seconds, self._queue.add, f"cronjobs {key}")

    async def _apply(self, kind: str, item: Json, changes: workloads.Changes) -> None:
        path = f"/api/v1/namespaces/{item['metadata']['namespace']}/pods"
        status = changes.status
        for number, pod in enumerate(changes.create):
            try:
                created = await self._client.create(path, pod)
            except ApiError as error:  # others would be refused as well
                if not _refused(error):
                    raise
                self._tell_refusal(kind, item, pod, error)
                lacking = len(changes.create) - number
                await self._report_refusal(kind, item, status, lacking, error.message)
                raise
            # Add it to the cache before the watch event, so that it is not created twice.
            self._pods.objects.setdefault(key_of(created), created)
        for pod in changes.delete:
            await self._client.delete(f"{path}/{pod['metadata']['name']}")
        if kind == "replicasets":
            status = rollouts.replica_set_with_refusals(
                item, status, lacking=0, why="", now=timestamp()
            )
        await self._report(kind, item, status)

    def _tell_refusal(self, kind: str, item: Json, pod: Json, error: ApiError) -> None:
        """Record the event of a refused Pod, in the controller's words."""
        name = next(owner_kind for owner_kind, plural in _KINDS.items() if plural == kind)
        about = {
            "apiVersion": _GROUPS.get(kind, _APPS).removeprefix("/apis/"),
            "kind": name,
            **item,
        }
        message = f"Error creating: {error.message}"
        if kind == "statefulsets":
            both = f"Pod {pod['metadata']['name']} in StatefulSet {item['metadata']['name']}"
            message = f"create {both} failed error: {error.message}"
        self._recorders[kind].kubelet(about, "Warning", rollouts.REFUSED, message)

    async def _report_refusal(
        self, kind: str, item: Json, status: Json, lacking: int, why: str
    ) -> None:
        """Report the status of a ReplicaSet or DaemonSet after refused Pods; other kinds report nothing then."""
        if kind == "replicasets":
            reported = rollouts.replica_set_with_refusals(
                item, status, lacking=lacking, why=why, now=timestamp()
            )
            await self._report(kind, item, reported)
        elif kind == "daemonsets":
            await self._report(
                kind, item, rollouts.daemon_set_with_refusals(status, lacking=lacking)
            )

    async def _report(self, kind: str, item: Json, status: Json) -> None:
        current = item.get("status") or {}
        if all(current.get(field, 0) == value for field, value in status.items()):
            return
        metadata = item["metadata"]
        path = f"{_GROUPS.get(kind, _APPS)}/namespaces/{metadata['namespace']}/{kind}"
        await self._client.patch(f"{path}/{metadata['name']}/status", {"status": status})


def _refused(error: Exception) -> bool:
    """Whether the API server refused an object, so that an immediate retry would fail too."""
    status = error.status if isinstance(error, ApiError) else 0
    return 400 <= status < 500 and status not in {409, 429}
