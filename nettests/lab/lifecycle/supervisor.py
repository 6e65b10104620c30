"""Joins the parts of one lab and keeps them running: network, API server, nodes, controllers, outside.

Runs in the lab's own namespaces, in one event loop. The sockets that the machine can reach were opened before these
namespaces were entered. Components use the API through clients on the lab's inner loopback; other data that they share
is derived from what they read there. If a component fails, the whole lab ends.
"""

import asyncio
import logging
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain

from aiohttp import web

from nettests.lab import apiserver
from nettests.lab.apiserver.troubles import Troubles
from nettests.lab.client import Client, Json
from nettests.lab.client.events import timestamp
from nettests.lab.controllers.endpoint_controller import EndpointController
from nettests.lab.controllers.load_balancer_controller import LoadBalancerController
from nettests.lab.controllers.policy_agent import PolicyAgent
from nettests.lab.controllers.scheduler import Scheduler
from nettests.lab.controllers.service_proxy import SharedPorts
from nettests.lab.controllers.workload_controller import Switches, WorkloadController
from nettests.lab.dns.server import DnsTroubles, OutsideResolver
from nettests.lab.faults.registry import Faults
from nettests.lab.faults.targets import Targets
from nettests.lab.folders import control
from nettests.lab.folders.state import LabFolder
from nettests.lab.installers.plugin_objects import nodes_with_policies
from nettests.lab.installers.system_objects import API_PORT, control_plane_address, objects
from nettests.lab.interfaces import Process
from nettests.lab.kubeconfig import documents
from nettests.lab.lifecycle.readiness import Readiness
from nettests.lab.network import create_fabric
from nettests.lab.network.addressing import nat_exceptions
from nettests.lab.network.fabric import LabFabric
from nettests.lab.network.overlay import pod_mtu
from nettests.lab.node.agent import GatedClient, NodeAgent, NodeKubelet
from nettests.lab.node.images import Kind
from nettests.lab.node.serving import connect
from nettests.lab.node.system import SystemPrograms
from nettests.lab.outside.datagram_proxy import DatagramProxy
from nettests.lab.outside.forward_proxy import USER, OutsideProxy, OutsideServer
from nettests.lab.programs.images import run as run_program
from nettests.lab.programs.sockets.transport import listen
from nettests.lab.programs.terminal import drop
from nettests.lab.topology import NodeSpec, Profile

_LOG = logging.getLogger(__name__)
_API_MECHANISMS = (
    "windows_pod_rules",
    "windows_container_rules",
    "host_process_rules",
    "windows_pod_security",
    "runtime_classes",
)
"""Settings of the API server that mechanisms of the same name switch."""

Tell = Callable[[str], None]
"""Called with the name of each finished phase."""
Write = Callable[[str, str], None]
"""Writes a file, by name and text, into the lab's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sockets:
    """Sockets on the machine: on 127.0.0.1 API, proxies to the outside and their relay; control in the lab's folder."""

    api: socket.socket
    proxy: socket.socket
    udp_proxy: socket.socket
    relay: socket.socket
    control: socket.socket


class Lab:
    """One lab. ``run`` ends only by cancellation or failure."""

    def __init__(
        self, folder: LabFolder, profile: Profile, sockets: Sockets, tell: Tell, write: Write
    ) -> None:
        self._folder = folder
        self._write = write
        self._profile = profile
        self._sockets = sockets
        self._tell = tell
        self._started = time.monotonic()
        self._phases: dict[str, float] = {}
        self._kubelets: dict[str, NodeKubelet] = {}
        self._agents: dict[str, NodeAgent] = {}
        self._api_faults = apiserver.Faults()
        self._inner_token = secrets.token_urlsafe(32)
        self._inner_url = ""
        self._store = apiserver.Store()
        self._readiness = Readiness(profile)
        self._proxy_token = secrets.token_urlsafe(24)
        self._faults: Faults | None = None
        self._access: apiserver.Access | None = None
        self._troubles = Troubles()
        self._dns_troubles = DnsTroubles()
        self._shared = SharedPorts(profile)
        self._fabric: LabFabric | None = None
        self._workloads = Switches(
            identity=self._on("pod-identity"),
            rolling=self._on("rolling-updates"),
            counted=self._on("finished-pods"),
        )

    def _on(self, mechanism: str) -> bool:
        """Whether a mechanism that is on by default was not switched off."""
        return bool(self._profile.mechanism(mechanism, 1))

    async def run(self, ready: Callable[[], None]) -> None:
        """Build everything, call ``ready`` when the lab is ready, then keep running."""
        fabric = await create_fabric(self._profile)
        self._fabric = fabric
        self._done("network")
        issued = documents.issue_certificates(self._profile)
        self._done("certificates")
        user_token = secrets.token_urlsafe(32)
        runner = await self._serve_api(fabric, issued, user_token)
        self._faults = self._make_faults(fabric)
        self._done("API server")
        try:
            async with asyncio.TaskGroup() as group:
                self._start_outside(group, fabric)
                self._start_components(group, fabric, issued)
                async with self._client("kubeadm") as client:
                    for path, item in objects(self._profile):
                        await client.ensure(path, item)
                self._done("objects")
                async with self._client("lab") as client:
                    await self._readiness.wait(client, self._done)
                self._write_documents(issued.ca, user_token)
                group.create_task(control.serve(self._sockets.control, self._control))
                self._done("ready")
                ready()
        finally:
            await runner.cleanup()
            await fabric.close()

    async def _serve_api(
        self, fabric: LabFabric, issued: documents.Certificates, user_token: str
    ) -> web.AppRunner:
        profile = self._profile
        plane = next(node for node in profile.nodes if node.control_plane)
        host = fabric.nodes[plane.name].host
        port = self._sockets.api.getsockname()[1]
        switched: Json = {name: self._on(name.replace("_", "-")) for name in _API_MECHANISMS}
        app = apiserver.create_app(
            store=self._store,
            kubelets=self._kubelets,
            dial=partial(connect, host),
            settings=apiserver.ApiSettings(
                **switched,
                tokens={
                    user_token: apiserver.administrator(),
                    self._inner_token: apiserver.component("lab"),
                },
                version=apiserver.Version(git=profile.kubernetes_version),
                service_cidr=profile.service_cidr,
                second_service_cidr=profile.ipv6.service_cidr if profile.ipv6 else None,
                server_address=f"127.0.0.1:{port}",
                ca_certificate=issued.ca.decode(),
                faults=self._api_faults,
            ),
        )
        app.middlewares.append(self._troubles.middleware())
        self._access = app[apiserver.SERVER].access
        runner = await apiserver.start(app, self._sockets.api, issued.api)
        inner = socket.create_server(("127.0.0.1", 0))
        self._inner_url = f"http://127.0.0.1:{inner.getsockname()[1]}"
        await web.SockSite(runner, inner).start()
        in_cluster = listen(host, API_PORT, control_plane_address(profile))
        await web.SockSite(runner, in_cluster, ssl_context=issued.api).start()
        return runner

    def _client(self, agent: str) -> Client:
        return Client(self._inner_url, self._inner_token, agent=agent)

    def _start_outside(self, group: asyncio.TaskGroup, fabric: LabFabric) -> None:
        profile = self._profile
        server = OutsideServer(profile, fabric.outside_server)
        group.create_task(server.run(drop))
        resolver = OutsideResolver({profile.outside_name: profile.outside_server})
        resolver.start(fabric.outside_server, profile.outside_server)
        proxy = OutsideProxy(self._sockets.proxy, fabric.outside_client, self._proxy_token)
        group.create_task(proxy.run())
        relay = DatagramProxy(
            self._sockets.udp_proxy, self._sockets.relay, fabric.outside_client, self._proxy_token
        )
        group.create_task(relay.run())

    def _start_components(
        self, group: asyncio.TaskGroup, fabric: LabFabric, issued: documents.Certificates
    ) -> None:
        version, apart = self._profile.minor, self._on("anti-affinity")
        components: dict[str, Callable[[Client], Awaitable[None]]] = {
            "kube-scheduler": lambda c: Scheduler(c, version, apart=apart).run(),
            "endpoint-controller": lambda c: EndpointController(c).run(),
            "workload-controller": lambda c: WorkloadController(c, self._workloads).run(),
        }
        if self._on("load-balancer-controller"):
            components["load-balancer-controller"] = lambda c: LoadBalancerController(
                c, self._profile, fabric.announce
            ).run()
        if nodes := nodes_with_policies(self._profile):
            components["policy-agent"] = lambda c: PolicyAgent(c, nodes, fabric.enforce).run()
        for name, run in components.items():
            group.create_task(self._component(name, run))
        for spec in self._profile.nodes:
            group.create_task(self._node(fabric, spec, issued))

    async def _component(self, name: str, run: Callable[[Client], Awaitable[None]]) -> None:
        async with self._client(name) as client:
            await run(client)

    async def _node(
        self, fabric: LabFabric, spec: NodeSpec, issued: documents.Certificates
    ) -> None:
        network = fabric.nodes[spec.name]

        system = SystemPrograms(
            profile=self._profile,
            network=network,
            clients=self._client,
            programmed=partial(self._readiness.programmed, spec.name),
            dns_troubles=self._dns_troubles,
            shared=self._shared,
        )
        programs = system.by_kind()

        async def launch(kind: Kind, process: Process) -> int:
            return await programs.get(kind, run_program)(process)

        kubelet = GatedClient(self._inner_url, self._inner_token, agent=f"kubelet/{spec.name}")
        async with kubelet as client:
            agent = NodeAgent(
                self._profile,
                network,
                client,
                launch=launch,
                execute=run_program,
                tls=issued.kubelets[spec.name],
            )
            self._kubelets[spec.name] = agent.kubelet
            self._agents[spec.name] = agent
            async with asyncio.TaskGroup() as group:
                proxy = self._profile.kube_proxy
                if spec.os in proxy.service_on and not proxy.is_replaced(spec.os):
                    group.create_task(system.kube_proxy_service())
                await agent.run()

    def _write_documents(self, ca: bytes, token: str) -> None:
        folder, sockets = self._folder, self._sockets
        api, proxy, udp_proxy = (
            sock.getsockname()[1] for sock in (sockets.api, sockets.proxy, sockets.udp_proxy)
        )
        server, who = f"https://127.0.0.1:{api}", f"{USER}:{self._proxy_token}@127.0.0.1"
        cluster_profile = documents.cluster_profile(
            self._profile,
            f"http://{who}:{proxy}",
            f"socks5://{who}:{udp_proxy}",
            mtu=pod_mtu(self._profile),
            nat_exceptions=[*chain.from_iterable(map(nat_exceptions, self._profile.by_family))],
        )
        for path, text in (
            (folder.kubeconfig, documents.kubeconfig(folder.name, server, ca, token)),
            (folder.short_lived, documents.short_lived(folder.name, server, ca, folder.path)),
            (folder.cluster_profile, cluster_profile),
        ):
            self._write(path.name, text)

    def _make_faults(self, fabric: LabFabric) -> Faults:
        if self._access is None:
            raise RuntimeError("faults of the API are made before the API is served")
        targets = Targets(
            profile=self._profile,
            fabric=fabric,
            api=self._api_faults,
            access=self._access,
            troubles=self._troubles,
            dns=self._dns_troubles,
            dns_pod=self._readiness.dns_pod,
            client=self._client,
            kubelets=self._kubelets,
            agents=self._agents,
            stopped=self._workloads.stopped,
        )
        return Faults(targets)

    async def _control(self, request: Json) -> Json:
        if self._faults is None or self._fabric is None or self._access is None:
            raise RuntimeError("the control socket is served before the lab is built")
        match request["do"]:
            case "status":
                return {"phases": self._phases, **self._fabric.describe()}
            case "token":
                seconds = int(request["seconds"])
                expires = timestamp(datetime.now(UTC) + timedelta(seconds=seconds))
                token = self._access.issue(apiserver.administrator(), seconds)
                return {"token": token, "expires": expires}
            case "fault-inject":
                fault = await self._faults.inject(request["fault"], request.get("options", {}))
                return {"number": fault.number}
            case "fault-clear":
                return {"cleared": await self._faults.clear(request.get("fault"))}
            case "fault-list":
                rows = ((f.number, f.name, f.options) for f in self._faults.list())
                names = ("number", "fault", "options")
                return {"faults": [dict(zip(names, row, strict=True)) for row in rows]}
            case unknown:
                return {"error": f"unknown request: {unknown}"}

    def _done(self, phase: str) -> None:
        self._phases[phase] = round(time.monotonic() - self._started, 3)
        self._tell(phase)
