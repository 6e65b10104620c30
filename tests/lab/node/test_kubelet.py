"""What a node's kubelet does for the API server: the way of port-forward, and a client that can be held."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from nettests.lab.client import Client
from nettests.lab.interfaces import NotRunningError
from nettests.lab.node.agent import GatedClient, NodeKubelet
from nettests.lab.node.context import NodeContext, Sandbox
from nettests.lab.node.pod import PodWorker
from nettests.lab.topology import OS
from tests.lab.node import nowhere
from tests.lab.node.nowhere import Network
from tests.lab.programs.worlds import World, in_world

Json = dict[str, Any]


def on(world: World, runtime: str, os: OS, *, host_process: bool = False) -> NodeKubelet:
    """Return the kubelet of a node whose host is ``n1``, with a pod whose namespace is ``pod``."""
    context = nowhere.node("win-1" if os is OS.WINDOWS else "linux-1")
    spec = replace(context.spec, runtime=runtime)
    network = Network(spec, host=world.n1.namespace)
    context = replace(context, network=network)
    worker = PodWorker(context, nowhere.pod(), None)
    worker.sandbox = _sandbox(world, host_process=host_process)
    return NodeKubelet(context, {"ns/p": worker})


def _sandbox(world: World, *, host_process: bool) -> Sandbox:
    return replace(nowhere.sandbox(host_process=host_process), namespace=world.pod.namespace)


async def says(kubelet: NodeKubelet) -> str:
    """Return whom a server of the pod sees behind a forwarded port."""
    stream = await kubelet.open_port(namespace="ns", pod="p", port=8080)
    stream.writer.write(b"GET /clientip HTTP/1.0\r\n\r\n")
    text = (await stream.reader.read()).decode()
    stream.writer.close()
    return text.rpartition("\r\n\r\n")[2].rpartition(":")[0]


@in_world()
async def test_whence_a_forwarded_port_is_dialled(world: World) -> None:
    """From loopback in the pod; containerd 2 on Windows dials the pod's address from its host."""
    await world.serve(world.pod, ["/agnhost", "netexec", "--udp-port=-1"], [8080])
    for runtime, os, host_process, seen in (
        ("containerd://1.7.20", OS.LINUX, False, "127.0.0.1"),
        ("containerd://2.0.5", OS.LINUX, False, "127.0.0.1"),
        ("containerd://1.7.20", OS.WINDOWS, False, "127.0.0.1"),
        ("containerd://2.0.5", OS.WINDOWS, False, "172.30.0.11"),
        ("containerd://2.0.5", OS.WINDOWS, True, "127.0.0.1"),
    ):
        assert await says(on(world, runtime, os, host_process=host_process)) == seen


@in_world()
async def test_a_closed_port_is_told_in_windows_words_where_windows_dials(world: World) -> None:
    """As containerd passes them on; a loopback dial fails as the kernel says it."""
    kubelet = on(world, "containerd://2.0.5", OS.WINDOWS)
    with pytest.raises(NotRunningError, match=r"failed to connect to 10\.244\.1\.2:9: .*connectex"):
        await kubelet.open_port(namespace="ns", pod="p", port=9)
    with pytest.raises(ConnectionRefusedError):
        await on(world, "containerd://1.7.20", OS.WINDOWS).open_port(
            namespace="ns", pod="p", port=9
        )


def lone(context: NodeContext) -> NodeKubelet:
    """Return the kubelet of a node with one pod that has no network yet."""
    return NodeKubelet(context, {"ns/p": PodWorker(context, nowhere.pod(), None)})


def test_a_pod_that_is_not_there_cannot_be_reached() -> None:
    """Not on this node, or without a sandbox yet: the port, the log and the kill."""

    async def work() -> None:
        kubelet = lone(nowhere.node())
        for name in ("p", "other"):
            with pytest.raises(OSError, match=f'pod "{name}" is not running'):
                await kubelet.open_port(namespace="ns", pod=name, port=1)
            with pytest.raises(NotRunningError, match=r'container not found \("c"\)'):
                await kubelet.log(namespace="ns", pod=name, container="c", previous=False)
            assert not kubelet.kill(namespace="ns", pod=name)

    asyncio.run(work())


async def _serving(requested: list[str]) -> tuple[web.ServerRunner, str]:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        requested.append(f"{request.method} {request.path}")
        return web.json_response({})

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    return runner, f"http://{host}:{port}"


def test_a_held_client_sends_nothing_and_all_of_it_later() -> None:
    """As from a process that was stopped and goes on."""

    async def work() -> None:
        requested: list[str] = []
        runner, url = await _serving(requested)
        async with GatedClient(url, "token", agent="test") as client:
            client.gate.clear()
            waiting = [asyncio.create_task(client.get(path)) for path in ("/a", "/b")]
            async with Client(url, "token", agent="test") as other:
                for _ in range(3):
                    await other.get("/other")
            assert set(requested) == {"GET /other"}
            client.gate.set()
            await asyncio.gather(*waiting)
            assert sorted(requested[3:]) == ["GET /a", "GET /b"]
            await client.delete("/c")
            assert requested[-1] == "DELETE /c"
        await runner.cleanup()

    asyncio.run(work())
