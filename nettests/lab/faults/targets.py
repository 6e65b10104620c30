"""The parts of a running lab that faults change, and the options given. Values."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from nettests.lab.apiserver import Access
from nettests.lab.apiserver import Faults as ApiFaults
from nettests.lab.apiserver.troubles import Troubles
from nettests.lab.client import Client, Json
from nettests.lab.dns.server import DnsTroubles
from nettests.lab.errors import LabError
from nettests.lab.faults.silent_kubelet import Silence
from nettests.lab.network.fabric import LabFabric
from nettests.lab.network.packets import Packets
from nettests.lab.topology import Profile

Undo = Callable[[], Awaitable[None]]
Inject = Callable[[Json], Awaitable[Undo]]


class Killer(Protocol):
    """A node's kubelet, as far as faults need it."""

    def kill(self, *, namespace: str, pod: str) -> bool:
        """End the processes of a pod's containers; say whether there were any."""

    def stop_serving(self, *, namespace: str, pod: str) -> None:
        """Close what a pod's containers listen on; their processes live on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The parts of one lab.

    ``dns_pod`` returns uid and node of the DNS pod, ``client`` makes a client of the API; ``kubelets``
    are filled as nodes start; ``stopped`` are kinds of objects whose controller does nothing.
    """

    profile: Profile
    fabric: LabFabric
    api: ApiFaults
    access: Access
    troubles: Troubles
    dns: DnsTroubles
    dns_pod: Callable[[], tuple[str, str]]
    client: Callable[[str], Client]
    kubelets: Mapping[str, Killer]
    silence: Silence
    stopped: set[str]

    def node(self, options: Json, name: str = "node") -> str | None:
        """Return the node that an option names; ``LabError`` if there is none of that name."""
        node_name = options.get(name)
        if node_name is not None and node_name not in self.fabric.nodes:
            raise LabError(
                f'There is no node "{node_name}".', hint=f"Nodes: {', '.join(self.fabric.nodes)}."
            )
        return node_name

    def nodes(self, options: Json) -> list[str]:
        """Return the node that is named, or all of them."""
        node_name = self.node(options)
        return [node_name] if node_name else list(self.fabric.nodes)


def text(options: Json, name: str) -> str:
    """Return an option's text, empty where it was not given."""
    return str(options.get(name) or "")


def number(options: Json, name: str, default: float) -> float:
    """Return an option's number."""
    value = options.get(name)
    return default if value is None else float(value)


def seed(options: Json) -> int:
    """Return the seed of random numbers."""
    return int(options.get("seed") or 0)


def packets(options: Json) -> Packets:
    """Return the packets that the options choose."""
    return Packets(
        protocol=text(options, "protocol"),
        port=text(options, "port"),
        larger_than=int(number(options, "larger-than", 0)),
    )


async def together(undoing: list[Undo]) -> Undo:
    """Return one undo for several faults; the last one is undone first."""

    async def undo() -> None:
        for end in reversed(undoing):
            await end()

    return undo
