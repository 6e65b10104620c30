"""``nc`` as a server of one connection, and a client that says what it took, on real packets."""

import asyncio
import socket
import struct
from dataclasses import replace

import pytest

from nettests.lab.interfaces import Machine
from nettests.lab.programs.bash_scripts import BASH
from nettests.lab.programs.images import run
from nettests.lab.programs.sockets import transport
from tests.lab.programs import worlds
from tests.lab.programs.worlds import Running, World, finish, in_world, start

PORT = "21000"
LINUX = ["busybox", "nc", "-l", "-p", PORT, "-e", "cat"]
WINDOWS = ["nc.exe", "-l", "-p", PORT, "-e", "cat"]
CLIENT = ["bash", "-c", BASH, "10.244.2.5", PORT, "5"]


def spoken(machine: Machine, argv: list[str]) -> tuple[Running, "asyncio.Queue[bytes]"]:
    """Start a program whose input is a queue."""
    words: asyncio.Queue[bytes] = asyncio.Queue()
    running = start(machine, argv)
    running.task.cancel()
    process = replace(running.process, stdin=words.get)
    task = asyncio.create_task(run(process))
    return Running(task, process, running.stdout, running.stderr), words


async def heard(running: Running, text: bytes) -> None:
    """Wait until a program has written ``text``."""
    async with asyncio.timeout(10):
        while text not in running.stdout:
            await asyncio.sleep(0.005)


@in_world()
async def test_words_come_back_as_long_as_the_client_speaks(world: World) -> None:
    """On either system ``cat`` sends back what it is given, and ends well with the connection."""
    for machine, argv in ((world.peer, LINUX), (worlds.windows(world.peer), WINDOWS)):
        server = await world.serve(machine, argv, [int(PORT)])
        client, words = spoken(world.pod, CLIENT)
        for word in (b"before\n", b"after\n"):
            words.put_nowait(word)
            await heard(client, word)
        await client.kill()
        assert await server.task == 0


@in_world()
async def test_a_server_says_that_it_was_reset(world: World) -> None:
    """``cat`` reads an error and ends with 1, as BusyBox's does."""
    server = await world.serve(world.peer, LINUX, [int(PORT)])
    with await transport.connect(world.pod, "10.244.2.5", int(PORT)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert await server.task == 1
    assert server.stderr.decode() == "cat: read error: Connection reset by peer\n"


@in_world()
async def test_a_server_serves_one_connection(world: World) -> None:
    """Who comes second is refused."""
    await world.serve(world.peer, LINUX, [int(PORT)])
    first, words = spoken(world.pod, CLIENT)
    words.put_nowait(b"before\n")
    await heard(first, b"before\n")
    assert (await finish(world.pod, CLIENT)).code == 7
    await first.kill()


@in_world()
async def test_a_port_in_use_is_told_as_each_system_does(world: World) -> None:
    """The second listener ends with 1."""
    await world.serve(world.peer, LINUX, [int(PORT)])
    second = await finish(world.peer, LINUX)
    assert (second.code, second.stderr) == (1, "nc: bind: Address in use\n")
    other = await finish(worlds.windows(world.peer), WINDOWS)
    assert (other.code, other.stderr) == (1, f"Can't grab 0.0.0.0:{PORT} with bind\r\n")


@in_world()
async def test_a_program_that_is_not_there_ends_the_server(world: World) -> None:
    """Whoever connects finds nobody: the server's exit code is the shell's for a missing program."""
    missing = [*LINUX[:-1], "nothing"]
    server = await world.serve(world.peer, missing, [int(PORT)])
    assert (await finish(world.pod, CLIENT)).code == 0
    assert await server.task == 127


@pytest.mark.parametrize(
    "argv",
    [["busybox", "nc", "10.244.2.5", "80"], ["busybox", "nc", "-l", "-p", "x", "-e", "cat"]],
)
def test_other_uses_are_refused(argv: list[str]) -> None:
    """What is not provided says so before anything is done."""

    @in_world()
    async def refused(world: World) -> None:
        ended = await finish(world.pod, argv)
        assert ended.code == 1
        assert "the lab's BusyBox knows" in ended.stderr

    refused()
