"""Parts of a node for tests of what it decides: no network, no API; events are kept as they are told."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from typing import Any

from nettests.lab.client import Client
from nettests.lab.client.events import Recorder
from nettests.lab.interfaces import (
    Disk,
    Dropped,
    Hns,
    Namespace,
    PodNetwork,
    PortMapping,
    Process,
    ResolverConfig,
)
from nettests.lab.node.context import NodeContext, Puller, Sandbox
from nettests.lab.node.images import AGNHOST, Kind
from nettests.lab.topology import Address, NodeSpec, Options, Profile, ServiceTable, profiles

Json = dict[str, Any]

PROFILE = profiles.load("win2019-l2bridge")
IMAGE = f"{AGNHOST}:2.63.0"


class Nowhere:
    """A namespace in which nothing may be opened."""

    name = "nowhere"
    fd = -1

    def socket(self, family: int, kind: int, proto: int = 0) -> socket.socket:
        """Refuse."""
        raise AssertionError(f"nothing is to be dialled here: {family} {kind} {proto}")


@dataclass
class Network:
    """A node's part of a data plane that has none."""

    spec: NodeSpec
    disk: Disk = field(default_factory=Disk)
    hns: Hns | None = None
    source_vip: Address | None = None
    host: Namespace = field(default_factory=Nowhere)
    switch: Namespace | None = None

    attached: dict[str, Sequence[PortMapping]] = field(default_factory=dict)
    failures: list[Exception] = field(default_factory=list)
    """What attaching fails with, one after the other."""
    takes: float = 0
    """Seconds of attaching; a pod is attached whether or not somebody still waits for it, as on a thread."""

    async def attach_pod(
        self, uid: str, mappings: Sequence[PortMapping] = (), *, wanted: Address | None = None
    ) -> PodNetwork:
        """Give the pod an address, the wanted one if there is one."""
        if self.failures:
            raise self.failures.pop(0)
        self.attached[uid] = mappings
        if self.takes:
            await asyncio.sleep(self.takes)
        return PodNetwork(
            namespace=Nowhere(),
            address=wanted or IPv4Address("10.244.1.2"),
            gateway=IPv4Address("10.244.1.1"),
        )

    async def detach_pod(self, uid: str) -> None:
        """Take its address away, if it has one."""
        self.attached.pop(uid, None)

    async def program_services(self, table: ServiceTable) -> None:
        """Do nothing."""

    async def witness_drops(
        self, take: Callable[[Dropped], None], ports: Collection[int]
    ) -> Callable[[], Awaitable[None]]:
        """Fail: nothing passes here that could be dropped."""
        raise NotImplementedError


@dataclass(frozen=True)
class Request:
    """What was sent to the API, and when."""

    at: float
    method: str
    path: str
    body: Json


class Sent(Client):
    """Keeps requests instead of sending them; every answer is empty."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", "none", agent="test")
        self.requests: list[Request] = []

    async def _send(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        moment = round(asyncio.get_running_loop().time(), 3)
        self.requests.append(Request(moment, method, path, body or {}))
        return {}


class Told(Recorder):
    """Keeps events instead of sending them."""

    def __init__(self) -> None:
        super().__init__(Sent(), "kubelet")
        self.events: list[tuple[float, str, str]] = []

    def kubelet(
        self, about: Json, kind: str, reason: str, message: str, container: str = ""
    ) -> None:
        """Keep the time, the reason and the message of an event."""
        assert about.get("kind", "Pod") == "Pod", (kind, container)
        moment = round(asyncio.get_running_loop().time(), 3)
        self.events.append((moment, reason, message))

    def reasons(self) -> list[str]:
        """Return the reasons in order."""
        return [reason for _, reason, _ in self.events]


Launch = Callable[[Kind, Process], Coroutine[Any, Any, int]]


async def _no_program(_kind: Kind, process: Process) -> int:
    await process.terminate.wait()
    return 0


async def _no_guest(process: Process) -> int:
    raise AssertionError(process.argv)


def node(
    name: str = "linux-1",
    *,
    launch: Launch = _no_program,
    execute: Callable[[Process], Coroutine[Any, Any, int]] = _no_guest,
    mechanisms: Mapping[str, int] | None = None,
    options: Options | None = None,
) -> NodeContext:
    """Return what pods of a node share; ``mechanisms`` are switched by hand."""
    profile: Profile = replace(
        PROFILE, mechanisms=tuple((mechanisms or {}).items()), options=options or PROFILE.options
    )
    network = Network(profile.node(name))
    return NodeContext(
        profile=profile,
        network=network,
        client=Sent(),
        recorder=Told(),
        launch=launch,
        execute=execute,
        services=tuple,
        puller=Puller(network.spec, network.disk),
    )


def sandbox(*, host_process: bool = False) -> Sandbox:
    """Return the place of a pod in a network that is not there."""
    return Sandbox(
        namespace=Nowhere(),
        address=IPv4Address("10.244.1.2"),
        ipv6=None,
        gateway=IPv4Address("10.244.1.1"),
        hostname="p",
        resolver=ResolverConfig(servers=("10.96.0.10",)),
        on_host=host_process,
        host_process=host_process,
    )


def pod(**spec: Any) -> Json:
    """Return a pod; ``spec`` replaces parts of its spec."""
    metadata = {"name": "p", "namespace": "ns", "uid": "u"}
    own = {"containers": [{"name": "c", "image": IMAGE}], **spec}
    return {"metadata": metadata, "spec": own}
