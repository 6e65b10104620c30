"""The seams between the parts of the lab, as protocols: network, programs, node agent, API server.

Each part depends only on these, so that it can be tested alone: the data plane without an API, the
programs in a bare namespace, the API server with a fake kubelet. The supervisor joins the real ones.

    supervisor ── LabFabric ── NodeNetwork ── PodNetwork (a Namespace with addresses)
        │            ▲ ServiceTable           ▲
        ├── service proxies (API clients)     │ sockets are made here
        ├── node agents (API clients) ── Program (agnhost, ping, nslookup …)
        └── API server ── Kubelet (exec, log, port-forward), Dial (pod and node proxy)
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
"""The fault under which system errors are in a language without a table, and that language."""
Json = dict[str, Any]
Allowed = Mapping[Address, Sequence[Address]]
"""The addresses that each pod restricted by NetworkPolicies may open connections to."""


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
    """The address of the second family, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A host port of a pod: CNI's capability ``portMappings``.

    ``protocol`` is ``tcp`` or ``udp``; ``host_ip`` is ``None`` without a ``hostIP``.
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
        """Return the range of ephemeral ports, for the host's clients and the pools."""

    def port_pools(self, protocol: str) -> list[range]:
        """Return the blocks of host ports (``tcp`` or ``udp``) reserved for source rewriting."""


class DropCause(Enum):
    """Why a switch drops a packet; tools have their own words for it."""

    NO_DESTINATION = "no port, and no Service's rule, takes what is sent there"
    FOREIGN_ADDRESS = "its source is not the address that may leave by that port"
    NO_FLOW = "it belongs to a flow that the switch has forgotten"
    NO_ROOM = "no room is left for one flow more"
    POLICY = "a policy forbids it"
    UNKNOWN = "no cause is stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A packet that a rule of the switch dropped: its headers at that moment, and its input port.

    ``data`` begins with the Ethernet header if ``ethernet`` is set, and ends with the first bytes of the transport header.
    """

    time: float
    interface: str
    data: bytes
    ethernet: bool
    cause: DropCause


@dataclass(slots=True)
class ProgramTroubles:
    """Faults of how a node's containers start programs; by default there are none."""

    missing: set[str] = field(default_factory=set)
    """Files (without ``.exe``) missing on the node and in its images."""
    exit_code: int | None = None
    """The exit code of every exec, whatever the program did."""
    refused: bool = False
    """Whether every exec is refused."""
    output_limit: int | None = None
    """Bytes of a command's output that arrive at most."""
    loses_output: bool = False
    """Whether short commands lose their output."""
    cmd_text: str = ""
    """Replaces cmd's own messages."""
    tools: set[str] = field(default_factory=set)
    """Names of faults of tools' output, as listed by ``programs.windows.broken_tools``."""
    copy_refused: bool = False
    copy_seconds: float = 0.0


@dataclass(slots=True)
class Disk:
    """State of a node outside its network: files by path, running processes, and more.

    ``programs`` are CNI plugins by path, with the output of a bare call.
    """

    files: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    processes: list[str] = field(default_factory=list)
    command_lines: dict[str, str] = field(default_factory=dict)
    """Command lines by process name, for processes whose command line tools read."""
    registry: dict[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict)
    """Values of each key: name (empty for the default value), type, data as ``reg.exe`` prints it."""
    endpoint_dns: dict[str, tuple[str, str]] = field(default_factory=dict)
    """DNS servers and suffixes of each pod's HNS endpoint, by address."""
    firewall: bool = True
    """Whether all profiles of the firewall are on."""
    background: dict[str, object] = field(default_factory=dict)
    """Objects that outlive the command that started them, by command."""
    images: set[str] = field(default_factory=set)
    """References of images that were pulled."""
    pull_seconds: float = 0.0
    """How many seconds a pull takes."""
    registry_down: bool = False
    """Whether the node reaches no registry."""
    no_sandbox: dict[str, str] = field(default_factory=dict)
    """Errors of the network plugin, by patterns of the names of pods that it does not attach."""
    cluster_domain: str = ""
    """A wrong cluster domain in the kubelet's configuration; empty: the cluster's own."""
    troubles: ProgramTroubles = field(default_factory=ProgramTroubles)


class NodeNetwork(Protocol):
    """One node's part of the data plane."""

    spec: NodeSpec
    disk: Disk
    hns: Hns | None
    """``None`` on Linux."""
    source_vip: Address | None
    """The source VIP that kube-proxy's start script reserves on Windows overlay nodes."""
    host: Namespace
    """The node's own namespace: its address, its kubelet, hostNetwork and HostProcess pods."""
    switch: Namespace | None
    """The virtual switch of a Windows node; ``None`` on Linux."""

    async def attach_pod(
        self, uid: str, mappings: Sequence[PortMapping] = (), *, wanted: Address | None = None
    ) -> PodNetwork:
        """Create a namespace for the pod ``uid``, with an address from the node's pod CIDR, or the ``wanted`` one.

        ``mappings`` are the pod's host ports.
        """

    async def detach_pod(self, uid: str) -> None:
        """Remove the pod's namespace and free its address; an unknown ``uid`` is no error."""

    async def program_services(self, table: ServiceTable) -> None:
        """Replace the node's Service rules by those of ``table``."""

    async def witness_drops(
        self, take: Callable[[Dropped], None], ports: Collection[int]
    ) -> Callable[[], Awaitable[None]]:
        """Call ``take`` with each dropped packet of these ports, or ICMP; return the undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverConfig:
    """Resolver settings of a container: servers, suffixes, ``ndots`` (Linux only)."""

    servers: tuple[str, ...]
    searches: tuple[str, ...] = ()
    ndots: int = 5
    hosts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Lines of the hosts file: address, names."""
    dotted_suffixes: bool = False
    """Windows only: dotted names get suffixes too, if they do not exist as they are."""
    nslookup_walks: bool = True
    """Windows only: BIND's nslookup appends suffixes to dotted names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where a program runs: a container's view of OS, name, network and resolver.

    ``host_process`` containers and hostNetwork pods see the node's namespace, name and addresses.
    ``capabilities`` are programs that the image may lack (``ping``).
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
    """The node, for tools of HostProcess containers."""
    files: Files = field(default_factory=Files)
    """The mounted volumes."""
    container_id: str = ""
    shim: Shim = field(default_factory=Shim)
    drive: Drive | None = None
    """The executables of a Windows container; ``None``: those of its image."""
    troubles: ProgramTroubles = field(default_factory=ProgramTroubles)
    image: str = ""
    """The reference of the container's image."""
    windows: WindowsSettings = field(default_factory=WindowsSettings)
    """Settings of a Windows node."""

    @property
    def disk(self) -> Disk:
        """The node's disk; an empty one outside HostProcess containers."""
        return Disk() if self.node is None else self.node.disk

    @property
    def locale(self) -> str:
        """The language of its programs: the node's in HostProcess containers, otherwise English."""
        return self.windows.locale if self.host_process else ENGLISH

    @property
    def message_locale(self) -> str:
        """The language of system errors in Go programs."""
        if GO_TEXT in self.troubles.tools:
            return NOBODYS
        return self.windows.message_locale if self.host_process else ENGLISH


async def _no_input() -> bytes:
    return b""


@dataclass(slots=True, kw_only=True)
class Process:
    """One running program: argv, environment, streams and the signal that it may get.

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
    """The command line that Windows passes to the program."""
    encoding: str = "utf-8"
    """How the program encodes its output."""
    terminate: asyncio.Event = field(default_factory=asyncio.Event)


class ProgramNotFoundError(Exception):
    """The image has no program of that name; the text is the runtime's own, per OS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOutcome:
    """How an exec ended: exit code, or the runtime's error if the program did not start."""

    exit_code: int | None
    error: str | None = None


class NotRunningError(Exception):
    """The container or sandbox does not exist or is not running; the text is the kubelet's."""


@dataclass(slots=True, kw_only=True)
class Duplex:
    """A bidirectional byte stream, for port-forward and proxies."""

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
        """Run a program in a running container; ``NotRunningError`` if there is none."""

    async def log(
        self, *, namespace: str, pod: str, container: str, previous: bool
    ) -> Sequence[tuple[str, bytes]]:
        """Return the container's log lines so far, each with its RFC 3339 time, oldest first."""

    async def open_port(self, *, namespace: str, pod: str, port: int) -> Duplex:
        """Connect to a port as this node's runtime does for port-forward; ``OSError`` if it fails."""


Dial = Callable[[str, int], Awaitable[Duplex]]
"""Opens a TCP connection from the control plane node's namespace, for the pod, node and Service proxies.

``OSError`` (refused, timed out, unreachable) if it fails."""
