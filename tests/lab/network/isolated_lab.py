"""The child process of ``laboratory``: a fabric with servers in it, driven over standard input.

Runs in namespaces of its own, so that pytest's process never enters any. Requests and answers are
pickled: (method, arguments) in, (``ok`` or ``error``, value) out.
"""

import asyncio
import contextlib
import os
import pickle
import socket
import struct
import sys
import traceback
from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from pyroute2.conntrack import Conntrack, NFCTAttrTuple

from nettests.lab.interfaces import Namespace, PortMapping
from nettests.lab.network import (
    LabFabric,
    alterations,
    conntrack,
    create_fabric,
    enter_isolated_namespaces,
    kernel,
    nft,
)
from nettests.lab.network.alterations import Which
from nettests.lab.network.faults import ENTERING
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.network.netlink import configure
from nettests.lab.network.packets import Packets
from nettests.lab.topology import Profile, ServiceTable
from tests.lab.network.first_packets import first_datagram
from tests.lab.network.kernel_work import Work
from tests.lab.network.requests_of_pods import PATIENCE, POD_PORT, Ask

_ETH_P_ALL = 3


class _UdpServer(asyncio.DatagramProtocol):
    def __init__(self, name: str) -> None:
        self._name = name
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        assert self._transport is not None
        self._transport.sendto(f"{self._name} sees {addr[0]}".encode(), addr)


class IsolatedLab:
    """A fabric and what lives in it; every public method answers one request."""

    def __init__(self, made: LabFabric, root: NetworkNamespace, work: Work) -> None:
        self._fabric = made
        self._root = root
        self._pods: dict[str, Namespace] = {}
        self._lines: list[socket.socket] = []
        self._undoing: list[Any] = []
        self._work = work

    def _namespace(self, where: str) -> Namespace:
        if where == "root":
            return self._root
        if where in self._pods:
            return self._pods[where]
        if where in self._fabric.nodes:
            return self._fabric.nodes[where].host
        if where.endswith("/switch"):
            switch = self._fabric.nodes[where.removesuffix("/switch")].switch
            assert switch is not None
            return switch
        return {one.name: one for one in self._fabric._underlay.namespaces()}[where]

    async def attach(self, node: str, name: str) -> str:
        return await self.attach_mapped(node, name, ())

    async def attach_mapped(self, node: str, name: str, mappings: tuple[PortMapping, ...]) -> str:
        pod = await self._fabric.nodes[node].attach_pod(name, mappings)
        self._pods[name] = pod.namespace
        await self.serve(name, POD_PORT)
        return str(pod.address)

    async def attach_dual(self, node: str, name: str) -> tuple[str, str | None]:
        """Add a pod that serves; return its addresses."""
        first = await self.attach(node, name)
        pod = await self._fabric.nodes[node].attach_pod(name)
        return first, None if pod.ipv6 is None else str(pod.ipv6)

    async def attach_bare(self, node: str, name: str) -> str:
        pod = await self._fabric.nodes[node].attach_pod(name)
        self._pods[name] = pod.namespace
        return str(pod.address)

    async def first_datagrams(self, node: str, pods: int) -> list[bool]:
        """Send a datagram to each of so many new pods at once; return which of them came."""
        return [await first_datagram(self._fabric.nodes[node], f"new-{one}") for one in range(pods)]

    async def detach(self, node: str, name: str) -> None:
        await self._fabric.nodes[node].detach_pod(name)

    async def serve(self, where: str, port: int) -> None:
        """Answer on TCP and UDP with ``<where> sees <client address>``."""
        namespace = self._namespace(where)
        tcp = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.bind(("0.0.0.0", port))
        await asyncio.start_server(self._answer(where), sock=tcp)
        udp = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("0.0.0.0", port))
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: _UdpServer(where), sock=udp)
        if self._fabric.profile.ipv6 is not None:
            await self._serve_ipv6(where, port)

    async def _serve_ipv6(self, where: str, port: int) -> None:
        """Do the same over IPv6, by sockets of that family alone."""
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            listener = self._namespace(where).socket(socket.AF_INET6, kind)
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(("::", port))
            if kind is socket.SOCK_STREAM:
                await asyncio.start_server(self._answer(where), sock=listener)
            else:
                loop = asyncio.get_running_loop()
                await loop.create_datagram_endpoint(lambda: _UdpServer(where), sock=listener)

    @staticmethod
    def _answer(name: str) -> Any:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(f"{name} sees {writer.get_extra_info('peername')[0]}".encode())
            writer.close()

        return answer

    async def open_line(self, source: str, server: str, address: str, port: int) -> int:
        """Connect to a server of one connection that sends everything back; return the line's number."""

        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(200):
                writer.write(data)

        sort = (socket.AF_INET, socket.SOCK_STREAM)
        listener, client = (self._namespace(one).socket(*sort) for one in (server, source))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("0.0.0.0", port))
        await asyncio.start_server(echo, sock=listener)
        await asyncio.get_running_loop().sock_connect(client, (address, port))
        self._lines.append(client)
        return len(self._lines) - 1

    async def say(self, line: int, text: str) -> str:
        """Send a word over a line; return what comes back."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE):
                await loop.sock_sendall(self._lines[line], text.encode())
                return (await loop.sock_recv(self._lines[line], 200)).decode()
        except TimeoutError:
            return "timed out"

    async def forgets(self, where: str, port: int) -> None:
        """Wait until no flow to ``port`` is remembered in a namespace."""
        fd = self._namespace(where).fd

        def remembered() -> bool:
            wanted = NFCTAttrTuple(family=socket.AF_INET, proto=socket.IPPROTO_TCP)
            with kernel.inside_network(fd), Conntrack(nfgen_family=socket.AF_INET) as tracking:
                entries = tracking.dump_entries(tuple_orig=wanted)
                return any(entry.tuple_orig.dport == port for entry in entries)

        while await asyncio.to_thread(remembered):
            await asyncio.sleep(0.1)

    async def program(self, table: ServiceTable) -> None:
        for node in self._fabric.nodes.values():
            await node.program_services(table)

    async def announce(self, addresses: dict[str, str]) -> None:
        await self._fabric.announce(
            {IPv4Address(one): IPv4Address(node) for one, node in addresses.items()}
        )

    async def hold(self, where: str, address: str) -> None:
        """Give a namespace one more address, as a backend does that accepts what is not its own."""
        namespace = self._namespace(where)
        assert isinstance(namespace, NetworkNamespace)

        def configured() -> None:
            with configure(namespace) as links:
                links.address("lo", IPv4Address(address))

        await self._fabric._worker.run(configured)

    async def suppress(self, node: str, keys: frozenset[str]) -> None:
        def missing(table: ServiceTable) -> ServiceTable:
            return tuple(port for port in table if port.key not in keys)

        await self._fabric.nodes[node].alter_services([missing])

    async def restore(self, node: str) -> None:
        await self._fabric.nodes[node].alter_services([])

    async def drop(self, where: str, match: str) -> int:
        """Drop packets that enter a namespace and match."""
        rule = (self._namespace(where), "entering", ENTERING, f"{match} drop")
        self._undoing.append(await self._fabric.node_faults._put(*rule))
        return len(self._undoing) - 1

    async def clear(self, number: int) -> None:
        await self._undoing[number]()

    async def fault(
        self, part: str, method: str, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> int:
        """Put a fault in force; ``part`` is ``wire_faults`` or ``node_faults`` of the fabric."""
        inject = getattr(getattr(self._fabric, part), method)
        self._undoing.append(await inject(*arguments, **options))
        return len(self._undoing) - 1

    async def silence(self, where: str, packets: Packets, rate: float) -> int:
        """Lose what enters a namespace."""
        lose = self._fabric.node_faults.lose_entering
        self._undoing.append(await lose(self._namespace(where), packets, rate))
        return len(self._undoing) - 1

    async def mend(self, number: int) -> None:
        await self._undoing[number]()

    async def alter(self, node: str, name: str, which: Which) -> None:
        """Let a node's service proxy get one thing wrong; nothing with an empty name."""
        more = [self._fabric.profile] if name == "with_stale_endpoint" else []
        altered = [getattr(alterations, name)(which, *more)] if name else []
        await self._fabric.nodes[node].alter_services(altered)

    async def rewrite_sources(self, node: str, always: bool) -> None:
        await self._fabric.nodes[node].rewrite_sources(always=always)

    async def arrivals(self, source: str, target: str, address: str, count: int) -> list[int]:
        """Send numbered datagrams; return the numbers in the order in which they arrive."""
        loop = asyncio.get_running_loop()
        kind = (socket.AF_INET, socket.SOCK_DGRAM)
        arrived: list[int] = []
        with (
            self._namespace(target).socket(*kind) as server,
            self._namespace(source).socket(*kind) as client,
        ):
            server.bind((address, 9999))
            for number in range(count):
                client.sendto(bytes([number]), (address, 9999))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    while len(arrived) < count:
                        arrived.append((await loop.sock_recv(server, 1))[0])
        return arrived

    async def nft(self, where: str, ruleset: str) -> str:
        fd = self._namespace(where).fd
        return await asyncio.to_thread(nft.load, fd, ruleset)

    async def remembered(
        self, where: str, version: int, destinations: Sequence[bytes]
    ) -> list[conntrack.Flow]:
        def read() -> list[conntrack.Flow]:
            with kernel.inside_network(self._namespace(where).fd):
                return list(conntrack.flows_of(version, destinations or None))

        return await asyncio.to_thread(read)

    async def send(self, where: str, address: str, ports: range) -> None:
        """Send a datagram to each port; nobody need take them."""
        with self._namespace(where).socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            for port in ports:
                client.sendto(b"?", (address, port))

    async def request(self, requests_sent: tuple[Ask, ...]) -> list[str]:
        return list(await asyncio.gather(*map(self._request, requests_sent)))

    async def _request(self, request: Ask) -> str:
        kinds = {"tcp": self._tcp, "udp": self._udp, "icmp": self._ping}
        try:
            async with asyncio.timeout(PATIENCE):
                return await kinds[request.protocol](request)
        except TimeoutError:
            return "timed out"
        except ConnectionRefusedError:
            return "refused"
        except OSError as failure:
            return failure.strerror or type(failure).__name__

    async def _tcp(self, request: Ask) -> str:
        loop = asyncio.get_running_loop()
        with self._namespace(request.source).socket(_family(request), socket.SOCK_STREAM) as client:
            if request.source_port:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                client.bind(("0.0.0.0", request.source_port))
            await loop.sock_connect(client, (request.address, request.port))
            return (await loop.sock_recv(client, 200)).decode()

    async def _udp(self, request: Ask) -> str:
        loop = asyncio.get_running_loop()
        with self._namespace(request.source).socket(_family(request), socket.SOCK_DGRAM) as client:
            if request.source_port:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # for several at once
                client.bind(("0.0.0.0", request.source_port))
            client.connect((request.address, request.port))
            await loop.sock_sendall(client, b"hello".ljust(request.size, b"."))
            return (await loop.sock_recv(client, 200)).decode()

    async def _ping(self, request: Ask) -> str:
        loop = asyncio.get_running_loop()
        kind = (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        with self._namespace(request.source).socket(*kind) as client:
            client.connect((request.address, 0))
            await loop.sock_sendall(client, _echo_request())
            while True:
                packet = await loop.sock_recv(client, 200)
                if packet[20] == 0:
                    return f"replied ttl {packet[8]}"

    async def capture(self, where: str, link: str, requests_sent: tuple[Ask, ...]) -> list[bytes]:
        """Return the frames seen on ``link`` while querying."""
        kind = (socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        with self._namespace(where).socket(*kind) as sniffer:
            sniffer.bind((link, 0))
            await self.request(requests_sent)
            frames = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    frames.append(sniffer.recv(4096))
            return frames

    async def links(self, where: str) -> list[str]:
        with kernel.inside_network(self._namespace(where).fd):
            return [name for _, name in socket.if_nameindex()]

    async def describe(self) -> dict[str, Any]:
        return self._fabric.describe()

    async def inodes(self) -> list[int]:
        """Return the inode of every namespace of the lab."""
        return [os.fstat(fd).st_ino for fd in self._fabric.describe()["namespaces"].values()]

    async def nodes(self) -> list[str]:
        """Return the names of the nodes."""
        return list(self._fabric.nodes)

    async def work_done(self) -> tuple[int, int]:
        """Return how many netlink requests and nft runs there were so far."""
        return self._work.netlink_requests, self._work.nft_runs

    async def open_descriptors(self) -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async def close(self) -> None:
        await self._fabric.close()


def _family(request: Ask) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in request.address else socket.AF_INET


def _echo_request() -> bytes:
    """Return an ICMP echo request with a right checksum: identifier and sequence cancel out."""
    return struct.pack("!BBHHH", 8, 0, 0xFFFF - 0x0800, 0, 0)


async def _serve(profile: Profile) -> None:
    root = NetworkNamespace("root", kernel.open_network())
    work = Work()
    lab = IsolatedLab(await create_fabric(profile), root, work)
    while True:
        try:
            method, arguments = await asyncio.to_thread(pickle.load, sys.stdin.buffer)
        except EOFError:
            os._exit(0)
        try:
            answer = ("ok", await getattr(lab, method)(*arguments))
        except Exception:  # noqa: BLE001 - handed to the test, which raises it
            answer = ("error", traceback.format_exc())
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    enter_isolated_namespaces()
    asyncio.run(_serve(pickle.load(sys.stdin.buffer)))
