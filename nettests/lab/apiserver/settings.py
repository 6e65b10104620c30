"""What an API server is started with: version, address ranges, users, and the hooks that inject faults.

Pure values, except ``Faults``, which the supervisor changes while the server runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.webhooks import Mutating, Validating

Network = IPv4Network | IPv6Network

_SERVICE_CIDR = IPv4Network("10.96.0.0/16")
_DNS_ADDRESS = IPv4Address("10.96.0.10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a user may do, as a ``PolicyRule`` says it, within ``namespaces`` (``None``: everywhere).

    ``*`` in verbs, groups or resources stands for all; a subresource is ``pods/exec``.
    """

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ("",)
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    namespaces: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who sends requests. ``rules`` add to what RBAC objects in the store grant."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What ``/version`` says; ``git`` is the whole version with its ``v``."""

    git: str = "v1.36.2"
    commit: str = "98b35193b2ac7a23a673325f5e9b830ecd5ba406"
    build_date: str = "2026-08-21T00:00:00Z"
    go: str = "go1.26.6"
    platform: str = "linux/amd64"

    @property
    def major(self) -> str:
        """``1``."""
        return self.git.removeprefix("v").split(".")[0]

    @property
    def minor(self) -> int:
        """``36``."""
        return int(self.git.split(".")[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRequest:
    """A connection that the API is about to make to a node, a pod or an endpoint for a client.

    ``kind`` is ``exec``, ``attach``, ``portforward``, ``log``, ``pod-proxy``, ``service-proxy`` or
    ``node-proxy``; ``node`` is empty where the API does not know it.
    """

    kind: str
    namespace: str
    name: str
    node: str
    user: str


BeforeRequest = Callable[[Request], Awaitable[None]]
"""Awaited when the user is known and before all else; it may sleep, or raise ``ApiError``."""

ChannelDown = Callable[[ChannelRequest], Awaitable[str | None]]
"""Awaited before a channel is opened: text of the dial error that shall break it, or ``None``."""


class Ending(StrEnum):
    """How an exec ends for its client when the program has ended."""

    TOLD = "with its exit code"
    UNTOLD = "without one"
    NEVER = "not at all"


ExecEnding = Callable[[ChannelRequest], Ending]


@dataclass(slots=True)
class Faults:
    """What breaks the server on purpose; hooks are ``None`` when nothing is wrong."""

    before_request: BeforeRequest | None = None
    channel_down: ChannelDown | None = None
    exec_ending: ExecEnding | None = None
    attach_mute: Callable[[ChannelRequest], bool] | None = None
    """Whether clients that attach to a container get no output."""
    allow_privileged: bool = True
    """What ``--allow-privileged`` is: without it no privileged and no HostProcess container is valid."""
    mutating: Mutating | None = None
    """A webhook that changes new Pods."""
    validating: Validating | None = None
    """A webhook that refuses new Pods."""
    channels: dict[object, tuple[ChannelRequest, Callable[[], None]]] = field(default_factory=dict)
    """Channels that are open, and what cuts each."""

    def cut(self, which: Callable[[ChannelRequest], bool]) -> int:
        """Break the open channels that ``which`` picks, as a lost kubelet would; returns how many."""
        chosen = [cut for channel, cut in self.channels.values() if which(channel)]
        for cut in chosen:
            cut()
        return len(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Everything a server must be told; ``faults`` is the one part that may change later."""

    tokens: Mapping[str, User]
    version: Version = field(default_factory=Version)
    service_cidr: Network = _SERVICE_CIDR
    second_service_cidr: Network | None = None
    """Of the other family; ``None`` in a cluster of one."""
    dns_address: IPv4Address | IPv6Address = _DNS_ADDRESS
    cluster_domain: str = "cluster.local"
    node_ports: range = range(30000, 32768)
    server_address: str = "127.0.0.1:6443"
    ca_certificate: str = ""
    """PEM, published in every namespace as ConfigMap ``kube-root-ca.crt``."""
    bookmark_seconds: float = 2.0
    """Seconds without an event after which a watch gets a bookmark."""
    windows_pod_rules: bool = True
    """Fields of pods are refused where ``os.name`` rules them out."""
    windows_container_rules: bool = True
    """Fields of containers are refused where ``os.name`` rules them out."""
    host_process_rules: bool = True
    """HostProcess containers do not stand beside others, and need the network of the host."""
    windows_pod_security: bool = True
    """The restricted level does not demand of pods for Windows what Windows does not have."""
    runtime_classes: bool = True
    """Pods get the scheduling of the RuntimeClass that they name."""
    faults: Faults = field(default_factory=Faults)


def administrator(name: str = "kubernetes-admin") -> User:
    """Return a user to whom everything is allowed."""
    return User(name=name, groups=("system:masters", "system:authenticated"))


def component(name: str) -> User:
    """Return the user of one of the lab's own components, to which everything is allowed too."""
    return administrator(f"system:{name}")
