"""``nc`` as a server of one connection, and ``curl telnet://`` as its client, on real packets."""

import asyncio
from dataclasses import replace

import pytest

from nettests.lab.interfaces import Machine
from nettests.lab.programs import run
from tests.lab.programs import worlds
from tests.lab.programs.worlds import Running, World, finish, in_world, start

PORT = "21000"
LINUX = ["busybox", "nc", "-l", "-p", PORT, "-e", "cat"]
WINDOWS = ["nc.exe", "-l", "-p", PORT, "-e", "cat"]
CLIENT = ["curl", "-sS", "--no-keepalive", "-m", "5", f"telnet://10.244.2.5:{PORT}"]


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
async def test_a_client_says_itself_that_nothing_more_came(world: World) -> None:
    """curl's code is that of a time-out; the text is telnet's own."""
    await world.serve(world.peer, LINUX, [int(PORT)])
    words = [word if word != "5" else "0.2" for word in CLIENT]
    client, _ = spoken(world.pod, words)
    assert await client.task == 28
    assert client.stderr.decode() == "curl: (28) Time-out\n"


@in_world()
async def test_a_client_learns_of_a_reset(world: World) -> None:
    """curl ends with the code of a failed receipt, in the words of its system."""
    await world.serve(world.peer, ["agnhost", "tcp-reset", f"--port={PORT}"], [int(PORT)])
    client, words = spoken(worlds.windows(world.pod), CLIENT)
    words.put_nowait(b"before\n")
    assert await client.task == 56
    assert b"Connection was reset" in client.stderr


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
