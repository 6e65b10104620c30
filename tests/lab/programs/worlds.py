"""A small real network for tests of programs and resolvers: namespaces, veth pairs, a router.

    n1 172.30.0.11 ── router 172.30.0.1 ── pod 10.244.1.2
    spare (loopback only)        └───────── peer 10.244.2.5

The router drops 192.0.2.0/24 silently, has no route to 198.51.100.0/24 and refuses UDP 53 on 172.30.0.1.
Tests marked ``@in_world`` run in a child process with namespaces of its own and never leave it.
"""

import asyncio
import functools
import os
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from nettests.lab.interfaces import (
    Machine,
    Namespace,
    Process,
    ResolverConfig,
)
from nettests.lab.network import kernel, nft
from nettests.lab.network.isolation import enter_isolated_namespaces
from nettests.lab.network.namespace import NetworkNamespace, make_namespace
from nettests.lab.network.netlink import ANY, End, configure
from nettests.lab.programs.images import run
from nettests.lab.topology import OS

_IPV6 = {"ipv6/conf/all/disable_ipv6": 0, "ipv6/conf/default/disable_ipv6": 0}
_FORWARD = {"ipv4/ip_forward": 1}
DEADLINE = 100


@dataclass(slots=True)
class Running:
    """A program that was started, and what it has written so far."""

    task: asyncio.Task[int]
    process: Process
    stdout: bytearray
    stderr: bytearray

    async def terminate(self) -> int:
        """Send SIGTERM and wait for the exit code."""
        self.process.terminate.set()
        return await self.task

    async def kill(self) -> None:
        """SIGKILL."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Finished:
    """A program's exit code and output."""

    code: int
    stdout: str
    stderr: str


HOST_PATH = {
    "PATH": "C:\\Windows\\system32;C:\\Windows;C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\"
}
"""What a Windows node's processes have."""
IMAGE_PATH = {
    "PATH": "C:\\dig\\;C:\\bin\\;C:\\curl\\;C:\\Windows\\system32;C:\\Windows;C:\\Program Files\\PowerShell;"
}
"""What agnhost's image of Windows states."""


def start(
    machine: Machine, argv: Sequence[str], environment: Mapping[str, str] | None = None
) -> Running:
    """Start a program in the running loop."""
    out, err = bytearray(), bytearray()

    async def write_out(data: bytes) -> None:
        out.extend(data)

    async def write_err(data: bytes) -> None:
        err.extend(data)

    process = Process(
        argv=argv,
        environment=environment or (HOST_PATH if machine.host_process else IMAGE_PATH),
        machine=machine,
        stdout=write_out,
        stderr=write_err,
    )
    return Running(asyncio.create_task(run(process)), process, out, err)


async def finish(
    machine: Machine, argv: Sequence[str], environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a program to its end."""
    running = start(machine, argv, environment)
    code = await running.task
    return Finished(
        code, running.stdout.decode(errors="replace"), running.stderr.decode(errors="replace")
    )


async def listening(namespace: Namespace, port: int) -> None:
    """Wait until something in the namespace is bound to ``port``."""
    wanted = f":{port:04X} "
    async with asyncio.timeout(10):
        while not any(wanted in line for line in _bound(namespace)):
            await asyncio.sleep(0.005)


def _bound(namespace: Namespace) -> list[str]:
    with kernel.inside_network(namespace.fd):
        tables = [Path(f"/proc/thread-self/net/{name}") for name in ("tcp", "tcp6", "udp", "udp6")]
        lines = [line for table in tables for line in table.read_text().splitlines()[1:]]
    return [" ".join(line.split()[1:2]) + " " for line in lines if line.split()[3] in ("0A", "07")]


@dataclass(slots=True)
class World:
    """The namespaces, and a machine in each."""

    n1: Machine
    pod: Machine
    peer: Machine
    spare: Machine
    router: NetworkNamespace
    namespaces: Mapping[str, NetworkNamespace]
    running: list[Running] = field(default_factory=list)

    async def serve(
        self,
        machine: Machine,
        argv: Sequence[str],
        ports: Sequence[int],
        environment: Mapping[str, str] | None = None,
    ) -> Running:
        """Start a server and wait until its ports are open."""
        running = start(machine, argv, environment)
        self.running.append(running)
        for port in ports:
            await listening(machine.namespace, port)
        return running


def windows(machine: Machine, **changes: Any) -> Machine:
    """Return the machine as a Windows one."""
    return replace(machine, **{"os": OS.WINDOWS, "build": 17763, "patch": 1339, **changes})


def _build() -> World:
    spaces = {
        "n1": make_namespace("n1", _IPV6),
        "pod": make_namespace("pod"),
        "peer": make_namespace("peer"),
        "spare": make_namespace("spare", _IPV6),
        "router": make_namespace("router", _FORWARD),
    }
    router = spaces["router"]
    for number, (name, network) in enumerate(
        [("n1", "172.30.0.0/24"), ("pod", "10.244.1.0/24"), ("peer", "10.244.2.0/24")]
    ):
        hosts = {"n1": "172.30.0.11", "pod": "10.244.1.2", "peer": "10.244.2.5"}
        _connect(router, spaces[name], number, IPv4Network(network), IPv4Address(hosts[name]))
    with configure(router) as network_of_router:
        network_of_router.blackhole(IPv4Network("192.0.2.0/24"))
    return World(
        n1=_n1(spaces["n1"]),
        pod=_pod(spaces["pod"], "10.244.1.2", "netexec-plj27"),
        peer=_pod(spaces["peer"], "10.244.2.5", "netexec-qncfp"),
        spare=_n1(spaces["spare"]),
        router=router,
        namespaces=spaces,
    )


def _connect(
    router: NetworkNamespace,
    space: NetworkNamespace,
    number: int,
    network: IPv4Network,
    address: IPv4Address,
) -> None:
    gateway = network.network_address + 1
    near = End(namespace=router, name=f"to-{space.name}", mac=f"02:00:00:00:0{number}:01")
    far = End(namespace=space, name="eth0", mac=f"02:00:00:00:0{number}:02")
    with configure(router) as here:
        here.veth(near, far, 1500)
        here.address(near.name, gateway, network.prefixlen)
    with configure(space) as there:
        there.up("eth0")
        there.address("eth0", address, network.prefixlen)
        there.route(ANY, "eth0", via=gateway)


def _n1(namespace: NetworkNamespace) -> Machine:
    return Machine(
        os=OS.LINUX,
        hostname="n1",
        namespace=namespace,
        addresses=("172.30.0.11",),
        gateway="172.30.0.1",
        resolver=ResolverConfig(
            servers=("172.30.0.1",),
            hosts=(
                ("127.0.0.1", ("localhost",)),
                ("::1", ("localhost", "ip6-localhost")),
                ("172.30.0.11", ("n1",)),
            ),
        ),
    )


def _pod(namespace: NetworkNamespace, address: str, name: str) -> Machine:
    return Machine(
        os=OS.LINUX,
        hostname=name,
        namespace=namespace,
        addresses=(address,),
        gateway=address.rpartition(".")[0] + ".1",
        resolver=ResolverConfig(
            servers=("10.96.0.10",),
            searches=("demo.svc.cluster.local", "svc.cluster.local", "cluster.local"),
            hosts=(
                ("127.0.0.1", ("localhost",)),
                ("::1", ("localhost", "ip6-localhost", "ip6-loopback")),
                ("fe00::0", ("ip6-localnet",)),
                ("fe00::0", ("ip6-mcastprefix",)),
                ("fe00::1", ("ip6-allnodes",)),
                ("fe00::2", ("ip6-allrouters",)),
                (address, (name,)),
            ),
        ),
        mac="02:00:00:00:01:02",
    )


def rules(world: World, ruleset: str) -> None:
    """Load an nft ruleset on the router."""
    nft.load(world.router.fd, ruleset)


def own(world: World, address: str) -> None:
    """Give the router one more address, reachable from everywhere."""
    with configure(world.router) as here:
        here.address("lo", IPv4Address(address))


Scenario = Callable[[World], Awaitable[None]]


def in_child(
    scenario: Callable[[World], Awaitable[Any]], prepare: Callable[[World], None]
) -> bytes:
    """Run a scenario in a child process in namespaces of its own; return the text it returns."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code, text = 1, ""
        try:
            enter_isolated_namespaces()
            world = _build()
            prepare(world)
            text = str(asyncio.run(_bounded(scenario, world)) or "")
            code = 0
        except BaseException:  # noqa: BLE001  everything is told to the parent, which fails the test
            text = traceback.format_exc()
        with os.fdopen(write, "w") as pipe:
            pipe.write(text)
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        pytest.fail(said.decode(), pytrace=False)
    return said


async def _bounded(scenario: Callable[[World], Awaitable[Any]], world: World) -> Any:
    async with asyncio.timeout(DEADLINE):
        try:
            return await scenario(world)
        finally:
            for running in world.running:
                await running.kill()


def nothing(_world: World) -> None:
    """Prepare nothing."""


def in_world(
    prepare: Callable[[World], None] = nothing,
) -> Callable[[Scenario], Callable[[], None]]:
    """Make a test of a coroutine function that takes a ``World``."""

    def decorate(scenario: Scenario) -> Callable[[], None]:
        @functools.wraps(scenario)
        def test() -> None:
            in_child(scenario, prepare)

        del test.__wrapped__  # pytest reads the signature through it
        return test

    return decorate
