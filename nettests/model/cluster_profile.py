"""The cluster profile: what a kubeconfig cannot say, stated by the user (or by a lab).

Read by ``cluster.profile_file`` from YAML, used by discovery (stated facts, node pools), by deployment (image)
and by observation (external vantage, timing). A stated fact overrides what discovery read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path

from nettests.model.facts import ALL, Address, ExternalTarget, Network, Scale
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.resources import lines_of

AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
"""The probe image: the first release line with Windows Server 2019, 2022 and 2025 builds."""
CAPTURE = "docker.io/nicolaka/netshoot:v0.13"
"""Default image that captures on Linux nodes: it has tcpdump, timeout, pkill and curl."""
DOCUMENTATION_ADDRESSES: Network = IPv4Network("192.0.2.0/24")
"""TEST-NET-1 of RFC 5737: assigned to no host, and not routed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Every delay and deadline of a run in seconds, and numbers of tries.

    ``dial`` is netexec's own fixed client timeout (agnhost ``netexec`` source), and the others
    leave room around it. Windows programs a Service's load balancers within about a minute
    (``convergence``).
    """

    ready: float = 600
    """Pods must be Ready; pulling a Windows image takes minutes."""
    stuck: float = 35
    """A Pod in a state that does not heal by itself (ImagePullBackOff …) fails after this: a
    kubelet retries a pull after 10 s and 20 s more."""
    acknowledged: float = 20
    """A Pod fails if its kubelet has not set ``status.startTime`` this long after binding. Kubelets
    do at once, and rewrite each status within 10 s (``syncPeriod``,
    pkg/kubelet/status/status_manager.go); this is twice that, at most ``stuck``."""
    listening: float = 15
    """Servers of Ready Pods must answer by Pod address."""
    convergence: float = 60
    """Services and names must answer their clients on Windows nodes."""
    convergence_linux: float = 30
    """The same on Linux nodes, and on any node once a later Service answers there: Kubernetes'
    scalability tests allow kube-proxy 30 s (kubernetes/perf-tests,
    ``NetworkProgrammingLatency``)."""
    load_balancer: float = 120
    """Services of type LoadBalancer must get an address; clouds take a minute or two."""
    dial: float = 5
    idle: float = 300
    """How long a connection is idle before it is used again."""
    flow_memory: float = 240
    """How long switches are known to remember a flow: a shorter idle time shows nothing."""
    names: float = 45
    """Extra time of a dial by name: with silent DNS, a Linux resolver queries each of four names of
    a search list twice, for 5 s."""
    names_cached: float = 30
    """How long a name may lead to a Pod's former address: CoreDNS and NodeLocal DNSCache ship with
    ``cache 30``, for existing and denied names."""
    channel: float = 15
    """One answer over a control channel, beyond the dial itself."""
    execute: float = 30
    """One process in a container, from start to exit code."""
    clean_up: float = 30
    """Waiting for the run's namespace to go."""
    api_connect: float = 5
    api_read: float = 30
    """Connecting to the API server, and the silence between two reads of an answer."""
    api_answer: float = 120
    """One answer of the API server to its last byte; a watch has a limit of its own."""
    api_tries: int = 5
    """Tries in all of a request that gets 429, 5xx or a lost connection."""
    api_tokens: int = 20
    """Additional tries of a request whose token expired, each with the next token."""
    api_first_pause: float = 0.2
    api_longest_pause: float = 5
    """Longest pause between two tries: doubled each time, or as Retry-After says, with jitter."""
    channel_tries: int = 3
    """Tries in all of a stream (exec, port-forward) that is lost."""
    lease: float = 30
    """A run whose Lease was not renewed for this long is dead; it renews three times as often."""
    successes: int = 3
    """Successes in a row that a positive result needs."""
    failures: int = 2
    """Failures in a row that a negative result needs, with the controls between them."""
    client_addresses: int = 8
    """How many of many new connections request the client's port, to prove that ports differ."""
    per_probe: int = 16
    """Concurrent requests over one probe's HTTP channel."""
    exec_linux: int = 12
    exec_windows: int = 6
    """Concurrent processes on one node; on Windows they leak and deadlock (k/k #98102, #124700)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticsLimits:
    """Limits of what is collected about failing checks; with 0 ``subjects``, nothing."""

    seconds: float = 60
    """Deadline for all of it."""
    subjects: int = 24
    """Nodes, Services and Pods, the most urgent first."""
    item_bytes: int = 262_144
    """Bytes of one file; longer ones are truncated and say so."""
    total_bytes: int = 16_777_216
    """All files of a run."""
    log_lines: int = 1000
    """The last lines of a container's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedKubeProxy:
    """kube-proxy's settings on the nodes of one OS; ``source_vip`` maps node names to VIPs."""

    version: KubernetesVersion | None = None
    mode: str | None = None
    dsr: bool | None = None
    localhost_node_ports: bool | None = None
    source_vip: dict[str, Address] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts:
    """Facts that the user states; ``None`` and empty leave them to discovery."""

    cni_plugin: str | None = None
    cni_backend: str | None = None
    cni_driver: str | None = None
    cni_mtu: int | None = None
    cni_nat_exceptions: tuple[Network, ...] | None = None
    cni_loopback_dsr: bool | None = None
    windows_firewall: bool | None = None
    platform: str | None = None
    kube_proxy_windows: StatedKubeProxy = field(default_factory=StatedKubeProxy)
    kube_proxy_linux: StatedKubeProxy = field(default_factory=StatedKubeProxy)
    pod_cidrs: tuple[Network, ...] = ()
    service_cidrs: tuple[Network, ...] = ()
    cluster_domain: str | None = None
    dns_address: Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """Which image probes run on which node, and where images come from.

    ``by_system`` maps ``linux``, ``windows`` or a build (``windows-20348``) to an image, which is
    used as it is; ``registry`` replaces the registry of all other images. ``pull_secrets`` are
    Secrets of the namespace; ``pull_secret_file`` (a Docker ``config.json``) becomes one, as does
    ``pull_secret`` (``namespace/name``), whose content a run reads into ``pull_secret_data``. Their
    content never reaches a journal or a report. ``pre_pull`` pulls every image onto its nodes
    before a run tests anything; ``require_digest`` refuses images by tag.
    """

    probe: str | None = None
    registry: str | None = None
    by_system: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: tuple[str, ...] = ()
    pull_secret_file: Path | None = None
    pull_secret: str = ""
    pull_secret_data: Mapping[str, str] = field(default_factory=dict, repr=False)
    pre_pull: bool = False
    require_digest: bool = False
    capture: str = ""
    """Image that captures on Linux nodes, only for traces; empty for the default."""


Amounts = Mapping[str, Mapping[str, str]]
"""``resources`` of a container: amounts by name, under ``requests`` and ``limits``."""

LINUX_RESOURCES: Amounts = {
    "requests": {"cpu": "10m", "memory": "32Mi"},
    "limits": {"cpu": "2", "memory": "512Mi"},
}
WINDOWS_RESOURCES: Amounts = {
    "requests": {"cpu": "20m", "memory": "64Mi"},
    "limits": {"cpu": "2", "memory": "1Gi"},
}
"""Far above what a probe uses: for namespaces that require limits or would set their own."""


_MESHES = [line.split(" ") for line in lines_of("nettests.model", "outside_meshes.txt")]
OUTSIDE_MESHES = {
    kind: {name: value for of, name, value in _MESHES if of == kind}
    for kind in ("labels", "annotations")
}
"""Opt Pods out of sidecars, which would answer in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSettings:
    """Settings of every Pod of a run; none changes what a check targets.

    ``node_selector`` also excludes nodes without these labels from the run. ``tolerations`` are API
    objects, in addition to those for the node's own taints.
    """

    labels: Mapping[str, str] = field(default_factory=lambda: OUTSIDE_MESHES["labels"])
    annotations: Mapping[str, str] = field(default_factory=lambda: OUTSIDE_MESHES["annotations"])
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, str | int], ...] = ()
    priority_class: str | None = None
    linux_resources: Amounts = field(default_factory=lambda: LINUX_RESOURCES)
    windows_resources: Amounts = field(default_factory=lambda: WINDOWS_RESOURCES)

    def resources(self, os: OS) -> Amounts:
        """Return the requests and limits of a container on a node of ``os``."""
        return self.windows_resources if os is OS.WINDOWS else self.linux_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProfile:
    """What the user states about a cluster. The default states nothing, and nothing external is contacted.

    ``nodePools`` pins groups of nodes to node pool names, so that ids do not depend on labels.
    ``external_proxy`` and ``external_udp_proxy`` may carry credentials: they never reach a journal or a report.
    """

    external_target: ExternalTarget | None = None
    external_vantage: str = "none"
    external_proxy: str | None = None
    external_udp_proxy: str | None = None
    external_ips: Network = DOCUMENTATION_ADDRESSES
    """The range from which Services get ``externalIPs``; no host may have an address in it."""
    network_policy: bool = True
    """Whether a NetworkPolicy keeps other Pods from the probes, if the run may create one."""
    existing_services: bool = True
    """Whether every node connects to a few existing Services."""
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fleet_nodes: str = ALL
    """Which nodes are tested: ``all``, ``sample`` (two of each node pool) names or a selector."""
    excluded_nodes: tuple[str, ...] = ()
    """Nodes that the command line excludes from the run."""
    scale: Scale = field(default_factory=Scale)
    images: Images = field(default_factory=Images)
    pods: PodSettings = field(default_factory=PodSettings)
    facts: StatedFacts = field(default_factory=StatedFacts)
    timing: Timing = field(default_factory=Timing)
    diagnostics: DiagnosticsLimits = field(default_factory=DiagnosticsLimits)
