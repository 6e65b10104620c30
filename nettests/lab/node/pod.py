"""One pod on one node: admitted, given a sandbox, its containers run and stopped, its status reported.

Started by the agent when a pod bound to the node appears; ``update`` passes changes of the pod; it ends
when the pod has finished and is deleted. One task sends the status after changes of any container, so
that simultaneous changes cost one request.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from nettests.lab.client import FAILURES, ApiError, Json, pod_path
from nettests.lab.client.events import timestamp
from nettests.lab.errors import LabError
from nettests.lab.interfaces import NotRunningError
from nettests.lab.node import machine
from nettests.lab.node.container import Container
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.environment import kernel_hostname, resolver
from nettests.lab.node.status import (
    ContainerView,
    Rejection,
    SandboxView,
    creating_view,
    pod_status,
    rejected_status,
)
from nettests.lab.programs.terminal import racing
from nettests.lab.topology import OS

_LOG = logging.getLogger(__name__)

_SANDBOX_RETRY = 10.0
"""``backOffPeriod`` of pkg/kubelet/kubelet.go, without its jitter."""


class PodWorker:
    """Runs one pod; ``rejection`` is set when the node does not admit it."""

    def __init__(self, node: NodeContext, pod: Json, rejection: Rejection | None) -> None:
        self.pod = pod
        self.sandbox: Sandbox | None = None
        self._node = node
        self._rejection = rejection
        self._containers: list[Container] = []
        self._init: list[Container] = []
        self._leaving = asyncio.Event()
        self._dirty = asyncio.Event()
        self._sent: Json = {}
        self._start_time = pod.get("status", {}).get("startTime") or timestamp()
        self._taken_up = False
        self._attached = False
        """Whether attaching to the network has begun: it has to be undone even after a cancellation."""
        self._stopped = False
        if "deletionTimestamp" in pod["metadata"]:
            self._leaving.set()

    @property
    def uid(self) -> str:
        """The pod's uid."""
        return str(self.pod["metadata"]["uid"])

    def update(self, pod: Json) -> None:
        """Take the pod's new state from the API."""
        changed = pod["metadata"].get("generation") != self.pod["metadata"].get("generation")
        self.pod = pod
        if changed and self._taken_up:
            self._dirty.set()
        if "deletionTimestamp" in pod["metadata"]:
            self._leaving.set()

    def report_again(self) -> None:
        """Send the status again, because another client has written it meanwhile."""
        self._sent = {}
        if self._taken_up:
            self._dirty.set()

    def container(self, name: str) -> Container:
        """Return a container by name, the first for ``""``; ``NotRunningError`` if there is none."""
        for container in (*self._containers, *self._init):
            if name in {container.name, ""}:
                return container
        raise NotRunningError(f'container not found ("{name}")')

    def kill(self) -> bool:
        """Kill the processes of its containers; return whether any ran."""
        killed = [container.kill() for container in self._containers]  # ``any`` would stop early
        return any(killed)

    def stop_serving(self) -> None:
        """Close the listening sockets of its containers."""
        for container in self._containers:
            container.stop_serving()

    async def run(self) -> None:
        """Run the pod until it is finished and deleted; cancelling removes everything at once."""
        reporter = asyncio.create_task(self._report())
        try:
            if self._rejection is not None:
                why = self._rejection
                self._tell("Warning", why.reason, why.message)
                await self._patch(rejected_status(why, timestamp()))
            elif not self._leaving.is_set():
                self._taken_up = True
                self._dirty.set()
                await self._live()
            await self._leaving.wait()
            await self._leave()
        finally:
            reporter.cancel()
            await self._take_down()

    async def _live(self) -> None:
        """Run init containers, then the others, until all have ended or the pod is deleted."""
        self.sandbox = await self._retried_sandbox()
        if self.sandbox is None:
            return
        settings = self.sandbox.resolver
        if self._node.spec.os is OS.WINDOWS and not self.sandbox.on_host:  # ``runtimeConfig.dns``
            dns = (",".join(settings.servers), ",".join(settings.searches))
            self._node.network.disk.endpoint_dns[str(self.sandbox.address)] = dns
        spec = self.pod["spec"]
        self._init = [self._make(c, init=True) for c in spec.get("initContainers") or ()]
        self._containers = [self._make(c) for c in spec["containers"]]
        self._dirty.set()
        async with racing(self._run_containers(), self._leaving.wait()) as (work, _):
            if not work.done():
                grace = float(self.pod["metadata"].get("deletionGracePeriodSeconds", 30))
                everything = (*self._init, *self._containers)
                await asyncio.gather(*(container.stop(grace) for container in everything))
                await asyncio.wait([work], timeout=1)
        await self._take_down()
        self._dirty.set()

    async def _run_containers(self) -> None:
        for container in self._init:
            code = await container.run()
            if code != 0:
                return
        self._dirty.set()
        await asyncio.gather(*(container.run() for container in self._containers))

    async def _leave(self) -> None:
        """Report the end, then delete the pod from the API with grace period zero, as a kubelet does."""
        if self._containers:
            await self._send_status()
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        try:
            await self._node.client.delete(pod_path(self.pod), body)
        except ApiError as error:
            if error.status not in {404, 409}:
                raise

    async def _take_down(self) -> None:
        if self._attached and not self._stopped:
            await self._node.network.detach_pod(self.uid)
        self._stopped = True

    async def _retried_sandbox(self) -> Sandbox | None:
        """Return the sandbox, retried every few seconds; ``None`` if the pod is deleted first."""
        while not self._leaving.is_set():
            try:
                return await self._make_sandbox()
            except (LabError, OSError) as error:
                self._tell("Warning", *_why_no_sandbox(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SANDBOX_RETRY):
                    await self._leaving.wait()
        return None

    async def _make_sandbox(self) -> Sandbox:
        """Attach the pod to its own network, or to its node's; ``hostNetwork`` has an effect on Linux only.

        On Windows containerd gives the host's network to HostProcess pods; for others ``hostNetwork``
        is accepted and ignored (KEP-3503, withdrawn), unless the mechanism ``host-network`` is on.
        """
        node, spec = self._node, self.pod["spec"]
        volumes = await machine.volumes_of(node, self.pod)
        domain = node.network.disk.cluster_domain  # a misconfigured kubelet's, if any
        profile = replace(node.profile, cluster_domain=domain) if domain else node.profile
        windows = node.spec.os is OS.WINDOWS
        host_process = windows and machine.is_host_process(self.pod)
        honoured = not windows or bool(node.profile.mechanism("host-network", 0))
        on_host = host_process or (honoured and bool(spec.get("hostNetwork")))
        if on_host:
            namespace, address = node.network.host, node.spec.address
            ipv6 = node.spec.ipv6.address if node.spec.ipv6 else None
            gateway = node.profile.node_network[1]
        else:
            if why := self._refused_by_plugin():
                raise LabError(why)
            self._attached = True
            mappings, wanted = machine.port_mappings(self.pod), machine.wanted_address(self.pod)
            network = await node.network.attach_pod(self.uid, mappings, wanted=wanted)
            namespace, address, gateway = network.namespace, network.address, network.gateway
            ipv6 = network.ipv6
        return Sandbox(
            namespace=namespace,
            address=address,
            ipv6=ipv6,
            gateway=gateway,
            hostname=node.spec.name if on_host else kernel_hostname(self.pod, node.profile),
            resolver=resolver(self.pod, profile, node.spec.os, address, on_host=on_host),
            on_host=on_host,
            host_process=host_process,
            volumes=volumes,
        )

    def _refused_by_plugin(self) -> str:
        """Return containerd's error for a failing plugin, or ``""``; each attempt has a new sandbox id."""
        patterns = self._node.network.disk.no_sandbox
        name = self.pod["metadata"]["name"]
        why = next((text for pattern, text in patterns.items() if fnmatchcase(name, pattern)), "")
        return (
            f'failed to setup network for sandbox "{secrets.token_hex(32)}": {why}' if why else ""
        )

    def _make(self, spec: Json, *, init: bool = False) -> Container:
        if self.sandbox is None:
            raise RuntimeError("containers need a sandbox")
        return Container(self._node, self.pod, spec, self.sandbox, self._dirty.set, init=init)

    def _tell(self, kind: str, reason: str, message: str) -> None:
        self._node.recorder.kubelet(self.pod, kind, reason, message)

    async def _report(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            try:
                await self._send_status()
            except FAILURES as error:
                _LOG.info("status of %s: %s", self.pod["metadata"]["name"], error)

    async def _send_status(self) -> None:
        node = self._node
        view = SandboxView(
            host_addresses=node.spec.addresses,
            addresses=self.sandbox.addresses if self.sandbox else (),
            start_time=self._start_time,
            running=self.sandbox is not None and not self._stopped,
        )
        # Conditions keep their times from the last status sent, as the watch may not have delivered it yet.
        pod = {**self.pod, "status": {**self.pod.get("status", {}), **self._sent}}
        status = pod_status(
            pod,
            view,
            self._views("containers", self._containers),
            self._views("initContainers", self._init),
            minor=node.profile.minor,
            os=node.spec.os,
            now=timestamp(),
        )
        if status != self._sent:
            await self._patch(status)
            self._sent = status

    def _views(self, field: str, containers: Sequence[Container]) -> list[ContainerView]:
        if containers:
            return [container.view() for container in containers]
        spec = self.pod["spec"]
        reason = "PodInitializing" if spec.get("initContainers") else "ContainerCreating"
        return [creating_view(each, reason) for each in spec.get(field) or ()]

    async def _patch(self, status: Json) -> None:
        body = {"metadata": {"uid": self.uid}, "status": status}
        try:
            await self._node.client.patch(f"{pod_path(self.pod)}/status", body)
        except ApiError as error:
            if error.status not in {404, 409}:
                raise


def _why_no_sandbox(error: LabError | OSError) -> tuple[str, str]:
    """Return reason and message of the event: a volume that cannot be set up, or a sandbox."""
    text = error.message if isinstance(error, LabError) else str(error)
    if isinstance(error, machine.MountError):
        return "FailedMount", text
    # The kubelet shows the runtime's error in gRPC's format (kubernetes/kubernetes#94924).
    return (
        "FailedCreatePodSandBox",
        f"Failed to create pod sandbox: rpc error: code = Unknown desc = {text}",
    )
