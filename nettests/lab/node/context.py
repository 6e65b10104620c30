"""What pods and containers of one node share: the node, its network, its client, how programs start."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any

from nettests.lab.client import Client, Json
from nettests.lab.client.events import Recorder
from nettests.lab.interfaces import Namespace, NodeNetwork, Process, ResolverConfig
from nettests.lab.mounted import Volume
from nettests.lab.node.images import Kind
from nettests.lab.node.pulls import Puller
from nettests.lab.topology import Address, NodeSpec, Profile, Shim, shim_of

Launch = Callable[[Kind, Process], Coroutine[Any, Any, int]]
"""Runs a container's main program, by the kind of its image; raises ``ProgramNotFoundError``."""

Execute = Callable[[Process], Coroutine[Any, Any, int]]
"""Runs a program for exec or a probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """One node, as its agent sees it. ``services`` returns the Services of the cluster."""

    profile: Profile
    network: NodeNetwork
    client: Client
    recorder: Recorder
    launch: Launch
    execute: Execute
    services: Callable[[], Iterable[Json]]
    puller: Puller

    @property
    def spec(self) -> NodeSpec:
        """The node's own description."""
        return self.network.spec

    @property
    def shim(self) -> Shim:
        """The shim by which a Windows node starts containers."""
        spec = self.spec
        return shim_of(spec.runtime, spec.windows_release, self.profile.windows)

    @property
    def minor(self) -> int:
        """The kubelet's version: Kubernetes 1.``minor``."""
        return int(self.profile.kubernetes_version.split(".")[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """A pod's place in the network, its own namespace or its node's, and the volumes that its containers share."""

    namespace: Namespace
    address: Address
    ipv6: IPv6Address | None
    """The address of the second family, where it has one."""
    gateway: Address
    hostname: str
    resolver: ResolverConfig
    on_host: bool
    host_process: bool
    volumes: Mapping[str, Volume] = field(default_factory=dict)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The pod's addresses, the primary family's first."""
        return tuple(str(address) for address in (self.address, self.ipv6) if address is not None)
