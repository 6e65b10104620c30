"""Traces on a fabric: what the lab's tcpdump and pktmon show of one flow, read and decided as the harness does.

A fabric is the lab's network alone, without its API: it stands in a second, in namespaces of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeVar

from nettests import wire
from nettests.capture.witnessing import record_of
from nettests.lab.interfaces import Machine, PodNetwork, ResolverConfig
from nettests.lab.network.fabric import LabFabric, create_fabric
from nettests.lab.topology import OS, Backend, Profile, ServicePort, profiles
from nettests.model.channel import ExecAnswer
from nettests.model.facts import Address
from nettests.model.observation import Witnessed
from nettests.model.words import Protocol
from nettests.parse.witness import WITNESS, witnessed_in
from nettests.probes.capturing import Flow, pktmon_filters, tcpdump_words
from nettests.probes.endpoint import CLIENT_IP
from nettests.probes.packet_monitor import Dialect
from nettests.tracing.finding import Trace
from nettests.tracing.mark import Mark, proven
from nettests.tracing.packet import Capture, End, Scene
from nettests.tracing.path import trace
from nettests.tracing.printed import read_pktmon, read_tcpdump
from tests.facts import cluster_facts
from tests.lab.programs.worlds import Running, finish, listening, start
from tests.parse.raws import raw

VIP, SERVED, REQUESTED, BASE = ip_address("10.96.7.7"), 8080, 80, 28000
LOG, TEXT = r"c:\x.etl", r"c:\x.txt"
SYSTEM = r"NT AUTHORITY\SYSTEM"
NOBODY = ResolverConfig(servers=())

Broken = Callable[["Stage"], Awaitable[object]]
T = TypeVar("T")


@dataclass
class Stage:
    """A fabric with a client and a server Pod on each node, and a Service in front of one server."""

    profile: Profile
    fabric: LabFabric
    pods: dict[str, PodNetwork] = field(default_factory=dict)
    running: list[Running] = field(default_factory=list)
    base: int = BASE
    """The first source port of the next question: a port that was used is not free at once."""

    def machine(self, on: str, namespace: Any, address: Address, **more: Any) -> Machine:
        """What a container on a node sees."""
        spec = self.profile.node(on)
        return Machine(
            os=spec.os,
            hostname=on,
            namespace=namespace,
            addresses=(str(address),),
            gateway="",
            resolver=NOBODY,
            build=spec.build,
            patch=spec.patch,
            **more,
        )

    def pod(self, name: str) -> Machine:
        """A Pod, by ``client-win-1`` or ``server-win-1``."""
        network = self.pods[name]
        return self.machine(name.partition("-")[2], network.namespace, network.address)

    def host(self, node: str) -> Machine:
        """The node itself, in a container that looks at it."""
        spec, network = self.profile.node(node), self.fabric.nodes[node]
        windows = spec.os is OS.WINDOWS
        more = {"host_process": True, "user": SYSTEM, "node": network} if windows else {}
        return self.machine(node, network.host, spec.address, **more)

    async def program(self, server: str) -> None:
        """Put the Service in front of a server, on all nodes."""
        node = server.partition("-")[2]
        backend = Backend(address=self.pods[server].address, port=SERVED, node=node, ready=True)
        table = (
            ServicePort(
                namespace="n",
                service="s",
                port_name="p",
                protocol="TCP",
                cluster_ip=VIP,
                port=REQUESTED,
                target_port=SERVED,
                endpoints=(backend,),
            ),
        )
        for one in self.fabric.nodes.values():
            await one.program_services(table)


async def stage(profile: str) -> Stage:
    """Build a fabric with its Pods."""
    loaded = profiles.load(profile)
    made = Stage(profile=loaded, fabric=await create_fabric(loaded))
    for node in made.fabric.nodes:
        for kind in ("client", "server"):
            name = f"{kind}-{node}"
            made.pods[name] = await made.fabric.nodes[node].attach_pod(name)
        server = made.pod(f"server-{node}")
        made.running.append(
            start(
                server,
                ["/agnhost", "netexec", "--http-port=8080"],
            )
        )
        await listening(server.namespace, SERVED)
    return made


@dataclass(frozen=True, kw_only=True)
class Question:
    """From the client of one node to the server of another, at its own address or by the Service."""

    source: str
    target: str
    service: bool = True
    size: int = 0
    source_kept: bool | None = None


async def traced(on: Stage, question: Question) -> Trace:
    """Send marked flows while both nodes capture, until one has no answer, and trace that one."""
    base, on.base = on.base, on.base + 8
    async with _capturing(on, question, base) as captures:
        number, answered = await _sent(on, question, base)
        if not answered and question.service:
            await _directly(on, question, base + 7)
    mark = Mark(protocol=Protocol.TCP, port=number)
    direct = Mark(protocol=Protocol.TCP, port=base + 7)
    return trace(_scene(on, question), mark, captures, answered=answered, direct=direct)


@asynccontextmanager
async def _capturing(on: Stage, question: Question, base: int) -> AsyncIterator[list[Capture]]:
    """Let both nodes capture, with canaries before and after; what they captured is in the list at the end."""
    nodes = list(dict.fromkeys((question.source, question.target)))
    tunnel = on.profile.cni.tunnel_port if on.profile.cni.encapsulates else None
    flow = Flow(base=base, served=(SERVED, REQUESTED), tunnel=tunnel)
    begun = {node: await _begun(on, node, flow) for node in nodes}
    await _canaries(on, nodes, base)
    captures: list[Capture] = []
    yield captures
    await _canaries(on, nodes, base + 1)
    await asyncio.sleep(0.1)
    captures += [await _read(on, node, begun[node], base) for node in nodes]


async def _begun(on: Stage, node: str, flow: Flow) -> Running | None:
    host = on.host(node)
    if host.os is OS.LINUX:
        running = start(host, tcpdump_words(flow))
        async with asyncio.timeout(10):
            while b"listening on any" not in running.stderr:
                await asyncio.sleep(0.01)
        return running
    for words in (("pktmon", "filter", "remove"), *pktmon_filters(flow)):
        assert (await finish(host, words)).code == 0
    begin = _dialect(host).start(LOG, packet_bytes=256, log_mib=4)
    assert (await finish(host, begin)).code == 0
    return None


def _dialect(host: Machine) -> Dialect:
    return Dialect.FIRST if host.build == 17763 else Dialect.PRESENT


async def _read(on: Stage, node: str, running: Running | None, base: int) -> Capture:
    host = on.host(node)
    if running is not None:
        await running.kill()
        printed = read_tcpdump(running.stdout.decode())
    else:
        for words in (("pktmon", "stop"), _dialect(host).to_text(LOG, TEXT)):
            assert (await finish(host, words)).code == 0
        printed = read_pktmon((await finish(host, ["cmd", "/c", "type", TEXT])).stdout)
    pairs, unread = wire.dissected(node, printed.frames)
    capture = Capture(
        node=node,
        sightings=tuple(one for _, one in pairs),
        unread=(*printed.unread, *unread),
    )
    return proven(capture, before=base, after=base + 1)


async def _canaries(on: Stage, nodes: list[str], port: int) -> None:
    others = {node: next(one for one in on.fabric.nodes if one != node) for node in nodes}
    words = ["curl", "-s", "-m", "0.3", "--local-port", str(port)]
    await asyncio.gather(
        *(
            finish(on.host(node), [*words, f"http://{on.profile.node(other).address}:19099/"])
            for node, other in others.items()
        )
    )


async def _sent(on: Stage, question: Question, base: int) -> tuple[int, bool]:
    client = on.pod(f"client-{question.source}")
    server = on.pods[f"server-{question.target}"].address
    to = f"{VIP}:{REQUESTED}" if question.service else f"{server}:{SERVED}"
    for number in range(base + 2, base + 7):
        words = ["curl", "-sS", "-m", "1.5", "--local-port", str(number)]
        done = await finish(client, [*words, f"http://{to}/hostname?{'x' * question.size}"])
        if done.code:
            return number, False
    return base + 6, True


async def _directly(on: Stage, question: Question, port: int) -> None:
    """Send one flow to the server's own address."""
    server = on.pods[f"server-{question.target}"].address
    words = ["curl", "-sS", "-m", "1", "--local-port", str(port), f"http://{server}:{SERVED}/"]
    await finish(on.pod(f"client-{question.source}"), words)


def _scene(on: Stage, question: Question) -> Scene:
    server = on.pods[f"server-{question.target}"].address
    tunnelled = on.profile.cni.encapsulates
    owners: Mapping[Address, str] = {
        **{node.address: node.name for node in on.profile.nodes},
        **{network.address: name.partition("-")[2] for name, network in on.pods.items()},
    }
    return Scene(
        protocol=Protocol.TCP,
        source=End(address=on.pods[f"client-{question.source}"].address, node=question.source),
        requested=VIP if question.service else server,
        requested_port=REQUESTED if question.service else SERVED,
        backends=(End(address=server, node=question.target, port=SERVED),),
        translator=question.source if question.service else "",
        owners=owners,
        encapsulated=tunnelled or None,
        vni=on.profile.cni.vni if tunnelled else None,
        source_kept=question.source_kept,
        size=question.size,
    )


async def witnessed(on: Stage, question: Question) -> tuple[Witnessed, ...]:
    """Connect once while both nodes capture, and return what server and captures say of it."""
    base, on.base = on.base, on.base + 8
    scene = _scene(on, question)
    url = f"http://{scene.requested}:{scene.requested_port}/clientip"
    words = ["curl", "-sS", "-m", "2", "--local-port", str(base + 2), url]
    async with _capturing(on, question, base) as captures:
        done = await finish(on.pod(f"client-{question.source}"), words)
    record = record_of(
        scene,
        cluster_facts(on.profile.name),
        Mark(protocol=Protocol.TCP, port=base + 2),
        captures,
        ExecAnswer(exit_code=done.code, stdout=done.stdout, stderr=done.stderr),
        request=CLIENT_IP,
    )
    return witnessed_in([raw(WITNESS, stdout=json.dumps(record))])


async def of_each(
    profile: str,
    cases: Mapping[str, tuple[Question, Broken | None]],
    work: Callable[[Stage, Question], Awaitable[T]],
) -> dict[str, T]:
    """Return what work says of each case on a fabric of the profile, with what breaks it in force for its time."""
    on = await stage(profile)
    told: dict[str, T] = {}
    try:
        for name, (question, broken) in cases.items():
            await on.program(f"server-{question.target}")
            undo = await broken(on) if broken is not None else None
            told[name] = await work(on, question)
            if callable(undo):
                await undo()
    finally:
        for one in on.running:
            await one.kill()
        await on.fabric.close()
    return told
