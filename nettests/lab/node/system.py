"""The programs of system pods: service proxy, DNS server, and daemons that only log.

They are real components of the lab: without a node's kube-proxy pod its rules are no longer updated,
without the CoreDNS pod names no longer resolve.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address

from nettests.lab.client import Client
from nettests.lab.controllers.dns_feeder import DnsFeeder
from nettests.lab.controllers.service_proxy import ServiceProxy, SharedPorts, seconds_gathered
from nettests.lab.dns.server import ClusterDns, DnsTroubles, forward_to
from nettests.lab.dns.zone import DnsView
from nettests.lab.interfaces import Namespace, NodeNetwork, Process
from nettests.lab.node.cni_files import installed
from nettests.lab.node.images import Kind
from nettests.lab.node.registration import configuration, kube_proxy_line
from nettests.lab.node.serving import Answer, HealthChecks, answering, as_json
from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.values import klog
from nettests.lab.programs.terminal import racing
from nettests.lab.topology import LINUX_MODE, OS, Profile, ProxyMode, ServiceTable

Program = Callable[[Process], Awaitable[int]]

HEALTHZ_PORT = 10256
METRICS_PORT = 10249
"""On the loopback address, as in kube-proxy; serves the mode, the configuration and, as metrics, the version."""
READY_PORT = 8181

_DNS_GATHER, _DNS_GATHER_A_NODE = 0.01, 0.001
"""Seconds in which changes are gathered before all of the DNS server's records are recreated; the second is per node."""

_HEALTH_PER_FAMILY = 34
_KERNELSPACE_ONLY = 26
_WINDOWS_SLICES = 21
"""WindowsEndpointSliceProxying is on by default from Kubernetes 1.21 on (CHANGELOG-1.21)."""
FLANNEL_LOG = r"C:\var\log\pods\kube-flannel_kube-flannel-ds-windows\kube-flannel\0.log"
_WAITING = "Waiting to get ManagementIP from HNSNetwork cbr0"
_KUBE_PROXY_DEFAULTS = {
    "config": "",
    "enable-dsr": "false",
    "nodeport-addresses": "[]",
    "proxy-mode": "",
    "source-vip": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrograms:
    """The programs of one node's system pods.

    ``clients`` makes an API client for a component's name; ``programmed`` gets each table that the service proxy has
    programmed; ``dns_troubles`` are the faults of the cluster's DNS; all service proxies use ``shared``.
    """

    profile: Profile
    network: NodeNetwork
    clients: Callable[[str], Client]
    programmed: Callable[[ServiceTable], None]
    dns_troubles: DnsTroubles
    shared: SharedPorts

    def by_kind(self) -> Mapping[Kind, Program]:
        """Return the programs by kind of image."""
        return {
            Kind.KUBE_PROXY: self._kube_proxy,
            Kind.COREDNS: self._coredns,
            Kind.FLANNEL: self._flannel,
            Kind.AZURE_CNS: self._azure_cns,
            Kind.ANTREA: self._antrea,
            Kind.CALICO: self._calico,
            Kind.OVN_KUBERNETES: _until_terminated,
            Kind.AWS_NODE: _until_terminated,
            Kind.PAUSE: _until_terminated,
        }

    async def _kube_proxy(self, process: Process) -> int:
        vip = self.network.source_vip
        words = [*process.argv[1:], *([] if vip is None else [f"--source-vip={vip}"])]
        flags = dict(word.removeprefix("--").partition("=")[::2] for word in words)
        for name, value in sorted({**_KUBE_PROXY_DEFAULTS, **flags}.items()):
            await _log(process, "flags.go:64", f'FLAG: --{name}="{value}"')
        if why := _refused_mode(process.argv[1:], self.profile, self.network.spec.os):
            await process.stderr(f"{why}\n".encode())
            return 1
        line = " ".join([process.argv[0], *words])
        async with self._proxying(process.machine.namespace, line) as proxy:
            return await _beside(process, proxy.run())

    async def kube_proxy_service(self) -> None:
        """Run kube-proxy as a service of its host, without a Pod and a log in the API."""
        line = kube_proxy_line(self.network.spec, self.profile, self.network.source_vip)
        async with self._proxying(self.network.host, line) as proxy:
            await proxy.run()

    @asynccontextmanager
    async def _proxying(self, namespace: Namespace, line: str) -> AsyncIterator[ServiceProxy]:
        """Run kube-proxy with its HTTP servers while the context lasts."""
        async with self._running("kube-proxy", line), self.clients("kube-proxy") as client:
            checks = HealthChecks(namespace, self.network.spec.name)
            proxy = self._proxy(client, checks)

            healthz = {"/healthz": lambda: _health_of(self.profile, synced=proxy.synced)}
            everywhere = "0.0.0.0"  # noqa: S104  # of a namespace of the lab
            async with (
                answering(namespace, everywhere, HEALTHZ_PORT, healthz),
                answering(namespace, "127.0.0.1", METRICS_PORT, self._metrics_handlers(line)),
            ):
                try:
                    yield proxy
                finally:
                    await checks.follow(())
                    await self._end_forwarding()

    def _metrics_handlers(self, line: str) -> Mapping[str, Answer]:
        settings = configuration(self.network.spec.os, self._mode(), line)
        version = f'kubernetes_build_info{{git_version="{self.profile.kubernetes_version}"}} 1\n'
        return {
            "/proxyMode": lambda: requests.text(self._mode()),
            "/configz": lambda: as_json(settings),
            "/metrics": lambda: requests.text(version),
        }

    def _mode(self) -> str:
        linux = self.network.spec.os is OS.LINUX
        return LINUX_MODE if linux else self.profile.kube_proxy.mode.value

    def _proxy(self, client: Client, checks: HealthChecks) -> ServiceProxy:
        linux = self.network.spec.os is OS.LINUX
        user_mode = self.profile.kube_proxy.mode is ProxyMode.USERSPACE
        serves = linux or self.profile.mechanism("health-check-ports", not user_mode)

        async def programmed(table: ServiceTable) -> None:
            await checks.follow(table if serves else ())
            self.programmed(table)

        return ServiceProxy(
            client,
            self.network,
            self.shared,
            programmed,
            gather=seconds_gathered(len(self.profile.nodes)),
            by_slices=linux or reads_slices(self.profile),
        )

    async def _end_forwarding(self) -> None:
        """End connections that a userspace kube-proxy forwards; rules in the kernel outlive its process."""
        user_mode = self.profile.kube_proxy.mode is ProxyMode.USERSPACE
        if user_mode and self.network.spec.os is OS.WINDOWS:
            await self.network.program_services(())

    async def _coredns(self, process: Process) -> int:
        machine = process.machine
        address = machine.addresses[0]
        forward = forward_to(machine.namespace, self.profile.outside_server)
        server = ClusterDns(
            DnsView(domain=self.profile.cluster_domain),
            forward=forward,
            address=IPv4Address(address),
            troubles=self.dns_troubles,
        )
        async with self.clients("coredns") as client:
            gather = max(_DNS_GATHER, _DNS_GATHER_A_NODE * len(self.profile.nodes))
            feeder = DnsFeeder(client, server, self.profile.cluster_domain, gather=gather)

            ready = {"/ready": lambda: requests.text("", 200 if feeder.fed else 503)}
            server.start(machine.namespace, IPv4Address(address))
            await process.stdout(b".:53\nCoreDNS-1.11.1\n")
            try:
                async with answering(machine.namespace, address, READY_PORT, ready):
                    return await _beside(process, feeder.run())
            finally:
                await server.stop()

    async def _flannel(self, process: Process) -> int:
        backend = self.profile.cni.backend
        await _log(process, "main.go:212", f"CLI flags config: {' '.join(process.argv[1:])}")
        await _log(process, "kube.go:139", "Waiting 10m0s for node controller to sync")
        await _log(process, "main.go:433", f"Found network config - Backend type: {backend}")
        waits = self.profile.mechanism("flannel-waits", 0)
        log_line = _WAITING if waits else "Wrote subnet file to /run/flannel/subnet.env"
        await _log(process, "main.go:455", log_line)
        self.network.disk.files[FLANNEL_LOG] = f"stderr F I0000 main.go:455] {log_line}\n"
        self._install()
        async with self._running("flanneld"):
            return await _until_terminated(process)

    @asynccontextmanager
    async def _running(self, name: str, line: str = "") -> AsyncIterator[None]:
        """List a process on the node while it runs, with its command line."""
        disk = self.network.disk
        disk.processes.append(name)
        disk.command_lines[name] = line
        try:
            yield
        finally:
            disk.processes.remove(name)

    def _install(self) -> None:
        """Install the plugin's files on a Windows node, as its daemon does at its start."""
        if self.network.spec.os is OS.WINDOWS:
            plugin_files = installed(self.network.spec, self.profile)
            self.network.disk.files |= plugin_files.files
            self.network.disk.programs |= plugin_files.programs

    async def _azure_cns(self, process: Process) -> int:
        self._install()
        await process.stderr(b"[Azure CNS] Service started successfully\n")
        return await _until_terminated(process)

    async def _calico(self, process: Process) -> int:
        self._install()
        await process.stdout(b"Calico node started successfully\n")
        async with self._running("calico-node"):
            return await _until_terminated(process)

    async def _antrea(self, process: Process) -> int:
        """Run the agent, which programs Services itself (AntreaProxy) if a Windows node has no kube-proxy."""
        await _log(process, "agent.go:1", "Starting Antrea agent")
        windows = process.machine.os is OS.WINDOWS
        if not windows or self.profile.kube_proxy.mode is not ProxyMode.NONE:
            return await _until_terminated(process)
        async with self.clients("antrea-agent") as client:
            checks = HealthChecks(process.machine.namespace, self.network.spec.name)
            proxy = self._proxy(client, checks)
            try:
                return await _beside(process, proxy.run())
            finally:
                await checks.follow(())


def _health_of(profile: Profile, *, synced: bool) -> requests.Response:
    """Return kube-proxy's ``/healthz`` answer; per family since 1.34 (``pkg/proxy/healthcheck``)."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    body: dict[str, object] = {"lastUpdated": now, "currentTime": now, "nodeEligible": True}
    if profile.minor >= _HEALTH_PER_FAMILY:
        family = {"lastUpdated": now, "healthy": synced}
        body |= {"healthy": synced, "status": {"IPv4": family, "IPv6": family}}
    return as_json(body, 200 if synced else 503)


async def _beside(process: Process, component: Awaitable[None]) -> int:
    """Run a component until SIGTERM, or until it fails: then its container ends, too."""
    async with racing(component, process.terminate.wait()) as (work, _):
        if work.done() and not work.cancelled() and work.exception() is not None:
            await process.stderr(f"{work.exception()}\n".encode())
            return 1
        return 0


async def _until_terminated(process: Process) -> int:
    await process.terminate.wait()
    return 0


def _refused_mode(arguments: Sequence[str], profile: Profile, os: OS) -> str:
    """Return kube-proxy's error on Windows if ``--proxy-mode`` names an unsupported mode, else ``""``.

    After ``validateProxyModeWindows`` of ``k8s.io/kubernetes/pkg/proxy/apis/config/validation``. Linux nodes read
    their mode from the ConfigMap.
    """
    modes_given = [word.partition("=")[2] for word in arguments if word.startswith("--proxy-mode=")]
    both = profile.minor < _KERNELSPACE_ONLY
    modes = ["kernelspace", *(["userspace"] if both else [])]
    if os is OS.LINUX or not modes_given or modes_given[-1] in {"", *modes}:
        return ""
    blank = "or blank (blank means the most-available proxy [currently 'kernelspace'])"
    return f'Error: KubeProxyConfiguration.ProxyMode: Invalid value: "{modes_given[-1]}": must be {",".join(modes)} {blank}'


async def _log(process: Process, where: str, text: str) -> None:
    await process.stderr(klog(where, text))


def reads_slices(profile: Profile) -> bool:
    """Whether kube-proxy on Windows reads EndpointSlices; otherwise it reads Endpoints."""
    usual = profile.minor >= _WINDOWS_SLICES
    return bool(profile.mechanism("endpoint-slices", usual))
