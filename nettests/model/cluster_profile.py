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
"""The usual image that captures on Linux nodes: it has tcpdump, timeout, pkill and curl."""
DOCUMENTATION_ADDRESSES: Network = IPv4Network("192.0.2.0/24")
"""TEST-NET-1 of RFC 5737: assigned to no host, and not routed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Every delay and deadline of a run, in seconds, and how often things are tried.

    ``dial`` is netexec's own fixed client timeout (agnhost ``netexec`` source): the others leave room
    around it. Windows programs a Service's load balancers within about a minute (``convergence``).
    """

    ready: float = 600
    """Pods have to be Ready; pulling a Windows image takes minutes."""
    stuck: float = 35
    """A pod in a state that does not heal by itself (ImagePullBackOff …) fails after so long: a kubelet pulls again
    after 10 s and after 20 s more."""
    acknowledged: float = 20
    """A Pod whose kubelet has not set ``status.startTime`` so long after it was bound fails: kubelets do at once, and
    write each status again within 10 s (``syncPeriod``, pkg/kubelet/status/status_manager.go); twice that, and never
    longer than ``stuck``."""
    listening: float = 15
    """The servers of Ready pods have to answer by pod address."""
    convergence: float = 60
    """Services and names have to answer their users on Windows nodes."""
    convergence_linux: float = 30
    """The same on Linux nodes, and on any node after a Service that was made later answers there: kube-proxy is held to
    30 s by Kubernetes' scalability tests (kubernetes/perf-tests, ``NetworkProgrammingLatency``)."""
    load_balancer: float = 120
    """Services of type LoadBalancer have to be assigned an address; clouds take a minute or two."""
    dial: float = 5
    idle: float = 300
    """A connection is silent for so long before it is used again."""
    flow_memory: float = 240
    """Switches are known to remember a flow for so long: a shorter silence would show nothing."""
    names: float = 45
    """A dial by name may take so much longer: where DNS is silent, a Linux resolver queries each of four
    names of a search list twice, for 5 s."""
    names_cached: float = 30
    """A name may lead to a Pod's former address for so long: CoreDNS and NodeLocal DNSCache are installed with
    ``cache 30``, for names that exist and that do not."""
    channel: float = 15
    """One answer over a control channel, beyond the dial itself."""
    execute: float = 30
    """One process in a container, from start to exit code."""
    clean_up: float = 30
    """Waiting for the run's namespace to go."""
    api_connect: float = 5
    api_read: float = 30
    """A connection to the API server, and the silence between two reads of an answer."""
    api_answer: float = 120
    """One answer of the API server to its last byte; a watch has its own end."""
    api_tries: int = 5
    """A request that meets 429, 5xx or a lost connection is sent so often in all."""
    api_tokens: int = 20
    """A request whose token has expired meanwhile is sent again with the next one so often, beside."""
    api_first_pause: float = 0.2
    api_longest_pause: float = 5
    """Between two tries: doubled each time, or what Retry-After says, up to the longest; with jitter."""
    channel_tries: int = 3
    """A stream (exec, port-forward) that is lost is opened so often in all."""
    lease: float = 30
    """A run that does not renew its Lease for so long is dead; it renews three times as often."""
    successes: int = 3
    """A positive result needs so many in a row."""
    failures: int = 2
    """A negative result needs so many, with the controls between them."""
    client_addresses: int = 8
    """Of many new connections, so many request the client's port, to prove that ports differ."""
    per_probe: int = 16
    """Concurrent questions over one probe's HTTP channel."""
    exec_linux: int = 12
    exec_windows: int = 6
    """Concurrent processes on one node; on Windows they leak and deadlock (k/k #98102, #124700)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticsLimits:
    """How much is collected about failing checks. ``subjects`` 0 collects nothing."""

    seconds: float = 60
    """All of it has to be read in this time."""
    subjects: int = 24
    """So many nodes, Services and Pods, the most urgent first."""
    item_bytes: int = 262_144
    """One file; longer ones are cut and say so."""
    total_bytes: int = 16_777_216
    """All files of a run."""
    log_lines: int = 1000
    """The last lines of a container's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedKubeProxy:
    """kube-proxy's settings on the nodes of one OS; ``source_vip`` maps a node's name to its VIP."""

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

    ``by_system`` maps ``linux``, ``windows`` or one build (``windows-20348``) to an image. An image that
    is named is used as it stands; ``registry`` replaces the registry of those that are not named.
    ``pull_secrets`` are Secrets of the namespace; ``pull_secret_file`` (a Docker ``config.json``) becomes
    one, and so does ``pull_secret`` (``namespace/name``), whose content a run reads into ``pull_secret_data``.
    What they hold never reaches a journal or a report. ``pre_pull`` has every image pulled onto its
    nodes before a run tests anything; ``require_digest`` refuses images that are named by tag.
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
    """What captures on Linux nodes, for traces alone; the usual one if empty."""


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
"""Far above what a probe uses: limits exist for namespaces that demand some, or else impose their own."""


_MESHES = [line.split(" ") for line in lines_of("nettests.model", "outside_meshes.txt")]
OUTSIDE_MESHES = {
    kind: {name: value for of, name, value in _MESHES if of == kind}
    for kind in ("labels", "annotations")
}
"""By these Pods opt out of sidecars, which would answer in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSettings:
    """Settings that every Pod of a run gets: none of them changes what a check targets.

    ``node_selector`` also keeps nodes that do not have these labels out of the run. ``tolerations`` are
    objects as the API takes them, on top of those for the node's own taints.
    """

    labels: Mapping[str, str] = field(default_factory=lambda: OUTSIDE_MESHES["labels"])
    annotations: Mapping[str, str] = field(default_factory=lambda: OUTSIDE_MESHES["annotations"])
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, str | int], ...] = ()
    priority_class: str | None = None
    linux_resources: Amounts = field(default_factory=lambda: LINUX_RESOURCES)
    windows_resources: Amounts = field(default_factory=lambda: WINDOWS_RESOURCES)

    def resources(self, os: OS) -> Amounts:
        """Return what a container on a node of ``os`` requests and may use."""
        return self.windows_resources if os is OS.WINDOWS else self.linux_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProfile:
    """What the user states about a cluster. The default states nothing, and nothing external is contacted.

    ``nodePools`` pins groups of nodes to node pool names, so that ids survive whatever happens to labels.
    ``external_proxy`` and ``external_udp_proxy`` may carry credentials: they never reach a journal or a report.
    """

    external_target: ExternalTarget | None = None
    external_vantage: str = "none"
    external_proxy: str | None = None
    external_udp_proxy: str | None = None
    external_ips: Network = DOCUMENTATION_ADDRESSES
    """The range from which Services get ``externalIPs``; no host may have an address in it."""
    network_policy: bool = True
    """Whether a NetworkPolicy keeps others in the pod network from the probes, where one may be made."""
    existing_services: bool = True
    """Whether every node connects to a few Services that the cluster has already."""
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fleet_nodes: str = ALL
    """Which nodes are tested: ``all``, ``sample`` (two of each node pool) names or a selector."""
    excluded_nodes: tuple[str, ...] = ()
    """Nodes that a run leaves out, as its command line names them."""
    scale: Scale = field(default_factory=Scale)
    images: Images = field(default_factory=Images)
    pods: PodSettings = field(default_factory=PodSettings)
    facts: StatedFacts = field(default_factory=StatedFacts)
    timing: Timing = field(default_factory=Timing)
    diagnostics: DiagnosticsLimits = field(default_factory=DiagnosticsLimits)
