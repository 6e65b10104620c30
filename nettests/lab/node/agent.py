"""The agent of one node: registers it, renews its lease, runs its pods, and serves the API server (``interfaces.Kubelet``).

A client of the API like any kubelet: it lists and watches the pods of its node and gives each to a ``PodWorker``. It rejects pods
that it cannot admit (another OS, a selector that does not match). Port-forward follows the node's runtime: containerd connects to
127.0.0.1 inside the pod's namespace, on Windows too up to 1.7 (wincat in the sandbox); containerd 2 on Windows dials the pod's address
from the host (``sandbox_portforward_windows.go``).
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from nettests.lab.client import FAILURES, Client, Json
from nettests.lab.client.events import Recorder
from nettests.lab.client.informer import Informer
from nettests.lab.controllers.scheduling import selects
from nettests.lab.interfaces import Duplex, ExecOutcome, NodeNetwork, NotRunningError
from nettests.lab.node import registration
from nettests.lab.node.cni_files import BY_HAND, installed
from nettests.lab.node.container import Container
from nettests.lab.node.context import Execute, Launch, NodeContext, Puller
from nettests.lab.node.pod import PodWorker
from nettests.lab.node.serving import connect, kubelet_server
from nettests.lab.node.status import Rejection
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.topology import OS, NodeSpec, Profile


class GatedClient(Client):
    """A client that waits while ``gate`` is not set."""

    def __init__(self, base_url: str, token: str, *, agent: str) -> None:
        super().__init__(base_url, token, agent=agent)
        self.gate = asyncio.Event()
        self.gate.set()

    async def watch(self, path: str, resource_version: str, **query: str) -> AsyncIterator[Json]:
        """Yield watch events; they are held back while the gate is closed."""
        async for event in super().watch(path, resource_version, **query):
            await self.gate.wait()
            yield event

    async def _send(self, method: str, path: str, **request: Any) -> Json:
        await self.gate.wait()
        return await super()._send(method, path, **request)


def refusal(pod: Json, node: Json | None, spec: NodeSpec, profile: Profile) -> Rejection | None:
    """Return why the node does not admit the pod, if so; ``node`` is its Node object, once the agent has it."""
    wanted = (pod["spec"].get("os") or {}).get("name")
    looks = bool(profile.mechanism("pod-os", 1))
    if looks and wanted and wanted != spec.os.value:
        return Rejection(
            reason="PodOSNotSupported",
            message="Failed to admit pod as the OS field doesn't match node OS",
        )
    if node is not None and not selects(pod, node):
        return Rejection(
            reason="NodeAffinity",
            message="Predicate NodeAffinity failed: "
            "node(s) didn't match Pod's node affinity/selector",
        )
    return None


_DIALS_FROM_HOST = 2


class NodeKubelet:
    """The API server's access to the pods of one node; ``workers`` are by ``namespace/name``."""

    def __init__(self, node: NodeContext, workers: Mapping[str, PodWorker]) -> None:
        self._node = node
        self._workers = workers

    async def exec(
        self, *, namespace: str, pod: str, container: str, argv: Sequence[str], **streams: Any
    ) -> ExecOutcome:
        """Run a program in a running container; ``NotRunningError`` when there is none."""
        return await self._container(namespace, pod, container).exec(argv, **streams)

    def kill(self, *, namespace: str, pod: str) -> bool:
        """Send SIGKILL to the processes of a pod's containers; return whether there were any."""
        worker = self._workers.get(f"{namespace}/{pod}")
        return worker is not None and worker.kill()

    def stop_serving(self, *, namespace: str, pod: str) -> None:
        """Close the listening sockets of a pod's containers; their processes keep running."""
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is not None:
            worker.stop_serving()

    async def log(
        self, *, namespace: str, pod: str, container: str, previous: bool
    ) -> Sequence[tuple[str, bytes]]:
        """Return the container's log so far, or that of its run before the last restart."""
        target = self._container(namespace, pod, container)
        if not previous:
            return target.log.lines()
        if target.previous is None:
            text = f'previous terminated container "{container}" in pod "{pod}" not found'
            raise NotRunningError(text)
        return target.previous.lines()

    async def open_port(self, *, namespace: str, pod: str, port: int) -> Duplex:
        """Connect to a port of the pod as this node's runtime does; ``OSError`` if it fails."""
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is None or worker.sandbox is None:
            raise OSError(f'pod "{pod}" is not running')
        sandbox = worker.sandbox
        # containerd://2.0.5
        major = int(self._node.spec.runtime.partition("://")[2].split(".")[0])
        dials = self._node.profile.mechanism("forward-to-address", int(major >= _DIALS_FROM_HOST))
        if self._node.spec.os is OS.WINDOWS and dials and not sandbox.host_process:
            return await self._dial(str(sandbox.address), port)
        return await connect(sandbox.namespace, "127.0.0.1", port)

    async def _dial(self, address: str, port: int) -> Duplex:
        """Dial a pod from the host; errors have Windows' text, which containerd passes on."""
        try:
            return await connect(self._node.network.host, address, port)
        except OSError as error:
            text = call_text(
                OS.WINDOWS, Call.CONNECT, error, self._node.profile.windows.message_locale
            )
            message = f"failed to connect to {address}:{port}: dial tcp {address}:{port}: {text}"
            raise NotRunningError(message) from error

    def _container(self, namespace: str, pod: str, name: str) -> Container:
        worker = self._workers.get(f"{namespace}/{pod}")
        if worker is None:
            raise NotRunningError(f'container not found ("{name}")')
        return worker.container(name)


_LOG = logging.getLogger(__name__)

_LEASE_PERIOD = 10.0
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class NodeAgent:
    """Runs one node. The API server uses its ``kubelet``."""

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
        network.disk.registry |= registration.registry(self.spec, profile, network.source_vip)
        network.disk.files |= registration.files(self.spec, profile, network.source_vip)
        network.disk.command_lines["kubelet"] = registration.KUBELET_LINE
        network.disk.firewall = profile.options.windows_firewall
        if self.spec.os is OS.WINDOWS and profile.cni.plugin in BY_HAND:
            network.disk.files |= installed(self.spec, profile).files
            network.disk.processes += BY_HAND[profile.cni.plugin]
        self.kubelet = NodeKubelet(self._context, self._workers)

    async def run(self) -> None:
        """Run the node until cancelled."""
        host = self._context.network.host
        servers = [
            kubelet_server(host, address, registration.KUBELET_PORT, self._tls)
            for address in self.spec.addresses
        ]
        try:
            async with asyncio.TaskGroup() as group:
                for server in servers:
                    group.create_task(server.serve())
                group.create_task(self._recorder.run())
                group.create_task(self._services.run())
                group.create_task(self._nodes.run())
                await self._services.synced.wait()
                await self._register()
                group.create_task(self._pods.run())
                group.create_task(self._keep_lease())
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def hold(self) -> None:
        """Pause: stop reporting and starting pods, while containers keep running."""
        self._client.gate.clear()

    async def go_on(self) -> None:
        """Resume: report the node and all of its pods."""
        self._client.gate.set()
        await self._report()
        for worker in self._workers.values():
            worker.report_again()

    async def _register(self) -> None:
        """Create the Node, or take over an existing one; then report its status."""
        node = registration.node_object(self.spec, self._profile)
        await self._client.ensure("/api/v1/nodes", node)
        await self._report()
        await self._client.ensure(_LEASES, registration.lease_object(self.spec))

    async def _report(self) -> None:
        path = f"/api/v1/nodes/{self.spec.name}/status"
        await self._client.patch(
            path, {"status": registration.node_status(self.spec, self._profile)}
        )

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(_LEASE_PERIOD)
            renewed = registration.lease_object(self.spec)
            try:
                await self._client.patch(f"{_LEASES}/{self.spec.name}", {"spec": renewed["spec"]})
            except FAILURES as error:
                _LOG.info("lease of %s: %s", self.spec.name, error)

    def _pod_changed(self, key: str, old: Json | None, new: Json | None) -> None:
        if old is not None and (new is None or _uid(old) != _uid(new)):
            self._workers.pop(key, None)
            if (task := self._tasks.pop(key, None)) is not None:
                task.cancel()
        if new is None:
            return
        worker = self._workers.get(key)
        if worker is not None:
            worker.update(new)
        elif (
            new.get("status", {}).get("phase") not in {"Succeeded", "Failed"}
            or "deletionTimestamp" in new["metadata"]
        ):
            self._start(key, new)

    def _start(self, key: str, pod: Json) -> None:
        node = self._nodes.objects.get(self.spec.name)
        worker = PodWorker(self._context, pod, refusal(pod, node, self.spec, self._profile))
        task = asyncio.create_task(worker.run(), name=f"pod {key}")
        self._workers[key], self._tasks[key] = worker, task
        task.add_done_callback(partial(_log_failure, key))


def _uid(pod: Json) -> str:
    return str(pod["metadata"]["uid"])


def _log_failure(key: str, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _LOG.error("pod %s: its worker failed", key, exc_info=task.exception())
