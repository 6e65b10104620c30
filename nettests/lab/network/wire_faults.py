"""Network faults between nodes: packets lost, delayed, or of another VXLAN network.

Each method injects one fault on the underlay's bridge and returns the undo. Each packet passes the bridge once; on an
overlay pods' packets are inside VXLAN packets. ``node_faults`` has the faults of one node. The kernel's netem is not
available everywhere, so to delay frames nft forwards them to a tap device on the bridge, and the event loop writes them
back later. The bridge does not learn at the tap or flood to it.
"""

import asyncio
import errno
import fcntl
import itertools
import os
import random
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from nettests.lab.errors import LabError
from nettests.lab.network import kernel
from nettests.lab.network.faults import Faults, Undo
from nettests.lab.network.netlink import configure
from nettests.lab.network.node_faults import BITS_TO_VNI
from nettests.lab.network.packets import Packets, rules, share
from nettests.lab.network.tables import Chain
from nettests.lab.network.underlay import Underlay, gateway_of
from nettests.lab.topology import Address, Profile

GATEWAY = "gateway"
"""The name of the gateway as an end of a ``Path``, beside the nodes' names."""

_CROSSING = "type filter hook forward priority 0"
_TUN = "/dev/net/tun"
_TUNSETIFF = 0x400454CA
_TAP_WITHOUT_HEADER = 0x0002 | 0x1000
"""``IFF_TAP | IFF_NO_PI`` of linux/if_tun.h."""
_LARGEST = 65_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A path from ``source`` to ``target`` (empty: any node), or ``both`` ways."""

    source: str = ""
    target: str = ""
    both: bool = False


def _open_tap(name: str) -> int:
    """Create a tap device in the calling thread's namespace; return its descriptor, or raise ``OSError``."""
    descriptor = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(
            descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TAP_WITHOUT_HEADER)
        )
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


Change = Callable[[bytes], tuple[bytes, ...]]
"""Takes a frame; returns the frames that are delivered instead."""


def damaged(frame: bytes) -> tuple[bytes, ...]:
    """Return a frame with a bit error in its last byte, so that checksums are wrong."""
    return (frame[:-1] + bytes([frame[-1] ^ 0x01]),)


def twice(frame: bytes) -> tuple[bytes, ...]:
    """Return a frame twice."""
    return frame, frame


def unchanged(frame: bytes) -> tuple[bytes, ...]:
    """Return a frame as it is."""
    return (frame,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detour:
    """How frames are delayed, by ``seconds`` and a random share of ``jitter`` more, and changed.

    It applies to one in ``every`` frames; others pass at once.
    """

    seconds: float = 0
    jitter: float = 0
    every: int = 1
    seed: int = 0
    change: Change = unchanged


class _Tap:
    """Writes frames of a tap device back to it, as a detour says. Closing loses delayed frames."""

    def __init__(self, descriptor: int, detour: Detour) -> None:
        self._descriptor, self._detour = descriptor, detour
        self._dice = random.Random(detour.seed)  # noqa: S311  # an order of packets, not a secret
        self._count = 0
        self._held: set[asyncio.TimerHandle] = set()

    def start(self) -> None:
        """Handle frames in the running loop."""
        asyncio.get_running_loop().add_reader(self._descriptor, self._take)

    def close(self) -> None:
        """Stop, and close the device, which removes it."""
        asyncio.get_running_loop().remove_reader(self._descriptor)
        for timer in self._held:
            timer.cancel()
        self._held.clear()
        os.close(self._descriptor)

    def _take(self) -> None:
        with suppress(BlockingIOError):
            while True:
                self._pass_on(os.read(self._descriptor, _LARGEST))

    def _pass_on(self, frame: bytes) -> None:
        self._count += 1
        detour = self._detour
        if detour.every > 1 and self._count % detour.every:
            self._write(frame)
            return
        wait = detour.seconds + self._dice.random() * detour.jitter
        timer: asyncio.TimerHandle

        def due() -> None:
            self._held.discard(timer)
            for changed in detour.change(frame):
                self._write(changed)

        timer = asyncio.get_running_loop().call_later(wait, due)
        self._held.add(timer)

    def _write(self, frame: bytes) -> None:
        try:
            os.write(self._descriptor, frame)
        except OSError as failure:
            # a full queue loses frames, like a real link; a device that is down refuses them
            if failure.errno not in {errno.EAGAIN, errno.ENOBUFS, errno.EIO}:
                raise


class WireFaults:
    """Faults between the nodes of a fabric, and between nodes and the gateway."""

    def __init__(self, profile: Profile, underlay: Underlay, faults: Faults) -> None:
        self._profile = profile
        self._underlay = underlay
        self._faults = faults
        self._numbers = itertools.count(1)

    async def lose(self, path: Path, packets: Packets, rate: float) -> Undo:
        """Lose a share of packets."""
        return await self.strike(path, packets, f"{share(rate)} drop".strip())

    async def strike(self, path: Path, packets: Packets, verdict: str) -> Undo:
        """Apply an nft verdict to packets."""
        struck = tuple(
            rule
            for source, target in self._ways(path)
            for rule in rules(packets, self._tunnel_port, self._between(source, target), verdict)
        )
        return await self._load({"crossing": Chain(hook=_CROSSING, rules=struck)})

    async def change_network_id(self, node: str, vni: int) -> Undo:
        """Set another network id in VXLAN packets from and to a node."""
        if self._tunnel_port is None:
            raise LabError("No packets are encapsulated in this cluster.", hint="Use an overlay.")
        port = self._port(node)
        id_rules = tuple(
            f'{way} "{port}" udp dport {self._tunnel_port} @th,{BITS_TO_VNI},24 set {vni}'
            for way in ("iifname", "oifname")
        )
        return await self._load({"crossing": Chain(hook=_CROSSING, rules=id_rules)})

    async def hold_back(self, path: Path, packets: Packets, way: Detour) -> Undo:
        """Deliver packets late or changed; with ``jitter``, or an ``every`` above 1, also reordered."""
        name = f"detour-{next(self._numbers)}"
        try:
            detour = _Tap(await self._faults.worker.run(lambda: self._tap(name)), way)
        except OSError as error:
            raise LabError(
                f"Packets cannot be held back here: {error}",
                hint="It needs /dev/net/tun, readable and writable.",
            ) from error
        detour.start()
        chains = dict(self._detour_chains(path, packets, name))
        end = await self._faults.put(self._underlay.wire, "netdev", chains)

        async def undo() -> None:
            await end()
            detour.close()

        return undo

    def _detour_chains(self, path: Path, packets: Packets, tap: str) -> Iterator[tuple[str, Chain]]:
        """Yield a chain for each port at which packets of the path enter."""
        for number, (source, target) in enumerate(self._ways(path)):
            # At ingress the output port is not known yet; the receiver's MAC is.
            where = f"ether daddr {self._underlay.macs[self._address(target)]}" if target else ""
            fwd = f'fwd to "{tap}"'
            every = (*(node.name for node in self._profile.nodes), GATEWAY)
            for port in [source] if source else every:
                hook = f'type filter hook ingress device "{self._port(port)}" priority 0'
                yield (
                    f"from-{number}-{port}",
                    Chain(hook=hook, rules=rules(packets, self._tunnel_port, where, fwd)),
                )

    def _tap(self, name: str) -> int:
        with kernel.inside_network(self._underlay.wire.fd):
            descriptor = _open_tap(name)
        with configure(self._underlay.wire) as links:
            self._underlay.join_quietly(links, name)
        return descriptor

    async def _load(self, chains: Mapping[str, Chain]) -> Undo:
        return await self._faults.put(self._underlay.wire, "bridge", chains)

    def _ways(self, path: Path) -> Iterator[tuple[str, str]]:
        if not (path.source or path.target):
            raise LabError("Between whom?", hint="Name --node, or --from and --to.")
        yield path.source, path.target
        if path.both:
            yield path.target, path.source

    def _between(self, source: str, target: str) -> str:
        ends = (("iifname", source), ("oifname", target))
        return " ".join(f'{way} "{self._port(name)}"' for way, name in ends if name)

    def _address(self, name: str) -> Address:
        if name == GATEWAY:
            return gateway_of(self._profile)
        return self._profile.node(name).address

    def _port(self, name: str) -> str:
        return self._underlay.port(self._address(name))

    @property
    def _tunnel_port(self) -> int | None:
        cni = self._profile.cni
        return cni.tunnel_port if cni.encapsulates else None
