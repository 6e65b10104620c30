"""The agent of one node: registers it, keeps its lease, runs the pods bound to it.

A client of the API like any kubelet: it lists and watches the pods of its node and gives each to a
``PodWorker``. What it cannot admit (another OS, a selector that does not match) it rejects.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable, Iterator, Sequence

import aiohttp

from nettests.lab.client import ApiError, Json
from nettests.lab.client.events import Recorder
from nettests.lab.client.informer import Informer
from nettests.lab.interfaces import NodeNetwork
from nettests.lab.node.admission import refusal
from nettests.lab.node.cni_files import BY_HAND, installed
from nettests.lab.node.components import KUBELET_LINE, files, registry
from nettests.lab.node.context import Execute, Launch, NodeContext
from nettests.lab.node.gated import GatedClient
from nettests.lab.node.kubelet import NodeKubelet
from nettests.lab.node.pod import PodWorker
from nettests.lab.node.pulls import Puller
from nettests.lab.node.registration import (
    KUBELET_PORT,
    lease_object,
    node_object,
    node_status,
)
from nettests.lab.node.server import KubeletServer
from nettests.lab.topology import OS, Profile

_LOG = logging.getLogger(__name__)

_LEASE_PERIOD = 10.0
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class NodeAgent:
    """Runs one node. ``kubelet`` answers the API server's questions about it."""

    def __init__(
        self,
        profile: Profile,
        network: NodeNetwork,
        client: GatedClient,
        *,
        launch: Launch,
        execute: Execute,
        tls: ssl.SSLContext,
    ) -> None:
        self.spec = network.spec
        self._profile = profile
        self._client = client
        self._tls = tls
        self._recorder = Recorder(client, "kubelet", self.spec.name)
        self._pods = Informer(
            client, "/api/v1/pods", fieldSelector=f"spec.nodeName={self.spec.name}"
        )
        self._services = Informer(client, "/api/v1/services")
        self._nodes = Informer(
            client, "/api/v1/nodes", fieldSelector=f"metadata.name={self.spec.name}"
        )
        self._context = NodeContext(
            profile=profile,
            network=network,
            client=client,
            recorder=self._recorder,
            launch=launch,
            execute=execute,
            services=self._services.objects.values,
            puller=Puller(self.spec, network.disk),
        )
        self._workers: dict[str, PodWorker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._pods.subscribe(self._pod_changed)
        network.disk.processes += ["kubelet", "containerd"]
        network.disk.registry |= registry(self.spec, profile, network.source_vip)
        network.disk.files |= files(self.spec, profile, network.source_vip)
        network.disk.command_lines["kubelet"] = KUBELET_LINE
        network.disk.firewall = profile.options.windows_firewall
        if self.spec.os is OS.WINDOWS and profile.cni.plugin in BY_HAND:
            network.disk.files |= installed(self.spec, profile).files
            network.disk.processes += BY_HAND[profile.cni.plugin]
        self.kubelet = NodeKubelet(self._context, self._workers)

    async def run(self) -> None:
        """Run the node until cancelled."""
        host = self._context.network.host
        servers = [
            KubeletServer(host, address, KUBELET_PORT, self._tls) for address in self.spec.addresses
        ]
        try:
            await self._run(servers)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def hold(self) -> None:
        """Pause: report nothing and start nothing, while containers keep running."""
        self._client.gate.clear()

    async def go_on(self) -> None:
        """Resume: report the node and all of its pods."""
        self._client.gate.set()
        await self._report()
        for worker in self._workers.values():
            worker.report_again()

    async def _run(self, servers: Sequence[KubeletServer]) -> None:
        async with asyncio.TaskGroup() as group:
            for server in servers:
                group.create_task(server.run())
            group.create_task(self._recorder.run())
            group.create_task(self._services.run())
            group.create_task(self._nodes.run())
            await self._services.synced.wait()
            await self._register()
            group.create_task(self._pods.run())
            group.create_task(self._keep_lease())

    async def _register(self) -> None:
        """Create the Node, or take over an existing one; then report its status."""
        node = node_object(self.spec, self._profile)
        with _existing_is_fine():
            await self._client.create("/api/v1/nodes", node)
        await self._report()
        with _existing_is_fine():
            await self._client.create(_LEASES, lease_object(self.spec))

    async def _report(self) -> None:
        path = f"/api/v1/nodes/{self.spec.name}/status"
        await self._client.patch(path, {"status": node_status(self.spec, self._profile)})

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(_LEASE_PERIOD)
            renewed = lease_object(self.spec)
            try:
                await self._client.patch(f"{_LEASES}/{self.spec.name}", {"spec": renewed["spec"]})
            except (ApiError, aiohttp.ClientError, OSError) as error:
                _LOG.info("lease of %s: %s", self.spec.name, error)

    def _pod_changed(self, key: str, old: Json | None, new: Json | None) -> None:
        if old is not None and (new is None or _uid(old) != _uid(new)):
            self._remove(key)
        if new is None:
            return
        worker = self._workers.get(key)
        if worker is not None:
            worker.update(new)
        elif new.get("status", {}).get("phase") not in {"Succeeded", "Failed"} or _leaving(new):
            self._start(key, new)

    def _start(self, key: str, pod: Json) -> None:
        node = self._nodes.objects.get(self.spec.name)
        worker = PodWorker(self._context, pod, refusal(pod, node, self.spec, self._profile))
        task = asyncio.create_task(worker.run(), name=f"pod {key}")
        self._workers[key], self._tasks[key] = worker, task
        task.add_done_callback(_log_failure(key))

    def _remove(self, key: str) -> None:
        self._workers.pop(key, None)
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()


def _uid(pod: Json) -> str:
    return str(pod["metadata"]["uid"])


def _leaving(pod: Json) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _log_failure(key: str) -> Callable[[asyncio.Task[None]], None]:
    def log(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("pod %s: its worker failed", key, exc_info=task.exception())

    return log


@contextlib.contextmanager
def _existing_is_fine() -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        if error.status != 409:
            raise
