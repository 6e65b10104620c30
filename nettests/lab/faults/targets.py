"""The parts of a running lab that faults change, their options, and how a fault is declared."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from nettests.lab.apiserver import Access
from nettests.lab.apiserver import Faults as ApiFaults
from nettests.lab.apiserver.troubles import Troubles
from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer
from nettests.lab.controllers.node_lifecycle import mark_found, mark_lost
from nettests.lab.dns.server import DnsTroubles
from nettests.lab.errors import LabError
from nettests.lab.interfaces import Disk
from nettests.lab.network.alterations import Alteration
from nettests.lab.network.fabric import LabFabric
from nettests.lab.network.packets import Packets
from nettests.lab.node.agent import NodeAgent, NodeKubelet
from nettests.lab.topology import Profile

CONTROLLER = "node-controller"
_SECONDS = 30


class Options(dict[str, Any]):
    """The options of one fault, by name."""

    def text(self, name: str) -> str:
        """Return an option's text, empty if it was not given."""
        return str(self.get(name) or "")

    def number(self, name: str, default: float) -> float:
        """Return an option's number."""
        value = self.get(name)
        return default if value is None else float(value)

    def count(self, name: str, default: int) -> int:
        """Return an option's whole number."""
        return int(self.number(name, default))

    @property
    def packets(self) -> Packets:
        """The packets that the options select."""
        return Packets(
            protocol=self.text("protocol"),
            port=self.text("port"),
            source_port=self.text("source-port"),
            larger_than=self.count("larger-than", 0),
            flows=self.count("flows", 0),
            fragments=bool(self.text("fragments")),
        )


Undo = Callable[[], Awaitable[None]]
Inject = Callable[["Targets", Options], Awaitable[Undo]]
Body = Callable[["Targets", Options], AsyncIterator[None]]

FAULTS: dict[str, Inject] = {}
"""The function that injects each kind of fault, by name."""


def fault(name: str) -> Callable[[Body], Body]:
    """Declare a fault by a generator that injects it, yields while it is in force, and undoes it."""

    def declare(body: Body) -> Body:
        async def inject(targets: Targets, options: Options) -> Undo:
            stack = AsyncExitStack()
            await stack.enter_async_context(asynccontextmanager(body)(targets, options))
            return stack.aclose

        FAULTS[name] = inject
        return body

    return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The parts of one lab.

    ``dns_pod`` returns uid and node of the DNS pod, ``client`` makes an API client; ``kubelets`` and ``agents`` are
    filled as nodes start; ``stopped`` are kinds of objects whose controllers are stopped; ``altered`` are the faults
    of Service rules in force, by node.
    """

    profile: Profile
    fabric: LabFabric
    api: ApiFaults
    access: Access
    troubles: Troubles
    dns: DnsTroubles
    dns_pod: Callable[[], tuple[str, str]]
    client: Callable[[str], Client]
    kubelets: Mapping[str, NodeKubelet]
    agents: Mapping[str, NodeAgent]
    stopped: set[str]
    altered: dict[str, dict[object, Alteration]] = field(default_factory=dict)

    def node(self, options: Options, name: str = "node") -> str | None:
        """Return the node that an option names, if it is given; ``LabError`` if there is no such node."""
        node_name = options.get(name)
        if node_name is not None and node_name not in self.fabric.nodes:
            raise LabError(
                f'There is no node "{node_name}".', hint=f"Nodes: {', '.join(self.fabric.nodes)}."
            )
        return node_name

    def nodes(self, options: Options) -> list[str]:
        """Return the node of the option ``node``, or all nodes."""
        node_name = self.node(options)
        return [node_name] if node_name else list(self.fabric.nodes)

    def disks(self, options: Options) -> list[Disk]:
        """Return the disks of the nodes that the options select."""
        return [self.fabric.nodes[name].disk for name in self.nodes(options)]


@contextmanager
def changed(holders: Iterable[object], **values: object) -> Iterator[None]:
    """Set attributes of objects during the block, and restore them."""
    before = [(holder, {name: getattr(holder, name) for name in values}) for holder in holders]
    for holder, _ in before:
        _set(holder, values)
    yield
    for holder, earlier in before:
        _set(holder, earlier)


def _set(holder: object, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(holder, name, value)


@contextmanager
def added(sets: Iterable[set[str]], item: str) -> Iterator[None]:
    """Add an item to sets during the block."""
    chosen = list(sets)
    for each in chosen:
        each.add(item)
    yield
    for each in chosen:
        each.discard(item)


async def pods_until(
    client: Client, path: str, settled: Callable[[list[Json]], bool], failure: str, **query: str
) -> list[Json]:
    """Return the Pods at a path once ``settled`` is true of them; ``LabError(failure)`` after half a minute."""
    pods, changes = Informer(client, path, **query), asyncio.Event()
    pods.subscribe(lambda _key, _old, _new: changes.set())
    following = asyncio.create_task(pods.run())
    try:
        async with asyncio.timeout(_SECONDS):
            while not settled(present := list(pods.objects.values())):
                await changes.wait()
                changes.clear()
    except TimeoutError as error:
        raise LabError(failure) from error
    else:
        return present
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


@contextmanager
def alone(holder: object, what: str, **value: object) -> Iterator[None]:
    """Set an attribute during the block; ``LabError`` if another fault of it is in force."""
    if any(getattr(holder, name) is not None for name in value):
        raise LabError(f"A fault of {what} is in force already.", hint="nettests lab fault clear")
    with changed([holder], **value):
        yield


async def together(undoing: list[Undo]) -> Undo:
    """Return one undo for several faults; the last one is undone first."""
    stack = AsyncExitStack()
    for undo in undoing:
        stack.push_async_callback(undo)
    return stack.aclose


@asynccontextmanager
async def silenced(targets: Targets, node: str, grace: float) -> AsyncIterator[None]:
    """Silence a node's kubelet, and mark the node lost after ``grace`` seconds; containers keep running."""
    agent = targets.agents[node]
    agent.hold()

    async def mark() -> None:
        await asyncio.sleep(grace)
        async with targets.client(CONTROLLER) as client:
            await mark_lost(client, node)

    marking = asyncio.create_task(mark())
    yield
    marking.cancel()
    with suppress(asyncio.CancelledError):
        await marking
    async with targets.client(CONTROLLER) as client:
        await mark_found(client, node)
    await agent.go_on()
