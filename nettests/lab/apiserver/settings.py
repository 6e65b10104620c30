"""Settings of an API server: version, address ranges, users, and the hooks that inject faults.

Immutable values, except ``Faults``, which the supervisor changes while the server runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network

from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.webhooks import Mutating, Validating

Network = IPv4Network | IPv6Network

_SERVICE_CIDR = IPv4Network("10.96.0.0/16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A ``PolicyRule``, within ``namespaces`` (``None``: everywhere).

    ``*`` in verbs, groups or resources means all; a subresource is ``pods/exec``.
    """

    verbs: tuple[str, ...]
    groups: tuple[str, ...] = ("",)
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    namespaces: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user; ``rules`` grant more than the RBAC objects in the store."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The version in ``/version``; ``git`` is the whole version with its ``v``."""

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
    ``node-proxy``; ``node`` is empty if the API does not know it.
    """

    kind: str
    namespace: str
    name: str
    node: str
    user: str


BeforeRequest = Callable[[Request], Awaitable[None]]
"""Awaited after authentication and before all else; it may sleep, or raise ``ApiError``."""

ChannelDown = Callable[[ChannelRequest], Awaitable[str | None]]
"""Awaited before a channel is opened; returns the dial error that prevents it, or ``None``."""


class Ending(StrEnum):
    """How an exec ends for its client after the program has ended."""

    TOLD = "with its exit code"
    UNTOLD = "without one"
    NEVER = "not at all"


ExecEnding = Callable[[ChannelRequest], Ending]


@dataclass(slots=True)
class Faults:
    """Faults of the server; hooks are ``None`` without a fault."""

    before_request: BeforeRequest | None = None
    channel_down: ChannelDown | None = None
    exec_ending: ExecEnding | None = None
    attach_mute: Callable[[ChannelRequest], bool] | None = None
    """Says whether a client that attaches to a container gets no output."""
    allow_privileged: bool = True
    """``--allow-privileged``: without it privileged and HostProcess containers are invalid."""
    mutating: Mutating | None = None
    """A webhook that changes new Pods."""
    validating: Validating | None = None
    """A webhook that refuses new Pods."""
    channels: dict[object, tuple[ChannelRequest, Callable[[], None]]] = field(default_factory=dict)
    """Open channels, each with the function that cuts it."""

    def cut(self, which: Callable[[ChannelRequest], bool]) -> int:
        """Cut the open channels that ``which`` selects, as if their kubelet were lost; return how many."""
        chosen = [cut for channel, cut in self.channels.values() if which(channel)]
        for cut in chosen:
            cut()
        return len(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """All settings of a server; only ``faults`` may change later."""

    tokens: Mapping[str, User]
    version: Version = field(default_factory=Version)
    service_cidr: Network = _SERVICE_CIDR
    second_service_cidr: Network | None = None
    """The Service network of the other family; ``None`` in a single-stack cluster."""
    node_ports: range = range(30000, 32768)
    server_address: str = "127.0.0.1:6443"
    ca_certificate: str = ""
    """In PEM; published in every namespace as ConfigMap ``kube-root-ca.crt``."""
    bookmark_seconds: float = 2.0
    """Seconds without an event after which a watch gets a bookmark."""
    windows_pod_rules: bool = True
    """Whether fields of pods that ``os.name`` rules out are refused."""
    windows_container_rules: bool = True
    """Whether fields of containers that ``os.name`` rules out are refused."""
    host_process_rules: bool = True
    """Whether HostProcess containers must not be mixed with others, and need the host's network."""
    windows_pod_security: bool = True
    """Whether the restricted level exempts Windows pods from fields that only Linux has."""
    runtime_classes: bool = True
    """Whether Pods get the scheduling of the RuntimeClass that they name."""
    faults: Faults = field(default_factory=Faults)


def administrator(name: str = "kubernetes-admin") -> User:
    """Return a user who may do everything."""
    return User(name=name, groups=("system:masters", "system:authenticated"))


def component(name: str) -> User:
    """Return the user of a component of the lab, which may do everything."""
    return administrator(f"system:{name}")
