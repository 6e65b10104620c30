"""Network faults between nodes: packets lost, late, or of another VXLAN network.

Each method injects one fault on the wire and returns what clears it. Packets of each direction pass here once; on an
overlay those of pods are inside VXLAN packets. ``node_faults`` has the faults of one node.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nettests.lab.errors import LabError
from nettests.lab.network import kernel
from nettests.lab.network.delay import Detour, open_tap
from nettests.lab.network.disguises import BITS_TO_VNI
from nettests.lab.network.faults import Faults, Undo, put
from nettests.lab.network.namespace import Worker
from nettests.lab.network.netlink import configure
from nettests.lab.network.packets import Packets, rules, share
from nettests.lab.network.tables import Chain
from nettests.lab.network.underlay import Underlay, gateway_of
from nettests.lab.topology import Address, Profile

GATEWAY = "gateway"
"""The name of the path out of the nodes' network, beside the nodes' names."""

_CROSSING = "type filter hook forward priority 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The path of packets: from ``source`` to ``target``, each any node if empty, or ``both`` ways."""

    source: str = ""
    target: str = ""
    both: bool = False


class WireFaults:
    """Faults between the nodes of a fabric, and between nodes and what lies outside."""

    def __init__(
        self, profile: Profile, underlay: Underlay, worker: Worker, faults: Faults
    ) -> None:
        self._profile = profile
        self._underlay = underlay
        self._worker = worker
        self._faults = faults
        self._numbers = itertools.count(1)

    async def lose(self, path: Path, packets: Packets, rate: float) -> Undo:
        """Lose a share of packets."""
        verdict = f"{share(rate)} drop".strip()
        drop_rules = tuple(
            rule
            for source, target in self._ways(path)
            for rule in rules(packets, self._tunnel_port, self._between(source, target), verdict)
        )
        return await self._load({"crossing": Chain(hook=_CROSSING, rules=drop_rules)})

    async def change_network_id(self, node: str, vni: int) -> Undo:
        """Let a node's VXLAN packets carry another network id, and understand that one alone."""
        if self._tunnel_port is None:
            raise LabError("No packets are encapsulated in this cluster.", hint="Use an overlay.")
        port = self._port(node)
        id_rules = tuple(
            f'{way} "{port}" udp dport {self._tunnel_port} @th,{BITS_TO_VNI},24 set {vni}'
            for way in ("iifname", "oifname")
        )
        return await self._load({"crossing": Chain(hook=_CROSSING, rules=id_rules)})

    async def hold_back(
        self, path: Path, packets: Packets, *, seconds: float, jitter: float, every: int, seed: int
    ) -> Undo:
        """Deliver packets late; with ``jitter``, or one of ``every`` alone, in another order."""
        name = f"detour-{next(self._numbers)}"
        try:
            detour = Detour(
                await self._worker.run(lambda: self._tap(name)), seconds, jitter, every, seed
            )
        except OSError as error:
            raise LabError(
                f"Packets cannot be held back here: {error}",
                hint="It needs /dev/net/tun, readable and writable.",
            ) from error
        detour.start()
        chains = dict(self._detour_chains(path, packets, name))
        end = await put(
            self._worker, self._faults, self._underlay.wire, family="netdev", chains=chains
        )

        async def undo() -> None:
            await end()
            detour.close()

        return undo

    def _detour_chains(self, path: Path, packets: Packets, tap: str) -> Iterator[tuple[str, Chain]]:
        """Yield a chain for each port where packets of the path come in."""
        for number, (source, target) in enumerate(self._ways(path)):
            # The output port is not known here; the receiver's MAC is.
            where = f"ether daddr {self._mac(target)}" if target else ""
            fwd = f'fwd to "{tap}"'
            for port in [source] if source else self._ports():
                hook = f'type filter hook ingress device "{self._port(port)}" priority 0'
                yield (
                    f"from-{number}-{port}",
                    Chain(hook=hook, rules=rules(packets, self._tunnel_port, where, fwd)),
                )

    def _tap(self, name: str) -> int:
        with kernel.inside_network(self._underlay.wire.fd):
            descriptor = open_tap(name)
        with configure(self._underlay.wire) as links:
            self._underlay.join_quietly(links, name)
        return descriptor

    async def _load(self, chains: Mapping[str, Chain]) -> Undo:
        return await put(
            self._worker, self._faults, self._underlay.wire, family="bridge", chains=chains
        )

    def _ways(self, path: Path) -> Iterator[tuple[str, str]]:
        if not (path.source or path.target):
            raise LabError("Between whom?", hint="Name --node, or --from and --to.")
        yield path.source, path.target
        if path.both:
            yield path.target, path.source

    def _between(self, source: str, target: str) -> str:
        ends = (("iifname", source), ("oifname", target))
        return " ".join(f'{way} "{self._port(name)}"' for way, name in ends if name)

    def _ports(self) -> list[str]:
        return [*(node.name for node in self._profile.nodes), GATEWAY]

    def _address(self, name: str) -> Address:
        if name == GATEWAY:
            return gateway_of(self._profile)
        return self._profile.node(name).address

    def _port(self, name: str) -> str:
        return self._underlay.port(self._address(name))

    def _mac(self, name: str) -> str:
        return self._underlay.macs[self._address(name)]

    @property
    def _tunnel_port(self) -> int | None:
        cni = self._profile.cni
        return cni.tunnel_port if cni.encapsulates else None
