"""The seams between the parts of the lab, as protocols: network, programs, node agent, API server.

Each part is written against these, so that it can be tested alone: the data plane without an API, the
programs in a bare namespace, the API server with a kubelet that is a test's own. The supervisor joins
the real ones.

    supervisor ── LabFabric ── NodeNetwork ── PodNetwork (a Namespace with addresses)
        │            ▲ ServiceTable           ▲
        ├── service proxies (API clients)     │ sockets are made here
        ├── node agents (API clients) ── Program (agnhost, ping, nslookup …)
        └── API server ── Kubelet (exec, log, port-forward), Dialer (pod and node proxy)
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Protocol

from nettests.lab.mounted.files import Drive, Files
from nettests.lab.topology import OS, Address, NodeSpec, ServiceTable, Shim
from nettests.lab.topology.windows_settings import ENGLISH, WindowsSettings

GO_TEXT, NOBODYS = "agnhost-text-other", "sv-SE"
"""The fault under which errors of the system are in a language that no table holds, and that language."""
Json = dict[str, Any]
Allowed = Mapping[Address, Sequence[Address]]
"""For each pod that NetworkPolicies restrict, the addresses that it may open connections to."""


class Namespace(Protocol):
    """A network namespace held open by a file descriptor of this process."""

    name: str

    @property
    def fd(self) -> int:
        """The namespace's file descriptor (``/proc/<pid>/fd/<fd>`` for ``nsenter``)."""

    def socket(self, family: int, kind: int, proto: int = 0) -> socket.socket:
        """Return a non-blocking, close-on-exec socket that lives in this namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodNetwork:
    """A pod's own namespace and addresses on its node."""

    namespace: Namespace
    address: Address
    gateway: Address
    ipv6: IPv6Address | None = None
    """The address of the second family, where the pod has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A port of a pod that its node's address answers for: CNI's capability ``portMappings``.

    ``protocol`` is ``tcp`` or ``udp``; ``host_ip`` is ``None`` where no ``hostIP`` was requested.
    """

    protocol: str
    host_port: int
    container_port: int
    host_ip: IPv4Address | None = None


class Hns(Protocol):
    """The Host Networking Service of a Windows node, as its cmdlets show it."""

    def networks(self) -> list[Json]:
        """Return what ``Get-HnsNetwork`` shows."""

    def endpoints(self) -> list[Json]:
        """Return what ``Get-HnsEndpoint`` shows."""

    def policy_lists(self) -> list[Json]:
        """Return what ``Get-HnsPolicyList`` shows."""

    def dynamic_ports(self) -> range:
        """Return the range from which the host's clients and the pools take their ports."""

    def port_pools(self, protocol: str) -> list[range]:
        """Return the blocks of host ports (``tcp``, ``udp``) that source rewriting has reserved."""


class DropCause(Enum):
    """Why a switch drops a packet: what its rules mean, not how a tool words it."""

    NO_DESTINATION = "no port, and no Service's rule, takes what is sent there"
    FOREIGN_ADDRESS = "its source is not the address that may leave by that port"
    NO_FLOW = "it belongs to a flow that the switch has forgotten"
    NO_ROOM = "no room is left for one flow more"
    POLICY = "a policy forbids it"
    UNKNOWN = "no cause is stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A packet that a rule of the switch dropped: its headers as they were then, and by which port it came in.

    ``data`` begins with the Ethernet header where ``ethernet`` says so, and ends with the transport header's first bytes.
    """

    time: float
    interface: str
    data: bytes
    ethernet: bool
    cause: DropCause


@dataclass(slots=True)
class ProgramTroubles:
    """What faults have changed about how a node's containers start programs; of a new one: nothing."""

    missing: set[str] = field(default_factory=set)
    """Files (without ``.exe``) that are gone from the node, and from the images on it."""
    exit_code: int | None = None
    """What each command beside a container's own ends with, whatever it did."""
    refused: bool = False
    """Whether no command can be started beside a container's own."""
    output_limit: int | None = None
    """Bytes of a command's output that arrive, at most."""
    loses_output: bool = False
    """Whether short commands lose their output."""
    cmd_text: str = ""
    """What cmd says instead of its own messages."""
    tools: set[str] = field(default_factory=set)
    """Names of the faults of what tools print, as ``programs.windows.broken_tools`` lists them."""
    copy_refused: bool = False
    copy_seconds: float = 0.0


@dataclass(slots=True)
class Disk:
    """What components of a node left on it: files by path, running processes by name.

    ``programs`` are CNI plugins by path, with what each prints of itself when it is called with nothing.
    """

    files: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    processes: list[str] = field(default_factory=list)
    command_lines: dict[str, str] = field(default_factory=dict)
    """Command lines by process name, for processes where tools look for them."""
    registry: dict[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    """Values below each key: name (empty for the one without), kind, data as ``reg.exe`` prints it."""
    endpoint_dns: dict[str, tuple[str, str]] = field(default_factory=dict)
    """DNS servers and suffixes that the plugin gave the endpoint of each pod, by its address, as HNS shows them."""
    firewall: bool = True
    """Whether all profiles of the firewall are on."""
    background: dict[str, object] = field(default_factory=dict)
    """Objects that outlive the command that started them, by the command's name."""
    images: set[str] = field(default_factory=set)
    """References of images that were pulled."""
    pull_seconds: float = 0.0
    """How long a pull takes."""
    registry_down: bool = False
    """Whether no registry can be reached from the node."""
    no_sandbox: dict[str, str] = field(default_factory=dict)
    """What the network plugin says instead of attaching a pod, by pattern of the pod's name."""
    cluster_domain: str = ""
    """The cluster domain in the kubelet's configuration where it is wrong; empty: the cluster's own."""
    troubles: ProgramTroubles = field(default_factory=ProgramTroubles)


class NodeNetwork(Protocol):
    """One node's part of the data plane."""

    spec: NodeSpec
    disk: Disk
    hns: Hns | None
    """``None`` on Linux."""
    source_vip: Address | None
    """What kube-proxy's start script reserves on Windows overlay nodes."""
    host: Namespace
    """The node's own namespace: its address, its kubelet, hostNetwork and HostProcess pods."""
    switch: Namespace | None
    """The virtual switch of a Windows node; ``None`` on Linux."""

    async def attach_pod(
        self, uid: str, mappings: Sequence[PortMapping] = (), *, wanted: Address | None = None
    ) -> PodNetwork:
        """Make a namespace for the pod ``uid``, with an address from the node's pod CIDR, or the ``wanted`` one.

        ``mappings`` are the host ports by which the pod is to be reached.
        """

    async def detach_pod(self, uid: str) -> None:
        """Remove the pod's namespace and free its address; unknown ``uid`` is not an error."""

    async def program_services(self, table: ServiceTable) -> None:
        """Replace the node's Service rules by those of ``table`` (what kube-proxy does)."""

    async def witness_drops(
        self, take: Callable[[Dropped], None], ports: Collection[int]
    ) -> Callable[[], Awaitable[None]]:
        """Call ``take`` with each packet that the switch drops, of these ports or ICMP; return the undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverConfig:
    """How names resolve in a container: servers, suffixes, ``ndots`` (Linux manner only)."""

    servers: tuple[str, ...]
    searches: tuple[str, ...] = ()
    ndots: int = 5
    hosts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Lines of the hosts file: address, names."""
    dotted_suffixes: bool = False
    """Windows manner only: dotted names get suffixes too, should they not exist as they stand."""
    nslookup_walks: bool = True
    """Windows manner only: BIND's nslookup appends suffixes to dotted names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where a program runs: a container's view of OS, name, network and resolver.

    ``host_process`` containers and hostNetwork pods see the node's namespace, name and addresses.
    ``capabilities`` are programs the image may lack (``ping``). ``timing`` scales nothing: dials are
    real; it only bounds how long a Windows client keeps re-sending a refused SYN.
    """

    os: OS
    hostname: str
    namespace: Namespace
    addresses: tuple[str, ...]
    gateway: str
    resolver: ResolverConfig
    build: int | None = None
    patch: int | None = None
    host_process: bool = False
    capabilities: frozenset[str] = frozenset({"ping"})
    user: str = ""
    mac: str = ""
    node: NodeNetwork | None = None
    """The node itself, which tools of HostProcess containers look at."""
    files: Files = field(default_factory=Files)
    """What is mounted."""
    container_id: str = ""
    shim: Shim = field(default_factory=Shim)
    drive: Drive | None = None
    """The executables of a Windows container; ``None``: those that its image has."""
    troubles: ProgramTroubles = field(default_factory=ProgramTroubles)
    image: str = ""
    """The reference of the container's image."""
    windows: WindowsSettings = field(default_factory=WindowsSettings)
    """How the node behaves, if it is one of Windows."""

    @property
    def disk(self) -> Disk:
        """The disk of the node; an empty one in other containers."""
        return Disk() if self.node is None else self.node.disk

    @property
    def locale(self) -> str:
        """The language of its programs: the node's on a node, English in images."""
        return self.windows.locale if self.host_process else ENGLISH

    @property
    def message_locale(self) -> str:
        """The language of the system's errors in Go's programs."""
        if GO_TEXT in self.troubles.tools:
            return NOBODYS
        return self.windows.message_locale if self.host_process else ENGLISH


async def _no_input() -> bytes:
    return b""


@dataclass(slots=True, kw_only=True)
class Process:
    """One running program: argv, environment, streams and the signal it may get.

    Cancelling the task that runs it is SIGKILL; setting ``terminate`` is SIGTERM.
    ``stdin`` returns the next chunk, ``b""`` at the end.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    machine: Machine
    stdout: Callable[[bytes], Awaitable[None]]
    stderr: Callable[[bytes], Awaitable[None]]
    stdin: Callable[[], Awaitable[bytes]] = _no_input
    tty: bool = False
    working_directory: str = "/"
    command_line: str = ""
    """What Windows hands to the program, once it is started."""
    encoding: str = "utf-8"
    """How the program encodes its output."""
    terminate: asyncio.Event = field(default_factory=asyncio.Event)


class ProgramNotFoundError(Exception):
    """The image has no program of that name; the text is the runtime's own, per OS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOutcome:
    """How an exec ended: exit code, or the runtime's error when the program did not start."""

    exit_code: int | None
    error: str | None = None


class NotRunningError(Exception):
    """The container or sandbox is not there or not running; the text is the kubelet's own."""


@dataclass(slots=True, kw_only=True)
class Duplex:
    """A byte stream both ways, as port-forward and proxying need it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Kubelet(Protocol):
    """What the API server requires of the node that holds a pod."""

    async def exec(
        self,
        *,
        namespace: str,
        pod: str,
        container: str,
        argv: Sequence[str],
        stdin: Callable[[], Awaitable[bytes]] | None,
        stdout: Callable[[bytes], Awaitable[None]],
        stderr: Callable[[bytes], Awaitable[None]],
        tty: bool,
    ) -> ExecOutcome:
        """Run a program in a running container; ``NotRunningError`` when there is none."""

    async def log(
        self, *, namespace: str, pod: str, container: str, previous: bool
    ) -> Sequence[tuple[str, bytes]]:
        """Return the container's log lines so far, each with its RFC 3339 time, oldest first."""

    async def open_port(self, *, namespace: str, pod: str, port: int) -> Duplex:
        """Connect to a port as this node's runtime does for port-forward; ``OSError`` if it fails."""


class KubeletRegistry(Protocol):
    """Finds the kubelet of a node by its name."""

    def kubelet(self, node: str) -> Kubelet:
        """Return the node's kubelet; ``KeyError`` when no such node runs."""


class Dialer(Protocol):
    """Opens TCP connections from the control plane node's own namespace (pod, node, Service proxy)."""

    async def dial(self, address: str, port: int) -> Duplex:
        """Make a real ``connect()``; ``OSError`` (refused, timed out, unreachable) when it fails."""
