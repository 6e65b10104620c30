"""tcpdump and pktmon show what really travels, as the harness reads it: from a Pod's request to its answer."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from nettests import wire
from nettests.lab.interfaces import Disk, Dropped, Json, Machine, Namespace
from nettests.lab.network import nft
from nettests.lab.network.drop_witness import DropWitness
from nettests.lab.network.namespace import Worker
from nettests.lab.network.node import Node as FabricNode
from nettests.lab.programs.linux.tcpdump import parse
from nettests.lab.programs.packets import Heads
from nettests.lab.topology import OS
from nettests.model.words import Protocol
from nettests.probes.capturing import Flow, expression, pktmon_filters, tcpdump_words
from nettests.probes.packet_monitor import Dialect
from nettests.tracing.finding import Finding
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Capture, Direction, End, Scene, Sighting
from nettests.tracing.path import trace
from nettests.tracing.printed import Printed, read_pktmon, read_tcpdump
from tests.lab.programs.worlds import World, finish, in_world, start

PEER, POD = "10.244.2.5", "10.244.1.2"
LOG, TEXT = r"C:\Windows\Temp\x.etl", r"C:\Windows\Temp\x.txt"
CURL = ["curl", "-sS", "-m", "3", "--local-port", "28002", f"http://{PEER}:8080/hostname"]
FLOW = Flow(base=28000, served=(8080,))


@dataclass
class Hns:
    """An HNS that has one endpoint."""

    def endpoints(self) -> list[Json]:
        return [{"IPAddress": POD, "MacAddress": "02-00-00-00-01-02"}]


@dataclass
class Node:
    """The part of a Windows node that pktmon looks at."""

    switch: Namespace
    hns: Hns = field(default_factory=Hns)
    disk: Disk = field(default_factory=Disk)

    async def witness_drops(
        self, take: Callable[[Dropped], None], ports: Collection[int]
    ) -> Callable[[], Awaitable[None]]:
        """As a node of the fabric does, on this thread."""
        witness = DropWitness(self.switch, take)
        witness.begin()
        witness.load(ports)

        async def end() -> None:
            witness.unload()
            witness.end()

        return end


def windows_node(world: World) -> Machine:
    node: Any = Node(switch=world.router)
    user = r"NT AUTHORITY\SYSTEM"
    return replace(
        world.n1,
        os=OS.WINDOWS,
        build=20348,
        namespace=world.router,
        host_process=True,
        user=user,
        node=node,
    )


async def captured_by_tcpdump(world: World, flow: Flow, *requests: list[str]) -> str:
    """Return what tcpdump printed on the router while requests were made in the Pod."""
    host = replace(world.n1, namespace=world.router)
    running = start(host, tcpdump_words(flow))
    async with asyncio.timeout(10):
        while b"listening on any" not in running.stderr:
            await asyncio.sleep(0.01)
    for words in requests:
        await finish(world.pod, words)
    await asyncio.sleep(0.05)
    await running.kill()
    return running.stdout.decode()


def capture(read: Printed) -> Capture:
    pairs, unread = wire.dissected("node", read.frames)
    assert not unread
    assert not read.unread
    return Capture(node="node", sightings=tuple(sighting for _, sighting in pairs))


@in_world()
async def test_tcpdump_shows_a_flow_both_ways_at_each_interface(world: World) -> None:
    """A connection is seen coming in and going out, in both directions, and nothing of other flows."""
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080])
    other = [*CURL[:5], "30123", f"http://{PEER}:9/"]
    text = await captured_by_tcpdump(world, Flow(base=28000), CURL, other)
    seen = capture(read_tcpdump(text)).sightings
    opening = [one for one in seen if one.packet.syn and not one.packet.ack]
    assert [(one.interface, one.direction) for one in opening] == [
        ("to-pod", Direction.IN),
        ("to-peer", Direction.OUT),
    ]
    assert {one.packet.source_port for one in seen} == {28002, 8080}
    assert any(one.packet.source == ip_address(PEER) and one.packet.syn for one in seen)


@in_world()
async def test_tcpdump_that_is_interrupted_says_what_it_captured(world: World) -> None:
    """As the real one does, upon SIGINT from the same container and for its own expression alone."""
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080])
    host = replace(world.n1, namespace=world.router)
    captured = start(host, tcpdump_words(FLOW))
    async with asyncio.timeout(10):
        while b"listening on any" not in captured.stderr:
            await asyncio.sleep(0.01)
        await finish(world.pod, CURL)
        for words, code in (
            (["pkill", "-INT", "-f", "portrange 29000-29007"], 1),
            (["pkill", "-INT", "-f", "portrange 28000-28007"], 0),
        ):
            assert (await finish(replace(host), words)).code == 1  # another container's
            assert (await finish(host, words)).code == code
        assert await captured.task == 0
    seen = captured.stdout.decode().count(" IP ")
    assert seen > 4
    assert captured.stderr.decode().endswith(
        f"\n{seen} packets captured\n{seen} packets received by filter\n0 packets dropped by kernel\n"
    )


@in_world()
async def test_pktmon_shows_the_same_by_its_log(world: World) -> None:
    """Filters, start, stop and the log's text: components, directions, and the card of a Pod; the files go again."""
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080])
    node = windows_node(world)
    for words in pktmon_filters(FLOW):
        assert (await finish(node, words)).code == 0
    begun = await finish(
        node,
        [
            "pktmon",
            "start",
            "--capture",
            "--pkt-size",
            "256",
            "--file-name",
            LOG,
            "--file-size",
            "4",
        ],
    )
    assert begun.code == 0
    assert "not running" not in (await finish(node, ["pktmon", "status"])).stdout
    await finish(world.pod, CURL)
    await asyncio.sleep(0.05)
    assert (await finish(node, ["pktmon", "stop"])).code == 0
    assert (await finish(node, ["pktmon", "etl2txt", LOG, "--out", TEXT, "--hex"])).code == 0
    text = (await finish(node, ["cmd", "/c", "type", TEXT])).stdout
    seen = capture(read_pktmon(text)).sightings
    opening = [one for one in seen if one.packet.syn and not one.packet.ack]
    assert [one.interface.split()[0] for one in opening] == ["vfpext.sys", "vfpext.sys"]
    assert opening[0].packet.source_mac == "02:00:00:00:01:02"
    assert (await finish(node, ["cmd", "/c", "del", "/q", LOG, TEXT])).code == 0
    assert (await finish(node, ["cmd", "/c", "type", TEXT])).code == 1
    assert "not running" in (await finish(node, ["pktmon", "status"])).stdout


@in_world()
async def test_pktmon_tells_what_a_rule_of_the_switch_dropped_and_why(world: World) -> None:
    """The kernel names the rule; the log names the switch's extension, a reason and a place of Microsoft's lists."""
    node = windows_node(world)
    rule = "table ip vfp {\n chain untranslated {\n  type filter hook forward priority 0\n  ip daddr 10.244.2.0/24 drop\n }\n}\n"
    nft.load(world.router.fd, rule)
    seen = await captured_by_pktmon(world, node, CURL)
    dropped = [one for one in seen if one.drop]
    assert dropped, "the rule dropped each SYN"
    assert {one.drop for one in dropped} == {"UnicastNoDestination (0xE0006063)"}
    assert {one.interface for one in dropped} == {"vfpext.sys (5)"}
    first = dropped[0].packet
    assert (str(first.source), str(first.destination)) == (POD, PEER)
    assert (first.source_port, first.destination_port, first.syn) == (28002, 8080, True)
    assert not any(one.drop for one in seen if one.interface != "vfpext.sys (5)")
    nft.load(world.router.fd, "delete table ip vfp\n")


@in_world()
async def test_a_capture_that_cannot_begin_leaves_nothing(world: World) -> None:
    """Where the switch's drops cannot be witnessed pktmon does not run afterwards, and no socket stays open."""
    node = windows_node(world)
    sockets = open_sockets()
    fabric: Any = node.node
    works, fabric.witness_drops = fabric.witness_drops, refused_witness(world)
    begin = Dialect.PRESENT.start(LOG, packet_bytes=256, log_mib=4)
    with pytest.raises(OSError, match="no rules"):
        await finish(node, begin)
    assert "not running" in (await finish(node, ["pktmon", "status"])).stdout
    assert open_sockets() == sockets
    fabric.witness_drops = works
    assert (await finish(node, begin)).code == 0
    assert (await finish(node, ["pktmon", "stop"])).code == 0
    assert open_sockets() == sockets


def refused_witness(world: World) -> Callable[..., Awaitable[object]]:
    """Return how a node of the fabric witnesses drops whose rules the kernel refuses."""

    class Refusing(Worker):
        async def run(self, job: Callable[[], Any]) -> Any:
            if self.refuse:
                self.refuse = False
                raise OSError("no rules")
            return job()

        refuse = True

    nothing: Any = None
    node = FabricNode(
        spec=nothing,
        host=world.router,
        switch=None,
        source_vip=None,
        pods=nothing,
        host_ports=(),
        program=nothing,
        worker=Refusing(),
    )
    return node.witness_drops


def open_sockets() -> int:
    """Return how many sockets this process has."""
    links = Path("/proc/self/fd").iterdir()
    return sum(one.is_symlink() and str(one.readlink()).startswith("socket:") for one in links)


@in_world()
async def test_nothing_of_the_witness_stays_after_the_capture(world: World) -> None:
    """What an unknown chain drops has no stated cause, what passes is not called dropped, and the witness's table goes."""
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080])
    node = windows_node(world)
    rule = "table ip other {\n chain any {\n  type filter hook forward priority 0; policy drop;\n }\n}\n"
    nft.load(world.router.fd, rule)
    seen = await captured_by_pktmon(world, node, CURL)
    assert {one.drop for one in seen if one.drop} == {"Unknown (0xE0006000)"}
    nft.load(world.router.fd, "delete table ip other\n")
    passed = await captured_by_pktmon(world, node, CURL)
    assert any(one.packet.source_port == 8080 for one in passed)
    assert not any(one.drop for one in passed)
    assert "packet-monitor" not in nft.load(world.router.fd, "list ruleset\n")


async def captured_by_pktmon(world: World, node: Machine, *requests: list[str]) -> list[Sighting]:
    """Return what pktmon's log shows of requests that were made in the Pod."""
    await finish(node, ["pktmon", "filter", "remove"])
    for words in (*pktmon_filters(FLOW), Dialect.PRESENT.start(LOG, packet_bytes=256, log_mib=4)):
        assert (await finish(node, words)).code == 0
    for request in requests:
        await finish(world.pod, request)
    await asyncio.sleep(0.05)
    assert (await finish(node, ["pktmon", "stop"])).code == 0
    assert (await finish(node, Dialect.PRESENT.to_text(LOG, TEXT))).code == 0
    text = (await finish(node, ["cmd", "/c", "type", TEXT])).stdout
    return list(capture(read_pktmon(text)).sightings)


@in_world()
async def test_the_first_release_of_pktmon_has_other_words(world: World) -> None:
    """On Windows Server 2019 the options of today are unknown, and those of then do the same."""
    node = replace(windows_node(world), build=17763)
    unknown = (["status"], ["start", "--capture"], ["etl2txt", LOG, "--out", TEXT, "--hex"])
    for words in unknown:
        assert (await finish(node, ["pktmon", *words])).code == 1
    begin = Dialect.FIRST.start(LOG, packet_bytes=256, log_mib=4)
    assert (await finish(node, begin)).code == 0
    assert (await finish(node, begin)).code == 1
    await finish(world.pod, CURL)
    await asyncio.sleep(0.05)
    assert (await finish(node, ["pktmon", "stop"])).code == 0
    assert (await finish(node, Dialect.FIRST.to_text(LOG, TEXT))).code == 0
    text = (await finish(node, ["cmd", "/c", "type", TEXT])).stdout
    assert any(one.packet.source_port == 28002 for one in capture(read_pktmon(text)).sightings)


@in_world()
async def test_pktmon_is_for_administrators(world: World) -> None:
    """Another account is refused, and in an ordinary container there is no pktmon."""
    node = replace(windows_node(world), user=r"NT AUTHORITY\LOCAL SERVICE")
    assert (await finish(node, ["pktmon", "status"])).code == 5
    assert (await finish(replace(node, node=None), ["pktmon", "status"])).code == 1


@in_world()
async def test_a_real_flow_to_a_closed_port_is_refused(world: World) -> None:
    """What the harness concludes of real packets: the destination was reached, and said no."""
    text = await captured_by_tcpdump(world, FLOW, CURL)
    mark = Mark(protocol=Protocol.TCP, port=28002)
    scene = Scene(
        protocol=Protocol.TCP,
        source=End(address=ip_address(POD), node="node"),
        requested=ip_address(PEER),
        requested_port=8080,
        backends=(End(address=ip_address(PEER), node="node", port=8080),),
    )
    found = trace(scene, mark, [capture(read_tcpdump(text, wire=("to-n1",)))], answered=False)
    assert found.finding is Finding.REFUSED


def packet(protocol: int, ports: tuple[int, ...] = (), segment: bytes = b"") -> Heads:
    return Heads(
        source="10.0.0.1",
        destination="10.0.0.2",
        protocol=protocol,
        ports=ports,
        segment=segment,
        length=100,
    )


def tunnelled(port: int, inner_source: int, inner_protocol: int = 6) -> Heads:
    """A VXLAN packet: its inner headers stand at fixed places behind the outer UDP header."""
    segment = bytearray(80)
    segment[39] = inner_protocol
    segment[50:52] = inner_source.to_bytes(2)
    return packet(17, (50000, port), bytes(segment))


def test_an_expression_lets_one_flow_through() -> None:
    """Its ports, plain and inside the tunnel, and ICMP; not the ports beside, and no other tunnel's."""
    matches = parse(expression(Flow(base=28000, served=(8080,), tunnel=4789)))
    assert all(matches(packet(6, (port, 80))) for port in (28000, 28007))
    assert not any(matches(packet(6, (port, 80))) for port in (27999, 28008))
    assert matches(packet(6, (8080, 50000)))
    assert matches(packet(1))
    assert matches(tunnelled(4789, 28003))
    assert matches(tunnelled(4789, 8080))
    assert matches(tunnelled(4789, 1, inner_protocol=1))
    assert not matches(tunnelled(4789, 28008))
    assert not matches(tunnelled(4790, 28003))


@pytest.mark.parametrize(
    "text", ["ports 80", "port", "( port 80", "udp[50:2] & 3", "port 80 or", "[]"]
)
def test_an_expression_that_is_none_is_refused(text: str) -> None:
    """A word that pcap-filter has not, or a form that it does not allow."""
    with pytest.raises(Exception, match="syntax error"):
        parse(text)
